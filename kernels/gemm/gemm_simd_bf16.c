/* SPDX-License-Identifier: MIT */
/*
 * Products of bfloat16: narrow in memory, and where the processor has no better way, fp32 in the
 * registers.
 *
 *                     n: panels of pairs, packed once          one panel, for all rows of a block
 *                   +------+------+------+--                   +------+
 *                 k | b0b1 |      |      |       -- widen -->  | fp32 |  L2; nothing to do where
 *            k      |  :   |      |      |                     |      |  pairs are multiplied
 *         +-------+ +------+------+------+--                   +------+
 *       m | block |------------------------------------------> | tile |  gemm_simd_tile.h, as fp32
 *         +-------+   x, in the tile's form too (L2)           +------+
 *                                                                 |  sums of a tile (L1)
 *                                                                 v  bias, GELU, residual, rounding
 *
 * Four ways through it (bf16/gemm_bf16_operands.h, _amx.h, _rows.h):
 *   matrix tiles 32 terms of 16 x 16 results an instruction: 16 times the FLOPs of fp32
 *   vdpbf16ps    two terms an instruction; where it keeps the pace of FMA, twice the FLOPs of fp32
 *   widened      one term an instruction: the FLOPs of fp32, at the bytes of bfloat16
 *   few rows     widened in registers, as a panel that is used once is not worth a second pass
 *
 * Results much larger than the caches (logits) go around them in whole lines (gemm_simd_lines.h).
 *
 * Limit: the FMA units, or where they are faster the units of pairs or of tiles (`flops.bf16` of
 * the measured roofs); for few rows the bandwidth at which b can be read, of which there is half as
 * much as in fp32.
 */
#include "kernels/gemm/bf16/gemm_bf16.h"
#include "kernels/gemm/bf16/gemm_bf16_operands.h"
#include "kernels/gemm/bf16/gemm_bf16_rows.h"
#include "kernels/gemm/gemm_call.h"
#include "kernels/gemm/gemm_simd_lines.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/team.h"

#include <omp.h>
#include <stdlib.h>

typedef void gemm_bf16_pack_fn(const void *w, enum dtype type, int64_t n, int64_t k, float *packed,
                               int threads);

SIMD_DECLARE_BF16(host_share_fn, gemm_bf16);
extern host_share_fn gemm_bf16_avx512_amx; /* of the panels of avx512 */
SIMD_DECLARE_BF16(gemm_bf16_pack_fn, gemm_bf16_pack);

#ifdef SIMD_ISA

#ifdef AMX_MODEL
extern host_share_fn SIMD_NAME(gemm_bf16);
#endif

enum {
    SUMS = GEMM_BF16_WIDEST, /* columns of a group, at most */
    GROUP = SUMS / GEMM_PANEL,
    STREAM_ROWS = 512 / GEMM_ROWS * GEMM_ROWS, /* that go by before the next columns do */
};

/* Some columns of a block of rows: what follows their products, and where it goes. */
struct group {
    const struct gemm_bf16 *g;
    int64_t first_row, col, cols; /* the block's; the group's */
    struct line_group of_share;   /* where y goes around the caches */
    char (*waiting)[LINE_BYTES];  /* then of each row of the block; else NULL */
};

/* Elements of y or the residual as floats. */
SIMD_INLINE simd_float load_as(enum dtype type, const void *from, int64_t at, int64_t n)
{
    return type == DTYPE_BF16 ? simd_bf16_load_upto((const uint16_t *)from + at, n)
                              : simd_load_upto((const float *)from + at, n);
}

/* Whether nothing follows the product (logits). */
static bool is_plain(const struct gemm_bf16 *g)
{
    return g->bias == NULL && g->residual == NULL && g->activation == GEMM_IDENTITY;
}

/* sums of a row = activation(sums + bias) + residual */
static void finish_sums(const struct group *p, int64_t row, float *sums)
{
    const struct gemm_bf16 *g = p->g;

    for (int64_t j = 0; j < p->cols; j += SIMD_WIDTH) {
        const int64_t n = p->cols - j;
        simd_float v = simd_load(sums + j);
        if (g->bias != NULL)
            v += simd_load_upto(g->bias + p->col + j, n);
        if (g->activation == GEMM_GELU)
            v = simd_gelu(v);
        if (g->residual != NULL)
            v += load_as(g->y_type, g->residual, row * g->ldr + p->col + j, n);
        simd_store(sums + j, v);
    }
}

/* A row of sums as elements of y. */
static void convert(enum dtype type, const float *sums, int64_t cols, void *to)
{
    if (type == DTYPE_BF16)
        simd_bf16_narrow(sums, cols, to);
    else
        memcpy(to, sums, (size_t)cols * sizeof(*sums));
}

/* Rows from `row` on; the sums' rows are SUMS apart. */
static void finish(const struct group *p, int64_t row, int64_t rows, float *sums)
{
    char line[LINE_BYTES + SUMS * sizeof(float)] __attribute__((aligned(64)));
    const struct gemm_bf16 *g = p->g;
    const int64_t size = g->y_type == DTYPE_BF16 ? sizeof(uint16_t) : sizeof(float);

    for (int64_t i = 0; i < rows; i++, row++, sums += SUMS) {
        char *to = (char *)g->y + (row * g->ldy + p->col) * size;
        if (!is_plain(g))
            finish_sums(p, row, sums);
        convert(g->y_type, sums, p->cols, p->waiting != NULL ? line + LINE_BYTES : to);
        if (p->waiting != NULL)
            stream_lines(line + LINE_BYTES, p->waiting[row - p->first_row], to, p->cols * size,
                         p->of_share);
    }
}

/* Whether the tile itself can do what follows the product. */
static bool is_direct(const struct gemm_bf16 *g)
{
    return g->y_type == DTYPE_FP32 && g->activation == GEMM_IDENTITY && !g->streaming;
}

/* mr rows through one panel: to y where that is direct, else to `sums`. */
static void multiply_tile(const struct gemm_bf16 *g, int64_t row, int64_t mr, int64_t col,
                          const float *x, int64_t x_row, const struct operand *b, float *sums)
{
    const int64_t cols = at_most(GEMM_PANEL, g->n - col);
    struct gemm_tile t = { .a = x,
                           .a_row = x_row,
                           .b = b->at,
                           .b_row = b->row,
                           .depth = depth_of(g),
                           .cols = cols,
                           .y = sums,
                           .y_row = SUMS };

    if (is_direct(g)) {
        t.bias = g->bias != NULL ? g->bias + col : NULL;
        t.add = g->residual != NULL ? (const float *)g->residual + row * g->ldr + col : NULL;
        t.add_row = g->ldr;
        t.y = (float *)g->y + row * g->ldy + col;
        t.y_row = g->ldy;
    }
    run_tile(&t, mr);
}

/* Rows of x at a time: half of L2, which is read again for each group of panels. All at once, as a
 * stream, where only the panels need another form, which they then get once. */
static int64_t block_of(const struct gemm_bf16 *g, const struct gemm_share *s)
{
    const int64_t all = s->end - s->row;
    const bool panels_in_form = GEMM_PAIRS && g->packed != NULL;
    const bool x_in_form = in_form(g) && all % GEMM_WHOLE == 0;
    const bool at_once = g->cut.block < 1 && x_in_form && !panels_in_form;
    const int64_t rows = at_once ? all : gemm_bf16_block(g->cut, g->k);

    return g->streaming ? at_most(rows, STREAM_ROWS) : rows;
}

/* Columns of a group, of a line of y at least. */
static int64_t group_of(const struct gemm_bf16 *g)
{
    const int64_t panels = gemm_bf16_group(g->cut, depth_of(g), GEMM_PANEL);
    const int64_t line = ceil_div(LINE_BYTES / (int64_t)sizeof(uint16_t), GEMM_PANEL);

    return (panels < line ? line : panels) * GEMM_PANEL;
}

/* All rows of a block, which x holds, through some panels side by side: what they make of a row is
 * one run of y. */
static void multiply_group(const struct group *p, int64_t rows, const struct operand *x,
                           float *panels)
{
    float sums[GEMM_ROWS * SUMS] __attribute__((aligned(64)));
    const struct gemm_bf16 *g = p->g;
    struct operand b[GROUP];

    for (int64_t j = 0; j < p->cols; j += GEMM_PANEL)
        b[j / GEMM_PANEL] = right(g, p->col + j, panels + j * depth_of(g));
    for (int64_t i = 0; i < rows; i += GEMM_ROWS) {
        const int64_t row = p->first_row + i, mr = at_most(GEMM_ROWS, rows - i);
        for (int64_t j = 0; j < p->cols; j += GEMM_PANEL)
            multiply_tile(g, row, mr, p->col + j, x->at + i * x->row, x->row, &b[j / GEMM_PANEL],
                          sums + j);
        if (!is_direct(g))
            finish(p, row, mr, sums);
    }
}

/* The same for few rows and packed panels, each read once. */
static void multiply_few(const struct group *p, int64_t rows, const struct operand *x)
{
    float sums[FEW_ROWS * SUMS] __attribute__((aligned(64)));
    const struct gemm_bf16 *g = p->g;

    for (int64_t col = p->col; col < p->col + p->cols; col += GEMM_PANEL)
        few[width_of(g, col) / SIMD_WIDTH - 1][rows - 1](x, packed_at(g, col), g->k,
                                                         sums + col - p->col, SUMS);
    finish(p, p->first_row, rows, sums);
}

static void multiply(const struct gemm_bf16 *g, const struct gemm_share *s, float *scratch)
{
    char waiting[STREAM_ROWS][LINE_BYTES] __attribute__((aligned(64)));
    const int64_t block = block_of(g, s), group = group_of(g);
    float *rows_of_x = scratch + gemm_bf16_floats(g->cut, 0, g->k, 1);

    for (int64_t row = s->row; row < s->end; row += block) {
        const int64_t rows = at_most(block, s->end - row);
        const struct operand x = left(g, row, rows, rows_of_x);
        const bool is_few = !GEMM_PAIRS && g->packed != NULL && rows <= FEW_ROWS;
        for (int64_t col = s->col; col < s->col_end; col += group) {
            const struct group p = { .g = g,
                                     .first_row = row,
                                     .col = col,
                                     .cols = at_most(group, s->col_end - col),
                                     .of_share = { col == s->col, col + group >= s->col_end },
                                     .waiting = g->streaming ? waiting : NULL };
            if (is_few)
                multiply_few(&p, rows, &x);
            else
                multiply_group(&p, rows, &x, scratch);
        }
    }
    if (g->streaming)
        simd_fence();
}

void SIMD_NAME(gemm_bf16)(const void *operation)
{
    const struct gemm_bf16 *g = operation;
    const int64_t parts = team_parts();
    float *scratch =
        g->scratch + (size_t)omp_get_thread_num() * gemm_bf16_floats(g->cut, g->m, g->k, 1);

    begin_tiles();
#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < parts; t++) {
        const struct gemm_share s = gemm_share_of(g->m, g->n, GEMM_ROWS, GEMM_PANEL, t, parts);
        multiply(g, &s, scratch);
    }
    end_tiles();
    team_meet();
}

#ifndef SIMD_AMX

static uint16_t rounded(const void *w, enum dtype type, int64_t at)
{
    return type == DTYPE_BF16 ? ((const uint16_t *)w)[at] : bf16_from_float(((const float *)w)[at]);
}

void SIMD_NAME(gemm_bf16_pack)(const void *w, enum dtype type, int64_t n, int64_t k, float *packed,
                               int threads)
{
    const struct gemm_bf16 g = { .n = n };

#pragma omp parallel for num_threads(threads)
    for (int64_t col = 0; col < n; col += GEMM_PANEL) {
        uint16_t *to = (uint16_t *)(void *)(packed + col * ceil_div(k, 2));
        int64_t width = width_of(&g, col);
        for (int64_t j = 0; j < width; j++)
            for (int64_t p = 0; p < ceil_div(k, 2) * 2; p++)
                to[(p / 2 * width + j) * 2 + p % 2] =
                    col + j < n && p < k ? rounded(w, type, (col + j) * k + p) : 0;
    }
}

#endif

#else

void gemm_bf16_pack(const void *w, enum dtype type, int64_t n, int64_t k, float *packed,
                    int threads)
{
    SIMD_CHOOSE_BF16(gemm_bf16_pack)(w, type, n, k, packed, threads);
}

size_t gemm_bf16_packed_size(int64_t n, int64_t k)
{
    return gemm_packed_size(n, (k + 1) / 2);
}

/* Few rows would be few of a matrix tile, whose time is that of 16. */
static host_share_fn *form_of(const struct gemm_bf16 *g)
{
#ifdef SIMD_HAVE_AMX
    if (simd_isa() == SIMD_AVX512_AMX && g->m > GEMM_BF16_FEW)
        return gemm_bf16_avx512_amx;
#endif
    (void)g;
    return SIMD_CHOOSE_BF16(gemm_bf16);
}

void gemm_bf16_simd(const struct gemm_bf16 *g)
{
    double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;

    host_share(form_of(g), g, g->threads, flops / 4);
}

/* In this order; 0 is by the caches. */
static const char *const params[] = { "block=0,48,96,192,384,768", "group=0,1,2,4,10", NULL };

static struct gemm_bf16_cut cut_of(const struct call *call)
{
    return (struct gemm_bf16_cut) { variant_param(call->variant, 0),
                                    variant_param(call->variant, 1) };
}

/* Of a call of gemm/nn: all that it has. */
static struct gemm_bf16 nn_of(const struct call *call)
{
    const struct gemm_nn g = gemm_nn_of(call);

    return (struct gemm_bf16) {
        .m = g.m,
        .n = g.n,
        .k = g.k,
        .x_type = DTYPE_BF16,
        .y_type = DTYPE_BF16,
        .x = g.a,
        .ldx = g.lda,
        .rows = call->tensor[GEMM_NN_B].data,
        .ldb = g.ldb,
        .y = g.c,
        .ldy = g.ldc,
        .cut = cut_of(call),
        .scratch = g.scratch,
        .threads = g.threads,
    };
}

/* Behind each other in the call's state, on lines of their own: the packed factor, the bias as
 * floats, the scratch. */
static struct gemm_bf16 linear_of(const struct call *call)
{
    const struct gemm_linear g = gemm_linear_of(call);
    float *state = call->state,
          *bias = state + gemm_bf16_lines((int64_t)gemm_bf16_packed_size(g.n, g.k));

    return (struct gemm_bf16) {
        .m = g.m,
        .n = g.n,
        .k = g.k,
        .x_type = DTYPE_BF16,
        .y_type = DTYPE_BF16,
        .x = g.x,
        .ldx = g.ldx,
        .packed = state,
        .bias = g.bias != NULL ? bias : NULL,
        .residual = g.residual,
        .ldr = g.ldr,
        .activation = g.activation,
        .y = g.y,
        .ldy = g.ldy,
        .streaming = g.streaming,
        .cut = cut_of(call),
        .scratch = bias + gemm_bf16_lines(g.n),
        .threads = g.threads,
    };
}

static size_t nn_floats(const struct call *call)
{
    const struct gemm_nn g = gemm_nn_of(call);

    return gemm_bf16_floats(cut_of(call), g.m, g.k, g.threads);
}

static int64_t nn_workspace(const struct call *call)
{
    return host_bytes(nn_floats(call));
}

static int nn_prepare(struct call *call, struct error *err)
{
    return host_state(call, nn_floats(call), err);
}

static size_t linear_floats(const struct call *call)
{
    const struct gemm_linear g = gemm_linear_of(call);

    return (size_t)gemm_bf16_lines((int64_t)gemm_bf16_packed_size(g.n, g.k)) +
           (size_t)gemm_bf16_lines(g.n) + gemm_bf16_floats(cut_of(call), g.m, g.k, g.threads);
}

static int64_t linear_workspace(const struct call *call)
{
    return host_bytes(linear_floats(call));
}

static int linear_prepare(struct call *call, struct error *err)
{
    const struct gemm_linear g = gemm_linear_of(call);
    const size_t packed = (size_t)gemm_bf16_lines((int64_t)gemm_bf16_packed_size(g.n, g.k));

    if (host_state(call, linear_floats(call), err) != 0)
        return -1;
    gemm_bf16_pack(g.w, DTYPE_BF16, g.n, g.k, call->state, g.threads);
    for (int64_t j = 0; j < g.n && g.bias != NULL; j++)
        ((float *)call->state)[packed + (size_t)j] =
            (float)tensor_get(&call->tensor[GEMM_LINEAR_BIAS], j);
    return 0;
}

static void linear_launch(const struct call *call)
{
    const struct gemm_bf16 g = linear_of(call);

    gemm_bf16_simd(&g);
}

static void nn_launch(const struct call *call)
{
    const struct gemm_bf16 g = nn_of(call);

    gemm_bf16_simd(&g);
}

#define VARIANT(of, ready, run, needs)                                                             \
    {                                                                                              \
        .name = "simd_bf16",                                                                       \
        .summary =                                                                                 \
            "panels of pairs, widened once a block where FMA is faster than vdpbf16ps; "           \
            "limit: the better of the two",                                                        \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_BF16,                                                                       \
        .math = MATH_BF16,                                                                         \
        .supports = simd_supports,                                                                 \
        .prepare = (ready),                                                                        \
        .launch = (run),                                                                           \
        .release = host_state_release,                                                             \
        .params = params,                                                                          \
        .workspace = (needs),                                                                      \
    },
#define LINEAR(of) VARIANT(of, linear_prepare, linear_launch, linear_workspace)

const struct variant gemm_simd_bf16[] = {
    GEMM_LINEAR_KERNELS(LINEAR)                                  /* and gemm/nn */
    VARIANT(gemm_nn_kernel, nn_prepare, nn_launch, nn_workspace) /* the rest is the end mark */
    { .name = NULL },
};

#endif
