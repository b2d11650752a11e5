/* SPDX-License-Identifier: MIT */
/*
 * Memory in pieces of several elements: N of a type as one access, up to 16 bytes.
 *
 *     cuda_vector<bf16, 8> v = cuda_load<8>(pointer);    aligned to its size
 *     float f[8]; cuda_unpack(v, f);
 *     cuda_store(pointer, cuda_pack<bf16>(f));
 */
#ifndef HARNESS_KERNELS_CUDA_VECTOR_H
#define HARNESS_KERNELS_CUDA_VECTOR_H

#include "kernels/cuda/bf16.h"

template <class T, int N> struct alignas(sizeof(T) * N) cuda_vector {
    T at[N];
};

/* Elements of T in 16 bytes. */
template <class T> constexpr int cuda_wide = 16 / (int)sizeof(T);

template <int N, class T> __device__ __forceinline__ cuda_vector<T, N> cuda_load(const T *from)
{
    return *reinterpret_cast<const cuda_vector<T, N> *>(from);
}

template <class T, int N>
__device__ __forceinline__ void cuda_store(T *to, const cuda_vector<T, N> &v)
{
    *reinterpret_cast<cuda_vector<T, N> *>(to) = v;
}

template <class T, int N>
__device__ __forceinline__ void cuda_unpack(const cuda_vector<T, N> &v, float (&to)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = cuda_float(v.at[i]);
}

template <class T, int N>
__device__ __forceinline__ cuda_vector<T, N> cuda_pack(const float (&f)[N])
{
    cuda_vector<T, N> v;

    if constexpr (sizeof(T) == 2 && N % 2 == 0) { /* one conversion a pair */
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            uint32_t pair = cuda_bf16x2(f[i], f[i + 1]);
            v.at[i] = T { (uint16_t)(pair & 0xffffu) };
            v.at[i + 1] = T { (uint16_t)(pair >> 16) };
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            v.at[i] = cuda_from<T>(f[i]);
    }
    return v;
}

/* Whether a matrix of T at `base` with `pitch` elements between rows can be read N at a time. A
 * null pointer can. */
template <class T> inline bool cuda_aligned(const T *base, int64_t pitch, int n)
{
    return (uintptr_t)base % (sizeof(T) * (size_t)n) == 0 && pitch % n == 0;
}

#endif
