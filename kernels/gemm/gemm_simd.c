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
 * What is deeper than L1 holds of a tile's rows is cut into slices that accumulate in y, or as
 * races have shown it to be best (gemm_simd_choice.h). Bias and residual are applied to the
 * registers (gemm_simd_tile.h), the activation while the tile is in L1. Results much larger than
 * the caches (logits) are gathered into whole cache lines and stored around the caches, which saves
 * reading those lines from memory first.
 *
 * gemm/nn packs as many rows of b as it uses next, a few at a time: so b is read in long runs.
 *
 * Limit: the FMA units for m of a few tiles and more, the bandwidth of w for m = 1.
 */
#include "host/host_cache.h"
#include "kernels/gemm/gemm_call.h"
#include "kernels/gemm/gemm_simd_part.h"
#include "kernels/gemm/gemm_simd_stream.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/team.h"

#include <omp.h>
#include <stdatomic.h>

typedef void gemm_pack_fn(const float *w, int64_t n, int64_t k, float *packed, int threads);
typedef int64_t gemm_panel_width_fn(void);
typedef int64_t gemm_last_width_fn(int64_t n);

SIMD_DECLARE(host_share_fn, gemm_linear);
SIMD_DECLARE(host_share_fn, gemm_nn);
SIMD_DECLARE(gemm_pack_fn, gemm_pack);
SIMD_DECLARE(gemm_panel_width_fn, gemm_panel_width);
SIMD_DECLARE(gemm_last_width_fn, gemm_last_width);

#ifdef SIMD_ISA

/* A slice is cut into row_parts x panel_parts, as even as can be. */
struct cut {
    int64_t tiles, panels; /* rows of tiles, and panels, of all parts together */
    int64_t row_parts, panel_parts;
};

/* The table's rows for this machine, found once. */
static const struct gemm_choice_row *_Atomic choices;

static __attribute__((noinline)) const struct gemm_choice_row *find_choices(void)
{
    const struct gemm_choice_row *found = gemm_choices();

    atomic_store_explicit(&choices, found, memory_order_relaxed);
    return found;
}

static __attribute__((noinline)) struct gemm_choice choice_from(const struct gemm_choice_row *row,
                                                                bool nn, int64_t rows, int64_t k)
{
    const struct gemm_case c = { row->isa, nn, row->l1, row->l2, rows, k };

    return gemm_choice_of(row, &c);
}

/* What is set; where nothing is, what the table says. Inline, as small products take 100 ns. */
SIMD_INLINE struct gemm_choice choice_of(bool nn, int64_t rows, int64_t k, struct gemm_choice set)
{
    const struct gemm_choice_row *row = atomic_load_explicit(&choices, memory_order_relaxed);

    if (row == NULL)
        row = find_choices();
    if (row->isa == SIMD_NR || set.depth > 0 || set.height > 0)
        return set;
    return choice_from(row, nn, rows, k);
}

/* The most terms of a slice, `depth`; 0: a tile's rows of them fill L1. Cut evenly. */
static int64_t terms_of(int64_t k, int64_t depth)
{
    int64_t most = depth > 0 ? depth : gemm_cache_floats(1) / GEMM_ROWS;

    return k <= most ? k : ceil_div(ceil_div(k, ceil_div(k, most)), GEMM_LINE) * GEMM_LINE;
}

/* Elements of y in the largest of row_parts x panel_parts. */
static int64_t largest_part(const struct gemm_linear *g, const struct cut *c)
{
    int64_t rows = ceil_div(c->tiles, c->row_parts) * GEMM_ROWS;
    int64_t cols = ceil_div(c->panels, c->panel_parts) * GEMM_PANEL;

    return at_most(rows, g->m) * at_most(cols, g->n);
}

/* One part a thread, always the same one: its panels are still in its core's L2 at the next call.
 * Only cuts that give each thread one are tried; among equals the one with most panel parts, as x
 * is small beside w. */
static struct cut even_cut(const struct gemm_linear *g, int threads)
{
    struct cut best = { .tiles = ceil_div(g->m, GEMM_ROWS),
                        .panels = ceil_div(g->n, GEMM_PANEL),
                        .panel_parts = 1 };

    best.row_parts = at_most(threads, best.tiles);
    for (int panel_parts = 2; panel_parts <= threads; panel_parts++) {
        struct cut c = best;
        if (threads % panel_parts != 0)
            continue;
        c.panel_parts = at_most(panel_parts, c.panels);
        c.row_parts = at_most(threads / panel_parts, c.tiles);
        if (largest_part(g, &c) <= largest_part(g, &best))
            best = c;
    }
    return best;
}

/* The rows of a part are twice L2 at most where nothing says otherwise: x flows in at a sixth of a
 * panel's rate. */
static struct cut cut_of(const struct slice *s, int threads)
{
    struct cut c = even_cut(s->g, threads);
    int64_t most = at_least(1, 2 * gemm_cache_floats(2) / (GEMM_ROWS * at_least(s->terms, 1)));

    if (s->height > 0)
        most = s->height;
    c.row_parts *= ceil_div(ceil_div(c.tiles, c.row_parts), most);
    return c;
}

static void run_part(const struct slice *s, const struct cut *c, int64_t i)
{
    int64_t p = i / c->row_parts, r = i % c->row_parts;
    struct part d = { .s = s,
                      .row = c->tiles * r / c->row_parts * GEMM_ROWS,
                      .panel = c->panels * p / c->panel_parts };

    d.rows = at_most(c->tiles * (r + 1) / c->row_parts * GEMM_ROWS, s->g->m) - d.row;
    d.panels = c->panels * (p + 1) / c->panel_parts - d.panel;
    d.fits = d.panels * GEMM_PANEL * s->terms <= gemm_cache_floats(2);
    if (s->stream)
        stream_part(&d);
    else
        multiply_part(&d);
}

static void run_slice(const struct slice *s)
{
    const struct cut c = cut_of(s, team_parts());

    if (omp_get_num_threads() == 1) { /* `omp for` would take longer than a small product */
        for (int64_t i = 0; i < c.row_parts * c.panel_parts; i++)
            run_part(s, &c, i);
        return;
    }
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < c.row_parts * c.panel_parts; i++)
        run_part(s, &c, i);
    team_meet();
}

int64_t SIMD_NAME(gemm_panel_width)(void)
{
    return GEMM_PANEL;
}

int64_t SIMD_NAME(gemm_last_width)(int64_t n)
{
    return last_width(n);
}

void SIMD_NAME(gemm_pack)(const float *w, int64_t n, int64_t k, float *packed, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (int64_t first = 0; first < n; first += GEMM_PANEL) {
        float *panel = packed + first * k;
        int64_t width = first + GEMM_PANEL <= n ? GEMM_PANEL : last_width(n);
        for (int64_t j = 0; j < width; j++)
            for (int64_t p = 0; p < k; p++)
                panel[p * width + j] = first + j < n ? w[(first + j) * k + p] : 0;
    }
}

void SIMD_NAME(gemm_linear)(const void *operation)
{
    const struct gemm_linear *g = operation;
    bool stream = g->streaming && g->activation == GEMM_IDENTITY;
    const struct gemm_choice choice =
        choice_of(false, g->m, g->k, (struct gemm_choice) { g->depth, g->height });
    int64_t most = stream ? g->k : terms_of(g->k, choice.depth), term = 0;

    do {
        const struct panels b = {
            .whole = g->w + term * GEMM_PANEL,
            .panel_step = GEMM_PANEL * g->k,
            .row_step = GEMM_PANEL,
            .last = g->w + g->n / GEMM_PANEL * GEMM_PANEL * g->k + term * last_width(g->n),
            .last_step = last_width(g->n),
        };
        const struct slice s = { g, &b, term, at_most(most, g->k - term), stream, choice.height };
        run_slice(&s);
        term += most;
    } while (term < g->k);
}

enum { PACK_ROWS = 4 }; /* streams of b that are read side by side */

/* `lanes` columns of `rows` rows of b as rows of a panel, zeros up to its width. */
SIMD_INLINE void pack_tile(const float *from, int64_t ldb, int64_t rows, int64_t lanes, float *to)
{
    int64_t width = ceil_div(lanes, SIMD_WIDTH) * SIMD_WIDTH;

    for (int64_t p = 0; p < rows; p++, from += ldb, to += width) {
        SIMD_UNROLL
        for (int v = 0; v < GEMM_VECTORS; v++)
            if (v * SIMD_WIDTH < lanes)
                simd_store(to + v * SIMD_WIDTH,
                           simd_load_upto(from + v * SIMD_WIDTH, lanes - v * SIMD_WIDTH));
    }
}

/* Rows [term, term + rows) of the slice at `from` into its panels from `first` on, at `to`. */
static void pack_rows(const struct gemm_nn *g, const float *from, int64_t first, int64_t term,
                      int64_t rows, float *to, int64_t panel_step)
{
    int64_t col = first * GEMM_PANEL;

    from += term * g->ldb;
    for (; col + GEMM_PANEL <= g->n; col += GEMM_PANEL, to += panel_step)
        pack_tile(from + col, g->ldb, rows, GEMM_PANEL, to + term * GEMM_PANEL);
    if (col < g->n)
        pack_tile(from + col, g->ldb, rows, g->n - col, to + term * last_width(g->n));
}

/* Packing pays where some tiles use a panel and b is too large for L2: else all rows of a panel are
 * at hand wherever they lie. */
static bool packs(const struct gemm_nn *g)
{
    return g->m >= 4 * GEMM_ROWS && g->k * g->n > gemm_cache_floats(2);
}

/* The panels before `first` are read in place. */
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
    const struct gemm_choice choice =
        choice_of(true, g->m, g->k, (struct gemm_choice) { g->depth, g->height });
    int64_t whole = g->n / GEMM_PANEL, first = packs(g) ? 0 : whole;
    int64_t most = terms_of(g->k, choice.depth), term = 0;

    do {
        int64_t terms = at_most(most, g->k - term), step = GEMM_PANEL * terms;
        const struct panels b = {
            .whole = first > 0 ? g->b + term * g->ldb : g->scratch,
            .panel_step = first > 0 ? GEMM_PANEL : step,
            .row_step = first > 0 ? g->ldb : GEMM_PANEL,
            .last = g->scratch + (whole - first) * step,
            .last_step = last_width(g->n),
        };
        const struct slice s = { &as_linear, &b, term, terms, false, choice.height };
#pragma omp for schedule(static) nowait
        for (int64_t p = 0; p < terms; p += PACK_ROWS)
            pack_rows(g, g->b + term * g->ldb, first, p, at_most(PACK_ROWS, terms - p), g->scratch,
                      step);
        team_meet();
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

const struct gemm_choice_row *gemm_choices(void)
{
    enum { KIB_FLOATS = 1024 / sizeof(float) };
    const struct gemm_case here = { .isa = gemm_choice_isa(simd_isa()),
                                    .l1 = gemm_cache_floats(1) / KIB_FLOATS,
                                    .l2 = gemm_cache_floats(2) / KIB_FLOATS };
    const struct gemm_choice_row *row = gemm_choice_rows;

    while (row->isa != SIMD_NR && !gemm_choice_here(row, &here))
        row++;
    return row;
}

int64_t gemm_panel_width(void)
{
    return SIMD_CHOOSE(gemm_panel_width)();
}

int64_t gemm_last_width(int64_t n)
{
    return SIMD_CHOOSE(gemm_last_width)(n);
}

size_t gemm_packed_size(int64_t n, int64_t k)
{
    return (size_t)(n - n % gemm_panel_width() + gemm_last_width(n)) * (size_t)k;
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

/* Of the right factor alone, whichever way it lies. */
static int64_t linear_workspace(const struct call *call)
{
    struct gemm_linear g = gemm_linear_of(call);

    return host_bytes(gemm_packed_size(g.n, g.k));
}

static int64_t nn_workspace(const struct call *call)
{
    struct gemm_nn g = gemm_nn_of(call);

    return host_bytes(gemm_packed_size(g.n, g.k));
}

/* In this order; 0 is by the caches, and both 0 by the table (gemm_simd_choice.h) where it has a
 * row. */
static const char *const params[] = { "depth=0,64,128,256,512,1024,2048", "height=0,2,8,32,128",
                                      NULL };

static void linear_launch(const struct call *call)
{
    struct gemm_linear g = gemm_linear_of(call);

    g.w = call->state;
    g.depth = variant_param(call->variant, 0);
    g.height = variant_param(call->variant, 1);
    gemm_linear_simd(&g);
}

static void nn_launch(const struct call *call)
{
    struct gemm_nn g = gemm_nn_of(call);

    g.depth = variant_param(call->variant, 0);
    g.height = variant_param(call->variant, 1);
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
        .params = params,                                                                          \
        .workspace = linear_workspace,                                                             \
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
        .params = params,
        .workspace = nn_workspace,
    },
    { .name = NULL },
};

#endif
