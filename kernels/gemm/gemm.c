/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm.h"

#include "base/memory.h"
#include "kernels/host.h"
#include "kernels/pointwise/pointwise.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH, SEQ, N, K };

static int64_t rows_of(const struct shape *s)
{
    return s->dim[BATCH] * s->dim[SEQ];
}

static double flops(const struct shape *s)
{
    return 2.0 * (double)rows_of(s) * (double)s->dim[N] * (double)s->dim[K];
}

static double matrix_bytes(const struct shape *s, enum dtype dtype)
{
    double m = (double)rows_of(s), n = (double)s->dim[N], k = (double)s->dim[K];

    return (m * k + n * k + m * n) * (double)dtype_size(dtype);
}

/* What int8 leaves of the weights to be read: a byte each, and the scales. */
static double rounded_bytes(const struct shape *s, enum dtype dtype, enum math math)
{
    double n = (double)s->dim[N], k = (double)s->dim[K];

    return math == MATH_INT8 ? n * k * (1 - (double)dtype_size(dtype)) + n * (double)sizeof(float)
                             : 0;
}

static const struct gemm_epilogue *epilogue_of(const struct kernel *kernel)
{
    return kernel->config;
}

static struct work linear_work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                               enum math math)
{
    const struct gemm_epilogue *e = epilogue_of(kernel);
    double rows = (e->bias ? 1 : 0) + (e->residual ? (double)rows_of(s) : 0); /* of n */
    double added = rows * (double)s->dim[N] * (double)dtype_size(dtype);

    return (struct work) { .flops = flops(s),
                           .bytes =
                               matrix_bytes(s, dtype) + added + rounded_bytes(s, dtype, math) };
}

static struct work nn_work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                           enum math math)
{
    (void)kernel, (void)math;
    return (struct work) { .flops = flops(s), .bytes = matrix_bytes(s, dtype) };
}

/* The right factor is scaled by 1/sqrt(k), so that the product is near N(0, 1) whatever k is and
 * a forgotten bias stands out. */
static int linear_layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                         struct tensor *t)
{
    int64_t m = rows_of(s), n = s->dim[N], k = s->dim[K];

    t[GEMM_LINEAR_X] = (struct tensor) {
        .name = "x", .role = TENSOR_IN, .dtype = dtype, .rank = 2, .extent = { m, k }, .scale = 1
    };
    t[GEMM_LINEAR_W] = (struct tensor) { .name = "weight",
                                         .role = TENSOR_WEIGHT,
                                         .dtype = dtype,
                                         .rank = 2,
                                         .extent = { n, k },
                                         .scale = 1 / sqrt((double)k) };
    t[GEMM_LINEAR_Y] = (struct tensor) {
        .name = "y", .role = TENSOR_OUT, .dtype = dtype, .rank = 2, .extent = { m, n }
    };
    if (!epilogue_of(kernel)->bias)
        return GEMM_LINEAR_BIAS;
    t[GEMM_LINEAR_BIAS] = (struct tensor) { .name = "bias",
                                            .role = TENSOR_WEIGHT,
                                            .dtype = dtype,
                                            .rank = 1,
                                            .extent = { n },
                                            .scale = 1 };
    if (!epilogue_of(kernel)->residual)
        return GEMM_LINEAR_RESIDUAL;
    t[GEMM_LINEAR_RESIDUAL] = (struct tensor) { .name = "residual",
                                                .role = TENSOR_IN,
                                                .dtype = dtype,
                                                .rank = 2,
                                                .extent = { m, n },
                                                .scale = 1 };
    return GEMM_LINEAR_NR;
}

static int nn_layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                     struct tensor *t)
{
    (void)kernel;
    int64_t m = rows_of(s), n = s->dim[N], k = s->dim[K];

    t[GEMM_NN_A] = (struct tensor) {
        .name = "a", .role = TENSOR_IN, .dtype = dtype, .rank = 2, .extent = { m, k }, .scale = 1
    };
    t[GEMM_NN_B] = (struct tensor) { .name = "b",
                                     .role = TENSOR_IN,
                                     .dtype = dtype,
                                     .rank = 2,
                                     .extent = { k, n },
                                     .scale = 1 / sqrt((double)k) };
    t[GEMM_NN_C] = (struct tensor) {
        .name = "c", .role = TENSOR_OUT, .dtype = dtype, .rank = 2, .extent = { m, n }
    };
    return GEMM_NN_NR;
}

/* The asked rows of a [m,k] matrix as float64, dense; freed by the caller. */
static double *left_rows(const struct tensor *t, const int64_t *rows, size_t nr, int64_t k)
{
    double *left = memory_zeroed(nr * (size_t)k + 1, sizeof(*left));

    for (size_t i = 0; i < nr; i++)
        host_doubles(t, rows[i] * k, k, left + i * (size_t)k);
    return left;
}

/* activation(sum) + residual of element (row, j). */
static double finish(const struct kernel *kernel, const struct tensor *t, int64_t row, int64_t j,
                     double sum)
{
    const struct gemm_epilogue *e = epilogue_of(kernel);
    double y = e->activation == GEMM_GELU ? pointwise_gelu_double(sum) : sum;

    if (!e->residual)
        return y;
    const struct tensor *residual = &t[GEMM_LINEAR_RESIDUAL];
    return y + tensor_get(residual, row * tensor_cols(residual) + j);
}

static void linear_oracle(const struct kernel *kernel, const struct shape *s,
                          const struct tensor *t, int out, const int64_t *rows, size_t nr_rows,
                          double *expected)
{
    (void)out;
    int64_t n = s->dim[N], k = s->dim[K];
    double *x = left_rows(&t[GEMM_LINEAR_X], rows, nr_rows, k);
    double *w = memory_zeroed((size_t)k + 1, sizeof(*w));

    for (int64_t j = 0; j < n; j++) {
        double bias = epilogue_of(kernel)->bias ? tensor_get(&t[GEMM_LINEAR_BIAS], j) : 0;
        host_doubles(&t[GEMM_LINEAR_W], j * k, k, w);
        for (size_t i = 0; i < nr_rows; i++)
            expected[i * (size_t)n + (size_t)j] =
                finish(kernel, t, rows[i], j, host_dot(x + i * (size_t)k, w, k) + bias);
    }
    free(w);
    free(x);
}

/* to[0..n) += factor * from[0..n) */
static void add_scaled(double *to, double factor, const double *from, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        to[j] += factor * from[j];
}

/* Columns in blocks, so that the piece of `expected` that is added to stays in the caches. */
static void nn_oracle(const struct kernel *kernel, const struct shape *s, const struct tensor *t,
                      int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)kernel, (void)out;
    enum { BLOCK = 128 };
    int64_t n = s->dim[N], k = s->dim[K];
    double *a = left_rows(&t[GEMM_NN_A], rows, nr_rows, k);
    double b[BLOCK];

    for (size_t i = 0; i < nr_rows * (size_t)n; i++)
        expected[i] = 0;
    for (int64_t j = 0; j < n; j += BLOCK) {
        int64_t cols = n - j < BLOCK ? n - j : BLOCK;
        for (int64_t p = 0; p < k; p++) {
            host_doubles(&t[GEMM_NN_B], p * n + j, cols, b);
            for (size_t i = 0; i < nr_rows; i++)
                add_scaled(expected + i * (size_t)n + j, a[i * (size_t)k + (size_t)p], b, cols);
        }
    }
    free(a);
}

static void linear_round_weight(const struct kernel *kernel, const struct shape *s,
                                struct tensor *t, enum math math)
{
    (void)kernel, (void)math;
    for (int64_t j = 0; t->rank == 2 && j < s->dim[N]; j++) /* the bias stays */
        host_int_round_row((float *)t->data + j * s->dim[K], s->dim[K], 8);
}

static void oracle_cost(const struct kernel *kernel, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)kernel;
    *fixed = (double)s->dim[N] * (double)s->dim[K];
    *per_row = 2 * *fixed;
}

/*
 * A sum of k products whose terms have variance 1/k: after j terms the partial sum has variance
 * j/k and each addition errs by at most eps/2 of it, evenly spread: variance eps^2/12 j/k. Over
 * all additions that is eps^2 k/24, a standard error of 0.2 eps sqrt(k) against an rms of 1 (or
 * sqrt 2 with bias). The error grows with the partial sums, so the largest of many is one with
 * large sums too, at 1.4 eps sqrt(k) or 7 standard errors; 3 eps sqrt(k) leaves a factor of two.
 * The constant is for few terms, where the result itself is heavy-tailed (a product of two normals
 * reaches 15 rms) and product, bias and store each round it by eps/2. bf16 and fp16 variants add
 * the rounding of the stored result, 6 rms large (15 where it is one product), by eps/2. tf32
 * rounds both factors to half of its eps: 0.3 eps of each product in the standard, so 2 eps of the
 * largest of many sums, and a whole eps of a single product of 15 rms.
 *
 * int8 is held against the rounded weights, so what errs is x alone, which is rounded to 16 bits of
 * its row's largest: in steps of 5.5 / 32512 where that is one of millions of normals, 0.29 of it
 * in the standard, so is their sum, and the largest of millions of sums errs 5.5 times as
 * much: 2.7e-4, that is 9 times 2^-15. Rounded weights themselves err by 0.7 % in the standard
 * (half a step is 1/254 of a row's largest, some 3 rms), which is no part of this.
 *
 * A GELU has a slope of at most 1.13, an rms of 0.96 where its argument, with bias, has 1.41, and
 * errs itself by 34 eps (see pointwise.c). A residual adds to the rms more than to the error.
 */
static double tolerance(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    double few = host_few_values((double)rows_of(s) * (double)s->dim[N]);
    double root = sqrt((double)s->dim[K]), sum = HOST_FP32_EPS * (16 + 3 * root);

    if (dtype != DTYPE_FP32)
        sum += (4 + 4 / root) * host_epsilon(dtype);
    if (math == MATH_TF32)
        sum += (2 + 14 / root) * HOST_TF32_EPS;
    if (math == MATH_INT8)
        sum += 10 * 0x1p-15;
    if (kernel->config != NULL && epilogue_of(kernel)->activation == GEMM_GELU)
        sum = 1.13 * 1.41 / 0.96 * sum + 34 * HOST_FP32_EPS;
    return few * sum;
}

/* GPT sites at 4 x 64 tokens: qkv, proj, fc, proj2 of nano (48) and tile-large (256), nano's head.
 * tile-large's head takes the textbook loops seconds: suite full has it, without them. */
static const struct shape linear_shapes[] = {
    { { 4, 64, 144, 48 } },   { { 4, 64, 48, 48 } },       { { 4, 64, 192, 48 } },
    { { 4, 64, 48, 192 } },   { { 4, 64, 50257, 48 } },    { { 4, 64, 768, 256 } },
    { { 4, 64, 256, 256 } },  { { 4, 64, 1024, 256 } },    { { 4, 64, 256, 1024 } },
    { { 1, 512, 512, 512 } }, { { 1, 1024, 1024, 1024 } },
};

static const struct shape nt_shapes[] = {
    { { 4, 64, 50257, 48 } },
    { { 4, 64, 768, 256 } },
    { { 1, 512, 512, 512 } },
};

static const struct shape nn_shapes[] = {
    { { 4, 64, 144, 48 } },   { { 4, 64, 768, 256 } },  { { 4, 64, 256, 1024 } },
    { { 4, 64, 50257, 48 } }, { { 1, 512, 512, 512 } }, { { 1, 1024, 1024, 1024 } },
};

/* One row, one column, one term; one off every tile edge; depths of one, two and three slices; rows
 * beyond one part; gemm/nn's b within L2 and beyond it; the head, for few rows beyond L2, at last
 * so large that it is streamed; depths of two, three and four chunks of 64, whole groups of 8,
 * which the head by wgmma has tilings for, with rows of odd lengths. */
static const struct shape test_shapes[] = {
    { { 1, 1, 1, 1 } },      { { 1, 1, 255, 33 } },     { { 1, 255, 257, 17 } },
    { { 1, 257, 1, 255 } },  { { 3, 85, 47, 64 } },     { { 1, 7, 49, 1 } },
    { { 1, 9, 95, 257 } },   { { 1, 1, 50257, 16 } },   { { 1, 3, 50257, 22 } },
    { { 1, 8, 48, 512 } },   { { 5, 13, 97, 513 } },    { { 2, 32, 144, 48 } },
    { { 2, 65, 33, 1025 } }, { { 1, 130, 129, 1030 } }, { { 1, 13, 49, 1400 } },
    { { 1, 9, 50, 2801 } },  { { 2, 300, 17, 1000 } },  { { 1, 170, 50257, 2 } },
    { { 1, 40, 700, 531 } }, { { 1, 9, 211, 120 } },    { { 3, 43, 193, 184 } },
    { { 1, 3, 401, 256 } },
};

/* The MLP's first product, the two that add to the residual stream, of nano and tile-large. */
static const struct shape gelu_shapes[] = { { { 4, 64, 192, 48 } }, { { 4, 64, 1024, 256 } } };
static const struct shape residual_shapes[] = {
    { { 4, 64, 48, 48 } },
    { { 4, 64, 48, 192 } },
    { { 4, 64, 256, 256 } },
    { { 4, 64, 256, 1024 } },
};

static const struct gemm_epilogue plain = { GEMM_IDENTITY, true, false };
static const struct gemm_epilogue gelu = { GEMM_GELU, true, false };
static const struct gemm_epilogue residual = { GEMM_IDENTITY, true, true };
static const struct gemm_epilogue alone = { GEMM_IDENTITY, false, false };

#define LINEAR(label, text, epilogue, shapes_)                                                     \
    {                                                                                              \
        .name = (label), .summary = (text), .dims = { "batch", "seq", "n", "k" },                  \
        .config = &(epilogue), .work = linear_work, .layout = linear_layout,                       \
        .oracle = linear_oracle, .round_weight = linear_round_weight, .oracle_cost = oracle_cost,  \
        .tolerance = tolerance, .shapes = (shapes_),                                               \
        .nr_shapes = sizeof(shapes_) / sizeof((shapes_)[0]), .test_shapes = test_shapes,           \
        .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),                            \
    }

const struct kernel gemm_linear_kernel = LINEAR(
    "gemm/linear", "y = x W^T + b, K contiguous in both factors (nn.Linear)", plain, linear_shapes);
const struct kernel gemm_linear_gelu_kernel =
    LINEAR("gemm/linear_gelu", "y = gelu(x W^T + b), in one operation", gelu, gelu_shapes);
const struct kernel gemm_linear_residual_kernel = LINEAR(
    "gemm/linear_residual", "y = x W^T + b + r, in one operation", residual, residual_shapes);
const struct kernel gemm_nt_kernel =
    LINEAR("gemm/nt", "y = x W^T, the product alone (a GPT's head)", alone, nt_shapes);

const struct kernel gemm_nn_kernel = {
    .name = "gemm/nn",
    .summary = "c = a b, row-major, nothing packed beforehand",
    .dims = { "batch", "seq", "n", "k" },
    .work = nn_work,
    .layout = nn_layout,
    .oracle = nn_oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = nn_shapes,
    .nr_shapes = sizeof(nn_shapes) / sizeof(nn_shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

#define ADDRESS(of) &(of),

const struct kernel *const gemm_kernels[] = { GEMM_LINEAR_KERNELS(ADDRESS) & gemm_nn_kernel, NULL };
