/* SPDX-License-Identifier: MIT */
/*
 * Rows of up to 16384 elements, kept in registers by a warp or a block: by vectors of 16 bytes
 * (layernorm_cuda_rows.h), or by elements where a row starts or ends between two of those
 * (layernorm_cuda_elements.h).
 *
 * Limit: the bandwidth of a copy (x read once, y written once; the residual form reads and writes
 * two). Measured on an H200, cold, 4096 and 16384 rows of 1024 to 8192 elements: 93 to 107 % of the
 * best copy of as many bytes.
 */
#include "kernels/layernorm/layernorm_cuda_elements.h"
#include "kernels/layernorm/layernorm_cuda_rows.h"

extern "C" {
#include "kernels/layernorm/layernorm_call.h"
}

/* Whether all pointers and rows are whole vectors. */
static bool whole(const struct layernorm_cuda *l)
{
    uintptr_t pointers = (uintptr_t)l->x | (uintptr_t)l->y | (uintptr_t)l->gain |
                         (uintptr_t)l->bias | (uintptr_t)l->delta | (uintptr_t)l->sum;
    int wide = l->stream == DTYPE_BF16 ? cuda_wide<bf16> : cuda_wide<float>;

    return pointers % 16 == 0 && l->width % wide == 0;
}

template <class S, class T> static void run(const struct layernorm_cuda *l, cudaStream_t stream)
{
    if (!whole(l))
        layernorm_elements_run<S, T>(*l, stream);
    else if (l->delta != nullptr)
        layernorm_rows_chosen<S, T, true>(*l, stream);
    else
        layernorm_rows_chosen<S, T, false>(*l, stream);
}

void layernorm_rows_cuda(const struct layernorm_cuda *l, cudaStream_t stream)
{
    if (l->stream == DTYPE_BF16)
        run<bf16, bf16>(l, stream);
    else if (l->dtype == DTYPE_BF16)
        run<float, bf16>(l, stream);
    else
        run<float, float>(l, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *,
                     struct error *why)
{
    int64_t width = kernel_dim(k, s, "width", 1);
    int64_t rows = kernel_dim(k, s, "batch", 1) * kernel_dim(k, s, "seq", 1);

    if (width > LAYERNORM_CUDA_MAX)
        return error_set(why, "width %lld is beyond the %d that it keeps in registers",
                         (long long)width, LAYERNORM_CUDA_MAX) == 0;
    if (rows > INT32_MAX)
        return error_set(why, "%lld rows are more than a grid has blocks", (long long)rows) == 0;
    return true;
}

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);
    enum dtype dtype = call->variant->dtype;
    struct layernorm_cuda c = {
        .rows = l.rows,
        .width = l.width,
        .x = l.x,
        .delta = l.delta,
        .sum = l.sum,
        .gain = l.gain,
        .bias = l.bias,
        .y = l.y,
        .stream = dtype,
        .dtype = dtype,
        .early = true,
    };

    layernorm_rows_cuda(&c, device_cuda_stream(call->device));
}

#define VARIANT(of, label, type, math_)                                                            \
    {                                                                                              \
        .name = (label), .summary = "rows kept in registers; limit: copy bandwidth",               \
        .kernel = &(of), .device = DEVICE_CUDA, .dtype = (type), .math = (math_), .flags = 0,      \
        .supports = supports, .prepare = nullptr, .launch = launch, .release = nullptr,            \
    }

extern "C" const struct variant layernorm_cuda_rows[];
const struct variant layernorm_cuda_rows[] = {
    VARIANT(layernorm_plain_kernel, "cuda_rows", DTYPE_FP32, MATH_FP32),
    VARIANT(layernorm_residual_kernel, "cuda_rows", DTYPE_FP32, MATH_FP32),
    VARIANT(layernorm_plain_kernel, "cuda_rows_bf16", DTYPE_BF16, MATH_BF16),
    VARIANT(layernorm_residual_kernel, "cuda_rows_bf16", DTYPE_BF16, MATH_BF16),
    {},
};
