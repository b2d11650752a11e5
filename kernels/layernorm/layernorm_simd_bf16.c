/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation of bfloat16, some rows at a time:
 *
 *      memory, bfloat16     a thread's buffer, fp32 (L1)
 *      x (, delta)  -- widen -->  x (, delta)  -- layernorm_simd_block.h -->  y (, sum)  -- narrow
 * -->
 *
 * Moments are of fp32 sums, so that the only rounding to bfloat16 is that of what is stored.
 *
 * Limit: memory bandwidth, at half the bytes; in cache the conversions, as many as all other work.
 */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/simd.h"
#include "kernels/simd_bf16.h"
#include "kernels/team.h"

#include <omp.h>

/* Pointers of `l` are to bfloat16, but for gain and bias. */
struct narrow_norm {
    struct layernorm l;
    float *buffers; /* [threads][x, delta][piece_rows()][width] */
};

SIMD_DECLARE(host_share_fn, layernorm_rows_bf16);

/* Rows that a thread works on at once: x and delta of them stay in L1, unless one is too long. */
static int64_t piece_rows(const struct layernorm *l)
{
    const int64_t rows = 3072 / l->width;

    return rows < 1 ? 1 : rows < 16 ? rows : 16;
}

#ifdef SIMD_ISA

/* Nothing that is in the buffer goes past the caches. */
static bool past_caches(const struct layernorm *l) __attribute__((unused));

#include "kernels/layernorm/layernorm_simd_block.h"

static const uint16_t *of(const float *narrow, int64_t at)
{
    return (const uint16_t *)(const void *)narrow + at;
}

static void rows_in_cache(const struct layernorm *l)
{
    const struct form plain = { .tile = TILE, .block = BLOCK };
    const struct form residual = { .residual = true, .tile = TILE, .block = BLOCK };

    if (l->delta != NULL)
        band(residual, l, l->width, 0, l->rows);
    else
        band(plain, l, l->width, 0, l->rows);
}

/* Rows [first, first + rows); y, and the sum, take the places of x and delta in the buffer. */
static void piece(const struct layernorm *l, int64_t first, int64_t rows, float *buffer)
{
    const int64_t at = first * l->width, n = rows * l->width;
    struct layernorm wide = *l;

    wide.rows = rows;
    wide.x = wide.y = buffer;
    simd_bf16_widen(of(l->x, at), n, buffer);
    if (l->delta != NULL) {
        wide.delta = wide.sum = buffer + n;
        simd_bf16_widen(of(l->delta, at), n, buffer + n);
    }
    rows_in_cache(&wide);
    if (l->delta != NULL)
        simd_bf16_narrow(wide.sum, n, (uint16_t *)(void *)l->sum + at);
    simd_bf16_narrow(wide.y, n, (uint16_t *)(void *)l->y + at);
}

void SIMD_NAME(layernorm_rows_bf16)(const void *operation)
{
    const struct narrow_norm *o = operation;
    const struct layernorm *l = &o->l;
    const int64_t step = piece_rows(l);
    float *buffer = o->buffers + 2 * step * l->width * omp_get_thread_num();

#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < l->rows; i += step)
        piece(l, i, l->rows - i < step ? l->rows - i : step, buffer);
    team_meet();
}

#else

/* In the call's state: gain and bias as floats, then the threads' buffers. */
static int prepare(struct call *call, struct error *err)
{
    const struct layernorm l = layernorm_of(call);
    const bool residual = l.delta != NULL;
    const struct tensor *gain =
        &call->tensor[residual ? (int)LAYERNORM_RESIDUAL_GAIN : (int)LAYERNORM_PLAIN_GAIN];
    const size_t buffers = 2 * (size_t)(piece_rows(&l) * l.width) * (size_t)host_threads(call);

    if (host_state(call, 2 * (size_t)l.width + buffers, err) != 0)
        return -1;
    for (int64_t j = 0; j < 2 * l.width; j++) /* the bias follows the gain in the layouts */
        ((float *)call->state)[j] = (float)tensor_get(&gain[j / l.width], j % l.width);
    return 0;
}

static void launch(const struct call *call)
{
    struct narrow_norm o = { .l = layernorm_of(call) };
    float *state = call->state;

    o.l.gain = state;
    o.l.bias = state + o.l.width;
    o.buffers = state + 2 * o.l.width;
    host_share(SIMD_CHOOSE(layernorm_rows_bf16), &o, o.l.threads,
               4.0 * (double)(o.l.rows * o.l.width));
}

#define SIMD(of)                                                                                   \
    {                                                                                              \
        .name = "simd_bf16", .summary = "some rows widened into L1, then as simd; limit: memory",  \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_BF16, .math = MATH_BF16,             \
        .supports = simd_supports, .prepare = prepare, .launch = launch,                           \
        .release = host_state_release,                                                             \
    }

const struct variant layernorm_simd_bf16[] = {
    SIMD(layernorm_plain_kernel),
    SIMD(layernorm_residual_kernel),
    { .name = NULL },
};

#endif
