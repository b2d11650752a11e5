/* SPDX-License-Identifier: MIT */
/*
 * As embedding_simd.c, of bfloat16: rows widened, added and rounded in vectors, the rows of some
 * tokens further on fetched into L2 in the meantime.
 *
 * Limit: memory bandwidth, at half the bytes.
 */
#include "kernels/embedding/embedding_call.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_bf16.h"
#include "kernels/team.h"

SIMD_DECLARE_BF16(host_share_fn, embedding_rows_bf16);

#ifdef SIMD_ISA

enum { AHEAD = 2048, LINE = 32 }; /* elements */

static void row(const uint16_t *token, const uint16_t *position, uint16_t *out, int64_t width)
{
    int64_t j = 0;

    for (; j + 2 * SIMD_WIDTH <= width; j += 2 * SIMD_WIDTH) {
        const simd_float a = simd_bf16_load_pairs(token + j),
                         b = simd_bf16_load_pairs(position + j);
        const simd_float even = simd_pair_even(a) + simd_pair_even(b);
        const simd_float odd = simd_pair_odd(a) + simd_pair_odd(b);
        simd_bf16_store_pairs(out + j, simd_bf16_pairs(even, odd));
    }
    for (; j < width; j += SIMD_WIDTH)
        simd_bf16_store_upto(out + j,
                             simd_bf16_load_upto(token + j, width - j) +
                                 simd_bf16_load_upto(position + j, width - j),
                             width - j);
}

void SIMD_NAME(embedding_rows_bf16)(const void *operation)
{
    const struct embedding *e = operation; /* whose pointers are to bfloat16 */
    const uint16_t *wte = (const void *)e->wte, *wpe = (const void *)e->wpe;
    uint16_t *out = (void *)e->out;
    int64_t width = e->width, nr = e->batch * e->seq, ahead = 2 + AHEAD / width;

#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < nr; i++) {
        const uint16_t *token = wte + e->tokens[i] * width;
        const uint16_t *position = wpe + (e->first + i % e->seq) * width;
        const uint16_t *later = i + ahead < nr ? wte + e->tokens[i + ahead] * width : token;
        for (int64_t j = 0; j < width; j += LINE)
            __builtin_prefetch(later + j, 0, 2);
        row(token, position, out + i * width, width);
    }
    team_meet();
}

#else

static void launch(const struct call *call)
{
    const struct embedding e = embedding_of(call);

    host_share(SIMD_CHOOSE_BF16(embedding_rows_bf16), &e, e.threads,
               6.0 * (double)(e.batch * e.seq * e.width));
}

const struct variant embedding_simd_bf16[] = {
    {
        .name = "simd_bf16",
        .summary = "vectors, next rows prefetched, OpenMP; limit: memory bandwidth",
        .kernel = &embedding_gpt_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_BF16,
        .math = MATH_BF16,
        .supports = simd_supports,
        .launch = launch,
    },
    { .name = NULL },
};

#endif
