/* SPDX-License-Identifier: MIT */
/* Functions of device code that math.h lacks, cache-hinted accesses and casts of bits. */
#ifndef CUDA_HOST_INTRINSICS_H
#define CUDA_HOST_INTRINSICS_H

#include <bit>
#include <math.h>
#include <stdint.h>

inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}

inline unsigned __float_as_uint(float x)
{
    return std::bit_cast<unsigned>(x);
}

inline float __uint_as_float(unsigned x)
{
    return std::bit_cast<float>(x);
}

inline int __float_as_int(float x)
{
    return std::bit_cast<int>(x);
}

inline float __int_as_float(int x)
{
    return std::bit_cast<float>(x);
}

inline int __popc(unsigned x)
{
    return std::popcount(x);
}

inline int __clz(int x)
{
    return std::countl_zero((unsigned)x);
}

/* 1 + the lowest bit set, 0 for 0. */
inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

#define CUDA_HOST_MINMAX(T)                                                                        \
    constexpr T min(T a, T b)                                                                      \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    constexpr T max(T a, T b)                                                                      \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }

CUDA_HOST_MINMAX(int)
CUDA_HOST_MINMAX(unsigned)
CUDA_HOST_MINMAX(long)
CUDA_HOST_MINMAX(long long)
CUDA_HOST_MINMAX(unsigned long)
CUDA_HOST_MINMAX(unsigned long long)
#undef CUDA_HOST_MINMAX

template <class T> inline T __ldg(const T *address)
{
    return *address;
}

template <class T> inline T __ldcs(const T *address)
{
    return *address;
}

template <class T> inline T __ldcg(const T *address)
{
    return *address;
}

template <class T> inline void __stcs(T *address, T value)
{
    *address = value;
}

template <class T> inline void __stcg(T *address, T value)
{
    *address = value;
}

/* Lets the other fibers run. */
void __nanosleep(unsigned ns);
/* Ends the kernel with an error, as the trap instruction does. */
[[noreturn]] void __trap(void);
/* Some clock that counts up. */
long long clock64(void);

#endif
