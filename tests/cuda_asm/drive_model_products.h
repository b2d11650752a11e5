/* SPDX-License-Identifier: MIT */
/* Rules of products of warpgroups and of their registers. */
#ifndef CUDA_ASM_DRIVE_MODEL_PRODUCTS_H
#define CUDA_ASM_DRIVE_MODEL_PRODUCTS_H

#include "drive_model.h"

enum { MODEL_SUMS = 32, MODEL_GROUP = 128 };

/* Factors whose product has ones: 16 elements of k. */
static inline void model_fill(struct model_factors &s, bool publish)
{
    for (int i = (int)threadIdx.x; i < 64 * 64; i += MODEL_GROUP) {
        s.a[i] = cuda_from<bf16>(1.0f / 16);
        s.b[i] = cuda_from<bf16>(1.0f);
    }
    if (publish)
        wgmma_publish();
    __syncthreads();
}

static inline uint64_t model_matrix(const bf16 *matrix)
{
    return wgmma_matrix(cuda_shared_address(matrix));
}

static inline void model_keep(float (&d)[MODEL_SUMS])
{
    for (float &x : d)
        model_asm("", "+f", x);
}

static inline void model_start(float (&d)[MODEL_SUMS], uint64_t a, uint64_t b)
{
    wgmma_bf16<64>(d, a, b, 0);
    wgmma_commit();
}

static inline void model_end(float (&d)[MODEL_SUMS])
{
    wgmma_wait<0>();
    model_keep(d);
}

/* 1 where all sums are. */
static inline float model_sum(const float (&d)[MODEL_SUMS])
{
    for (float x : d)
        if (x != 1)
            return x;
    return 1;
}

struct factors_without_a_fence {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, RIGHT);
        wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(s.b));
        model_end(d);
        out[model_place()] = model_sum(d);
    }
};

struct registers_without_a_fence {
    static constexpr const char *words = "without wgmma.fence";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        if (RIGHT)
            wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(s.b));
        model_end(d);
        out[model_place()] = model_sum(d);
    }
};

struct sums_that_are_read_early {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(s.b));
        float early = model_sum(d);
        model_end(d);
        out[model_place()] = RIGHT ? model_sum(d) : early;
    }
};

struct sums_that_no_statement_keeps {
    static constexpr const char *words = "used sums after wgmma.wait_group at wgmma.h:";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(s.b));
        wgmma_wait<0>();
        if (RIGHT)
            model_keep(d);
        out[model_place()] = model_sum(d);
    }
};

struct product_that_nobody_waits_for {
    static constexpr const char *words = "returns before its products are waited for";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(s.b));
        if (RIGHT)
            model_end(d);
        out[model_place()] = 1;
    }
};

/* Zeros for the factor that the product may not have read. */
struct factors_used_again_while_they_are_read {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(s.b));
        if (RIGHT)
            model_end(d);
        for (int i = (int)threadIdx.x; i < 64 * 64; i += MODEL_GROUP)
            s.a[i] = cuda_from<bf16>(0.0f);
        wgmma_publish();
        if (!RIGHT)
            model_end(d);
        out[model_place()] = model_sum(d);
    }
};

struct registers_written_while_they_are_read {
    static constexpr const char *words = "is written in front of the statement at";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        const uint32_t sixteenths = 0x3d803d80;
        uint32_t a[4] = { sixteenths, sixteenths, sixteenths, sixteenths };
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        wgmma_bf16<64>(d, a, model_matrix(s.b), 0);
        wgmma_commit();
        if (!RIGHT)
            a[0] = 0;
        model_end(d);
        for (uint32_t &x : a)
            model_asm("", "+r", x);
        a[0] = 0;
        out[model_place()] = model_sum(d);
    }
};

struct warp_that_stays_away {
    static constexpr const char *words = "bar.sync, or for products or registers at wgmma.h:";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        if (RIGHT || threadIdx.x < 96) {
            wgmma_fence();
            model_start(d, model_matrix(s.a), model_matrix(s.b));
            model_end(d);
        }
        out[model_place()] = model_sum(d);
    }
};

struct descriptor_without_swizzle {
    static constexpr const char *words = "is not of 128-byte swizzle at a whole address";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        model_start(d, model_matrix(s.a) ^ (RIGHT ? 0 : (uint64_t)1 << 62), model_matrix(s.b));
        model_end(d);
        out[model_place()] = model_sum(d);
    }
};

struct factor_beyond_shared_memory {
    static constexpr const char *words = "reads outside of shared memory";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_factors &s = cuda_shared<model_factors>();
        float d[MODEL_SUMS] = {};

        model_fill(s, true);
        wgmma_fence();
        model_start(d, model_matrix(s.a), model_matrix(RIGHT ? s.b : s.b + 32 * 64));
        model_end(d);
        out[model_place()] = model_sum(d);
    }
};

/* ---- setmaxnreg ---- */

struct registers_in_no_eights {
    static constexpr const char *words = "setmaxnreg 20 at wgmma.h:";
    static constexpr struct model_shape shape = { MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        wgmma_lower_registers<RIGHT ? 24 : 20>();
        out[model_place()] = 1;
    }
};

/* One group of two wants more than there are until the other one gives some up. */
struct registers_that_nobody_gives_up {
    static constexpr const char *words = " (and 127 more), to which too few come";
    static constexpr struct model_shape shape = { 2 * MODEL_GROUP };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        if (threadIdx.x < MODEL_GROUP)
            wgmma_raise_registers<256>();
        else if (RIGHT)
            wgmma_lower_registers<24>();
        out[model_place()] = 1;
    }
};

#endif
