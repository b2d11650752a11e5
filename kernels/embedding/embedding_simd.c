/* SPDX-License-Identifier: MIT */
/*
 * Rows of vectors, and the rows of some tokens further on fetched into L2 in the meantime:
 *
 *   tokens  | t0 | t1 | t2 | ...        wte rows are anywhere: t2 is on its way while t0 is added
 *
 * Results beyond the caches are streamed to memory, past the read that a store begins with.
 *
 * Limit: memory bandwidth.
 */
#include "kernels/embedding/embedding_call.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/team.h"

SIMD_DECLARE(host_share_fn, embedding_rows);

#ifdef SIMD_ISA

enum { AHEAD = 1024, LINE = 16 }; /* floats */

static void prefetch(const float *row, int64_t width)
{
    for (int64_t j = 0; j < width; j += LINE)
        __builtin_prefetch(row + j, 0, 2);
}

SIMD_INLINE void row(bool stream, const float *token, const float *position, float *out,
                     int64_t width)
{
    int64_t j = 0;

    for (; j + SIMD_WIDTH <= width; j += SIMD_WIDTH) {
        simd_float v = simd_load(token + j) + simd_load(position + j);
        if (stream)
            simd_stream(out + j, v);
        else
            simd_store(out + j, v);
    }
    if (j < width) {
        int64_t lanes = width - j;
        simd_float v = simd_load_part(token + j, lanes) + simd_load_part(position + j, lanes);
        simd_store_part(out + j, v, lanes);
    }
}

void SIMD_NAME(embedding_rows)(const void *operation)
{
    const struct embedding *e = operation;
    int64_t width = e->width, nr = e->batch * e->seq, ahead = 2 + AHEAD / width;
    bool stream = width % SIMD_WIDTH == 0 && (uintptr_t)e->out % sizeof(simd_float) == 0 &&
                  host_beyond_caches(8.0 * (double)(nr * width));

#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < nr; i++) {
        const float *token = e->wte + e->tokens[i] * width;
        const float *position = e->wpe + (e->first + i % e->seq) * width;

        if (i + ahead < nr)
            prefetch(e->wte + e->tokens[i + ahead] * width, width);
        if (stream)
            row(true, token, position, e->out + i * width, width);
        else
            row(false, token, position, e->out + i * width, width);
    }
    if (stream)
        simd_fence();
    team_meet();
}

#else

void embedding_rows_simd(const struct embedding *e)
{
    double bytes = 12.0 * (double)(e->batch * e->seq * e->width);

    host_share(SIMD_CHOOSE(embedding_rows), e, e->threads, bytes);
}

static void launch(const struct call *call)
{
    struct embedding e = embedding_of(call);

    embedding_rows_simd(&e);
}

const struct variant embedding_simd[] = {
    {
        .name = "simd",
        .summary = "vectors, next rows prefetched, OpenMP; limit: memory bandwidth",
        .kernel = &embedding_gpt_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    { .name = NULL },
};

#endif
