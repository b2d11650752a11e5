/* SPDX-License-Identifier: MIT */
/* Rules of the two views of shared memory, and of copies. */
#ifndef CUDA_ASM_DRIVE_MODEL_COPIES_H
#define CUDA_ASM_DRIVE_MODEL_COPIES_H

#include "drive_model.h"

/* ---- The two views of shared memory ---- */

/* Lets all others run first; no barrier of memory. */
static inline void model_nap(void)
{
    for (int i = 0; i < 100; i++)
        __nanosleep(0);
}

/* All threads store, all fence, all meet, one has the engine read. */
template <bool FENCE, bool MEET> static void model_store_row(float *out)
{
    model_shared &s = cuda_shared<model_shared>();

    s.row[threadIdx.x] = 1;
    if (FENCE)
        wgmma_publish();
    if (MEET)
        __syncthreads();
    if (model_first()) {
        model_store(s, out);
        tma_store_wait<0>();
    }
}

struct store_without_a_fence {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_store_row<RIGHT, true>(out);
    }
};

struct store_without_a_meeting {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_store_row<true, RIGHT>(out);
    }
};

enum model_meeting { OF_BLOCK, OF_MBARRIER, OF_NAMED, OF_CLUSTER };

template <enum model_meeting HOW> static void model_meet(model_shared &s)
{
    unsigned number = 1;

    if constexpr (HOW == OF_BLOCK)
        __syncthreads();
    if constexpr (HOW == OF_MBARRIER) {
        cuda_mbarrier_arrive(&s.full);
        cuda_mbarrier_wait(&s.full, 0);
    }
    if constexpr (HOW == OF_NAMED)
        model_asm("bar.sync %0, 64;", "r", number);
    if constexpr (HOW == OF_CLUSTER)
        cuda_cluster_barrier();
}

/* One thread may fence for all that it has met, behind that: not for others whose stores merely
 * came before, as the clock has it. */
template <enum model_meeting HOW> struct fence_for_others_behind_a_meeting {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW, HOW == OF_CLUSTER ? 2 : 1 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s, MODEL_ROW);
        s.row[threadIdx.x] = 1;
        if (!RIGHT && model_first()) {
            model_nap();
            wgmma_publish();
        }
        model_meet<HOW>(s);
        if (!model_first())
            return;
        if (RIGHT)
            wgmma_publish();
        model_store(s, out + blockIdx.x * MODEL_ROW);
        tma_store_wait<0>();
    }
};

/* ---- Copies ---- */

struct row_that_is_read_early {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        model_load(s, in);
        if (RIGHT)
            cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = s.row[threadIdx.x];
        if (!RIGHT)
            cuda_mbarrier_wait(&s.full, 0);
    }
};

struct box_that_is_read_early {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &map)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        if (model_first())
            model_load_box(s, map);
        if (RIGHT)
            cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = s.box[threadIdx.x];
        if (!RIGHT)
            cuda_mbarrier_wait(&s.full, 0);
    }
};

struct copy_that_nobody_waits_for {
    static constexpr const char *words = "returns before the bulk copy at bulk.h:";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        model_load(s, in);
        if (RIGHT)
            cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = 1;
    }
};

struct store_that_nobody_waits_for {
    static constexpr const char *words = "returns before the bulk store at tma.h:";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        s.row[threadIdx.x] = 1;
        wgmma_publish();
        __syncthreads();
        if (model_first()) {
            model_store(s, out);
            if (RIGHT)
                tma_store_wait_read<0>();
        }
    }
};

struct row_used_again_while_it_is_stored {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        s.row[threadIdx.x] = 1;
        wgmma_publish();
        __syncthreads();
        if (!model_first())
            return;
        model_store(s, out);
        if (RIGHT)
            tma_store_wait_read<0>();
        for (float &x : s.row)
            x = 2;
        wgmma_publish();
        tma_store_wait<0>();
    }
};

/* ---- What the engine does not take ---- */

/* One thread starts a copy, wrong or right; the numbers are ones. */
template <class COPY> static void model_one_copy(float *out, const COPY &copy)
{
    model_shared &s = cuda_shared<model_shared>();

    model_begin(s);
    if (model_first())
        copy(s);
    cuda_mbarrier_wait(&s.full, 0);
    out[model_place()] = 1;
}

struct copy_of_half_a_piece {
    static constexpr const char *words = "bulk copy of 8 bytes at bulk.h:";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_one_copy(out, [&](model_shared &s) {
            cuda_mbarrier_expect(&s.full, RIGHT ? 16 : 8);
            cuda_bulk_load(s.row, in, RIGHT ? 16 : 8, &s.full);
        });
    }
};

struct copy_to_a_place_between_pieces {
    static constexpr const char *words = "is not of whole 16-byte pieces";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_one_copy(out, [&](model_shared &s) {
            cuda_mbarrier_expect(&s.full, 16);
            cuda_bulk_load(s.row + (RIGHT ? 0 : 1), in, 16, &s.full);
        });
    }
};

struct copy_beyond_shared_memory {
    static constexpr const char *words = "are outside the shared memory of a block";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_one_copy(out, [&](model_shared &s) {
            auto *end = static_cast<char *>(cuda_host_shared()) + cuda_host_shared_size();
            cuda_mbarrier_expect(&s.full, 32);
            cuda_bulk_load(end - (RIGHT ? 32 : 16), in, 32, &s.full);
        });
    }
};

struct swizzled_box_between_groups {
    static constexpr const char *words = "is not aligned to 1024";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &map)
    {
        model_one_copy(out, [&](model_shared &s) {
            cuda_mbarrier_expect(&s.full, sizeof(s.box));
            tma_load(s.box + (RIGHT ? 0 : MODEL_COLS), &map, &s.full, 0, 0);
        });
    }
};

struct box_of_another_rank {
    static constexpr const char *words = "a box of 3 axes of a tensor of 2";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &map)
    {
        model_one_copy(out, [&](model_shared &s) {
            cuda_mbarrier_expect(&s.full, sizeof(s.box));
            if (RIGHT)
                tma_load(s.box, &map, &s.full, 0, 0);
            else
                tma_load_3d(s.box, &map, &s.full, 0, 0, 0);
        });
    }
};

struct map_of_nothing {
    static constexpr const char *words = "has a tensor map that nothing has described";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &map)
    {
        static const CUtensorMap nothing = {};

        model_one_copy(out, [&](model_shared &s) { model_load_box(s, RIGHT ? map : nothing); });
    }
};

struct box_to_no_block {
    static constexpr const char *words = "a copy to no block of the cluster";
    static constexpr struct model_shape shape = { 32 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &map)
    {
        model_one_copy(out, [&](model_shared &s) {
            cuda_mbarrier_expect(&s.full, sizeof(s.box));
            tma_load_to(s.box, &map, &s.full, 0, 0, RIGHT ? 1 : 0);
        });
    }
};

#endif
