/* SPDX-License-Identifier: MIT */
/*
 * Atomics and fences. Fibers give way only where they wait, so a plain read and write is atomic
 * among them. Each returns the old value.
 */
#ifndef CUDA_HOST_ATOMICS_H
#define CUDA_HOST_ATOMICS_H

#include <type_traits>

template <class T>
constexpr bool cuda_host_atomic_type =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
    std::is_same_v<T, unsigned long long> || std::is_same_v<T, float>;

/* Non-deduced: atomicAdd(&u, 1) takes the int as CUDA's overloads do. */
template <class T> using cuda_host_operand = std::type_identity_t<T>;

/* Who is next is chosen anew where a thread waits: it may be another block's, for long. */
void cuda_host_atomic(void);

/* Atomics are not watched as stores (order.h). */
#define CUDA_HOST_ATOMIC template <class T> __attribute__((no_sanitize_thread)) inline T

CUDA_HOST_ATOMIC atomicExch(T *address, cuda_host_operand<T> value)
{
    static_assert(cuda_host_atomic_type<T>, "CUDA has no atomics of this type");
    cuda_host_atomic();
    T old = *address;

    *address = value;
    return old;
}

CUDA_HOST_ATOMIC atomicAdd(T *address, cuda_host_operand<T> value)
{
    return atomicExch(address, *address + value);
}

CUDA_HOST_ATOMIC atomicMax(T *address, cuda_host_operand<T> value)
{
    static_assert(!std::is_same_v<T, float>, "CUDA has no atomicMax of float");
    return atomicExch(address, *address > value ? *address : value);
}

CUDA_HOST_ATOMIC atomicMin(T *address, cuda_host_operand<T> value)
{
    static_assert(!std::is_same_v<T, float>, "CUDA has no atomicMin of float");
    return atomicExch(address, *address < value ? *address : value);
}

CUDA_HOST_ATOMIC atomicCAS(T *address, cuda_host_operand<T> compare, cuda_host_operand<T> value)
{
    static_assert(!std::is_same_v<T, float>, "CUDA has no atomicCAS of float");
    return atomicExch(address, *address == compare ? value : *address);
}

/* Counts up to `limit`, then starts again at 0. */
__attribute__((no_sanitize_thread)) inline unsigned atomicInc(unsigned *address, unsigned limit)
{
    return atomicExch(address, *address >= limit ? 0 : *address + 1);
}

/* They order memory; that of fibers is in order. Between blocks it is looked at whether they are
 * there (order.h). */
void __threadfence(void);

inline void __threadfence_block(void)
{
}

inline void __threadfence_system(void)
{
    __threadfence();
}

#undef CUDA_HOST_ATOMIC

#endif
