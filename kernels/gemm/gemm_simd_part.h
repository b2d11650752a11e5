/* SPDX-License-Identifier: MIT */
/*
 * A thread's part of a product, tile by tile; for files compiled with SIMD_ISA.
 *
 *                  n: panels
 *            +------+------+------+
 *      k     | step panel by panel|        a panel stays in L2 while all rows of the part go by
 *            +------+------+------+
 *   m  +--+  +------+
 *      |  |  | tile |                      a tile is computed in registers, see gemm_simd_tile.h
 *      +--+  +------+
 *
 * The products of a slice of k go to y (the first) or onto it; the last one adds the bias and does
 * the activation.
 */
#ifndef HARNESS_KERNELS_GEMM_SIMD_PART_H
#define HARNESS_KERNELS_GEMM_SIMD_PART_H

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_share.h"
#include "kernels/gemm/gemm_simd_choice.h"
#include "kernels/gemm/gemm_simd_tile.h"
#include "kernels/simd_math.h"

/* Floats that fit in a core's cache of level 1 or 2; the usual ones where the system does not tell.
 */
int64_t gemm_cache_floats(int level);

/* The table of gemm_simd_choice.h from the first row on that is for this machine; its end where
 * there is none. */
const struct gemm_choice_row *gemm_choices(void);

#ifdef SIMD_ISA

/* The right factor: whole panels and the narrower last one, which is always packed. */
struct panels {
    const float *whole;
    int64_t panel_step, row_step; /* floats from panel to panel, and from k to k + 1 */
    const float *last;
    int64_t last_step; /* from k to k + 1 */
};

/* Terms [term, term + terms) of the product; b has only those. */
struct slice {
    const struct gemm_linear *g;
    const struct panels *b;
    int64_t term, terms;
    bool stream;
    int64_t height; /* see struct gemm_choice */
};

struct part {
    const struct slice *s;
    int64_t row, rows, panel, panels;
    bool fits; /* its panels in L2, where the next launch finds them */
};

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of the panel behind the whole ones: as many vectors as hold the rest. */
static int64_t last_width(int64_t n)
{
    return ceil_div(n % GEMM_PANEL, SIMD_WIDTH) * SIMD_WIDTH;
}

/* What makes one tile of the part, to `y`. */
static struct gemm_tile tile_of(const struct part *d, int64_t row, int64_t panel, float *y,
                                int64_t y_row)
{
    const struct slice *s = d->s;
    const struct gemm_linear *g = s->g;
    int64_t col = panel * GEMM_PANEL, cols = at_most(GEMM_PANEL, g->n - col);
    bool whole = cols == GEMM_PANEL, first = s->term == 0, last = s->term + s->terms == g->k;
    const float *add = !first ? g->y : g->activation == GEMM_IDENTITY ? g->residual : NULL;
    int64_t add_row = first ? g->ldr : g->ldy;
    return (struct gemm_tile) {
        .a = g->x + row * g->ldx + s->term,
        .a_row = g->ldx,
        .b = whole ? s->b->whole + panel * s->b->panel_step : s->b->last,
        .b_row = whole ? s->b->row_step : s->b->last_step,
        .depth = s->terms,
        .cols = cols,
        .far = d->rows <= GEMM_ROWS && !d->fits && s->b->row_step == GEMM_PANEL,
        .bias = last && g->bias != NULL ? g->bias + col : NULL,
        .add = add != NULL ? add + row * add_row + col : NULL,
        .add_row = add_row,
        .y = y,
        .y_row = y_row,
    };
}

static void multiply(const struct part *d, int64_t row, int64_t panel, float *y, int64_t y_row)
{
    const struct gemm_tile t = tile_of(d, row, panel, y, y_row);
    int64_t rows = at_most(GEMM_ROWS, d->row + d->rows - row);

    gemm_tiles[(t.cols - 1) / SIMD_WIDTH][rows - 1](&t);
}

enum { ROW_PANELS = 4 };

/* One row through some whole panels side by side: their sums are as many as hide an FMA's time, and
 * L2 is read on while a panel's end would have it wait. */
static void multiply_row(const struct part *d, int64_t panel)
{
    simd_float acc[ROW_PANELS][GEMM_VECTORS];
    const struct gemm_linear *g = d->s->g;
    const struct gemm_tile first = tile_of(d, d->row, panel, NULL, 0);
    const float *const a[GEMM_ADDRESSES] = { first.a };

    gemm_zero(ROW_PANELS, GEMM_VECTORS, acc);
    for (int64_t p = 0; p < first.depth; p++) {
        const float *b = first.b + p * first.b_row;
        SIMD_UNROLL
        for (int j = 0; j < ROW_PANELS; j++)
            gemm_step(1, GEMM_VECTORS, a, 0, p, b + j * d->s->b->panel_step, acc + j);
    }
    for (int j = 0; j < ROW_PANELS; j++) {
        float *y = g->y + d->row * g->ldy + (panel + j) * GEMM_PANEL;
        const struct gemm_tile t = tile_of(d, d->row, panel + j, y, g->ldy);
        SIMD_UNROLL
        for (int v = 0; v < GEMM_VECTORS; v++)
            gemm_finish(1, v, SIMD_WIDTH, &t, acc + j);
    }
}

/* Memory is read best in one run. */
static bool by_rows(const struct part *d)
{
    return d->rows == 1 && d->fits;
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

/* All rows through one panel. */
static void multiply_panel(const struct part *d, int64_t panel, bool activated)
{
    const struct gemm_linear *g = d->s->g;
    int64_t col = panel * GEMM_PANEL, cols = at_most(GEMM_PANEL, g->n - col);

    for (int64_t row = d->row; row < d->row + d->rows; row += GEMM_ROWS) {
        multiply(d, row, panel, g->y + row * g->ldy + col, g->ldy);
        if (activated)
            activate(g, row, at_most(GEMM_ROWS, d->row + d->rows - row), col, cols);
    }
}

static void multiply_part(const struct part *d)
{
    const struct gemm_linear *g = d->s->g;
    bool activated = g->activation == GEMM_GELU && d->s->term + d->s->terms == g->k;
    int64_t end = d->panel + d->panels, whole = at_most(end, g->n / GEMM_PANEL), panel = d->panel;

    for (; by_rows(d) && panel + ROW_PANELS <= whole; panel += ROW_PANELS) {
        multiply_row(d, panel);
        if (activated)
            activate(g, d->row, 1, panel * GEMM_PANEL, ROW_PANELS * GEMM_PANEL);
    }
    for (; panel < end; panel++)
        multiply_panel(d, panel, activated);
}

#endif

#endif
