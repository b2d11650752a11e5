/* SPDX-License-Identifier: MIT */
/*
 * Register tiles over packed panels.
 *
 *                       n: panels of 3 or 2 vectors, K-major, packed once
 *                     +------+------+------+--
 *                   k | p=0  |      |      |        each panel is one contiguous stream
 *            k        |  :   |      |      |
 *         +-------+   +------+------+------+--
 *         | 8 rows|-->| tile |             |        x is read in place, by broadcasts
 *       m +-------+   +------+             |
 *         |       |   |  part of a thread  |        a part: some rows x some panels; its rows of
 *         +-------+   +--------------------+--      x and a panel stay in L2 meanwhile
 *
 * What is deeper than L1 holds of a tile's rows is cut into slices that accumulate in y. Bias and
 * residual are applied to the registers (gemm_simd_tile.h), the activation while the tile is in L1.
 * Results much larger than the caches (logits) are gathered into whole cache lines and stored
 * around the caches, which saves reading those lines from memory first.
 *
 * gemm/nn packs as many rows of b as it uses next, a few at a time: so b is read in long runs.
 *
 * Limit: the FMA units for m of a few tiles and more, the bandwidth of w for m = 1.
 */
#include "core/host.h"
#include "kernels/gemm/gemm_call.h"
#include "kernels/gemm/gemm_simd_tile.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"

#include <omp.h>
#include <stdatomic.h>

typedef void gemm_pack_fn(const float *w, int64_t n, int64_t k, float *packed, int threads);
typedef int64_t gemm_panel_width_fn(void);

SIMD_DECLARE(host_share_fn, gemm_linear);
SIMD_DECLARE(host_share_fn, gemm_nn);
SIMD_DECLARE(gemm_pack_fn, gemm_pack);
SIMD_DECLARE(gemm_panel_width_fn, gemm_panel_width);

/* Floats that fit in a core's cache of level 1 or 2; the usual ones where the system does not tell.
 */
int64_t gemm_cache_floats(int level);

#ifdef SIMD_ISA

enum {
    MOST_GROUP = 512 / GEMM_PANEL, /* panels finished together, when streaming */
    GROUP_SHARE = 4,               /* of L2 that they may fill: a quarter */
};

/* The right factor: whole panels and the narrower last one, which is always packed. */
struct panels {
    const float *whole;
    int64_t panel_step, row_step; /* floats from panel to panel, and from k to k + 1 */
    const float *last;
};

/* Terms [term, term + terms) of the product; b has only those. */
struct slice {
    const struct gemm_linear *g;
    const struct panels *b;
    int64_t term, terms;
    bool stream;
};

/* How a slice is cut for the threads. */
struct cut {
    int64_t row_parts, rows; /* number, and rows of each */
    int64_t panel_parts, panels;
};

struct part {
    const struct slice *s;
    int64_t row, rows, panel, panels;
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The most terms of a slice: a tile's rows of them fill L1. Cut evenly. */
static int64_t terms_of(int64_t k)
{
    int64_t most = gemm_cache_floats(1) / GEMM_ROWS;

    return k <= most ? k : ceil_div(ceil_div(k, ceil_div(k, most)), GEMM_LINE) * GEMM_LINE;
}

/* The rows of a part fill half of L2 at most; columns are cut first for the threads, as x is small
 * beside w: about four parts each, to even out. */
static struct cut cut_of(const struct slice *s, int threads)
{
    int64_t panels = ceil_div(s->g->n, GEMM_PANEL), tiles = ceil_div(s->g->m, GEMM_ROWS);
    int64_t wanted = threads > 1 ? 4 * threads : 1, fit = 2 * gemm_cache_floats(2), row_parts;
    struct cut c = { 1, tiles * GEMM_ROWS, 1, panels };

    if (threads == 1 && c.rows * s->terms <= fit)
        return c;
    row_parts = ceil_div(tiles, at_least(1, fit / (GEMM_ROWS * at_least(s->terms, 1))));
    c.panels = ceil_div(panels, at_most(panels, ceil_div(wanted, row_parts)));
    c.panel_parts = ceil_div(panels, c.panels);
    row_parts = at_least(row_parts, at_most(tiles, ceil_div(wanted, c.panel_parts)));
    c.rows = ceil_div(tiles, row_parts) * GEMM_ROWS;
    c.row_parts = ceil_div(s->g->m, c.rows);
    return c;
}

/* One tile of the part to `y`. */
static void multiply(const struct part *d, int64_t row, int64_t panel, float *y, int64_t y_row)
{
    const struct slice *s = d->s;
    const struct gemm_linear *g = s->g;
    int64_t rows = at_most(GEMM_ROWS, d->row + d->rows - row);
    int64_t col = panel * GEMM_PANEL, cols = at_most(GEMM_PANEL, g->n - col);
    bool whole = cols == GEMM_PANEL, first = s->term == 0, last = s->term + s->terms == g->k;
    const float *add = !first ? g->y : g->activation == GEMM_IDENTITY ? g->residual : NULL;
    int64_t add_row = first ? g->ldr : g->ldy;
    const struct gemm_tile t = {
        .a = g->x + row * g->ldx + s->term,
        .a_row = g->ldx,
        .b = whole ? s->b->whole + panel * s->b->panel_step : s->b->last,
        .b_row = whole ? s->b->row_step : GEMM_PANEL,
        .depth = s->terms,
        .cols = cols,
        .bias = last && g->bias != NULL ? g->bias + col : NULL,
        .add = add != NULL ? add + row * add_row + col : NULL,
        .add_row = add_row,
        .y = y,
        .y_row = y_row,
    };

    gemm_tiles[(cols - 1) / SIMD_WIDTH][rows - 1](&t);
}

/* y = gelu(y) + residual */
static void activate(const struct gemm_linear *g, int64_t row, int64_t rows, int64_t col,
                     int64_t cols)
{
    for (int64_t i = row; i < row + rows; i++) {
        const float *residual = g->residual != NULL ? g->residual + i * g->ldr + col : NULL;
        float *y = g->y + i * g->ldy + col;
        for (int64_t j = 0; j < cols; j += SIMD_WIDTH) {
            simd_float v = simd_gelu(simd_load_upto(y + j, cols - j));
            if (residual != NULL)
                v += simd_load_upto(residual + j, cols - j);
            simd_store_upto(y + j, v, cols - j);
        }
    }
}

static void copy_run(float *to, const float *from, int64_t n)
{
    for (int64_t j = 0; j < n; j += SIMD_WIDTH)
        simd_store_upto(to + j, simd_load_upto(from + j, n - j), n - j);
}

/* Whole cache lines go around the caches, the pieces before and after them do not: their lines
 * are shared with the neighbours. */
static void stream_run(float *to, const float *from, int64_t n)
{
    int64_t head = at_most((int64_t)(-((uintptr_t)to / sizeof(*to)) % GEMM_LINE), n);
    int64_t end = head + (n - head) / GEMM_LINE * GEMM_LINE;

    copy_run(to, from, head);
    for (int64_t j = head; j < end; j += SIMD_WIDTH)
        simd_stream(to + j, simd_load(from + j));
    copy_run(to + end, from + end, n - end);
}

/* The rows of one tile, through some panels: for long runs of whole lines. */
static void stream_rows(const struct part *d, int64_t row, int64_t panel, int64_t panels)
{
    float gathered[GEMM_ROWS * MOST_GROUP * GEMM_PANEL] __attribute__((aligned(64)));
    const int64_t step = MOST_GROUP * GEMM_PANEL;
    const struct gemm_linear *g = d->s->g;
    int64_t col = panel * GEMM_PANEL, cols = at_most(panels * GEMM_PANEL, g->n - col);
    int64_t rows = at_most(GEMM_ROWS, d->row + d->rows - row);

    for (int64_t i = 0; i < panels; i++)
        multiply(d, row, panel + i, gathered + i * GEMM_PANEL, step);
    for (int64_t i = 0; i < rows; i++)
        stream_run(g->y + (row + i) * g->ldy + col, gathered + i * step, cols);
}

/* Panels of a group stay in L2 beside each other. */
static void stream_part(const struct part *d)
{
    int64_t fit = gemm_cache_floats(2) / GROUP_SHARE / (GEMM_PANEL * at_least(d->s->terms, 1));
    int64_t group = at_most(MOST_GROUP, at_least(1, fit)), end = d->panel + d->panels;

    for (int64_t panel = d->panel; panel < end; panel += group)
        for (int64_t row = d->row; row < d->row + d->rows; row += GEMM_ROWS)
            stream_rows(d, row, panel, at_most(group, end - panel));
    simd_fence();
}

static void multiply_part(const struct part *d)
{
    const struct gemm_linear *g = d->s->g;
    bool activated = g->activation == GEMM_GELU && d->s->term + d->s->terms == g->k;

    for (int64_t panel = d->panel; panel < d->panel + d->panels; panel++) {
        int64_t col = panel * GEMM_PANEL, cols = at_most(GEMM_PANEL, g->n - col);
        for (int64_t row = d->row; row < d->row + d->rows; row += GEMM_ROWS) {
            multiply(d, row, panel, g->y + row * g->ldy + col, g->ldy);
            if (activated)
                activate(g, row, at_most(GEMM_ROWS, d->row + d->rows - row), col, cols);
        }
    }
}

static void run_part(const struct slice *s, const struct cut *c, int64_t i)
{
    struct part d = { .s = s, .row = i / c->panel_parts * c->rows };

    d.rows = at_most(c->rows, s->g->m - d.row);
    d.panel = i % c->panel_parts * c->panels;
    d.panels = at_most(c->panels, ceil_div(s->g->n, GEMM_PANEL) - d.panel);
    if (s->stream)
        stream_part(&d);
    else
        multiply_part(&d);
}

static void run_slice(const struct slice *s)
{
    int threads = omp_get_num_threads();
    const struct cut c = cut_of(s, threads);

    if (threads == 1) { /* `omp for` would take longer than a small product */
        for (int64_t i = 0; i < c.row_parts * c.panel_parts; i++)
            run_part(s, &c, i);
        return;
    }
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < c.row_parts * c.panel_parts; i++)
        run_part(s, &c, i);
}

int64_t SIMD_NAME(gemm_panel_width)(void)
{
    return GEMM_PANEL;
}

void SIMD_NAME(gemm_pack)(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (int64_t first = 0; first < n; first += GEMM_PANEL) {
        float *panel = packed + first * k;
        for (int64_t j = 0; j < GEMM_PANEL; j++)
            for (int64_t p = 0; p < k; p++)
                panel[p * GEMM_PANEL + j] = first + j < n ? w[(first + j) * k + p] : 0;
    }
}

void SIMD_NAME(gemm_linear)(const void *operation)
{
    const struct gemm_linear *g = operation;
    bool stream = g->streaming && g->activation == GEMM_IDENTITY;
    int64_t most = stream ? g->k : terms_of(g->k), term = 0;

    do {
        const struct panels b = {
            .whole = g->w + term * GEMM_PANEL,
            .panel_step = GEMM_PANEL * g->k,
            .row_step = GEMM_PANEL,
            .last = g->w + g->n / GEMM_PANEL * GEMM_PANEL * g->k + term * GEMM_PANEL,
        };
        const struct slice s = { g, &b, term, at_most(most, g->k - term), stream };
        run_slice(&s);
        term += most;
    } while (term < g->k);
}

enum { PACK_ROWS = 8 }; /* streams of b that are read side by side */

/* Rows [term, term + rows) of b's panels from `first` on, missing columns as zeros; `to` is where
 * they lie in the first of them. */
static void pack_rows(const struct gemm_nn *g, int64_t first, int64_t term, int64_t rows, float *to,
                      int64_t panel_step)
{
    for (int64_t col = first * GEMM_PANEL; col < g->n; col += GEMM_PANEL, to += panel_step)
        for (int64_t p = 0; p < rows; p++) {
            const float *from = g->b + (term + p) * g->ldb + col;
            SIMD_UNROLL
            for (int v = 0; v < GEMM_VECTORS; v++) {
                int64_t lanes = at_least(0, g->n - col - v * SIMD_WIDTH);
                simd_store(to + p * GEMM_PANEL + v * SIMD_WIDTH,
                           lanes > 0 ? simd_load_upto(from + v * SIMD_WIDTH, lanes) : simd_set(0));
            }
        }
}

/* Packing pays where some tiles use a panel; else whole panels are read where they lie. */
void SIMD_NAME(gemm_nn)(const void *operation)
{
    const struct gemm_nn *g = operation;
    const struct gemm_linear as_linear = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .x = g->a,
        .ldx = g->lda,
        .y = g->c,
        .ldy = g->ldc,
    };
    int64_t whole = g->n / GEMM_PANEL, first = g->m < 4 * GEMM_ROWS ? whole : 0;
    int64_t most = terms_of(g->k), term = 0;

    do {
        int64_t terms = at_most(most, g->k - term), step = GEMM_PANEL * terms;
        const struct panels b = {
            .whole = first > 0 ? g->b + term * g->ldb : g->scratch,
            .panel_step = first > 0 ? GEMM_PANEL : step,
            .row_step = first > 0 ? g->ldb : GEMM_PANEL,
            .last = g->scratch + (whole - first) * step,
        };
        const struct slice s = { &as_linear, &b, term, terms, false };
#pragma omp for schedule(static)
        for (int64_t p = 0; p < terms; p += PACK_ROWS)
            pack_rows(g, first, term + p, at_most(PACK_ROWS, terms - p),
                      g->scratch + p * GEMM_PANEL, step);
        run_slice(&s);
        term += most;
    } while (term < g->k);
}

#else

int64_t gemm_cache_floats(int level)
{
    /* A cache of constants, which take file reads to find out. */
    static _Atomic int64_t known[2];
    const int64_t usual = level == 1 ? 32 << 10 : 1 << 20;
    int64_t bytes = atomic_load_explicit(&known[level - 1], memory_order_relaxed);

    if (bytes == 0) {
        bytes = host_cache_bytes(level);
        if (bytes < usual / 4)
            bytes = usual;
        atomic_store_explicit(&known[level - 1], bytes, memory_order_relaxed);
    }
    return bytes / (int64_t)sizeof(float);
}

int64_t gemm_panel_width(void)
{
    return SIMD_CHOOSE(gemm_panel_width)();
}

size_t gemm_packed_size(int64_t n, int64_t k)
{
    int64_t width = gemm_panel_width();

    return (size_t)((n + width - 1) / width * width) * (size_t)k;
}

void gemm_pack(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
    SIMD_CHOOSE(gemm_pack)(w, n, k, packed, threads);
}

void gemm_linear_simd(const struct gemm_linear *g)
{
    double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;

    host_share(SIMD_CHOOSE(gemm_linear), g, g->threads, flops / 4);
}

void gemm_nn_simd(const struct gemm_nn *g)
{
    double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;

    host_share(SIMD_CHOOSE(gemm_nn), g, g->threads, flops / 4);
}

static int linear_prepare(struct call *call, struct error *err)
{
    struct gemm_linear g = gemm_linear_of(call);

    if (host_state(call, gemm_packed_size(g.n, g.k), err) != 0)
        return -1;
    gemm_pack(g.w, g.n, g.k, call->state, g.threads);
    return 0;
}

static int nn_prepare(struct call *call, struct error *err)
{
    struct gemm_nn g = gemm_nn_of(call);

    return host_state(call, gemm_packed_size(g.n, g.k), err);
}

static void linear_launch(const struct call *call)
{
    struct gemm_linear g = gemm_linear_of(call);

    g.w = call->state;
    gemm_linear_simd(&g);
}

static void nn_launch(const struct call *call)
{
    struct gemm_nn g = gemm_nn_of(call);

    gemm_nn_simd(&g);
}

#define LINEAR(of)                                                                                 \
    {                                                                                              \
        .name = "simd",                                                                            \
        .summary = "register tiles over prepacked panels, OpenMP; limit: the FMA peak",            \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_FP32,                                                                       \
        .math = MATH_FP32,                                                                         \
        .supports = simd_supports,                                                                 \
        .prepare = linear_prepare,                                                                 \
        .launch = linear_launch,                                                                   \
        .release = host_state_release,                                                             \
    },

const struct variant gemm_simd[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    {
        .name = "simd",
        .summary = "register tiles, right factor packed in the timed part; limit: the FMA peak",
        .kernel = &gemm_nn_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .prepare = nn_prepare,
        .launch = nn_launch,
        .release = host_state_release,
    },
    { .name = NULL },
};

#endif
