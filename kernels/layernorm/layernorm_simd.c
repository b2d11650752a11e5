/* SPDX-License-Identifier: MIT */
/*
 * A block of rows is read from memory once and stays in L1 for the two later passes:
 *
 *   memory --> [x + delta] --> L1 --> sums of (x - mean)^2 --> (x scale + shift) gain + bias --> y
 *               sums                  of each row
 *
 * The sums of up to SIMD_WIDTH rows are added across their lanes together, and the divisions and
 * roots are one vector operation for all of them: for narrow rows that is most of the work. In the
 * last pass TILE vectors of gain and bias stay in registers for all rows of the block. Outputs
 * beyond the caches: layernorm_simd_stream.h.
 *
 * Limit: the loads of three passes and ten operations a vector. Where the rows come from L2 the
 * transfers do not fit beside them: a copy there takes about as long as the arithmetic alone.
 */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/layernorm/layernorm_simd_stream.h"
#include "kernels/simd.h"

#include <omp.h>

SIMD_DECLARE(host_share_fn, layernorm_rows);

#ifdef SIMD_ISA

enum {
    TILE = 4,
    CHAINS = 4,  /* of additions that do not wait for each other */
    BLOCK = 2048 /* floats: with its results a part of the smallest L1, 32 KiB */
};

/* Rows that follow each other; every pointer but gain and bias at the first of them. */
struct block {
    const float *x, *delta, *gain, *bias;
    float *sum, *y;
    int64_t rows, width;
    float scale[SIMD_WIDTH], shift[SIMD_WIDTH]; /* (x - mean) / deviation = x scale + shift */
};

/* What the later passes read. */
SIMD_INLINE const float *source(bool residual, const struct block *b)
{
    return residual ? b->sum : b->x;
}

/* The first `lanes` lanes of x, or of x + delta, which is kept. */
SIMD_INLINE simd_float taken(bool residual, const struct block *b, int64_t at, int64_t lanes)
{
    simd_float v = simd_load_upto(b->x + at, lanes);

    if (!residual)
        return v;
    v += simd_load_upto(b->delta + at, lanes);
    simd_store_upto(b->sum + at, v, lanes);
    return v;
}

/* sum + the values, or + the squares of their distances from the mean. Lanes past the end must add
 * nothing, so their distance is cleared, not their value. */
SIMD_INLINE simd_float add(bool residual, bool squares, const struct block *b, int64_t at,
                           int64_t lanes, simd_float mean, simd_float sum)
{
    if (!squares)
        return sum + taken(residual, b, at, lanes);
    simd_float d = simd_load_upto(source(residual, b) + at, lanes) - mean;
    if (lanes < SIMD_WIDTH)
        d = simd_fill_first(simd_set(0), lanes, d);
    return simd_fma(d, d, sum);
}

/* Of row i, lane by lane: the values, or the squares. */
SIMD_INLINE simd_float row_sum(bool residual, bool squares, const struct block *b, int64_t i,
                               simd_float mean)
{
    simd_float part[CHAINS] = { simd_set(0), simd_set(0), simd_set(0), simd_set(0) };
    int64_t row = i * b->width, j = 0;

    for (; j + CHAINS * SIMD_WIDTH <= b->width; j += CHAINS * SIMD_WIDTH) {
        SIMD_UNROLL
        for (int c = 0; c < CHAINS; c++)
            part[c] =
                add(residual, squares, b, row + j + c * SIMD_WIDTH, SIMD_WIDTH, mean, part[c]);
    }
    SIMD_UNROLL
    for (int c = 1; c < CHAINS; c++) {
        if (j + SIMD_WIDTH > b->width)
            break;
        part[c] = add(residual, squares, b, row + j, SIMD_WIDTH, mean, part[c]);
        j += SIMD_WIDTH;
    }
    if (j < b->width)
        part[0] = add(residual, squares, b, row + j, b->width - j, mean, part[0]);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* scale and shift of all rows. */
SIMD_INLINE void moments(bool residual, struct block *b)
{
    const simd_float n = simd_set((float)b->width);
    simd_float part[SIMD_WIDTH];
    float mean[SIMD_WIDTH];

    for (int64_t i = b->rows; i < SIMD_WIDTH; i++)
        part[i] = simd_set(0);
    for (int64_t i = 0; i < b->rows; i++)
        part[i] = row_sum(residual, false, b, i, simd_set(0));
    simd_float m = simd_sum_each(part) / n;
    simd_store(mean, m);

    for (int64_t i = 0; i < b->rows; i++)
        part[i] = row_sum(residual, true, b, i, simd_set(mean[i]));
    simd_float variance = simd_sum_each(part) / n;
    simd_float scale = simd_set(1) / simd_sqrt(variance + simd_set((float)LAYERNORM_EPS));
    simd_store(b->scale, scale);
    simd_store(b->shift, simd_set(0) - m * scale);
}

/* nv vectors of all rows from column j on; only the first `lanes` lanes of the last one if part. */
SIMD_INLINE void columns(bool residual, int nv, bool part, const struct block *b, int64_t j)
{
    const float *from = source(residual, b);
    int64_t lanes = part ? b->width - j - (nv - 1) * SIMD_WIDTH : SIMD_WIDTH;
    simd_float gain[TILE], bias[TILE];

    SIMD_UNROLL
    for (int v = 0; v < nv; v++) {
        int64_t n = v == nv - 1 ? lanes : SIMD_WIDTH;
        gain[v] = simd_load_upto(b->gain + j + v * SIMD_WIDTH, n);
        bias[v] = simd_load_upto(b->bias + j + v * SIMD_WIDTH, n);
    }
    for (int64_t i = 0; i < b->rows; i++) {
        const simd_float scale = simd_set(b->scale[i]), shift = simd_set(b->shift[i]);
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            int64_t at = i * b->width + j + v * SIMD_WIDTH, n = v == nv - 1 ? lanes : SIMD_WIDTH;
            simd_float x = simd_product(simd_load_upto(from + at, n), scale) + shift;
            simd_store_upto(b->y + at, simd_product(x, gain[v]) + bias[v], n);
        }
    }
}

/* The columns that are left over from whole tiles. */
SIMD_INLINE void rest(bool residual, bool part, const struct block *b, int64_t j)
{
    switch ((b->width - j + SIMD_WIDTH - 1) / SIMD_WIDTH) {
    case 1:
        columns(residual, 1, part, b, j);
        break;
    case 2:
        columns(residual, 2, part, b, j);
        break;
    case 3:
        columns(residual, 3, part, b, j);
        break;
    case 4:
        columns(residual, 4, part, b, j);
        break;
    default:
        break;
    }
}

SIMD_INLINE void normalise(bool residual, const struct block *b)
{
    int64_t j = 0;

    for (; j + TILE * SIMD_WIDTH <= b->width; j += TILE * SIMD_WIDTH)
        columns(residual, TILE, false, b, j);
    if (b->width % SIMD_WIDTH == 0)
        rest(residual, false, b, j);
    else
        rest(residual, true, b, j);
}

/* Rows [first, end) of the operation, block by block. */
SIMD_INLINE void band(bool residual, int64_t width, const struct layernorm *op, int64_t first,
                      int64_t end)
{
    const struct layernorm l = *op; /* a copy, which no store can change */
    int64_t rows = BLOCK / width;

    rows = rows < 1 ? 1 : rows < SIMD_WIDTH ? rows : SIMD_WIDTH;
    for (int64_t i = first; i < end; i += rows) {
        int64_t at = i * width;
        struct block b = {
            .x = l.x + at,
            .delta = residual ? l.delta + at : NULL,
            .gain = l.gain,
            .bias = l.bias,
            .sum = residual ? l.sum + at : NULL,
            .y = l.y + at,
            .rows = end - i < rows ? end - i : rows,
            .width = width,
        };
        moments(residual, &b);
        normalise(residual, &b);
    }
}

SIMD_INLINE void rows_of(bool residual, const struct layernorm *l, int64_t first, int64_t end)
{
    if (stream_fits(l))
        stream_band(residual, l, first, end);
    else if (l->width == 48) /* of the narrowest models: the loops over a row unroll */
        band(residual, 48, l, first, end);
    else if (l->width == 64)
        band(residual, 64, l, first, end);
    else
        band(residual, l->width, l, first, end);
}

void SIMD_NAME(layernorm_rows)(const void *operation)
{
    const struct layernorm *l = operation;
    int64_t team = omp_get_num_threads();

#pragma omp for schedule(static)
    for (int64_t t = 0; t < team; t++) {
        int64_t first = l->rows * t / team, end = l->rows * (t + 1) / team;
        if (l->delta != NULL)
            rows_of(true, l, first, end);
        else
            rows_of(false, l, first, end);
    }
}

#else

void layernorm_rows_simd(const struct layernorm *l)
{
    host_share(SIMD_CHOOSE(layernorm_rows), l, l->threads, 8.0 * (double)(l->rows * l->width));
}

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);

    layernorm_rows_simd(&l);
}

const struct variant layernorm_simd[] = {
    {
        .name = "simd",
        .summary =
            "blocks of rows in L1 for three passes, streaming stores; limit: memory bandwidth",
        .kernel = &layernorm_plain_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    {
        .name = "simd",
        .summary = "addition fused into the first pass of three, streaming stores; limit: memory "
                   "bandwidth",
        .kernel = &layernorm_residual_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    { .name = NULL },
};

#endif
