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

template <class T> inline T atomicExch(T *address, cuda_host_operand<T> value)
{
    static_assert(cuda_host_atomic_type<T>, "CUDA has no atomics of this type");
    cuda_host_atomic();
    T old = *address;

    *address = value;
    return old;
}

template <class T> inline T atomicAdd(T *address, cuda_host_operand<T> value)
{
    return atomicExch(address, *address + value);
}

template <class T> inline T atomicMax(T *address, cuda_host_operand<T> value)
{
    static_assert(!std::is_same_v<T, float>, "CUDA has no atomicMax of float");
    return atomicExch(address, *address > value ? *address : value);
}

template <class T> inline T atomicMin(T *address, cuda_host_operand<T> value)
{
    static_assert(!std::is_same_v<T, float>, "CUDA has no atomicMin of float");
    return atomicExch(address, *address < value ? *address : value);
}

template <class T>
inline T atomicCAS(T *address, cuda_host_operand<T> compare, cuda_host_operand<T> value)
{
    static_assert(!std::is_same_v<T, float>, "CUDA has no atomicCAS of float");
    return atomicExch(address, *address == compare ? value : *address);
}

/* Counts up to `limit`, then starts again at 0. */
inline unsigned atomicInc(unsigned *address, unsigned limit)
{
    return atomicExch(address, *address >= limit ? 0 : *address + 1);
}

/* They order memory; that of fibers is in order. */
inline void __threadfence(void)
{
}

inline void __threadfence_block(void)
{
}

inline void __threadfence_system(void)
{
}

#endif
