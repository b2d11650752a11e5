/* SPDX-License-Identifier: MIT */
/* From a prepared call to the arguments of the CUDA functions, and what they refuse. */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_CALL_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_CALL_H

#include "kernels/attention/attention_cuda.h"

#include <limits.h>

/* Element i of memory of a type. */
inline void *attention_cuda_at(void *memory, enum dtype dtype, int64_t i)
{
    return static_cast<char *>(memory) + i * (int64_t)dtype_size(dtype);
}

inline int attention_cuda_sms(const struct call *call)
{
    return device_cuda_properties(call->device)->multiProcessorCount;
}

/* The workspace is call->state, for variants that have one. */
inline struct attention_cuda attention_cuda_of(const struct call *call)
{
    const struct shape *s = &call->shape;
    const struct tensor *qkv = &call->tensor[ATTENTION_QKV], *out = &call->tensor[ATTENTION_OUT];
    int64_t width = tensor_cols(out);

    return {
        .batch = s->dim[0],
        .seq = s->dim[1],
        .heads = s->dim[2],
        .headdim = s->dim[3],
        .q = qkv->data,
        .k = attention_cuda_at(qkv->data, qkv->dtype, width),
        .v = attention_cuda_at(qkv->data, qkv->dtype, 2 * width),
        .ld = 3 * width,
        .out = out->data,
        .ldo = width,
        .causal = call->kernel == &attention_causal_kernel,
        .sms = attention_cuda_sms(call),
        .workspace = call->state,
    };
}

/* release() of variants with a workspace. */
inline void attention_cuda_release(struct call *call)
{
    device_free(call->device, call->state);
    call->state = nullptr;
}

/* For prepare(): zeroed, to call->state. */
inline int attention_cuda_take_workspace(struct call *call, size_t bytes, struct error *err)
{
    call->state = device_alloc(call->device, bytes, err);
    if (call->state == nullptr)
        return error_prefix(err, "workspace");
    if (CUDA_TRY(cudaMemsetAsync(call->state, 0, bytes, device_cuda_stream(call->device)), err) ==
        0)
        return 0;
    attention_cuda_release(call);
    return -1;
}

/* The workspace is call->state. */
inline struct attention_cuda_decode attention_cuda_decode_of(const struct call *call)
{
    const struct shape *s = &call->shape;
    const struct tensor *t = call->tensor;
    int64_t width = tensor_cols(&t[ATTENTION_DECODE_OUT]);

    return {
        .batch = s->dim[0],
        .length = s->dim[1],
        .heads = s->dim[2],
        .headdim = s->dim[3],
        .q = t[ATTENTION_DECODE_Q].data,
        .ldq = width,
        .k = t[ATTENTION_DECODE_K].data,
        .v = t[ATTENTION_DECODE_V].data,
        .ld = width,
        .ld_sequence = s->dim[1] * width,
        .new_k = nullptr,
        .new_v = nullptr,
        .out = t[ATTENTION_DECODE_OUT].data,
        .ldo = width,
        .sms = attention_cuda_sms(call),
        .workspace = call->state,
    };
}

/* Queries are counted in an int, as are blocks, of which there are no more than queries. */
inline bool attention_cuda_counts(const struct kernel *k, const struct shape *s,
                                  const struct device *d, struct error *why)
{
    (void)k, (void)d;
    if ((double)s->dim[0] * (double)s->dim[1] * (double)s->dim[2] <= INT_MAX / 2)
        return true;
    error_set(why, "batch x seq x heads exceeds %d, the most that a grid of blocks counts",
              INT_MAX / 2);
    return false;
}

inline bool attention_cuda_supports(const struct kernel *k, const struct shape *s,
                                    const struct device *d, struct error *why)
{
    if (s->dim[3] <= ATTENTION_CUDA_HEADDIM_MAX)
        return attention_cuda_counts(k, s, d, why);
    error_set(why, "headdim is %lld, at most %d fits the tiles", (long long)s->dim[3],
              (int)ATTENTION_CUDA_HEADDIM_MAX);
    return false;
}

template <attention_cuda_fn *ATTENTION> void attention_cuda_launch(const struct call *call)
{
    struct attention_cuda a = attention_cuda_of(call);

    ATTENTION(&a, device_cuda_stream(call->device));
}

/* A variant with nothing to prepare. */
constexpr struct variant attention_cuda_variant(const char *name, const char *summary,
                                                const struct kernel *kernel, enum dtype dtype,
                                                void (*launch)(const struct call *))
{
    return {
        .name = name,
        .summary = summary,
        .kernel = kernel,
        .device = DEVICE_CUDA,
        .dtype = dtype,
        .math = dtype == DTYPE_BF16 ? MATH_BF16 : MATH_FP32,
        .flags = 0,
        .supports = attention_cuda_supports,
        .prepare = nullptr,
        .launch = launch,
        .release = nullptr,
    };
}

#endif
