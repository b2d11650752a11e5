/* SPDX-License-Identifier: MIT */
/*
 * Results beyond the last-level cache take another way: streaming stores, and in the layer norm
 * another order of work. They must be those of the plain loops, for every number of vectors that a
 * row may leave over, any number of threads, and not one float may be written beyond them. The
 * instruction set is the environment's HARNESS_ISA, or the best one. Features: U-03, U-04
 * (kernels).
 */
#include "kernel_testing.h"

#include "core/device.h"
#include "core/registry.h"
#include "host/host_cache.h"
#include "kernels/embedding/embedding.h"
#include "kernels/host.h"
#include "kernels/layernorm/layernorm.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/simd.h"

enum { GUARD = 64 };

/* Rows of `width` that make one input and one output too large for the cache. */
static int64_t rows_beyond(int64_t width)
{
    int64_t cache = host_cache_bytes(3);
    int64_t rows = (cache > 0 ? cache : (int64_t)32 << 20) / 8 / width + 1;

    assert_true(host_beyond_caches(8.0 * (double)(rows * width)));
    return rows;
}

/* n numbers and a guard behind them. */
static float *results_new(int64_t n)
{
    float *p = floats_new(n + GUARD);

    for (int64_t i = 0; i < n + GUARD; i++)
        p[i] = NAN;
    return p;
}

static void results_check(const char *what, const float *got, const float *expected, int64_t n,
                          double most)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)expected[i]) <= most))
            fail_msg("%s: element %lld is %g, not %g", what, (long long)i, (double)got[i],
                     (double)expected[i]);
    for (int64_t i = n; i < n + GUARD; i++)
        assert_true(isnan(got[i]));
}

/* A cheap, even spread around 2: millions of normal numbers would take longer than the test. */
static float *numbers_new(int64_t n, uint32_t seed)
{
    float *p = floats_new(n);

    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = 2 + 3 * ((float)(seed >> 8) * 0x1p-24f - 0.5f);
    }
    return p;
}

/* in: x, delta or NULL, gain, bias. */
static struct layernorm operation_of(int64_t rows, int64_t width, const float *const in[4],
                                     float *sum, float *y)
{
    return (struct layernorm) {
        .rows = rows,
        .width = width,
        .x = in[0],
        .delta = in[1],
        .gain = in[2],
        .bias = in[3],
        .sum = sum,
        .y = y,
    };
}

static void layernorm_of_width(int64_t width, bool residual, int threads)
{
    int64_t rows = rows_beyond(width), n = rows * width;
    float *x = numbers_new(n, 1), *delta = numbers_new(n, 2), *gain = numbers_new(width, 3),
          *bias = numbers_new(width, 4), *sum = results_new(n), *y = results_new(n);
    float *plain_sum = results_new(n), *plain_y = results_new(n);
    const float *in[] = { x, residual ? delta : NULL, gain, bias };
    struct layernorm l = operation_of(rows, width, in, sum, y);

    l.threads = threads;
    layernorm_rows_simd(&l);
    l.sum = plain_sum;
    l.y = plain_y;
    layernorm_rows_naive(&l);
    /* Values of up to 6 times a gain of up to 3.5, both ways rounding about as the tolerance says.
     */
    results_check("y", y, plain_y, n, 40 * HOST_FP32_EPS * (16 + 2.5 * sqrt((double)width)));
    if (residual)
        results_check("sum", sum, plain_sum, n, 0);
    free(x), free(delta), free(gain), free(bias), free(sum), free(y);
    free(plain_sum), free(plain_y);
}

/* In vectors of 16: 3, 7 (4 + 3), 8 + 2, 8 + 4 + 1, 16; a width that is no multiple is not
 * streamed, and must come out right all the same. */
TEST(test_layernorm)
{
    const int64_t widths[] = { 48, 112, 160, 208, 256, 1000 };

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        layernorm_of_width(widths[i], i % 2 == 0, 1 + (int)i % 3);
    layernorm_of_width(2048, true, 2);
    layernorm_of_width(112, true, 3);
}

/* Ours of bfloat16 on a CPU. */
static const struct variant *variant_of(const struct kernel *k)
{
    const struct registry *r = registry_builtin();
    const struct variant *v = NULL;

    for (size_t i = 0; (v = registry_variant_at(r, i)) != NULL; i++)
        if (v->kernel == k && strcmp(v->name, "simd_bf16") == 0)
            break;
    assert_non_null(v);
    return v;
}

enum { SOME_ROWS = 50 };

/* Rows spread over output `out` against the oracle; all of it has been written. */
static void narrow_check(const struct call *call, int out)
{
    const struct tensor *t = &call->tensor[out];
    const int64_t width = tensor_cols(t), step = tensor_rows(t) / SOME_ROWS;
    const double tolerance =
        call->kernel->tolerance(call->kernel, &call->shape, DTYPE_BF16, MATH_BF16);
    float *got = floats_new(SOME_ROWS * width);
    double *expected = malloc((size_t)(SOME_ROWS * width) * sizeof(*expected));
    int64_t rows[SOME_ROWS];

    assert_non_null(expected);
    for (int64_t i = 0; i < tensor_elements(t); i++)
        assert_true(isfinite(bf16_to_float(((const uint16_t *)t->data)[i])));
    for (int64_t i = 0; i < SOME_ROWS; i++) {
        rows[i] = i < SOME_ROWS - 1 ? i * step : tensor_rows(t) - 1;
        for (int64_t j = 0; j < width; j++)
            got[i * width + j] = (float)tensor_get(t, rows[i] * width + j);
    }
    call->kernel->oracle(call->kernel, &call->shape, call->tensor, out, rows, SOME_ROWS, expected);
    const double error = error_of(got, expected, SOME_ROWS * width);
    if (!(error <= tolerance))
        fail_msg("%s, width %lld, output %d: error %g, allowed %g", call->kernel->name,
                 (long long)width, out, error, tolerance);
    free(got);
    free(expected);
}

static void layernorm_narrow(const struct kernel *k, int64_t width, int threads)
{
    struct device device = { .kind = DEVICE_CPU, .threads = threads };
    const struct shape s = { { 1, 2 * rows_beyond(width), width } };
    struct call call;
    struct error err;

    call_init_as(&call, k, &s, DTYPE_BF16, (uint64_t)width);
    call.variant = variant_of(k);
    call.device = &device;
    assert_ok(call.variant->prepare(&call, &err), &err);
    call.variant->launch(&call);
    call.variant->release(&call);
    for (int i = 0; i < call.nr_tensors; i++)
        if (call.tensor[i].role == TENSOR_OUT)
            narrow_check(&call, i);
    call_release(&call);
}

/* Pairs of vectors of 16: a rest of one pair, none, and a width that is not streamed. */
TEST(test_layernorm_narrow)
{
    layernorm_narrow(&layernorm_plain_kernel, 96, 2);
    layernorm_narrow(&layernorm_plain_kernel, 1024, 3);
    layernorm_narrow(&layernorm_plain_kernel, 1000, 1);
    layernorm_narrow(&layernorm_residual_kernel, 224, 3);
    layernorm_narrow(&layernorm_residual_kernel, 256, 1);
}

/* Rows around 1000, but near 0 at the four places whose mean is taken for theirs at first. */
static void far_rows(float *x, int64_t rows, int64_t width)
{
    for (int64_t i = 0; i < rows * width; i++)
        x[i] += 1000;
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < 4; k++)
            x[i * width + width * k / 4] -= 1000;
}

/* One row against float64. */
static void far_row_check(const float *x, const float *delta, const float *y, int64_t width)
{
    double mean = 0, variance = 0;

    for (int64_t j = 0; j < width; j++)
        mean += (double)(x[j] + delta[j]) / (double)width;
    for (int64_t j = 0; j < width; j++)
        variance += pow((double)(x[j] + delta[j]) - mean, 2) / (double)width;
    for (int64_t j = 0; j < width; j++) {
        double expected = ((double)(x[j] + delta[j]) - mean) / sqrt(variance + LAYERNORM_EPS);
        /* 1000 and the mean are each good to an eps or two, the root to a few */
        double most = HOST_FP32_EPS * (4000 / sqrt(variance) + 8 * fabs(expected));
        if (!(fabs((double)y[j] - expected) <= most))
            fail_msg("column %lld of %lld is %.9g, not %.9g", (long long)j, (long long)width,
                     (double)y[j], expected);
    }
}

static void layernorm_far(int64_t rows, int64_t width, bool residual)
{
    int64_t n = rows * width;
    float *x = numbers_new(n, 1), *delta = residual ? numbers_new(n, 2) : floats_new(n),
          *gain = floats_new(width), *bias = floats_new(width), *sum = results_new(n),
          *y = results_new(n);
    const float *in[] = { x, residual ? delta : NULL, gain, bias };
    struct layernorm l = operation_of(rows, width, in, sum, y);

    l.threads = 2;
    far_rows(x, rows, width);
    memset(bias, 0, (size_t)width * sizeof(*bias));
    if (!residual)
        memset(delta, 0, (size_t)n * sizeof(*delta));
    for (int64_t j = 0; j < width; j++)
        gain[j] = 1;
    layernorm_rows_simd(&l);
    for (int64_t i = 0; i < rows; i += 1 + rows / 50)
        far_row_check(x + i * width, delta + i * width, y + i * width, width);
    free(x), free(delta), free(gain), free(bias), free(sum), free(y);
}

/* What one pass cannot tell: rows of several vectors, with a rest and without, one and many to a
 * block, in cache and beyond. */
TEST(test_layernorm_far)
{
    const int64_t widths[] = { 48, 64, 100, 768, 4099 };

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        layernorm_far(37, widths[i], false);
        layernorm_far(37, widths[i], true);
    }
    layernorm_far(rows_beyond(768), 768, false);
    layernorm_far(rows_beyond(2048), 2048, true);
}

/* A residual or bias is one rounded sum; gelu's bound is that of the kernel. */
static void pointwise_of(enum pointwise_op op, int64_t width, double most)
{
    int64_t rows = rows_beyond(width), n = rows * width;
    bool whole = op == POINTWISE_RESIDUAL;
    float *x = numbers_new(n, 5), *operand = numbers_new(whole ? n : width, 6);
    float *y = results_new(n), *plain = results_new(n);
    struct pointwise p = {
        .op = op, .rows = rows, .width = width, .x = x, .operand = operand, .y = y, .threads = 3
    };

    pointwise_rows_simd(&p);
    p.y = plain;
    pointwise_rows_naive(&p);
    results_check("pointwise", y, plain, n, most);
    free(x), free(operand), free(y), free(plain);
}

TEST(test_pointwise)
{
    pointwise_of(POINTWISE_RESIDUAL, 100, 0);
    pointwise_of(POINTWISE_BIAS, 768, 0);
    pointwise_of(POINTWISE_GELU, 33, 34 * HOST_FP32_EPS);
    pointwise_of(POINTWISE_BIAS_GELU, 64, 68 * HOST_FP32_EPS);
}

TEST(test_embedding)
{
    enum { WIDTH = 96, VOCAB = 11 };
    int64_t seq = rows_beyond(WIDTH), n = seq * WIDTH;
    float *wte = numbers_new((int64_t)VOCAB * WIDTH, 7), *wpe = numbers_new(n, 8);
    float *out = results_new(n), *plain = results_new(n);
    int32_t *tokens = malloc((size_t)seq * sizeof(*tokens));

    assert_non_null(tokens);
    for (int64_t i = 0; i < seq; i++)
        tokens[i] = (int32_t)(i * 5 % VOCAB);
    struct embedding e = { .batch = 1,
                           .seq = seq,
                           .width = WIDTH,
                           .tokens = tokens,
                           .wte = wte,
                           .wpe = wpe,
                           .out = out,
                           .threads = 2 };
    embedding_rows_simd(&e);
    e.out = plain;
    embedding_rows_naive(&e);
    results_check("embedding", out, plain, n, 0);
    free(wte), free(wpe), free(out), free(plain), free(tokens);
}

int main(void)
{
    const char *wish = getenv("HARNESS_ISA");

    if (wish != NULL && strcmp(wish, simd_isa_name(simd_isa())) != 0)
        return 77; /* not on this machine */
    if (host_cache_bytes(3) > (int64_t)256 << 20)
        return 77; /* the matrices would take gigabytes */
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
