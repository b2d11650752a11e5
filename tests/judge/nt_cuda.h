/* SPDX-License-Identifier: MIT */
/* What the CUDA plugins of these tests share: y = x W^T on call->stream, honestly. */
#ifndef HARNESS_TESTS_JUDGE_NT_CUDA_H
#define HARNESS_TESTS_JUDGE_NT_CUDA_H

#include <cuda_runtime.h>
#include <harness/plugin.h>

struct nt {
    const float *x, *w;
    float *y;
    int m, n, k;
    cudaStream_t stream;
};

static inline struct nt nt_of(const struct harness_call *call)
{
    struct nt p;

    p.x = (const float *)call->tensor[0].data;
    p.w = (const float *)call->tensor[1].data;
    p.y = (float *)call->tensor[2].data;
    p.m = (int)(call->size[0] * call->size[1]);
    p.n = (int)call->size[2];
    p.k = (int)call->size[3];
    p.stream = (cudaStream_t)call->stream;
    return p;
}

static inline size_t nt_bytes(const struct nt *p)
{
    return (size_t)p->m * (size_t)p->n * sizeof(float);
}

static inline size_t nt_input_bytes(const struct nt *p)
{
    return (size_t)p->m * (size_t)p->k * sizeof(float);
}

/* As many as there are elements, in blocks of 128; `threads` 4096 is refused. */
static inline cudaLaunchConfig_t nt_config(size_t elements, unsigned threads, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = dim3((unsigned)((elements + threads - 1) / threads));
    config.blockDim = dim3(threads);
    config.stream = stream;
    return config;
}

__device__ static inline float nt_element(const struct nt &p, int i)
{
    const float *x = p.x + (size_t)(i / p.n) * p.k, *w = p.w + (size_t)(i % p.n) * p.k;
    float sum = 0;

    for (int l = 0; l < p.k; l++)
        sum += x[l] * w[l];
    return sum;
}

__global__ static void nt_kernel(struct nt p, int first, int last)
{
    int i = first + (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < last)
        p.y[i] = nt_element(p, i);
}

static inline void nt_rows(const struct nt *p, int first, int last)
{
    if (first >= last)
        return;
    cudaLaunchConfig_t config = nt_config((size_t)(last - first) * (size_t)p->n, 128, p->stream);
    cudaLaunchKernelEx(&config, nt_kernel, *p, first * p->n, last * p->n);
}

static inline void nt_all(const struct nt *p)
{
    nt_rows(p, 0, p->m);
}

#define NT_VARIANT(name_)                                                                          \
    {                                                                                              \
#name_, "", HARNESS_CUDA, HARNESS_FP32, 0, 0, nullptr, name_, nullptr, nullptr             \
    }
#define NT_PREPARED(name_, prepare_)                                                               \
    {                                                                                              \
#name_, "", HARNESS_CUDA, HARNESS_FP32, 0, 0, prepare_, name_, nullptr, nullptr            \
    }

#endif
