/* SPDX-License-Identifier: MIT */
/*
 * The entry points that the GPT models are composed of, beyond what the kernels' own shapes use:
 * packing, every epilogue of gemm, rows further apart than they are long, results in place,
 * streaming stores, strided attention, positions of the embedding.
 * Features: U-03, U-04 (kernels).
 */
#include "kernel_testing.h"

#include "kernels/attention/attention.h"
#include "kernels/embedding/embedding.h"
#include "kernels/gemm/bf16/gemm_bf16.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/int8/gemm_int8.h"
#include "kernels/host.h"
#include "kernels/layernorm/layernorm.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/simd.h"
#ifdef HARNESS_HAVE_OPENBLAS
#include "kernels/openblas.h"
#endif

enum { PAD = 3 }; /* floats between the rows of strided matrices */

static const double tolerance = 2e-6;

TEST(test_packing)
{
    const int64_t sizes[][2] = {
        { 1, 1 }, { 47, 5 }, { 48, 3 }, { 49, 7 }, { 80, 9 }, { 257, 33 }
    };
    int64_t width = gemm_panel_width();

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int64_t n = sizes[i][0], k = sizes[i][1];
        size_t size = gemm_packed_size(n, k);
        float *w = floats_random(n * k, 3), *packed = floats_new((int64_t)size);

        int64_t whole = n / width * width * k, last = gemm_last_width(n);
        assert_in_range(last, n % width, width);
        assert_int_equal(size, whole + last * k);
        gemm_pack(w, n, k, packed, 2);
        for (int64_t at = 0; at < (int64_t)size; at++) {
            int64_t here = at < whole ? width : last,
                    in = at < whole ? at % (width * k) : at - whole;
            int64_t j = (at - in) / k + in % here, p = in / here;
            assert_true(packed[at] == (j < n ? w[j * k + p] : 0));
        }
        free(packed);
        free(w);
    }
}

/* One gemm_linear with its own memory. */
struct linear {
    struct gemm_linear g;
    float *x, *w, *packed, *bias, *residual, *y;
    double tolerance;
};

static void linear_init(struct linear *l, int64_t m, int64_t n, int64_t k)
{
    size_t size = gemm_packed_size(n, k);

    *l = (struct linear) {
        .x = floats_random(m * (k + PAD), 1),
        .w = floats_random(n * k, 2),
        .packed = floats_new((int64_t)size),
        .bias = floats_random(n, 3),
        .residual = floats_random(m * (n + PAD), 4),
        .y = floats_new(m * (n + PAD)),
        .tolerance = tolerance,
    };
    gemm_pack(l->w, n, k, l->packed, 1);
    l->g = (struct gemm_linear) {
        .m = m, .n = n, .k = k, .x = l->x, .ldx = k + PAD, .ldr = n + PAD, .y = l->y, .ldy = n + PAD
    };
}

static void linear_release(struct linear *l)
{
    free(l->x);
    free(l->w);
    free(l->packed);
    free(l->bias);
    free(l->residual);
    free(l->y);
}

static double linear_expected(const struct linear *l, int64_t i, int64_t j)
{
    const struct gemm_linear *g = &l->g;
    double sum = g->bias != NULL ? (double)g->bias[j] : 0;

    for (int64_t p = 0; p < g->k; p++)
        sum += (double)l->x[i * g->ldx + p] * (double)l->w[j * g->k + p];
    if (g->activation == GEMM_GELU)
        sum = pointwise_gelu_double(sum);
    return g->residual != NULL ? sum + (double)l->residual[i * g->ldr + j] : sum;
}

/* Poisons y, or puts the residual there; the padding between rows must survive. */
static void linear_check(struct linear *l, gemm_linear_fn *run, bool packed, bool in_place)
{
    struct gemm_linear *g = &l->g;
    double scale = sqrt((double)g->k) + 1;

    g->w = packed ? l->packed : l->w;
    for (int64_t i = 0; i < g->m * g->ldy; i++)
        l->y[i] = in_place ? l->residual[i] : NAN;
    if (in_place)
        g->residual = l->y;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = g->n; j < g->ldy; j++)
            l->y[i * g->ldy + j] = 77;
    run(g);
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++)
            assert_close((double)l->y[i * g->ldy + j], linear_expected(l, i, j),
                         l->tolerance * scale);
        for (int64_t j = g->n; j < g->ldy; j++)
            assert_true(l->y[i * g->ldy + j] == 77);
    }
}

static void check_epilogues(struct linear *l, gemm_linear_fn *run, bool packed)
{
    for (unsigned bits = 0; bits < 32; bits++) {
        l->g.bias = bits & 1 ? l->bias : NULL;
        l->g.residual = bits & 2 ? l->residual : NULL;
        l->g.activation = bits & 4 ? GEMM_GELU : GEMM_IDENTITY;
        l->g.streaming = bits & 8;
        l->g.threads = bits & 16 ? 3 : 1;
        linear_check(l, run, packed, false);
        if (l->g.residual != NULL && l->g.activation == GEMM_IDENTITY)
            linear_check(l, run, packed, true);
    }
}

static void epilogues(gemm_linear_fn *run, bool packed, int64_t m, int64_t n, int64_t k)
{
    struct linear l;

    linear_init(&l, m, n, k);
    check_epilogues(&l, run, packed);
    linear_release(&l);
}

static void every_size(gemm_linear_fn *run, bool packed)
{
    static const struct {
        int64_t m, n, k;
    } sizes[] = {
        { 1, 1, 1 },     { 9, 50, 17 },   { 21, 33, 64 },
        { 3, 1001, 5 },  { 2, 700, 400 }, { 9, 1700, 20 }, /* groups of columns when streamed */
        { 530, 600, 2 },                                   /* and of rows */
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        epilogues(run, packed, sizes[i].m, sizes[i].n, sizes[i].k);
}

/* With y of floats, or of bfloat16 between floats that hold such numbers. */
static void run_bf16(const struct gemm_linear *g, enum dtype type)
{
    const int64_t n = g->m * g->ldy;
    uint16_t *y = malloc((size_t)n * sizeof(*y)), *residual = malloc((size_t)n * sizeof(*y));
    struct gemm_bf16 narrow = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .x_type = DTYPE_FP32,
        .y_type = type,
        .x = g->x,
        .ldx = g->ldx,
        .packed = g->w,
        .bias = g->bias,
        .residual = g->residual,
        .ldr = g->ldr,
        .activation = g->activation,
        .y = g->y,
        .ldy = g->ldy,
        .streaming = g->streaming,
        .scratch = floats_new((int64_t)gemm_bf16_scratch(g->m, g->k, g->threads)),
        .threads = g->threads,
    };

    assert_true(y != NULL && residual != NULL);
    if (type == DTYPE_BF16) {
        for (int64_t i = 0; i < n; i++) {
            y[i] = bf16_from_float(g->y[i]);
            residual[i] = bf16_from_float(g->residual != NULL ? g->residual[i] : 0);
        }
        narrow.residual = g->residual == NULL ? NULL : g->residual == g->y ? y : residual;
        narrow.y = y;
    }
    gemm_bf16_simd(&narrow);
    for (int64_t i = 0; type == DTYPE_BF16 && i < n; i++)
        g->y[i] = bf16_to_float(y[i]);
    free(narrow.scratch), free(y), free(residual);
}

static void linear_bf16_floats(const struct gemm_linear *g)
{
    run_bf16(g, DTYPE_FP32);
}

static void linear_bf16(const struct gemm_linear *g)
{
    run_bf16(g, DTYPE_BF16);
}

static void bf16_epilogues(int64_t m, int64_t n, int64_t k)
{
    struct linear l;

    linear_init(&l, m, n, k);
    free(l.packed);
    l.packed = floats_new((int64_t)gemm_bf16_packed_size(n, k));
    l.tolerance =
        8 * 0x1p-7; /* half a step of 16 to 32, of 15 rms and a residual; x and w before */
    gemm_bf16_pack(l.w, DTYPE_FP32, n, k, l.packed, 2);
    check_epilogues(&l, linear_bf16_floats, true);
    check_epilogues(&l, linear_bf16, true);
    linear_release(&l);
}

TEST(test_linear_bf16)
{
    bf16_epilogues(1, 1, 1);
    bf16_epilogues(3, 1001, 5);
    bf16_epilogues(21, 33, 64);
    bf16_epilogues(9, 1700, 20);  /* groups of columns when streamed */
    bf16_epilogues(530, 1031, 3); /* and of rows */
    bf16_epilogues(9, 100, 3000); /* a panel or two a group */
}

/* With weights that int8 rounds, held against the rounded ones: what is left is the rounding of x
 * to 16 bits of the largest, which is below 6, of w of up to 6. */
static const struct narrow {
    int bits;
    size_t (*size)(int64_t n, int64_t k);
    void (*pack)(const float *w, int64_t n, int64_t k, float *packed, int threads);
    gemm_linear_fn *run;
} narrows[] = {
    { 8, gemm_int8_packed_size, gemm_int8_pack, gemm_linear_int8 },
    { 10, gemm_int10_packed_size, gemm_int10_pack, gemm_linear_int10 },
};

static void narrow_epilogues(const struct narrow *t, int64_t m, int64_t n, int64_t k)
{
    struct linear l;

    linear_init(&l, m, n, k);
    free(l.packed);
    l.packed = floats_new((int64_t)t->size(n, k));
    l.g.scratch = floats_new((int64_t)gemm_int8_scratch(m, k, 3));
    l.tolerance = 6 * 6 * 0x1p-15;
    t->pack(l.w, n, k, l.packed, 2);
    for (int64_t j = 0; j < n; j++)
        host_int_round_row(l.w + j * k, k, t->bits);
    check_epilogues(&l, t->run, true);
    free(l.g.scratch);
    linear_release(&l);
}

TEST(test_linear_int8)
{
    for (size_t i = 0; i < sizeof(narrows) / sizeof(narrows[0]); i++) {
        narrow_epilogues(&narrows[i], 1, 1, 1);
        narrow_epilogues(&narrows[i], 9, 50, 17);
        narrow_epilogues(&narrows[i], 4, 1001, 5);
        narrow_epilogues(&narrows[i], 5, 97, 1027);   /* some blocks of terms, a part of a quad */
        narrow_epilogues(&narrows[i], 130, 48, 1030); /* two blocks of rows */
    }
}

/* One weight that is a step off, of a thousand: more than what the kernel is allowed. */
TEST(test_int8_step)
{
    enum { M = 9, N = 50, K = 1030, ROW = 7 };
    const struct shape shape = { { 1, M, N, K } };
    const double allowed =
        gemm_nt_kernel.tolerance(&gemm_nt_kernel, &shape, DTYPE_FP32, MATH_INT8) * sqrt(K);
    struct linear l;
    double worst = 0;

    linear_init(&l, M, N, K);
    free(l.packed);
    l.packed = floats_new((int64_t)gemm_int8_packed_size(N, K));
    for (int j = 0; j < N; j++)
        host_int_round_row(l.w + j * K, K, 8);
    float *moved = l.w + ROW * K + K - 1, was = *moved;
    *moved += host_int_scale(l.w + ROW * K, K, 8);
    gemm_int8_pack(l.w, N, K, l.packed, 1);
    *moved = was;
    l.g.w = l.packed;
    l.g.scratch = floats_new((int64_t)gemm_int8_scratch(M, K, 1));
    l.g.threads = 1;
    gemm_linear_int8(&l.g);
    l.g.w = l.w;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double error = fabs((double)l.y[i * l.g.ldy + j] - linear_expected(&l, i, j));
            assert_true(j == ROW || error <= allowed);
            worst = fmax(worst, error);
        }
    assert_true(worst > allowed);
    free(l.g.scratch);
    linear_release(&l);
}

/* No weight is further than half a step from what it was, the largest stays, zeros stay. */
TEST(test_int8_rounding)
{
    enum { N = 1000 };
    float *w = floats_random(N, 5), *was = floats_random(N, 5), zeros[3] = { 0 };
    float scale = host_int_scale(w, N, 8), most = 0;

    host_int_round_row(w, N, 8);
    for (int i = 0; i < N; i++) {
        most = fmaxf(most, fabsf(was[i]));
        assert_true(fabsf(w[i] - was[i]) <= 0.5001f * scale);
        assert_true(w[i] == (float)host_int_round(was[i], scale, 8) * scale);
    }
    assert_close((double)scale, (double)most / 127, 1e-6);
    host_int_round_row(zeros, 3, 8);
    assert_true(zeros[0] == 0 && zeros[2] == 0);
    assert_int_equal(host_int_round(1e-44f, 1e-45f, 8), 7);   /* denormal scales are coarse, */
    assert_int_equal(host_int_round(1e-42f, 1e-45f, 8), 127); /* and the largest never wraps */
    free(w);
    free(was);
}

TEST(test_linear_naive)
{
    every_size(gemm_linear_naive, false);
}

TEST(test_linear_simd)
{
    every_size(gemm_linear_simd, true);
}

#ifdef HARNESS_HAVE_OPENBLAS
TEST(test_linear_openblas)
{
    every_size(gemm_linear_openblas, false);
}
#endif

/* m on both sides of the place where packing begins to pay. */
static void nn_strides(gemm_nn_fn *run, int64_t m)
{
    const int64_t n = 101, k = 19;
    float *a = floats_random(m * (k + PAD), 1), *b = floats_random(k * (n + PAD), 2);
    float *c = floats_new(m * (n + PAD)), *scratch = floats_new((int64_t)gemm_packed_size(n, k));
    const struct gemm_nn g = { .m = m,
                               .n = n,
                               .k = k,
                               .a = a,
                               .lda = k + PAD,
                               .b = b,
                               .ldb = n + PAD,
                               .c = c,
                               .ldc = n + PAD,
                               .scratch = scratch,
                               .threads = 2 };

    for (int64_t i = 0; i < m * g.ldc; i++)
        c[i] = NAN;
    run(&g);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += (double)a[i * g.lda + p] * (double)b[p * g.ldb + j];
            assert_close((double)c[i * g.ldc + j], sum, 1e-5);
        }
        assert_true(isnan(c[i * g.ldc + n]));
    }
    free(a);
    free(b);
    free(c);
    free(scratch);
}

TEST(test_nn)
{
    nn_strides(gemm_nn_naive, 5);
    for (int64_t m = 1; m < 70; m += 17)
        nn_strides(gemm_nn_simd, m);
#ifdef HARNESS_HAVE_OPENBLAS
    nn_strides(gemm_nn_openblas, 5);
#endif
}

/* q, k and v are packed in one matrix. */
static struct attention attention_of(int64_t batch, int64_t seq, int64_t heads, int64_t headdim,
                                     const float *qkv, float *out, float *scratch)
{
    const int64_t width = heads * headdim;
    struct attention a = { .batch = batch, .seq = seq, .heads = heads, .headdim = headdim };

    a.q = qkv, a.k = qkv + width, a.v = qkv + 2 * width, a.ld = 3 * width;
    a.out = out, a.ldo = width, a.scratch = scratch, a.threads = 1;
    return a;
}

/* q, k and v in separate matrices with padding, against the packed form of the same numbers. */
static void attention_strides(attention_fn *run, size_t scratch_floats, bool causal)
{
    const int64_t batch = 2, seq = 70, heads = 2, headdim = 24, width = heads * headdim;
    const int64_t tokens = batch * seq, ld = width + PAD;
    float *packed = floats_random(tokens * 3 * width, 1), *apart = floats_new(3 * tokens * ld);
    float *one = floats_new(tokens * width), *two = floats_new(tokens * ld);
    float *scratch = floats_new((int64_t)scratch_floats);
    struct attention a = attention_of(batch, seq, heads, headdim, packed, one, scratch);

    a.causal = causal;
    for (int64_t i = 0; i < 3 * tokens; i++) /* matrix i % 3, token i / 3 */
        memcpy(apart + (i % 3 * tokens + i / 3) * ld, packed + i * width,
               (size_t)width * sizeof(*apart));
    for (int64_t i = 0; i < tokens * ld; i++)
        two[i] = NAN;
    run(&a);
    a.q = apart;
    a.k = apart + tokens * ld;
    a.v = apart + 2 * tokens * ld;
    a.ld = a.ldo = ld;
    a.out = two;
    a.threads = 2;
    run(&a);
    for (int64_t i = 0; i < tokens; i++) {
        assert_memory_equal(one + i * width, two + i * ld, (size_t)width * sizeof(*one));
        assert_true(isnan(two[i * ld + width]));
    }
    free(packed);
    free(apart);
    free(one);
    free(two);
    free(scratch);
}

TEST(test_attention_strides)
{
    const size_t floats = attention_scratch(70, 24, 2);

    for (int causal = 0; causal <= 1; causal++) {
        attention_strides(attention_prefill_naive, floats, causal);
        attention_strides(attention_prefill_simd, floats, causal);
#ifdef HARNESS_HAVE_OPENBLAS
        attention_strides(attention_prefill_openblas, attention_openblas_scratch(70, 2), causal);
#endif
    }
}

/* Decoding token t against the first t + 1 positions gives row t of the causal prefill. */
static void decode_is_prefill(attention_decode_fn *decode)
{
    const int64_t batch = 2, seq = 37, heads = 3, headdim = 20, width = heads * headdim;
    float *qkv = floats_random(batch * seq * 3 * width, 6), *all = floats_new(batch * seq * width);
    float *out = floats_new(batch * width);
    float *scratch = floats_new((int64_t)attention_scratch(seq, headdim, 1));
    struct attention a = attention_of(batch, seq, heads, headdim, qkv, all, scratch);

    a.causal = true;
    attention_prefill_naive(&a);
    for (int64_t t = 0; t < seq; t++) {
        struct attention_decode d = { .batch = batch,
                                      .length = t + 1,
                                      .heads = heads,
                                      .headdim = headdim,
                                      .q = qkv + t * a.ld,
                                      .ldq = seq * a.ld,
                                      .k = a.k,
                                      .v = a.v,
                                      .ld = a.ld,
                                      .ld_sequence = seq * a.ld,
                                      .out = out,
                                      .ldo = width,
                                      .scratch = scratch,
                                      .threads = 1 };
        decode(&d);
        for (int64_t b = 0; b < batch; b++)
            for (int64_t j = 0; j < width; j++)
                assert_close((double)out[b * width + j], (double)all[(b * seq + t) * width + j],
                             tolerance);
    }
    free(qkv);
    free(all);
    free(out);
    free(scratch);
}

TEST(test_decode)
{
    decode_is_prefill(attention_decode_naive);
    decode_is_prefill(attention_decode_simd);
}

/* Scores of 200 and -200: nothing overflows, the larger one takes all. */
static void large_scores(attention_fn *run)
{
    const float qkv[] = { 20, 10, 1, 20, -10, 2 };
    float out[2], *scratch = floats_new((int64_t)attention_scratch(2, 1, 1));
    struct attention a = attention_of(1, 2, 1, 1, qkv, out, scratch);

    run(&a);
    assert_true(out[0] == 1 && out[1] == 1);
    free(scratch);
}

TEST(test_large_scores)
{
    large_scores(attention_prefill_naive);
    large_scores(attention_prefill_simd);
}

/* Scores that rise from key to key by `step`, and those of every third query fall: what a row has
 * seen so far is outweighed again and again, by a little or by more than a float holds. */
static void rising_scores(attention_fn *run, float step, bool causal)
{
    enum { SEQ = 450, HEADDIM = 3, LD = 3 * HEADDIM };
    float *qkv = floats_random(SEQ * LD, 4), *one = floats_new(SEQ * HEADDIM);
    float *two = floats_new(SEQ * HEADDIM);
    float *scratch = floats_new((int64_t)attention_scratch(SEQ, HEADDIM, 1));
    struct attention a = attention_of(1, SEQ, 1, HEADDIM, qkv, one, scratch);

    a.causal = causal;
    for (int i = 0; i < SEQ; i++) {
        qkv[i * LD] = i % 3 == 0 ? -1 : 1;
        qkv[i * LD + HEADDIM] = step * (float)i;
    }
    attention_prefill_naive(&a);
    a.out = two;
    run(&a);
    for (int i = 0; i < SEQ * HEADDIM; i++)
        assert_close((double)two[i], (double)one[i],
                     1e-3); /* the scores' own eps: 450 * 40 / 2^24 */
    free(qkv);
    free(one);
    free(two);
    free(scratch);
}

TEST(test_rising_scores)
{
    const float steps[] = { 0.05f, 0.5f, 40 };

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        for (int causal = 0; causal <= 1; causal++)
            rising_scores(attention_prefill_simd, steps[i], causal);
}

/* x += delta and y = norm(x), with the sum where x was; a mean of 1000 leaves the variance right.
 */
static void layernorm_in_place(layernorm_fn *run)
{
    enum { ROWS = 5, WIDTH = 71 };
    float *x = floats_random(ROWS * WIDTH, 1), *delta = floats_random(ROWS * WIDTH, 2);
    float *sum = floats_new(ROWS * WIDTH), *y = floats_new(ROWS * WIDTH), ones[WIDTH], zeros[WIDTH];
    struct layernorm l = { .rows = ROWS,
                           .width = WIDTH,
                           .x = x,
                           .delta = delta,
                           .sum = x,
                           .gain = ones,
                           .bias = zeros,
                           .y = y,
                           .threads = 2 };

    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        x[i] += 1000;
        sum[i] = x[i] + delta[i];
        ones[i % WIDTH] = 1;
        zeros[i % WIDTH] = 0;
    }
    run(&l);
    assert_memory_equal(x, sum, ROWS * WIDTH * sizeof(*x));
    for (int64_t i = 0; i < ROWS; i++) {
        double squares = 0, total = 0;
        for (int64_t j = 0; j < WIDTH; j++) {
            total += (double)y[i * WIDTH + j];
            squares += (double)y[i * WIDTH + j] * (double)y[i * WIDTH + j];
        }
        assert_close(total / WIDTH, 0, 1e-3); /* a few eps of 1000 */
        assert_close(squares / WIDTH, 1, 1e-3);
    }
    l = (struct layernorm) {
        .rows = ROWS, .width = WIDTH, .x = sum, .gain = ones, .bias = zeros, .y = sum, .threads = 1
    };
    run(&l);
    assert_memory_equal(sum, y, ROWS * WIDTH * sizeof(*y));
    free(x);
    free(delta);
    free(sum);
    free(y);
}

TEST(test_layernorm)
{
    layernorm_in_place(layernorm_rows_naive);
    layernorm_in_place(layernorm_rows_simd);
}

static void pointwise_in_place(pointwise_fn *run, enum pointwise_op op)
{
    enum { ROWS = 300, WIDTH = 37 };
    float *x = floats_random(ROWS * WIDTH, 1), *operand = floats_random(ROWS * WIDTH, 2);
    float *y = floats_new(ROWS * WIDTH);
    struct pointwise p = {
        .op = op, .rows = ROWS, .width = WIDTH, .x = x, .operand = operand, .y = y, .threads = 3
    };

    run(&p);
    p.y = x;
    run(&p);
    assert_memory_equal(x, y, ROWS * WIDTH * sizeof(*x));
    free(x);
    free(operand);
    free(y);
}

TEST(test_pointwise)
{
    for (unsigned op = POINTWISE_GELU; op <= POINTWISE_RESIDUAL; op++) {
        pointwise_in_place(pointwise_rows_naive, (enum pointwise_op)op);
        pointwise_in_place(pointwise_rows_simd, (enum pointwise_op)op);
    }
}

/* One token a sequence at position 4, as decoding does. */
static void embedding_later(embedding_fn *run)
{
    const int32_t tokens[] = { 2, 0, 1 };
    const float wte[] = { 1, 2, 3, 4, 5, 6 }, wpe[] = { 0, 0, 0, 0, 0, 0, 0, 0, 10, 20 };
    const float expected[] = { 15, 26, 11, 22, 13, 24 };
    float out[6];
    const struct embedding e = { .batch = 3,
                                 .seq = 1,
                                 .width = 2,
                                 .tokens = tokens,
                                 .wte = wte,
                                 .wpe = wpe,
                                 .first = 4,
                                 .out = out,
                                 .threads = 1 };

    run(&e);
    assert_memory_equal(out, expected, sizeof(out));
}

TEST(test_embedding)
{
    embedding_later(embedding_rows_naive);
    embedding_later(embedding_rows_simd);
}

/* What the entry points need before their first call. */
static int open_libraries(void **state)
{
    (void)state;
#ifdef HARNESS_HAVE_OPENBLAS
    struct error err;

    assert_ok(openblas_open(&err), &err);
#endif
    return 0;
}

int main(void)
{
    const char *wish = getenv("HARNESS_ISA");

    if (wish != NULL && strcmp(wish, simd_isa_name(simd_isa())) != 0)
        return 77; /* not on this machine */
    return cmocka_run_group_tests(file_tests, open_libraries, NULL);
}
