/* SPDX-License-Identifier: MIT */
/*
 * Results around the caches: for those much larger than they are (logits), so that their lines are
 * not read from memory before they are written. For files compiled with SIMD_ISA.
 *
 * The memory wants whole lines in long runs, so a tile's rows are gathered through some panels, and
 * what ends within a line waits for the next ones (gemm_simd_lines.h).
 */
#ifndef HARNESS_KERNELS_GEMM_SIMD_STREAM_H
#define HARNESS_KERNELS_GEMM_SIMD_STREAM_H

#include "kernels/gemm/gemm_simd_lines.h"
#include "kernels/gemm/gemm_simd_part.h"

#ifdef SIMD_ISA

enum {
    STREAM_ROWS = 512 / GEMM_ROWS * GEMM_ROWS, /* of a part that go by before the next columns do */
    STREAM_PANELS = 512 / GEMM_PANEL,          /* the most of a group */
    STREAM_COLS = STREAM_PANELS * GEMM_PANEL,
    STREAM_SHARE = 4,                     /* of L2 that a group's panels may fill: a quarter */
    STREAM_ROW = GEMM_LINE + STREAM_COLS, /* floats: what waited, then the columns */
};

struct stream {
    float gathered[GEMM_ROWS * STREAM_ROW] __attribute__((aligned(64)));
    float waiting[STREAM_ROWS][GEMM_LINE] __attribute__((aligned(64))); /* right-aligned */
};

/* Some panels of a part's rows. */
struct group {
    const struct part *part;
    int64_t panel, panels;
    struct line_group of_part;
};

/* The rows of one tile through a group. */
static void stream_tile(const struct group *g, struct stream *s, int64_t row)
{
    const struct part *d = g->part;
    const struct gemm_linear *l = d->s->g;
    int64_t col = g->panel * GEMM_PANEL, cols = at_most(g->panels * GEMM_PANEL, l->n - col);
    int64_t rows = at_most(GEMM_ROWS, d->row + d->rows - row);
    float *gathered = s->gathered + GEMM_LINE;

    for (int64_t i = 0; i < g->panels; i++)
        multiply(d, row, g->panel + i, gathered + i * GEMM_PANEL, STREAM_ROW);
    for (int64_t i = 0; i < rows; i++)
        stream_lines(
            (char *)(gathered + i * STREAM_ROW), (char *)s->waiting[(row + i) % STREAM_ROWS],
            (char *)(l->y + (row + i) * l->ldy + col), cols * (int64_t)sizeof(float), g->of_part);
}

/* The panels of a group stay in L2 beside each other. */
static int64_t stream_panels(const struct part *d)
{
    int64_t fit = gemm_cache_floats(2) / STREAM_SHARE / (GEMM_PANEL * at_least(d->s->terms, 1));

    return at_most(STREAM_PANELS, at_least(ceil_div(GEMM_LINE, GEMM_PANEL), fit));
}

static void stream_part(const struct part *d)
{
    int64_t most = stream_panels(d), panel_end = d->panel + d->panels, end = d->row + d->rows;
    struct stream s;

    for (int64_t from = d->row; from < end; from += STREAM_ROWS)
        for (int64_t panel = d->panel; panel < panel_end; panel += most) {
            const struct group g = { .part = d,
                                     .panel = panel,
                                     .panels = at_most(most, panel_end - panel),
                                     .of_part = { panel == d->panel, panel + most >= panel_end } };
            for (int64_t row = from; row < at_most(from + STREAM_ROWS, end); row += GEMM_ROWS)
                stream_tile(&g, &s, row);
        }
    simd_fence();
}

#endif

#endif
