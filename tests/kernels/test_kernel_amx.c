/* SPDX-License-Identifier: MIT */
/*
 * Products of bfloat16 by matrix tiles, which no machine at hand has: gemm_simd_bf16.c and
 * simd_amx.c, compiled over a model of the tiles. What the model cannot say is whether the
 * processor's instructions are those: a process tries them before it uses them, and this test
 * plants mistakes that the trial must find. Features: U-03 (kernels).
 */
#include "amx_faults.h"
#include "kernel_testing.h"

#include "base/error.h"
#include "kernels/gemm/bf16/gemm_bf16.h"
#include "kernels/host.h"
#include "kernels/simd.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

/* Of the files over the model, and the panels that they take. */
extern host_share_fn gemm_bf16_amx_model;
extern void gemm_bf16_pack_avx512(const void *w, enum dtype type, int64_t n, int64_t k,
                                  float *packed, int threads);
extern bool simd_amx_model_works(void);
extern bool matrix_tiles_of_model(void);

int amx_model_fault = AMX_RIGHT;

bool matrix_tiles_of_model(void)
{
    return true;
}

/* Rows and columns lie `apart` elements beyond their width; y and the residual are of `y`. */
static const struct shape_case {
    int64_t m, n, k, apart;
    enum dtype x, y;
    bool packed, bias, residual, gelu, streaming;
    int threads;
} cases[] = {
    { 32, 48, 32, 0, DTYPE_BF16, DTYPE_BF16, true, false, false, false, false, 1 },
    { 5, 1, 1, 0, DTYPE_BF16, DTYPE_FP32, true, false, false, false, false, 1 },
    { 16, 16, 64, 2, DTYPE_BF16, DTYPE_FP32, true, true, true, false, false, 1 },
    { 17, 33, 31, 1, DTYPE_BF16, DTYPE_BF16, true, true, false, true, false, 1 },
    { 33, 49, 33, 3, DTYPE_FP32, DTYPE_FP32, true, true, true, false, false, 2 },
    { 48, 144, 48, 0, DTYPE_FP32, DTYPE_FP32, true, true, false, true, false, 2 },
    { 64, 100, 48, 0, DTYPE_BF16, DTYPE_BF16, true, true, true, true, false, 2 },
    { 70, 97, 130, 1, DTYPE_BF16, DTYPE_BF16, false, false, false, false, false, 1 },
    { 64, 96, 256, 0, DTYPE_BF16, DTYPE_BF16, false, false, false, false, false, 2 },
    { 257, 40, 2048, 0, DTYPE_BF16, DTYPE_BF16, false, false, false, false, false, 1 },
    { 129, 1025, 40, 0, DTYPE_BF16, DTYPE_BF16, true, true, false, false, true, 2 },
    { 600, 130, 64, 0, DTYPE_FP32, DTYPE_FP32, true, false, false, false, true, 2 },
    { 100, 150, 768, 0, DTYPE_BF16, DTYPE_FP32, true, true, true, false, false, 2 },
};

struct matrix {
    enum dtype type;
    int64_t rows, row; /* elements from row to row */
    void *data;
};

static double element(const struct matrix *m, int64_t i, int64_t j)
{
    const int64_t at = i * m->row + j;

    if (m->type == DTYPE_BF16)
        return (double)bf16_to_float(((const uint16_t *)m->data)[at]);
    return (double)((const float *)m->data)[at];
}

/* Of exactly that size, so that a sanitizer sees every step too far. */
static struct matrix matrix_new(enum dtype type, int64_t rows, int64_t row, uint64_t seed)
{
    float *numbers = floats_random(rows * row, seed);
    uint16_t *narrow;

    if (type == DTYPE_FP32)
        return (struct matrix) { type, rows, row, numbers };
    narrow = malloc((size_t)(rows * row) * sizeof(*narrow));
    assert_non_null(narrow);
    for (int64_t i = 0; i < rows * row; i++)
        narrow[i] = bf16_from_float(numbers[i]);
    free(numbers);
    return (struct matrix) { type, rows, row, narrow };
}

/* GPT-2's. */
static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/* As bfloat16 where x is fp32, which tiles take rounded. */
static double factor(const struct matrix *x, int64_t i, int64_t p)
{
    return (double)bf16_to_float(bf16_from_float((float)element(x, i, p)));
}

/* `w` is [n,k] where it is packed, else [k,n]. */
static double expected(const struct shape_case *c, const struct matrix *x, const struct matrix *w,
                       const float *bias, const struct matrix *residual, int64_t i, int64_t j)
{
    double sum = 0;

    for (int64_t p = 0; p < c->k; p++)
        sum += factor(x, i, p) * (c->packed ? element(w, j, p) : element(w, p, j));
    sum += c->bias ? (double)bias[j] : 0;
    sum = c->gelu ? gelu(sum) : sum;
    return sum + (c->residual ? element(residual, i, j) : 0);
}

static void check_case(const struct shape_case *c)
{
    const int64_t ldx = c->k + c->apart, ldy = c->n + c->apart;
    struct matrix x = matrix_new(c->x, c->m, ldx, 1);
    struct matrix w =
        c->packed ? matrix_new(DTYPE_BF16, c->n, c->k, 2) : matrix_new(DTYPE_BF16, c->k, ldy, 2);
    struct matrix residual = matrix_new(c->y, c->m, ldy, 3), y = matrix_new(c->y, c->m, ldy, 4);
    float *bias = floats_random(c->n, 5),
          *packed = floats_new((int64_t)gemm_bf16_packed_size(c->n, c->k));
    const size_t floats = gemm_bf16_scratch(c->m, c->k, c->threads);
    float *scratch = floats_new((int64_t)floats);
    const double unit = c->y == DTYPE_BF16 ? 0x1p-8 : 0x1p-19;

    if (c->packed)
        gemm_bf16_pack_avx512(w.data, DTYPE_BF16, c->n, c->k, packed, c->threads);
    memset(scratch, 0xff, floats * sizeof(*scratch)); /* no numbers */
    memset(y.data, 0xff, (size_t)(c->m * ldy) * (c->y == DTYPE_BF16 ? 2 : 4));
    const struct gemm_bf16 g = {
        .m = c->m,
        .n = c->n,
        .k = c->k,
        .x_type = c->x,
        .y_type = c->y,
        .x = x.data,
        .ldx = ldx,
        .packed = c->packed ? packed : NULL,
        .rows = w.data,
        .ldb = ldy,
        .bias = c->bias ? bias : NULL,
        .residual = c->residual ? residual.data : NULL,
        .ldr = ldy,
        .activation = c->gelu ? GEMM_GELU : GEMM_IDENTITY,
        .y = y.data,
        .ldy = ldy,
        .streaming = c->streaming,
        .scratch = scratch,
        .threads = c->threads,
    };
    host_share(gemm_bf16_amx_model, &g, c->threads, 1e9);
    for (int64_t i = 0; i < c->m; i++)
        for (int64_t j = 0; j < ldy; j++) {
            if (j >= c->n) {
                assert_true(isnan(element(&y, i, j))); /* beyond it nothing is written */
                continue;
            }
            const double want = expected(c, &x, &w, bias, &residual, i, j);
            if (!(fabs(element(&y, i, j) - want) <= unit * (fabs(want) + sqrt((double)c->k))))
                fail_msg("%lldx%lldx%lld: [%lld,%lld] is %g, not %g", (long long)c->m,
                         (long long)c->n, (long long)c->k, (long long)i, (long long)j,
                         element(&y, i, j), want);
        }
    free(x.data);
    free(w.data);
    free(residual.data);
    free(y.data);
    free(bias);
    free(packed);
    free(scratch);
}

TEST(products_are_those_of_float64)
{
    if (!simd_has(SIMD_AVX512)) {
        print_message("skipped: no AVX-512, in whose vectors the file is compiled\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_case(&cases[i]);
}

/* In a process of its own: a process tries once. */
static bool works_with(int fault)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        amx_model_fault = fault;
        _exit(simd_amx_model_works() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

TEST(the_trial_finds_each_mistake)
{
    if (!simd_has(SIMD_AVX512)) {
        print_message("skipped: no AVX-512, in whose vectors the file is compiled\n");
        skip();
    }
    assert_true(works_with(AMX_RIGHT));
    for (int fault = AMX_RIGHT + 1; fault < AMX_FAULTS; fault++)
        if (works_with(fault))
            fail_msg("fault %d of the model was not found", fault);
}

#endif

/* Where there are none, they are not chosen, and whoever asks for them is told. */
TEST(without_tiles_they_are_refused)
{
    struct error err;

    if (simd_has(SIMD_AVX512_AMX)) {
        print_message("skipped: this machine has matrix tiles\n");
        skip();
    }
    assert_int_not_equal(simd_isa(), SIMD_AVX512_AMX);
    assert_int_equal(setenv("HARNESS_ISA", "avx512_amx", 1), 0);
    assert_false(simd_supports(NULL, NULL, NULL, &err));
    assert_non_null(strstr(err.message, "HARNESS_ISA is 'avx512_amx', but this machine runs:"));
    unsetenv("HARNESS_ISA");
}

int main(void)
{
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
