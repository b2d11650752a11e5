/* SPDX-License-Identifier: MIT */
/*
 * Floats that say themselves whether they have come, for blocks that run at the same time: each
 * lies in memory with a number beside it, both written and read by one access of 8 bytes, which no
 * other access splits. Who waits for a float reads it until the number is the one of this round.
 * That takes one way to the L2 and one back, where a barrier (write, fence, count, look, read)
 * takes three.
 *
 * The numbers of a place must differ from round to round, and a place may be written again only
 * when all have read it: the next round but one, say, if each round needs something of everybody.
 */
#ifndef HARNESS_KERNELS_CUDA_FLAGGED_H
#define HARNESS_KERNELS_CUDA_FLAGGED_H

#include "kernels/cuda/launch.h"

struct alignas(8) cuda_flagged {
    float value;
    unsigned flag;
};

/* Two neighbours, the first aligned to 16 bytes. */
__device__ __forceinline__ void cuda_flagged_store2(cuda_flagged *to, float first, float second,
                                                    unsigned flag)
{
#ifdef __CUDA_ARCH__
    asm volatile(
        "{ .reg .b64 a, b;"
        "mov.b64 a, {%1, %3};"
        "mov.b64 b, {%2, %3};"
        "st.relaxed.gpu.global.v2.b64 [%0], {a, b}; }" ::"l"(to),
        "r"(__float_as_uint(first)), "r"(__float_as_uint(second)), "r"(flag)
        : "memory");
#else
    to[0] = { first, flag };
    to[1] = { second, flag };
#endif
}

/* Whether both have come; then they are in `value`. */
__device__ __forceinline__ bool cuda_flagged_try2(const cuda_flagged *from, unsigned flag,
                                                  float (&value)[2])
{
#ifdef __CUDA_ARCH__
    unsigned first, second, flags[2];

    asm volatile(
        "{ .reg .b64 a, b;"
        "ld.relaxed.gpu.global.v2.b64 {a, b}, [%4];"
        "mov.b64 {%0, %1}, a;"
        "mov.b64 {%2, %3}, b; }"
        : "=r"(first), "=r"(flags[0]), "=r"(second), "=r"(flags[1])
        : "l"(from)
        : "memory");
    value[0] = __uint_as_float(first);
    value[1] = __uint_as_float(second);
    return flags[0] == flag && flags[1] == flag;
#else
    value[0] = from[0].value;
    value[1] = from[1].value;
    return from[0].flag == flag && from[1].flag == flag;
#endif
}

/* In a loop around cuda_flagged_try2(). With CUDA_WATCHDOG a wait of some seconds is a trap. */
struct cuda_flagged_wait {
#ifdef CUDA_WATCHDOG
    long long start = 0;
#endif
    __device__ __forceinline__ void again(void)
    {
#if defined(CUDA_HOST_LAYER)
        cuda_host_poll();
#elif defined(CUDA_WATCHDOG) && defined(__CUDA_ARCH__)
        start = start ? start : clock64();
        if (clock64() - start > 1ll << 32)
            __trap();
#endif
    }
};

#endif
