/* SPDX-License-Identifier: MIT */
/*
 * Accesses with a hint to the caches.
 *
 * Streaming stores are for what nobody reads soon: they leave the L2 first, so that they do not
 * push out what is still wanted. Worth it only beyond what the L2 holds.
 * Constant loads are for what no thread writes during the kernel: they may move ahead of stores.
 */
#ifndef HARNESS_KERNELS_CUDA_CACHE_H
#define HARNESS_KERNELS_CUDA_CACHE_H

#include "kernels/cuda/vector.h"

/* Bytes of output from which on a kernel writes around the L2 (40 to 60 MB on sm_80 and sm_90). */
constexpr int64_t CUDA_STREAM_BYTES = 32 << 20;

/* A register type of BYTES bytes, for the intrinsics, which know no structs. */
template <int BYTES> struct cuda_word;
template <> struct cuda_word<2> {
    using type = unsigned short;
};
template <> struct cuda_word<4> {
    using type = unsigned;
};
template <> struct cuda_word<8> {
    using type = uint2;
};
template <> struct cuda_word<16> {
    using type = uint4;
};

template <class T, int N>
__device__ __forceinline__ void cuda_store_streaming(T *to, const cuda_vector<T, N> &v)
{
#ifdef __CUDA_ARCH__
    typename cuda_word<sizeof(v)>::type word;

    __builtin_memcpy(&word, &v, sizeof(v));
    __stcs(reinterpret_cast<decltype(word) *>(to), word);
#else
    cuda_store(to, v);
#endif
}

template <int N, class T>
__device__ __forceinline__ cuda_vector<T, N> cuda_load_constant(const T *from)
{
#ifdef __CUDA_ARCH__
    using word = typename cuda_word<N *(int)sizeof(T)>::type;
    word bits = __ldg(reinterpret_cast<const word *>(from));
    cuda_vector<T, N> v;

    __builtin_memcpy(&v, &bits, sizeof(v));
    return v;
#else
    return cuda_load<N>(from);
#endif
}

/* A streaming store, or a plain one. */
template <bool STREAMING, class T, int N>
__device__ __forceinline__ void cuda_store_as(T *to, const cuda_vector<T, N> &v)
{
    if constexpr (STREAMING)
        cuda_store_streaming(to, v);
    else
        cuda_store(to, v);
}

#endif
