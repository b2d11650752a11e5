/* SPDX-License-Identifier: MIT */
/*
 * Rows of floats or of bfloat16 as vectors of floats: what layernorm_simd_block.h reads and writes.
 *
 * bfloat16 (`narrow`) is read two vectors at a time, as the pairs that lie in memory: those of even
 * columns and those of odd ones (kernels/simd_bf16.h). So the gain and the bias of whole pairs of
 * vectors lie in that order (narrow_place()); sums do not ask for one. All is fp32 but for what is
 * loaded and stored, and a residual's sum is made once more where it is normalised: what is stored
 * of it is rounded.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_SIMD_ELEMENT_H
#define HARNESS_KERNELS_LAYERNORM_SIMD_ELEMENT_H

#include "kernels/layernorm/layernorm.h"
#include "kernels/simd.h"
#include "kernels/simd_bf16.h"

#ifdef SIMD_ISA

/* How an operation is done; known where a function is inlined. */
struct form {
    bool residual, past;
    bool narrow;     /* x, delta, sum and y are bfloat16, whatever their pointers say */
    int tile, block; /* vectors of a turn, whole pairs if narrow; floats of a block */
};

/* Elements to a word: of a float. */
SIMD_INLINE int64_t in_word(bool narrow)
{
    return narrow ? 2 : 1;
}

/* The place of column j's gain and bias among those of a narrow row. */
SIMD_INLINE int64_t narrow_place(int64_t width, int64_t j)
{
    const int64_t pairs = 2 * SIMD_WIDTH, at = j % pairs;

    return j < width / pairs * pairs ? j - at + at % 2 * SIMD_WIDTH + at / 2 : j;
}

/* Vectors that are loaded and stored together from the k-th of nv on: one, or the two of pairs, of
 * which the second one begins with none. What is left over is one. */
SIMD_INLINE int together(struct form f, int nv, int k)
{
    return !f.narrow ? 1 : k % 2 != 0 ? 0 : k + 1 < nv ? 2 : 1;
}

/* Element `at` on. */
SIMD_INLINE const float *element(bool narrow, const float *p, int64_t at)
{
    return narrow ? (const void *)((const uint16_t *)(const void *)p + at) : p + at;
}

/* An element's value, if `exact`; else of a narrow one that of the float that begins with it: the
 * element behind it, but for the last bits, by one load. */
SIMD_INLINE float about(bool narrow, bool exact, const float *p, int64_t at)
{
    float v;

    if (narrow && exact)
        return bf16_to_float(((const uint16_t *)(const void *)p)[at]);
    memcpy(&v, element(narrow, p, at), sizeof(v));
    return v;
}

/* A vector, or the two of pairs; of one the first `lanes` lanes. */
SIMD_INLINE void load(struct form f, int nv, const float *p, int64_t at, int64_t lanes,
                      simd_float v[])
{
    const void *from = element(f.narrow, p, at);

    if (nv == 2) {
        const simd_float pairs = simd_bf16_load_pairs(from);
        v[0] = simd_pair_even(pairs);
        v[1] = simd_pair_odd(pairs);
    } else {
        v[0] = f.narrow ? simd_bf16_load_upto(from, lanes) : simd_load_upto(from, lanes);
    }
}

SIMD_INLINE void store(struct form f, int nv, float *p, int64_t at, int64_t lanes,
                       const simd_float v[])
{
    void *to = f.narrow ? (void *)((uint16_t *)(void *)p + at) : p + at;

    if (nv == 2) {
        const simd_float pairs = simd_bf16_pairs(v[0], v[1]);
        if (f.past)
            simd_stream(to, pairs);
        else
            simd_bf16_store_pairs(to, pairs);
    } else if (f.narrow) {
        simd_bf16_store_upto(to, v[0], lanes);
    } else if (f.past) {
        simd_stream(to, v[0]);
    } else {
        simd_store_upto(to, v[0], lanes);
    }
}

/* x, or x + delta. */
SIMD_INLINE void values(struct form f, int nv, const struct layernorm *l, int64_t at, int64_t lanes,
                        simd_float v[])
{
    load(f, nv, l->x, at, lanes, v);
    if (f.residual) {
        simd_float delta[2];
        load(f, nv, l->delta, at, lanes, delta);
        SIMD_UNROLL
        for (int k = 0; k < nv; k++)
            v[k] += delta[k];
    }
}

/* Whether gather leaves x + delta in `sum`, to be normalised: where that is near and not rounded.
 */
SIMD_INLINE bool keeps(struct form f)
{
    return f.residual && !f.past && !f.narrow;
}

/* The same once gather has kept it; the sum may be in the place of x. */
SIMD_INLINE void values_again(struct form f, int nv, const struct layernorm *l, int64_t at,
                              int64_t lanes, simd_float v[])
{
    if (keeps(f))
        load(f, nv, l->sum, at, lanes, v);
    else
        values(f, nv, l, at, lanes, v);
}

#endif

#endif
