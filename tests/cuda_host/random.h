/* SPDX-License-Identifier: MIT */
/* A small generator for orders, not for statistics: xorshift64*, Vigna 2016. */
#ifndef CUDA_HOST_RANDOM_H
#define CUDA_HOST_RANDOM_H

#include <cstdint>

namespace cuda_host
{

struct random {
    uint64_t state; /* never 0 */
};

inline void random_seed(struct random *r, uint64_t seed)
{
    r->state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
}

/* 0..n-1; n is at most 2^32. */
inline unsigned random_below(struct random *r, uint64_t n)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return static_cast<unsigned>(((r->state * 0x2545f4914f6cdd1du) >> 32) * n >> 32);
}

} // namespace cuda_host

#endif
