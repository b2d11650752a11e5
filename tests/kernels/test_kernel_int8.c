/* SPDX-License-Identifier: MIT */
/*
 * Rows of x that int8's 16 bits of them cannot take as they are: without a number, or so small that
 * a step of them is no normal float. What is right is what fp32 says of them.
 * Features: U-03 (kernels).
 */
#include "kernel_testing.h"

#include "kernels/gemm/int8/gemm_int8.h"
#include "kernels/host.h"
#include "kernels/simd.h"

enum { M = 9, N = 50, K = 1030 }; /* tiles of fewer rows and panels, some blocks of terms */

static const struct narrow {
    int bits;
    size_t (*size)(int64_t n, int64_t k);
    void (*pack)(const float *w, int64_t n, int64_t k, float *packed, int threads);
    gemm_linear_fn *run;
} narrows[] = {
    { 8, gemm_int8_packed_size, gemm_int8_pack, gemm_linear_int8 },
    { 10, gemm_int10_packed_size, gemm_int10_pack, gemm_linear_int10 },
};

/* y = x w^T + bias (NULL: none); w is left as it is rounded. */
static void multiply(const struct narrow *t, const float *x, float *w, const float *bias, float *y)
{
    float *packed = floats_new((int64_t)t->size(N, K));
    float *scratch = floats_new((int64_t)gemm_int8_scratch(M, K, 2));

    t->pack(w, N, K, packed, 2);
    for (int j = 0; j < N; j++)
        host_int_round_row(w + j * K, K, t->bits);
    t->run(&(struct gemm_linear) { .m = M,
                                   .n = N,
                                   .k = K,
                                   .x = x,
                                   .ldx = K,
                                   .w = packed,
                                   .bias = bias,
                                   .y = y,
                                   .ldy = N,
                                   .scratch = scratch,
                                   .threads = 2 });
    free(packed);
    free(scratch);
}

static double sum_of(const float *x, const float *w)
{
    double sum = 0;

    for (int p = 0; p < K; p++)
        sum += (double)x[p] * (double)w[p];
    return sum;
}

/* Every other row is `factor` of a usual one, the last is of zeros. Held against their own size, by
 * the tolerance of weights of some 6 and an x of at most 6. */
static void check_factor(const struct narrow *t, float factor)
{
    float *x = floats_random(M * K, 1), *w = floats_random(N * K, 2), *y = floats_new(M * N);
    const double allowed = 6 * 6 * 0x1p-15 * (sqrt(K) + 1);

    for (int i = 0; i < M * K; i++)
        x[i] *= i / K == M - 1 ? 0 : i / K % 2 == 0 ? factor : 1;
    multiply(t, x, w, NULL, y);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            const double unit = i % 2 == 0 && i < M - 1 ? (double)factor : 1;
            const double expected = sum_of(x + i * K, w + j * K);
            assert_close((double)y[i * N + j] / unit, expected / unit, allowed);
        }
    free(x);
    free(w);
    free(y);
}

/* Around the place where a step has no reciprocal, the smallest normal numbers, and beyond. */
TEST(test_small_rows)
{
    const float factors[] = { 1, 0x1p-60f, 0x1p-64f, 0x1p-70f, 1e-34f, 1e-36f, 1e-38f, 1e-40f };

    for (size_t i = 0; i < sizeof(narrows) / sizeof(narrows[0]); i++)
        for (size_t f = 0; f < sizeof(factors) / sizeof(factors[0]); f++)
            check_factor(&narrows[i], factors[f]);
}

/* A bias is added to what the rows are, not to the multiple by which they are rounded. */
TEST(test_small_rows_with_bias)
{
    float *x = floats_random(M * K, 1), *w = floats_random(N * K, 2), *y = floats_new(M * N);
    float *bias = floats_random(N, 3);

    for (int i = 0; i < M * K; i++)
        x[i] *= 1e-36f;
    multiply(&narrows[0], x, w, bias, y);
    for (int i = 0; i < M * N; i++)
        assert_true(y[i] == bias[i % N]);
    free(x);
    free(w);
    free(y);
    free(bias);
}

/* Rows with something that is no number, wherever it stands, and with infinity; no others. */
TEST(test_rows_without_a_number)
{
    const int places[] = { 0, 1, 700, K - 1 };
    const float values[] = { NAN, INFINITY, -INFINITY };

    for (size_t i = 0; i < sizeof(narrows) / sizeof(narrows[0]) * 12; i++) {
        const struct narrow *t = &narrows[i / 12];
        float *x = floats_random(M * K, 1), *w = floats_random(N * K, 2), *y = floats_new(M * N);
        x[2 * K + places[i % 4]] = values[i / 4 % 3];
        x[5 * K + places[i % 4]] = values[i / 4 % 3];
        x[5 * K + 8] = NAN;
        multiply(t, x, w, NULL, y);
        for (int j = 0; j < M * N; j++)
            assert_true(isnan(y[j]) == (j / N == 2 || j / N == 5));
        free(x);
        free(w);
        free(y);
    }
}

int main(void)
{
    const char *wish = getenv("HARNESS_ISA");

    if (wish != NULL && strcmp(wish, simd_isa_name(simd_isa())) != 0)
        return 77; /* not on this machine */
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
