/* SPDX-License-Identifier: MIT */
/*
 * oneDNN's product of bfloat16, a peer: measured only by name, opened at run time. It gives sums in
 * fp32, which are rounded to the call's bfloat16 in a second pass; that is timed.
 *
 * dnnl_gemm_bf16bf16f32 is exported for oneDNN's own tests and in no header: row-major like
 * dnnl_sgemm, with the same arguments.
 */
#include "kernels/gemm/gemm_call.h"
#include "kernels/host.h"
#include "kernels/onednn/onednn.h"

#include <omp.h>
#include <stdlib.h>

struct onednn_bf16 {
    /* 0, or dnnl_status_t's word for a failure: no instruction set for it among others. */
    int (*gemm)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                const uint16_t *a, int64_t lda, const uint16_t *b, int64_t ldb, float beta,
                float *c, int64_t ldc);
    float *sums; /* [m,n] */
};

static const struct peer_symbol symbols[] = {
    { "dnnl_gemm_bf16bf16f32", offsetof(struct onednn_bf16, gemm) },
    { NULL, 0 },
};
static const struct peer peer = ONEDNN_PEER(symbols);

static int product(const struct onednn_bf16 *onednn, bool transposed, int64_t m, int64_t n,
                   int64_t k, const uint16_t *a, const uint16_t *b)
{
    return onednn->gemm('N', transposed ? 'T' : 'N', m, n, k, 1, a, k, b, transposed ? k : n, 0,
                        onednn->sums, n);
}

/* One product of one term says whether this processor can. */
static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    struct onednn_bf16 onednn;
    const uint16_t one = 0x3f80;
    float sum = 0;

    (void)k, (void)s, (void)d;
    if (peer_open(&peer, &onednn, why) != 0)
        return false;
    onednn.sums = &sum;
    if (product(&onednn, false, 1, 1, 1, &one, &one) == 0)
        return true;
    error_set(why, "oneDNN has no bfloat16 product for this processor");
    return false;
}

static size_t sums_of(const struct call *call)
{
    return (size_t)(call->shape.dim[0] * call->shape.dim[1] * call->shape.dim[2]);
}

static int64_t workspace(const struct call *call)
{
    return host_bytes(sums_of(call));
}

static int prepare(struct call *call, struct error *err)
{
    omp_set_num_threads(host_threads(call));
    if (peer_prepare(&peer, sizeof(struct onednn_bf16), call, err))
        return -1;
    struct onednn_bf16 *onednn = call->state;
    onednn->sums = host_floats(sums_of(call), err);
    return onednn->sums ? 0 : -1;
}

/* A failure leaves NaN, as nobody can be told here. */
static void round_sums(const float *sums, int64_t n, bool failed, uint16_t *to, int threads)
{
#pragma omp parallel for simd num_threads(threads)
    for (int64_t i = 0; i < n; i++)
        to[i] = failed ? 0xffff : bf16_from_float(sums[i]);
}

static void launch_nt(const struct call *call)
{
    const struct gemm_linear g = gemm_linear_of(call);
    const struct onednn_bf16 *onednn = call->state;
    const bool failed = product(onednn, true, g.m, g.n, g.k, call->tensor[GEMM_LINEAR_X].data,
                                call->tensor[GEMM_LINEAR_W].data) != 0;

    round_sums(onednn->sums, g.m * g.n, failed, call->tensor[GEMM_LINEAR_Y].data, g.threads);
}

static void launch_nn(const struct call *call)
{
    const struct gemm_nn g = gemm_nn_of(call);
    const struct onednn_bf16 *onednn = call->state;
    const bool failed = product(onednn, false, g.m, g.n, g.k, call->tensor[GEMM_NN_A].data,
                                call->tensor[GEMM_NN_B].data) != 0;

    round_sums(onednn->sums, g.m * g.n, failed, call->tensor[GEMM_NN_C].data, g.threads);
}

static void release(struct call *call)
{
    struct onednn_bf16 *onednn = call->state;

    if (onednn)
        free(onednn->sums);
    host_state_release(call);
}

#define ROW(of, run)                                                                               \
    {                                                                                              \
        .name = "onednn_bf16",                                                                     \
        .summary = "oneDNN's product of bf16 to fp32, then rounded to bf16",                       \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_BF16,                                                                       \
        .math = MATH_BF16,                                                                         \
        .flags = VARIANT_VENDOR | VARIANT_PEER,                                                    \
        .supports = supports,                                                                      \
        .prepare = prepare,                                                                        \
        .launch = (run),                                                                           \
        .release = release,                                                                        \
        .workspace = workspace,                                                                    \
    },

const struct variant gemm_onednn_bf16[] = { ROW(gemm_nt_kernel, launch_nt)
                                                ROW(gemm_nn_kernel, launch_nn) /* then the end */
                                            { .name = NULL } };
