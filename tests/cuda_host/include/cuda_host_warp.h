/* SPDX-License-Identifier: MIT */
/* Barriers, votes and shuffles. Each takes the place of its call, to tell divergent ones. */
#ifndef CUDA_HOST_WARP_H
#define CUDA_HOST_WARP_H

#include "cuda_host.h"
#include "cuda_host_types.h"

#include <string.h>
#include <type_traits>

/* Everything that threads meet at; a different kind or place is a different meeting. */
enum cuda_host_kind {
    CUDA_HOST_SYNCTHREADS,
    CUDA_HOST_SYNCTHREADS_OR,
    CUDA_HOST_SYNCTHREADS_AND,
    CUDA_HOST_SYNCTHREADS_COUNT,
    CUDA_HOST_SYNCWARP,
    CUDA_HOST_SHFL,
    CUDA_HOST_SHFL_XOR,
    CUDA_HOST_SHFL_UP,
    CUDA_HOST_SHFL_DOWN,
    CUDA_HOST_BALLOT,
    CUDA_HOST_ANY,
    CUDA_HOST_ALL,
    CUDA_HOST_PUBLISH,
    CUDA_HOST_DONE,
    CUDA_HOST_CLUSTER_ARRIVE,
    CUDA_HOST_CLUSTER_WAIT,
    CUDA_HOST_MBARRIER_WAIT,
    CUDA_HOST_NAMED,
};

/* Waits for the whole block; returns in how many threads `predicate` was not 0. */
unsigned cuda_host_barrier(enum cuda_host_kind kind, bool predicate, struct cuda_host_site site);
/* Waits for the warp; returns the 32 values, which hold until the next but one meeting. */
const uint64_t *cuda_host_warp_meet(enum cuda_host_kind kind, unsigned mask, uint64_t mine,
                                    struct cuda_host_site site);
/* Lane of the calling thread. */
unsigned cuda_host_lane(void);
/* Threads of the calling thread's block. */
unsigned cuda_host_block_threads(void);
/* Lanes of the warp that have not returned. */
unsigned cuda_host_active(void);

#define CUDA_HOST_SITE struct cuda_host_site site = cuda_host_site::here()

inline void __syncthreads(CUDA_HOST_SITE)
{
    cuda_host_barrier(CUDA_HOST_SYNCTHREADS, false, site);
}

inline int __syncthreads_or(int predicate, CUDA_HOST_SITE)
{
    return cuda_host_barrier(CUDA_HOST_SYNCTHREADS_OR, predicate != 0, site) > 0;
}

inline int __syncthreads_and(int predicate, CUDA_HOST_SITE)
{
    return cuda_host_barrier(CUDA_HOST_SYNCTHREADS_AND, predicate != 0, site) ==
           cuda_host_block_threads();
}

inline int __syncthreads_count(int predicate, CUDA_HOST_SITE)
{
    return (int)cuda_host_barrier(CUDA_HOST_SYNCTHREADS_COUNT, predicate != 0, site);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, CUDA_HOST_SITE)
{
    cuda_host_warp_meet(CUDA_HOST_SYNCWARP, mask, 0, site);
}

/* The votes of all lanes, one bit each. */
inline unsigned cuda_host_vote(enum cuda_host_kind kind, unsigned mask, bool predicate,
                               struct cuda_host_site site)
{
    const uint64_t *all = cuda_host_warp_meet(kind, mask, predicate, site);
    unsigned votes = 0;

    for (unsigned lane = 0; lane < 32; lane++)
        votes |= (unsigned)all[lane] << lane;
    return votes;
}

inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_HOST_SITE)
{
    return cuda_host_vote(CUDA_HOST_BALLOT, mask, predicate != 0, site);
}

inline int __any_sync(unsigned mask, int predicate, CUDA_HOST_SITE)
{
    return cuda_host_vote(CUDA_HOST_ANY, mask, predicate != 0, site) != 0;
}

inline int __all_sync(unsigned mask, int predicate, CUDA_HOST_SITE)
{
    return cuda_host_vote(CUDA_HOST_ALL, mask, predicate != 0, site) == 0xffffffffu;
}

inline unsigned __activemask(void)
{
    return cuda_host_active();
}

/* All lanes give `mine`; the value of lane `from`, which the caller knows to be within 0..31. */
template <class T>
inline T cuda_host_shuffle(enum cuda_host_kind kind, unsigned mask, T mine, unsigned from,
                           struct cuda_host_site site)
{
    static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "shuffles move 32 and 64 bits");
    uint64_t bits = 0;
    T value;

    memcpy(&bits, &mine, sizeof(T));
    memcpy(&value, &cuda_host_warp_meet(kind, mask, bits, site)[from], sizeof(T));
    return value;
}

/* The first lane of the segment of `width` lanes (a power of two) that `lane` is in. */
constexpr unsigned cuda_host_segment(unsigned lane, int width)
{
    return lane & ~((unsigned)width - 1);
}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int from, int width = 32, CUDA_HOST_SITE)
{
    unsigned source =
        cuda_host_segment(cuda_host_lane(), width) + ((unsigned)from & ((unsigned)width - 1));

    return cuda_host_shuffle(CUDA_HOST_SHFL, mask, value, source, site);
}

/* A lane whose source is in a later segment gets its own value. */
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, CUDA_HOST_SITE)
{
    unsigned lane = cuda_host_lane(), from = (lane ^ (unsigned)lanes) & 31;
    bool own = from >= cuda_host_segment(lane, width) + (unsigned)width;

    return cuda_host_shuffle(CUDA_HOST_SHFL_XOR, mask, value, own ? lane : from, site);
}

/* Lanes whose source would be outside their segment get their own value. */
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_HOST_SITE)
{
    unsigned lane = cuda_host_lane();
    bool own = lane < cuda_host_segment(lane, width) + (delta & 31);

    return cuda_host_shuffle(CUDA_HOST_SHFL_UP, mask, value, own ? lane : lane - (delta & 31),
                             site);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_HOST_SITE)
{
    unsigned lane = cuda_host_lane(), from = lane + (delta & 31);
    bool own = from >= cuda_host_segment(lane, width) + (unsigned)width;

    return cuda_host_shuffle(CUDA_HOST_SHFL_DOWN, mask, value, own ? lane : from, site);
}

#undef CUDA_HOST_SITE

#endif
