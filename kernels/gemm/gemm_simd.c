/* SPDX-License-Identifier: MIT */
/*
 * Register tiles over packed panels.
 *
 *                       n: panels of 3 (AVX-512) or 2 vectors, K-major, packed once
 *                     +------+------+------+--
 *                   k | p=0  |      |      |        each panel is one contiguous stream
 *            k        |  :   |      |      |
 *         +-------+   +------+------+------+--
 *         | 8 rows|-->| tile |             |        x is read in place, by broadcasts
 *       m +-------+   +------+             |
 *         |       |   |  part of a thread  |        a part: some rows x some panels; a panel
 *         +-------+   +--------------------+--      stays in L2 while all its rows go by
 *
 * Bias, activation and residual are applied while the tile is still in L1. Results much larger
 * than the caches (logits) are gathered into whole cache lines and stored around the caches,
 * which saves reading those lines from memory first.
 *
 * Limit: the FMA units for m of a few tiles and more, the bandwidth of w for m = 1.
 */
#include "kernels/gemm/gemm_call.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/simd_tile.h"

#include <omp.h>
#include <stdlib.h>

typedef void gemm_pack_fn(const float *w, int64_t n, int64_t k, float *packed, int threads);
typedef int64_t gemm_panel_width_fn(void);

SIMD_DECLARE(host_share_fn, gemm_linear);
SIMD_DECLARE(host_share_fn, gemm_nn);
SIMD_DECLARE(gemm_pack_fn, gemm_pack);
SIMD_DECLARE(gemm_panel_width_fn, gemm_panel_width);

#ifdef SIMD_ISA

enum {
    PANEL = TILE_VECTORS * SIMD_WIDTH,
    PART_ROWS = 256,            /* most rows of a part */
    PART_FLOATS = 131072,       /* of x in a part: half a megabyte, beside a panel in L2 */
    GROUP_PANELS = 512 / PANEL, /* most panels finished together, when streaming */
    GROUP_FLOATS = 65536,       /* of them: a quarter megabyte in L2 */
    LINE = 16,                  /* floats in a cache line */
};

/* The right factor: whole panels and the narrower last one, which is always packed. */
struct panels {
    const float *whole;
    int64_t panel_step, row_step; /* floats from panel to panel, and from k to k + 1 */
    const float *last;
};

/* How the result is cut for the threads. */
struct cut {
    int64_t row_parts, rows; /* number, and rows of each */
    int64_t panel_parts, panels;
};

struct part {
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

/* About four parts a thread, to even out; cut by columns first, as x is small beside w. */
static struct cut cut_of(const struct gemm_linear *g, int threads)
{
    int64_t panels = ceil_div(g->n, PANEL), blocks = ceil_div(g->m, TILE_ROWS);
    int64_t wanted = threads > 1 ? 4 * threads : 1;
    int64_t most_blocks =
        at_least(1, at_most(PART_ROWS, PART_FLOATS / at_least(g->k, 1)) / TILE_ROWS);
    int64_t row_parts = ceil_div(blocks, most_blocks);
    struct cut c;

    c.panels = ceil_div(panels, at_most(panels, at_least(1, ceil_div(wanted, row_parts))));
    c.panel_parts = ceil_div(panels, c.panels);
    row_parts = at_least(row_parts, at_most(blocks, ceil_div(wanted, c.panel_parts)));
    c.rows = ceil_div(blocks, row_parts) * TILE_ROWS;
    c.row_parts = ceil_div(g->m, c.rows);
    return c;
}

static void multiply(const struct gemm_linear *g, const struct panels *b, int64_t row, int64_t rows,
                     int64_t panel, float *tile, int64_t ld)
{
    int64_t first = panel * PANEL, cols = at_most(PANEL, g->n - first);
    bool whole = cols == PANEL;
    const struct tile t = {
        .a = g->x + row * g->ldx,
        .a_row = g->ldx,
        .a_step = 1,
        .b = whole ? b->whole + panel * b->panel_step : b->last,
        .b_step = whole ? b->row_step : PANEL,
        .depth = g->k,
    };

    if (cols > (TILE_VECTORS - 1) * SIMD_WIDTH)
        tile_rows_to((int)rows, TILE_VECTORS, &t, tile, ld);
    else if (TILE_VECTORS > 2 && cols > SIMD_WIDTH)
        tile_rows_to((int)rows, 2, &t, tile, ld);
    else
        tile_rows_to((int)rows, 1, &t, tile, ld);
}

/* `cols` columns of a row from `col` on, out of the tile, through the epilogue, to memory. */
SIMD_INLINE void finish_run(const struct gemm_linear *g, bool stream, int64_t row, int64_t col,
                            int64_t cols, const float *tile)
{
    const float *residual = g->residual ? g->residual + row * g->ldr + col : NULL;
    float *to = g->y + row * g->ldy + col;

    for (int64_t j = 0; j < cols; j += SIMD_WIDTH) {
        simd_float y = simd_load(tile + j); /* may run into the next row, or the padding */
        if (g->bias != NULL)
            y += simd_load_upto(g->bias + col + j, cols - j);
        if (g->activation == GEMM_GELU)
            y = simd_gelu(y);
        if (residual != NULL)
            y += simd_load_upto(residual + j, cols - j);
        if (stream)
            simd_stream(to + j, y);
        else
            simd_store_upto(to + j, y, cols - j);
    }
}

/* Whole cache lines go around the caches, the pieces before and after them do not: their lines
 * are shared with the neighbours. */
static void finish_streaming(const struct gemm_linear *g, int64_t row, int64_t col, int64_t cols,
                             const float *tile)
{
    uintptr_t y = (uintptr_t)(g->y + row * g->ldy + col) / sizeof(*g->y);
    int64_t head = at_most((int64_t)(-y % LINE), cols), lines = (cols - head) / LINE * LINE;
    int64_t tail = head + lines;

    finish_run(g, false, row, col, head, tile);
    finish_run(g, true, row, col + head, lines, tile + head);
    finish_run(g, false, row, col + tail, cols - tail, tile + tail);
}

/* Panels finished together: one, or as many as make long runs of whole lines for streaming while
 * they stay in L2 beside each other. */
static int64_t group_of(const struct gemm_linear *g)
{
    int64_t fit = GROUP_FLOATS / (PANEL * at_least(g->k, 1));

    return g->streaming ? at_most(GROUP_PANELS, at_least(1, fit)) : 1;
}

static void multiply_part(const struct gemm_linear *g, const struct panels *b, const struct part *p)
{
    float tile[TILE_ROWS * GROUP_PANELS * PANEL + SIMD_WIDTH] __attribute__((aligned(64)));
    int64_t end = p->panel + p->panels, group = group_of(g), ld = group * PANEL, next;

    for (int64_t panel = p->panel; panel < end; panel = next) {
        next = at_most(panel + group, end);
        int64_t col = panel * PANEL, cols = at_most(next * PANEL, g->n) - col;
        for (int64_t row = p->row; row < p->row + p->rows; row += TILE_ROWS) {
            int64_t rows = at_most(TILE_ROWS, p->row + p->rows - row);
            for (int64_t i = panel; i < next; i++)
                multiply(g, b, row, rows, i, tile + (i - panel) * PANEL, ld);
            for (int64_t i = 0; i < rows; i++)
                if (g->streaming)
                    finish_streaming(g, row + i, col, cols, tile + i * ld);
                else
                    finish_run(g, false, row + i, col, cols, tile + i * ld);
        }
    }
    if (g->streaming)
        simd_fence();
}

static void product(const struct gemm_linear *g, const struct panels *b)
{
    struct cut c = cut_of(g, omp_get_num_threads());
    int64_t panels = ceil_div(g->n, PANEL);

#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < c.row_parts * c.panel_parts; i++) {
        struct part p = { .row = i / c.panel_parts * c.rows,
                          .panel = i % c.panel_parts * c.panels };
        p.rows = at_most(c.rows, g->m - p.row);
        p.panels = at_most(c.panels, panels - p.panel);
        multiply_part(g, b, &p);
    }
}

int64_t SIMD_NAME(gemm_panel_width)(void)
{
    return PANEL;
}

void SIMD_NAME(gemm_pack)(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (int64_t first = 0; first < n; first += PANEL) {
        float *panel = packed + first * k;
        for (int64_t j = 0; j < PANEL; j++)
            for (int64_t p = 0; p < k; p++)
                panel[p * PANEL + j] = first + j < n ? w[(first + j) * k + p] : 0;
    }
}

void SIMD_NAME(gemm_linear)(const void *operation)
{
    const struct gemm_linear *g = operation;
    const struct panels b = {
        .whole = g->w,
        .panel_step = PANEL * g->k,
        .row_step = PANEL,
        .last = g->w + g->n / PANEL * PANEL * g->k,
    };

    product(g, &b);
}

/* One panel of b [k,n], its missing columns as zeros. */
static void pack_panel(const struct gemm_nn *g, int64_t panel, float *to)
{
    int64_t col = panel * PANEL, cols = at_most(PANEL, g->n - col);

    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j += SIMD_WIDTH) {
            int64_t lanes = at_least(0, at_most(SIMD_WIDTH, cols - j));
            const float *from = g->b + p * g->ldb + col;
            simd_store(to + p * PANEL + j,
                       lanes > 0 ? simd_load_upto(from + j, lanes) : simd_set(0));
        }
}

/* Packing reads and writes b once, which pays when many rows use each panel; for few rows whole
 * panels are read in place. */
void SIMD_NAME(gemm_nn)(const void *operation)
{
    const struct gemm_nn *g = operation;
    int64_t whole = g->n / PANEL, panels = ceil_div(g->n, PANEL);
    int64_t first = g->m < 4 * TILE_ROWS ? whole : 0;
    const struct gemm_linear product_args = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .x = g->a,
        .ldx = g->lda,
        .y = g->c,
        .ldy = g->ldc,
    };
    const struct panels b = {
        .whole = first > 0 ? g->b : g->scratch,
        .panel_step = first > 0 ? PANEL : PANEL * g->k,
        .row_step = first > 0 ? g->ldb : PANEL,
        .last = g->scratch + whole * PANEL * g->k,
    };

#pragma omp for schedule(static)
    for (int64_t panel = first; panel < panels; panel++)
        pack_panel(g, panel, g->scratch + panel * PANEL * g->k);
    product(&product_args, &b);
}

#else

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
