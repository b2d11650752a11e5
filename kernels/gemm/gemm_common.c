/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm_call.h"

#include "kernels/host.h"

/* Beyond this an output no longer waits in the last-level cache for its reader. */
static const double streaming_bytes = 32 << 20;

struct gemm_linear gemm_linear_of(const struct call *call)
{
    int64_t m = tensor_rows(&call->tensor[GEMM_LINEAR_X]);
    int64_t n = call->tensor[GEMM_LINEAR_W].extent[0];
    int64_t k = call->tensor[GEMM_LINEAR_W].extent[1];
    const struct gemm_epilogue *e = call->kernel->config;

    return (struct gemm_linear) {
        .m = m,
        .n = n,
        .k = k,
        .x = call->tensor[GEMM_LINEAR_X].data,
        .ldx = k,
        .w = call->tensor[GEMM_LINEAR_W].data,
        .bias = e->bias ? call->tensor[GEMM_LINEAR_BIAS].data : NULL,
        .residual = e->residual ? call->tensor[GEMM_LINEAR_RESIDUAL].data : NULL,
        .ldr = n,
        .activation = e->activation,
        .y = call->tensor[GEMM_LINEAR_Y].data,
        .ldy = n,
        .streaming = 4.0 * (double)m * (double)n > streaming_bytes,
        .threads = host_threads(call),
    };
}

struct gemm_nn gemm_nn_of(const struct call *call)
{
    int64_t n = call->tensor[GEMM_NN_B].extent[1], k = call->tensor[GEMM_NN_B].extent[0];

    return (struct gemm_nn) {
        .m = tensor_rows(&call->tensor[GEMM_NN_A]),
        .n = n,
        .k = k,
        .a = call->tensor[GEMM_NN_A].data,
        .lda = k,
        .b = call->tensor[GEMM_NN_B].data,
        .ldb = n,
        .c = call->tensor[GEMM_NN_C].data,
        .ldc = n,
        .scratch = call->state,
        .threads = host_threads(call),
    };
}
