/* SPDX-License-Identifier: MIT */
/*
 * What drive_model.cc has of a rule of the model (hopper.h): a kernel as small as can be that keeps
 * it, its twin that breaks it and does nothing else wrong, and the words of the refusal.
 *
 *     struct rule_of_it {
 *         static constexpr const char *words = "of the refusal";     null: other numbers than 1
 *         static constexpr struct model_shape shape = { 64 };
 *         template <bool RIGHT>
 *         static void kernel(const float *in, float *out, const CUtensorMap &map);
 *     };
 *
 * `in` has ones; each thread of the grid leaves a 1 at its place of `out`. `map` is of `in`.
 */
#ifndef CUDA_ASM_DRIVE_MODEL_H
#define CUDA_ASM_DRIVE_MODEL_H

#include "cuda_host_asm.h"
#include "drive.h"
#include "kernels/cuda/bulk.h"
#include "kernels/cuda/cluster.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/tma.h"
#include "kernels/cuda/wgmma.h"

#include <algorithm>
#include <map>
#include <string>

enum { MODEL_ROWS = 16, MODEL_COLS = 32, MODEL_ROW = 64 };

struct model_shape {
    unsigned threads, blocks = 1; /* of one cluster */
    bool early = false; /* `in` is written by a kernel in front, for which it need not wait */
};

struct model_shared {
    alignas(1024) float box[8 * MODEL_COLS];
    alignas(128) float row[MODEL_ROW], other[MODEL_ROW];
    cuda_mbarrier full;
};

/* A product's factors, 64 rows of 128 bytes each. All elements of one are the same, so that no
 * layout matters. */
struct model_factors {
    alignas(1024) bf16 a[64 * 64], b[64 * 64];
};

struct model_rule {
    const char *name, *words;
    struct model_shape shape;
    void (*right)(const float *in, float *out, const CUtensorMap &map);
    void (*wrong)(const float *in, float *out, const CUtensorMap &map);
};

/* A rule's name in "... [with RULE = early_read]", as GCC and clang write it. */
template <class RULE> static const char *model_name(void)
{
    const char *all = __PRETTY_FUNCTION__, *at = strstr(all, "RULE = ") + strlen("RULE = ");
    static const std::string name(at, strcspn(at, "];,"));

    return name.c_str();
}

template <class RULE, bool RIGHT>
static void model_launch(const float *in, float *out, const CUtensorMap &map)
{
    constexpr struct model_shape shape = RULE::shape;
    constexpr size_t bytes = std::max(sizeof(model_shared), sizeof(model_factors));
    struct cuda_launch_options options = {};

    options.cluster = (int)shape.blocks;
    options.early = shape.early;
    cuda_launch_with<RULE::template kernel<RIGHT>>(options, shape.blocks, shape.threads, bytes,
                                                   nullptr, in, out, map);
}

template <class RULE> static struct model_rule model_rule_of(void)
{
    return { model_name<RULE>(), RULE::words, RULE::shape, model_launch<RULE, true>,
             model_launch<RULE, false> };
}

/* ---- What kernels of rules are made of ---- */

static inline bool model_first(void)
{
    return threadIdx.x == 0;
}

static inline unsigned model_place(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Kept: where a launch fails, nobody destroys what lies on the stacks of its threads. */
static inline const cuda_host_program &model_program(const char *text)
{
    static std::map<std::string, cuda_host_program> all;

    return all.try_emplace(text, text, "memory", true).first->second;
}

/* An asm statement of one operand, which kernels have in themselves. */
template <class T> static void model_asm(const char *text, const char *constraint, T &operand)
{
    cuda_host_asm([&]() -> const cuda_host_program & { return model_program(text); },
                  { cuda_host_register_of(constraint, operand) });
}

/* The barrier `full` of the block, of so many arrivals. */
static inline void model_begin(struct model_shared &s, unsigned arrivals = 1)
{
    if (model_first()) {
        cuda_mbarrier_init(&s.full, arrivals);
        cuda_mbarrier_publish();
    }
    __syncthreads();
}

/* A row of ones is on its way. */
static inline void model_load(struct model_shared &s, const float *in)
{
    if (model_first()) {
        cuda_mbarrier_expect(&s.full, sizeof(s.row));
        cuda_bulk_load(s.row, in, sizeof(s.row), &s.full);
    }
}

/* The box of the map; one thread's. */
static inline void model_load_box(struct model_shared &s, const CUtensorMap &map)
{
    cuda_mbarrier_expect(&s.full, sizeof(s.box));
    tma_load(s.box, &map, &s.full, 0, 0);
}

/* The row goes to `out`; one thread's. */
static inline void model_store(struct model_shared &s, float *out)
{
    tma_store_bytes(out, s.row, sizeof(s.row));
    tma_store_commit();
}

#endif
