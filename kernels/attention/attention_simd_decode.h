/* SPDX-License-Identifier: MIT */
/*
 * The decode of attention_simd.c, whose comment says how; for files compiled with SIMD_ISA.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_SIMD_DECODE_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_SIMD_DECODE_H

#include "kernels/attention/attention_call.h"
#include "kernels/simd_math.h"

#include <math.h>
#include <omp.h>

enum {
    SUMS = 8, /* that do not wait for one another */
    AHEAD =
        16, /* positions to fetch ahead: rows lie in pages of their own, unseen by prefetchers */
};

/* One query of one head against a cache. */
struct query {
    const float *q, *k, *v; /* position 0 */
    int64_t ld, length, headdim;
    float *out;
    float *scores;
};

/* q . k of SIMD_WIDTH positions from `first` on, the last one in place of those beyond the end. */
SIMD_INLINE simd_float scores_of(bool full, const struct query *u, int64_t first)
{
    simd_float sum[SIMD_WIDTH];
    const float *k = u->k + first * u->ld;

    SIMD_UNROLL
    for (int r = 0; r < SIMD_WIDTH; r++)
        sum[r] = simd_set(0);
    for (int64_t d = 0; d < u->headdim; d += SIMD_WIDTH) {
        const simd_float q = simd_load_upto(u->q + d, u->headdim - d);
        SIMD_UNROLL
        for (int r = 0; r < SIMD_WIDTH; r++) {
            int64_t row = full || first + r < u->length ? r : u->length - 1 - first;
            const float *from = k + row * u->ld + d;
            __builtin_prefetch(from + AHEAD * u->ld);
            sum[r] =
                simd_fma(q, full ? simd_load(from) : simd_load_upto(from, u->headdim - d), sum[r]);
        }
    }
    return simd_sum_each(sum);
}

/* All scores in units of log2, in whole vectors; hands back the largest one. */
static float scores(const struct query *u)
{
    const simd_float scale = simd_set((float)(1.4426950408889634 / sqrt((double)u->headdim)));
    simd_float most = simd_set(-INFINITY);
    float lanes[SIMD_WIDTH];

    for (int64_t j = 0; j < u->length; j += SIMD_WIDTH) {
        bool full = j + SIMD_WIDTH <= u->length && u->headdim % SIMD_WIDTH == 0;
        simd_float s = (full ? scores_of(true, u, j) : scores_of(false, u, j)) * scale;
        simd_store(u->scores + j, s);
        most = simd_max(most, s);
    }
    simd_store(lanes, most);
    for (int i = 1; i < SIMD_WIDTH; i++)
        lanes[0] = fmaxf(lanes[0], lanes[i]);
    return lanes[0];
}

/* Scores to weights that are not divided by their sum yet; hands back the sum. */
static float weights(const struct query *u, float most)
{
    const simd_float top = simd_set(most);
    simd_float sum = simd_set(0);

    for (int64_t j = 0; j < u->length; j += SIMD_WIDTH) {
        simd_float p = simd_exp2(simd_load(u->scores + j) - top);
        simd_store(u->scores + j, p);
        if (j + SIMD_WIDTH > u->length)
            p = simd_load_part(u->scores + j, u->length - j);
        sum += p;
    }
    return simd_sum(sum);
}

/* Adds `rows` weighted positions to a sum each; `nv` vectors from column d on. */
SIMD_INLINE void add_rows(int rows, int nv, int64_t part, const struct query *u, int64_t first,
                          int64_t d, simd_float sum[SUMS][SUMS])
{
    SIMD_UNROLL
    for (int r = 0; r < rows; r++) {
        const float *v = u->v + (first + r) * u->ld + d;
        const simd_float p = simd_set(u->scores[first + r]);
        SIMD_UNROLL
        for (int i = 0; i < nv; i++) {
            const float *from = v + i * SIMD_WIDTH;
            __builtin_prefetch(from + AHEAD * u->ld);
            sum[r][i] = simd_fma(p, part ? simd_load_part(from, part) : simd_load(from), sum[r][i]);
        }
    }
}

/* `nv` vectors of out = scale * weights . V from column d on; of the last one `part` columns, if
 * that is not 0. */
SIMD_INLINE void weigh_columns(int nv, int64_t part, const struct query *u, float scale, int64_t d)
{
    const int rows = SUMS / nv;
    simd_float sum[SUMS][SUMS];
    int64_t j = 0;

    SIMD_UNROLL
    for (int r = 0; r < rows; r++) {
        SIMD_UNROLL
        for (int i = 0; i < nv; i++)
            sum[r][i] = simd_set(0);
    }
    for (; j + rows <= u->length; j += rows)
        add_rows(rows, nv, part, u, j, d, sum);
    for (; j < u->length; j++)
        add_rows(1, nv, part, u, j, d, sum);
    SIMD_UNROLL
    for (int i = 0; i < nv; i++) {
        simd_float all = sum[0][i];
        SIMD_UNROLL
        for (int r = 1; r < rows; r++)
            all += sum[r][i];
        simd_store_upto(u->out + d + i * SIMD_WIDTH, all * simd_set(scale),
                        part ? part : SIMD_WIDTH);
    }
}

static void attend_one(const struct query *u)
{
    const float scale = 1 / weights(u, scores(u));
    int64_t d = 0;

    for (; d + 4 * SIMD_WIDTH <= u->headdim; d += 4 * SIMD_WIDTH)
        weigh_columns(4, 0, u, scale, d);
    for (; d + 2 * SIMD_WIDTH <= u->headdim; d += 2 * SIMD_WIDTH)
        weigh_columns(2, 0, u, scale, d);
    for (; d + SIMD_WIDTH <= u->headdim; d += SIMD_WIDTH)
        weigh_columns(1, 0, u, scale, d);
    if (d < u->headdim)
        weigh_columns(1, u->headdim - d, u, scale, d);
}

void SIMD_NAME(attention_decode)(const void *operation)
{
    const struct attention_decode *a = operation;
    size_t each = attention_decode_scratch(a->length, 1);

#pragma omp for schedule(static) nowait
    for (int64_t task = 0; task < a->batch * a->heads; task++) {
        int64_t b = task / a->heads, head = task % a->heads * a->headdim;
        attend_one(&(struct query) {
            .q = a->q + b * a->ldq + head,
            .k = a->k + b * a->ld_sequence + head,
            .v = a->v + b * a->ld_sequence + head,
            .ld = a->ld,
            .length = a->length,
            .headdim = a->headdim,
            .out = a->out + b * a->ldo + head,
            .scores = a->scratch + each * (size_t)omp_get_thread_num(),
        });
    }
    team_meet();
}

#endif
