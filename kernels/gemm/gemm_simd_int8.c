/* SPDX-License-Identifier: MIT */
/*
 * Products with weights of int8, or of 10 bits: an int8 and two bits behind its point.
 *
 *                     n: panels, rounded and packed once
 *                   +------+------+------+--
 *                 k | scales             |      each panel is one stream, a quarter as long as
 *            k      | quads |     |      |      in fp32
 *         +-------+ +------+------+------+--
 *       m | block |----------> tile (gemm_int8_tile.h): x in 16 bits, sums in 32, exact
 *         +-------+              |
 *          x, rounded to         v  scales of row and output, bias, GELU, residual
 *          16 bits (L2)          y
 *
 * Limit: for few rows the bandwidth at which w can be read, of which there is a quarter as much as
 * in fp32; for many, two vpdpbusd for four terms where the processor has them, which is half of
 * `dot.int8` of the measured roofs, and twice the terms of FMA.
 */
#include "kernels/gemm/gemm_call.h"
#include "kernels/gemm/int8/gemm_int8.h"
#include "kernels/gemm/int8/gemm_int8_tile.h"
#include "kernels/gemm/int8/gemm_int8_weights.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/team.h"

#include <omp.h>

typedef void gemm_int8_pack_fn(const float *w, int64_t n, int64_t k, float *packed, int threads);
typedef size_t gemm_int8_packed_size_fn(int64_t n, int64_t k);

/* A product; its blocks of x are of as many bytes. */
struct blocked {
    const struct gemm_linear *g;
    int64_t bytes;
};

int64_t gemm_int8_block(const struct blocked *o); /* rows of x that are rounded at once */
int64_t gemm_int8_row_words(int64_t k);           /* of a row of x, in 32 bits */
int64_t gemm_int8_row_sums(int64_t k);
int64_t gemm_int8_words(const struct blocked *o); /* of a thread */

SIMD_DECLARE_VNNI(host_share_fn, gemm_int8);
SIMD_DECLARE_VNNI(gemm_int8_pack_fn, gemm_int8_pack);
SIMD_DECLARE_VNNI(gemm_int8_packed_size_fn, gemm_int8_packed_size);
SIMD_DECLARE_VNNI(host_share_fn, gemm_int10);
SIMD_DECLARE_VNNI(gemm_int8_pack_fn, gemm_int10_pack);
SIMD_DECLARE_VNNI(gemm_int8_packed_size_fn, gemm_int10_packed_size);

#ifdef SIMD_ISA

/* ---- x ---- */

/* A thread's part of the scratch. */
struct space {
    int32_t *words, *sums;
    float *scale;
    float *unit; /* what the sums of a row are multiplied by in the end: 1 where it is not small */
    int64_t words_row, sums_row;
    bool small; /* is there a small row? */
};

/* A row is small where its largest is: a step of it, or what weights make of that, may be less than
 * fp32 has in full. It is taken `lift` times. */
static const float small_row = 0x1p-64f, lift = 0x1p100f;

/* NaN where one of them is that, or infinite: a maximum forgets it, a sum of zeros does not, and
 * does not wait for the maximum. */
static float largest(const float *x, int64_t k)
{
    simd_float most = simd_set(0), none = simd_set(0);
    float lane[SIMD_WIDTH], top = 0;

    for (int64_t p = 0; p < k; p += SIMD_WIDTH) {
        const simd_float v = simd_load_upto(x + p, k - p);
        most = simd_max(most, simd_max(v, simd_set(0) - v));
        none = simd_fma(v, simd_set(0), none);
    }
    simd_store(lane, most);
    for (int i = 0; i < SIMD_WIDTH; i++)
        top = lane[i] > top ? lane[i] : top;
    return top + simd_sum(none);
}

/* Terms [term, end), a block's; what its sums begin with. */
SIMD_INLINE void round_block(int bits, const float *x, float times, float steps, int64_t term,
                             int64_t end, int32_t *words, int32_t sums[2])
{
    struct simd_int8 sum = { simd_int8_set(0), simd_int8_set(0) };

    for (int64_t p = term; p < end; p += SIMD_WIDTH) {
        const simd_float v = simd_load_upto(x + p, end - p) * simd_set(times);
        simd_int8_words(v * simd_set(steps), words + p / 2, &sum);
    }
    if (bits == 8) {
        sums[0] = -SIMD_INT8_OFFSET * simd_int8_total(sum.a);
        sums[1] = -SIMD_INT8_OFFSET * simd_int8_total(sum.b);
    } else {
        simd_int10_begin(simd_int8_total(sum.a), simd_int8_total(sum.b), sums);
    }
}

/* A row. Inline, so that the usual one is not multiplied by a `times` of 1. */
SIMD_INLINE void round_times(int bits, const float *x, int64_t k, float times, float most,
                             int32_t *words, int32_t *sums)
{
    const int64_t terms = bits == 8 ? SIMD_INT8_TERMS : SIMD_INT10_TERMS;
    const float steps = SIMD_INT8_MOST / (most * times);

    for (int64_t term = 0; term < k; term += terms, sums += 2)
        round_block(bits, x, times, steps, term, at_most(term + terms, k), words, sums);
}

/* Row `i` of a block to 16 bits, and zeros behind it as far as weights are read. One whose largest
 * is NaN is zeros, and NaN by its scale. Is it small? */
static bool round_row(int bits, const float *x, int64_t k, int64_t i, const struct space *to)
{
    const float most = largest(x, k);
    const bool any = most > 0, small = any && most < small_row;
    const int64_t rounded = any ? ceil_div(k, SIMD_WIDTH) * SIMD_WIDTH / 2 : 0;
    int32_t *words = to->words + i * to->words_row, *sums = to->sums + i * to->sums_row;

    to->scale[i] = (small ? most * lift : most) / SIMD_INT8_MOST;
    to->unit[i] = small ? 1 / lift : 1;
    if (small)
        round_times(bits, x, k, lift, most, words, sums);
    else if (any)
        round_times(bits, x, k, 1, most, words, sums);
    else
        memset(sums, 0, (size_t)to->sums_row * sizeof(*sums));
    for (int64_t word = rounded; word < 2 * depth_of(bits, k); word++)
        words[word] = 0;
    return small;
}

static void round_rows(int bits, const struct gemm_linear *g, int64_t row, int64_t rows,
                       struct space *to)
{
    to->small = false;
    for (int64_t i = 0; i < rows; i++)
        to->small |= round_row(bits, g->x + (row + i) * g->ldx, g->k, i, to);
}

/* ---- the product ---- */

/* One row of y = activation(sums + bias) + residual, from column `col` on. */
static void finish_row(const struct gemm_linear *g, int64_t row, int64_t col, int64_t cols,
                       const float *sums)
{
    for (int64_t j = 0; j < cols; j += SIMD_WIDTH) {
        const int64_t n = cols - j;
        simd_float v = simd_load(sums + j);
        if (g->bias != NULL)
            v += simd_load_upto(g->bias + col + j, n);
        if (g->activation == GEMM_GELU)
            v = simd_gelu(v);
        if (g->residual != NULL)
            v += simd_load_upto(g->residual + row * g->ldr + col + j, n);
        simd_store_upto(g->y + row * g->ldy + col + j, v, n);
    }
}

static bool is_plain(const struct gemm_linear *g)
{
    return g->bias == NULL && g->residual == NULL && g->activation == GEMM_IDENTITY;
}

static int8_tile_fn *tile_of(int bits, int64_t vectors, int64_t rows)
{
    if (vectors < 1)
        __builtin_unreachable(); /* gcc sees a tile in front of the first, which it warns of */
    return bits == 8 ? int8_tiles[vectors - 1][rows - 1] : int10_tiles[vectors - 1][rows - 1];
}

/* Sums of small rows are those of a multiple until here. */
static void lower_rows(int64_t rows, int64_t vectors, const float *unit, float *sums)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t v = 0; v < vectors; v++) {
            float *to = sums + i * INT8_PANEL + v * SIMD_WIDTH;
            simd_store(to, simd_load(to) * simd_set(unit[i]));
        }
}

/* The rows of a tile through one panel: to y where nothing follows. */
static void multiply_tile(int bits, const struct gemm_linear *g, int64_t row, int64_t rows,
                          int64_t col, const struct int8_rows *x, const struct int8_panel *w)
{
    float sums[INT8_ROWS * INT8_PANEL] __attribute__((aligned(64)));
    const int64_t cols = at_most(INT8_PANEL, g->n - col), vectors = ceil_div(cols, SIMD_WIDTH);
    int8_tile_fn *tile = tile_of(bits, vectors, rows);

    if (is_plain(g) && cols % SIMD_WIDTH == 0 && x->unit == NULL) {
        tile(x, w, g->y + row * g->ldy + col, g->ldy);
        return;
    }
    tile(x, w, sums, INT8_PANEL);
    if (x->unit != NULL)
        lower_rows(rows, vectors, x->unit, sums);
    for (int64_t i = 0; i < rows; i++)
        finish_row(g, row + i, col, cols, sums + i * INT8_PANEL);
}

/* All rows of a block through some panels side by side, so that what they make of a row of y is a
 * run of it: of logits each row has a page of its own. */
static void multiply_group(int bits, const struct gemm_linear *g, int64_t row, int64_t rows,
                           int64_t col, int64_t end, const struct space *x)
{
    for (int64_t i = 0; i < rows; i += INT8_ROWS) {
        const struct int8_rows part = { x->words + i * x->words_row,
                                        x->words_row,
                                        x->sums + i * x->sums_row,
                                        x->sums_row,
                                        x->scale + i,
                                        x->small ? x->unit + i : NULL };
        for (int64_t j = col; j < end; j += INT8_PANEL) {
            const float *panel = g->w + panel_at(bits, j, g->k);
            const struct int8_panel w = { panel, (const uint8_t *)(panel + width_of(g->n, j)),
                                          depth_of(bits, g->k) };
            multiply_tile(bits, g, row + i, at_most(INT8_ROWS, rows - i), j, &part, &w);
        }
    }
}

/* Columns of a group: its panels stay in L2. */
static int64_t group_of(int bits, int64_t k)
{
    const int64_t bytes = 256 << 10, most = 512 / INT8_PANEL;
    const int64_t fit = bytes / (panel_at(bits, INT8_PANEL, k) * (int64_t)sizeof(float));

    return at_most(fit > 0 ? fit : 1, most) * INT8_PANEL;
}

static void multiply(int bits, const struct blocked *o)
{
    const struct gemm_linear *g = o->g;
    const int64_t parts = team_parts();
    const int64_t block = gemm_int8_block(o), row_words = gemm_int8_row_words(g->k);
    const int64_t group = group_of(bits, g->k);
    int32_t *scratch = (int32_t *)(void *)g->scratch + omp_get_thread_num() * gemm_int8_words(o);
    float *factors = (float *)(void *)(scratch + block * (row_words + gemm_int8_row_sums(g->k)));
    struct space x = { .words = scratch,
                       .sums = scratch + block * row_words,
                       .scale = factors,
                       .unit = factors + block,
                       .words_row = row_words,
                       .sums_row = gemm_int8_row_sums(g->k) };

#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < parts; t++) {
        const struct gemm_share s = gemm_share_of(g->m, g->n, INT8_ROWS, INT8_PANEL, t, parts);
        for (int64_t row = s.row; row < s.end && s.col < s.col_end; row += block) {
            const int64_t rows = at_most(block, s.end - row);
            round_rows(bits, g, row, rows, &x);
            for (int64_t col = s.col; col < s.col_end; col += group)
                multiply_group(bits, g, row, rows, col, at_most(col + group, s.col_end), &x);
        }
    }
    team_meet();
}

void SIMD_NAME(gemm_int8)(const void *operation)
{
    multiply(8, operation);
}

void SIMD_NAME(gemm_int10)(const void *operation)
{
    multiply(10, operation);
}

/* ---- packing ---- */

void SIMD_NAME(gemm_int8_pack)(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    pack(8, w, n, k, packed, threads);
}

void SIMD_NAME(gemm_int10_pack)(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    pack(10, w, n, k, packed, threads);
}

size_t SIMD_NAME(gemm_int8_packed_size)(int64_t n, int64_t k)
{
    return (size_t)panel_at(8, ceil_div(n, SIMD_WIDTH) * SIMD_WIDTH, k);
}

size_t SIMD_NAME(gemm_int10_packed_size)(int64_t n, int64_t k)
{
    return (size_t)panel_at(10, ceil_div(n, SIMD_WIDTH) * SIMD_WIDTH, k);
}

#else

enum { LINE = 16, BLOCK_BYTES = 256 << 10, LEAST_BLOCK = 4, TERMS = 128 /* of the least block */ };

void gemm_int8_pack(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    SIMD_CHOOSE_VNNI(gemm_int8_pack)(w, n, k, packed, threads);
}

size_t gemm_int8_packed_size(int64_t n, int64_t k)
{
    return SIMD_CHOOSE_VNNI(gemm_int8_packed_size)(n, k);
}

void gemm_int10_pack(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    SIMD_CHOOSE_VNNI(gemm_int10_pack)(w, n, k, packed, threads);
}

size_t gemm_int10_packed_size(int64_t n, int64_t k)
{
    return SIMD_CHOOSE_VNNI(gemm_int10_packed_size)(n, k);
}

int64_t gemm_int8_row_words(int64_t k)
{
    return ceil_div(k, 2 * LINE) * LINE;
}

int64_t gemm_int8_row_sums(int64_t k)
{
    return 2 * ceil_div(k, TERMS);
}

int64_t gemm_int8_block(const struct blocked *o)
{
    const int64_t fit = o->bytes / (int64_t)sizeof(int32_t) / gemm_int8_row_words(o->g->k);
    const int64_t most = ceil_div(o->g->m, LEAST_BLOCK) * LEAST_BLOCK, tiles = fit / LEAST_BLOCK;

    return at_most(most, (tiles > 0 ? tiles : 1) * LEAST_BLOCK);
}

int64_t gemm_int8_words(const struct blocked *o)
{
    const int64_t k = o->g->k;
    const int64_t row = gemm_int8_row_words(k) + gemm_int8_row_sums(k) + 2; /* scale, unit */

    return ceil_div(gemm_int8_block(o) * row, LINE) * LINE;
}

size_t gemm_int8_scratch(int64_t m, int64_t k, int threads)
{
    const struct gemm_linear g = { .m = m, .k = k };
    const struct blocked o = { &g, BLOCK_BYTES };

    return (size_t)threads * (size_t)gemm_int8_words(&o);
}

static void share(host_share_fn *product, const struct blocked *o)
{
    const struct gemm_linear *g = o->g;
    double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;

    host_share(product, o, g->threads, flops / 8);
}

void gemm_linear_int8(const struct gemm_linear *g)
{
    share(SIMD_CHOOSE_VNNI(gemm_int8), &(struct blocked) { g, BLOCK_BYTES });
}

void gemm_linear_int10(const struct gemm_linear *g)
{
    share(SIMD_CHOOSE_VNNI(gemm_int10), &(struct blocked) { g, BLOCK_BYTES });
}

/* Behind each other in the call's state, on lines of their own: packed weights, scratch. */
static size_t weights_size(const struct gemm_linear *g)
{
    return (gemm_int8_packed_size(g->n, g->k) + LINE - 1) / LINE * LINE;
}

static size_t state_floats(const struct blocked *o)
{
    return weights_size(o->g) + (size_t)o->g->threads * (size_t)gemm_int8_words(o);
}

/* KiB; 0 is as many as always. */
static const char *const params[] = { "block=0,64,128,512,1024", NULL };

static struct blocked blocked_of(const struct call *call, const struct gemm_linear *g)
{
    const int64_t most = INT64_MAX >> 10, kib = at_most(variant_param(call->variant, 0), most);

    return (struct blocked) { g, kib > 0 ? kib << 10 : BLOCK_BYTES };
}

static int64_t workspace(const struct call *call)
{
    const struct gemm_linear g = gemm_linear_of(call);
    const struct blocked o = blocked_of(call, &g);

    return host_bytes(state_floats(&o));
}

static int prepare(struct call *call, struct error *err)
{
    const struct gemm_linear g = gemm_linear_of(call);
    const struct blocked o = blocked_of(call, &g);

    if (host_state(call, state_floats(&o), err) != 0)
        return -1;
    gemm_int8_pack(g.w, g.n, g.k, call->state, g.threads);
    return 0;
}

static void launch(const struct call *call)
{
    struct gemm_linear g = gemm_linear_of(call);

    g.w = call->state;
    g.scratch = (float *)call->state + weights_size(&g);
    const struct blocked o = blocked_of(call, &g);
    share(SIMD_CHOOSE_VNNI(gemm_int8), &o);
}

#define LINEAR(of)                                                                                 \
    {                                                                                              \
        .name = "simd_int8",                                                                       \
        .summary =                                                                                 \
            "weights of int8, a scale an output; x in 16 bits, sums exact; "                       \
            "limit: reading a quarter of the bytes",                                               \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_FP32,                                                                       \
        .math = MATH_INT8,                                                                         \
        .supports = simd_supports,                                                                 \
        .prepare = prepare,                                                                        \
        .launch = launch,                                                                          \
        .release = host_state_release,                                                             \
        .params = params,                                                                          \
        .workspace = workspace,                                                                    \
    },

const struct variant gemm_simd_int8[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* of weights alone: gemm/nn has none */
    { .name = NULL },
};

#endif
