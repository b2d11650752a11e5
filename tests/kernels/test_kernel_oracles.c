/* SPDX-License-Identifier: MIT */
/*
 * The float64 oracles against cases worked out by hand, the work models against their formulas,
 * and the tolerances: small enough that a small planted mistake is seen.
 * Features: U-03, U-04 (kernels), S2-01 (FLOPs and bytes of the roofline).
 */
#include "kernel_testing.h"

#include "kernels/attention/attention.h"
#include "kernels/embedding/embedding.h"
#include "kernels/gemm/gemm.h"
#include "kernels/layernorm/layernorm.h"
#include "kernels/pointwise/pointwise.h"

static void set(struct call *call, int tensor, const float *values)
{
    struct tensor *t = &call->tensor[tensor];

    memcpy(t->data, values, (size_t)tensor_bytes(t));
}

static void check(const struct call *call, int out, const double *values)
{
    double *expected = call_expected(call, out);

    for (int64_t i = 0; i < tensor_elements(&call->tensor[out]); i++)
        assert_close(expected[i], values[i], 1e-12 * fmax(1, fabs(values[i])));
    free(expected);
}

TEST(test_gemm)
{
    const double gelu_of_1 = 0.8411919906082768; /* (1 + tanh(sqrt(2/pi) 1.044715)) / 2 */
    const struct shape s = { { 1, 2, 2, 3 } };
    struct call call;

    call_init(&call, &gemm_linear_kernel, &s, 1);
    set(&call, GEMM_LINEAR_X, (const float[]) { 1, 2, 3, 4, 5, 6 });
    set(&call, GEMM_LINEAR_W, (const float[]) { 1, 0, -1, 2, 1, 0 });
    set(&call, GEMM_LINEAR_BIAS, (const float[]) { 10, 20 });
    check(&call, GEMM_LINEAR_Y, (const double[]) { 8, 24, 8, 33 });
    call_release(&call);

    call_init(&call, &gemm_linear_gelu_kernel, &s, 1);
    set(&call, GEMM_LINEAR_X, (const float[]) { 1, 2, 3, 4, 5, 6 });
    set(&call, GEMM_LINEAR_W, (const float[]) { 1, 0, -1, 2, 1, 0 });
    set(&call, GEMM_LINEAR_BIAS, (const float[]) { 3, -4 });
    check(&call, GEMM_LINEAR_Y, (const double[]) { gelu_of_1, 0, gelu_of_1, 9 });
    call_release(&call);

    call_init(&call, &gemm_linear_residual_kernel, &s, 1);
    set(&call, GEMM_LINEAR_X, (const float[]) { 1, 2, 3, 4, 5, 6 });
    set(&call, GEMM_LINEAR_W, (const float[]) { 1, 0, -1, 2, 1, 0 });
    set(&call, GEMM_LINEAR_BIAS, (const float[]) { 10, 20 });
    set(&call, GEMM_LINEAR_RESIDUAL, (const float[]) { 1, 2, 3, 4 });
    check(&call, GEMM_LINEAR_Y, (const double[]) { 9, 26, 11, 37 });
    call_release(&call);

    call_init(&call, &gemm_nt_kernel, &s, 1);
    set(&call, GEMM_LINEAR_X, (const float[]) { 1, 2, 3, 4, 5, 6 });
    set(&call, GEMM_LINEAR_W, (const float[]) { 1, 0, -1, 2, 1, 0 });
    check(&call, GEMM_LINEAR_Y, (const double[]) { -2, 4, -2, 13 });
    call_release(&call);

    call_init(&call, &gemm_nn_kernel, &s, 1);
    set(&call, GEMM_NN_A, (const float[]) { 1, 2, 3, 4, 5, 6 });
    set(&call, GEMM_NN_B, (const float[]) { 1, 2, 0, 1, -1, 0 });
    check(&call, GEMM_NN_C, (const double[]) { -2, 4, -2, 13 });
    call_release(&call);
}

/* Two tokens, two heads of one element. Head 0 has q = k = 0: equal weights. Head 1: the scores
 * of token 1 are 0 and ln 3, so the weights 1/4 and 3/4. */
TEST(test_attention)
{
    const struct shape s = { { 1, 2, 2, 1 } };
    const float ln3 = 1.0986122886681098f;
    const float qkv[] = { 0, 0, 0, 0, 10, 100, 0, 1, 0, ln3, 20, 200 };
    double p = exp((double)ln3) / (1 + exp((double)ln3));
    struct call call;

    call_init(&call, &attention_causal_kernel, &s, 1);
    set(&call, ATTENTION_QKV, qkv);
    check(&call, ATTENTION_OUT, (const double[]) { 10, 100, 15, 100 + 100 * p });
    assert_close(p, 0.75, 1e-7);
    call_release(&call);

    call_init(&call, &attention_full_kernel, &s, 1);
    set(&call, ATTENTION_QKV, qkv);
    check(&call, ATTENTION_OUT, (const double[]) { 15, 150, 15, 100 + 100 * p });
    call_release(&call);
}

/* Heads of four elements: the scale is 1/2. */
TEST(test_attention_decode)
{
    const struct shape s = { { 1, 2, 1, 4 } };
    double p = exp(1.0) / (1 + exp(1.0));
    struct call call;

    call_init(&call, &attention_decode_kernel, &s, 1);
    set(&call, ATTENTION_DECODE_Q, (const float[]) { 1, 1, 0, 0 });
    set(&call, ATTENTION_DECODE_K, (const float[]) { 1, 1, 9, 9, 0, 0, 9, 9 });
    set(&call, ATTENTION_DECODE_V, (const float[]) { 1, 0, 4, 0, 0, 1, 4, 0 });
    check(&call, ATTENTION_DECODE_OUT, (const double[]) { p, 1 - p, 4, 0 });
    call_release(&call);
}

TEST(test_layernorm)
{
    const struct shape s = { { 1, 1, 4 } };
    double scale = 1 / sqrt(5 + LAYERNORM_EPS);
    struct call call;

    call_init(&call, &layernorm_plain_kernel, &s, 1);
    set(&call, LAYERNORM_PLAIN_X, (const float[]) { 1, 3, 5, 7 });
    set(&call, LAYERNORM_PLAIN_GAIN, (const float[]) { 1, 1, 2, 1 });
    set(&call, LAYERNORM_PLAIN_BIAS, (const float[]) { 0, 0, 0, 1 });
    check(&call, LAYERNORM_PLAIN_Y,
          (const double[]) { -3 * scale, -scale, 2 * scale, 3 * scale + 1 });
    call_release(&call);

    call_init(&call, &layernorm_residual_kernel, &s, 1);
    set(&call, LAYERNORM_RESIDUAL_X, (const float[]) { 1, 1, 1, 1 });
    set(&call, LAYERNORM_RESIDUAL_DELTA, (const float[]) { 0, 2, 4, 6 });
    set(&call, LAYERNORM_RESIDUAL_GAIN, (const float[]) { 1, 1, 1, 1 });
    set(&call, LAYERNORM_RESIDUAL_BIAS, (const float[]) { 0, 0, 0, 0 });
    check(&call, LAYERNORM_RESIDUAL_SUM, (const double[]) { 1, 3, 5, 7 });
    check(&call, LAYERNORM_RESIDUAL_Y, (const double[]) { -3 * scale, -scale, scale, 3 * scale });
    call_release(&call);
}

/* gelu(1) = (1 + tanh(sqrt(2/pi) 1.044715)) / 2 */
TEST(test_pointwise)
{
    const struct shape s = { { 1, 2, 1 } };
    const double gelu_1 = 0.841191990608276;
    struct call call;

    assert_close(pointwise_gelu_double(1), gelu_1, 1e-14);
    assert_close(pointwise_gelu_double(-1), gelu_1 - 1, 1e-14);
    assert_close(pointwise_gelu_double(0), 0, 0);
    assert_close((double)pointwise_gelu_float(1), gelu_1, 1e-7);

    call_init(&call, &pointwise_bias_gelu_kernel, &s, 1);
    set(&call, 0, (const float[]) { 0.5f, -1.5f });
    set(&call, 1, (const float[]) { 0.5f });
    check(&call, 2, (const double[]) { gelu_1, gelu_1 - 1 });
    call_release(&call);

    call_init(&call, &pointwise_residual_kernel, &s, 1);
    set(&call, 0, (const float[]) { 1, 2 });
    set(&call, 1, (const float[]) { 30, 40 });
    check(&call, 2, (const double[]) { 31, 42 });
    call_release(&call);
}

TEST(test_embedding)
{
    const struct shape s = { { 2, 2, 1, 3 } };
    struct call call;

    call_init(&call, &embedding_gpt_kernel, &s, 1);
    memcpy(call.tensor[EMBEDDING_TOKENS].data, (const int32_t[]) { 2, 0, 1, 2 },
           4 * sizeof(int32_t));
    set(&call, EMBEDDING_WTE, (const float[]) { 1, 2, 3 });
    set(&call, EMBEDDING_WPE, (const float[]) { 10, 20 });
    check(&call, EMBEDDING_OUT, (const double[]) { 13, 21, 12, 23 });
    call_release(&call);
}

struct work_case {
    const struct kernel *kernel;
    struct shape shape;
    double flops, bytes;
};

TEST(test_work)
{
    const struct work_case cases[] = {
        { &gemm_linear_kernel, { { 2, 3, 5, 7 } }, 2 * 6 * 5 * 7, 4 * (42 + 35 + 30 + 5) },
        { &gemm_nn_kernel, { { 2, 3, 5, 7 } }, 2 * 6 * 5 * 7, 4 * (42 + 35 + 30) },
        { &attention_causal_kernel, { { 2, 3, 5, 7 } }, 4 * 2 * 5 * 7 * 6, 4 * 2 * 3 * 35 * 4 },
        { &attention_full_kernel, { { 2, 3, 5, 7 } }, 4 * 2 * 5 * 7 * 9, 4 * 2 * 3 * 35 * 4 },
        { &attention_decode_kernel, { { 2, 3, 5, 7 } }, 4 * 2 * 5 * 7 * 3, 4 * 2 * 35 * 8 },
        { &layernorm_plain_kernel, { { 2, 3, 5 } }, 8 * 30, 4 * (60 + 10) },
        { &layernorm_residual_kernel, { { 2, 3, 5 } }, 9 * 30, 4 * (120 + 10) },
        { &pointwise_gelu_kernel, { { 2, 3, 5 } }, 8 * 30, 4 * 60 },
        { &pointwise_bias_kernel, { { 2, 3, 5 } }, 30, 4 * (60 + 5) },
        { &pointwise_bias_gelu_kernel, { { 2, 3, 5 } }, 9 * 30, 4 * (60 + 5) },
        { &pointwise_residual_kernel, { { 2, 3, 5 } }, 30, 4 * 90 },
        { &embedding_gpt_kernel, { { 2, 3, 5, 4 } }, 30, 4 * (20 + 15 + 30) + 4 * 6 },
        { &embedding_gpt_kernel, { { 2, 3, 5, 100 } }, 30, 4 * (30 + 15 + 30) + 4 * 6 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct work_case *c = &cases[i];
        struct work w = c->kernel->work(c->kernel, &c->shape, DTYPE_FP32, MATH_FP32);
        assert_close(w.flops, c->flops, 0);
        assert_close(w.bytes, c->bytes, 0);
    }
}

/* Changes every other value of an input by 0.1 % (all of them would not change a norm) and asks
 * whether the change would be seen. */
static void seen(const struct kernel *k, const struct shape *s)
{
    struct call call;

    call_init(&call, k, s, 5);
    int out = kernel_output(call.tensor, call.nr_tensors);
    int64_t n = tensor_elements(&call.tensor[out]);
    int in = call.tensor[0].dtype == DTYPE_FP32 ? 0 : 1;
    float *x = call.tensor[in].data, *got = floats_new(n);
    double *expected = call_expected(&call, out);

    for (int64_t i = 0; i < tensor_elements(&call.tensor[in]); i += 2)
        x[i] *= 1.001f;
    double *changed = call_expected(&call, out);
    for (int64_t i = 0; i < n; i++)
        got[i] = (float)changed[i];
    double error = error_of(got, expected, n), allowed = k->tolerance(k, s, DTYPE_FP32, MATH_FP32);
    if (!(error > 5 * allowed))
        fail_msg("%s: a change of 0.1 %% errs by %g, and %g is allowed", k->name, error, allowed);
    free(expected);
    free(changed);
    free(got);
    call_release(&call);
}

TEST(test_tolerances_see)
{
    const struct kernel *const *const all[] = { gemm_kernels, attention_kernels, layernorm_kernels,
                                                pointwise_kernels, embedding_kernels };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (const struct kernel *const *k = all[i]; *k != NULL; k++) {
            const struct shape linear = { { 2, 32, 48, 256 } }, heads = { { 2, 32, 3, 16 } };
            seen(*k, all[i] == attention_kernels ? &heads : &linear);
        }
}

/* Only the rows asked for, in the order asked for. */
TEST(test_rows)
{
    const struct kernel *const kernels[] = { &gemm_linear_kernel,      &gemm_nn_kernel,
                                             &gemm_linear_gelu_kernel, &gemm_linear_residual_kernel,
                                             &attention_causal_kernel, &attention_full_kernel,
                                             &layernorm_plain_kernel,  &pointwise_bias_kernel,
                                             &embedding_gpt_kernel };
    const struct shape s = { { 2, 7, 3, 5 } };
    const int64_t rows[] = { 13, 0, 9 };

    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct call call;
        double some[3 * 15];
        call_init(&call, kernels[i], &s, 3);
        int out = kernel_output(call.tensor, call.nr_tensors);
        int64_t cols = tensor_cols(&call.tensor[out]);
        double *all = call_expected(&call, out);
        assert_true(cols <= 15);
        kernels[i]->oracle(kernels[i], &s, call.tensor, out, rows, 3, some);
        for (int64_t j = 0; j < 3 * cols; j++)
            assert_close(some[j], all[rows[j / cols] * cols + j % cols], 1e-15);
        free(all);
        call_release(&call);
    }
}

RUN_TESTS(NULL, NULL)
