/* SPDX-License-Identifier: MIT */
/*
 * A matrix is one long run, cut for the threads:
 *
 *   gelu, residual:   |---- thread 0 ----|---- thread 1 ----|   any place will do
 *   bias, bias_gelu:  |row|row|row|row|--|--|row|row|row|row|   each row beside the same bias
 *
 * Results beyond the caches are streamed to memory, past the read that a store begins with.
 *
 * Limit: memory bandwidth out of cache; in cache one exponential and one division a vector for
 * the gelus (see kernels/simd_math.h).
 */
#include "kernels/host.h"
#include "kernels/pointwise/pointwise_call.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/team.h"

SIMD_DECLARE(host_share_fn, pointwise_rows);

/* In pieces of as many floats, which a thread takes at once; but by rows where a bias is. */
struct pieces {
    const struct pointwise *p;
    int64_t piece;
};

#ifdef SIMD_ISA

enum { AHEAD = 2048 }; /* floats between what is read and what is fetched, where it is memory's */

/* What is done to each element, in what way. Constants where they are inlined. */
struct way {
    bool sum, gelu;
    bool stream; /* whole vectors only, y on their boundary */
};

SIMD_INLINE simd_float value(struct way w, simd_float x, simd_float operand)
{
    if (w.sum)
        x += operand;
    return w.gelu ? simd_gelu(x) : x;
}

/* y = gelu(x + operand), where either may be left out; n elements. */
SIMD_INLINE void run(struct way w, const float *x, const float *operand, float *y, int64_t n)
{
    int64_t j = 0;

    for (; j + SIMD_WIDTH <= n; j += SIMD_WIDTH) {
        simd_float v = simd_load(x + j);
        v = value(w, v, w.sum ? simd_load(operand + j) : v);
        if (w.stream) {
            __builtin_prefetch(x + j + AHEAD);
            simd_stream(y + j, v);
        } else {
            simd_store(y + j, v);
        }
    }
    if (j < n) {
        simd_float v = simd_load_part(x + j, n - j);
        v = value(w, v, w.sum ? simd_load_part(operand + j, n - j) : v);
        simd_store_part(y + j, v, n - j);
    }
}

SIMD_INLINE void piece(bool stream, enum pointwise_op op, const float *x, const float *operand,
                       float *y, int64_t n)
{
    switch (op) {
    case POINTWISE_GELU:
        run((struct way) { .gelu = true, .stream = stream }, x, operand, y, n);
        break;
    case POINTWISE_BIAS_GELU:
        run((struct way) { .sum = true, .gelu = true, .stream = stream }, x, operand, y, n);
        break;
    case POINTWISE_BIAS:
    case POINTWISE_RESIDUAL:
        run((struct way) { .sum = true, .stream = stream }, x, operand, y, n);
        break;
    }
}

/* Beyond the caches, and not over an input, whose line would be thrown out while it is read. */
static bool streams(const struct pointwise *p, int64_t step)
{
    bool aligned = (uintptr_t)p->y % sizeof(simd_float) == 0 && step % SIMD_WIDTH == 0;

    return aligned && p->y != p->x && p->y != p->operand &&
           host_beyond_caches(8.0 * (double)(p->rows * p->width));
}

void SIMD_NAME(pointwise_rows)(const void *operation)
{
    const struct pieces *o = operation;
    const struct pointwise *p = o->p;
    bool by_row = p->op == POINTWISE_BIAS || p->op == POINTWISE_BIAS_GELU;
    bool whole = p->op == POINTWISE_RESIDUAL;
    int64_t total = p->rows * p->width;
    int64_t step = by_row ? p->width : o->piece;
    bool stream = streams(p, step);

#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < total; i += step) {
        int64_t n = total - i < step ? total - i : step;
        const float *operand = whole ? p->operand + i : p->operand;
        if (stream)
            piece(true, p->op, p->x + i, operand, p->y + i, n);
        else
            piece(false, p->op, p->x + i, operand, p->y + i, n);
    }
    if (stream)
        simd_fence();
    team_meet();
}

#else

enum { PIECE = 8192, PIECE_MOST = 1 << 30 };

static void run_pieces(const struct pointwise *p, int64_t piece)
{
    const struct pieces o = { p, piece };

    host_share(SIMD_CHOOSE(pointwise_rows), &o, p->threads, 8.0 * (double)(p->rows * p->width));
}

void pointwise_rows_simd(const struct pointwise *p)
{
    run_pieces(p, PIECE);
}

static const char *const params[] = { "piece=0,1024,2048,4096,16384", NULL };

static void launch(const struct call *call)
{
    struct pointwise p = pointwise_of(call);
    int64_t piece = variant_param(call->variant, 0);

    run_pieces(&p, piece == 0 ? PIECE : piece < PIECE_MOST ? piece : PIECE_MOST);
}

#define SIMD(of, settings)                                                                         \
    {                                                                                              \
        .name = "simd", .summary = "vectors, OpenMP; limit: memory, or one exponential a vector",  \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_FP32, .math = MATH_FP32,             \
        .supports = simd_supports, .launch = launch, .params = (settings),                         \
    }

const struct variant pointwise_simd[] = {
    SIMD(pointwise_gelu_kernel, params),
    SIMD(pointwise_bias_kernel, NULL),
    SIMD(pointwise_bias_gelu_kernel, NULL),
    SIMD(pointwise_residual_kernel, params),
    { .name = NULL },
};

#endif
