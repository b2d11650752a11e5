/* SPDX-License-Identifier: MIT */
#include "stats/random.h"

#include "stats/stats.h"

#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static uint64_t next_splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void random_seed(struct random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->state[i] = next_splitmix(&seed);
}

uint64_t random_u64(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(struct random *r, uint64_t limit)
{
    /* Values under 2^64 mod limit would favour the low residues: draw again. */
    uint64_t reject = (0 - limit) % limit, x;

    do
        x = random_u64(r);
    while (x < reject);
    return x % limit;
}

double random_uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
    /* The middle of one of 2^53 equal cells: never 0 or 1. */
    return stats_normal_quantile(((double)(random_u64(r) >> 11) + 0.5) * 0x1p-53);
}

void random_fill_normal(float *x, size_t n, double mean, double scale, uint64_t seed)
{
    enum { BLOCK = 1 << 15 };
    long nr_blocks = (long)((n + BLOCK - 1) / BLOCK);

#pragma omp parallel for schedule(dynamic)
    for (long block = 0; block < nr_blocks; block++) {
        struct random r;
        size_t first = (size_t)block * BLOCK, last = first + BLOCK < n ? first + BLOCK : n;
        random_seed(&r, seed + (uint64_t)block * 0xd1342543de82ef95U);
        for (size_t i = first; i < last; i++)
            x[i] = (float)(mean + scale * random_normal(&r));
    }
}

void random_permutation(struct random *r, size_t *order, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        size_t j = (size_t)random_below(r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

void random_shuffle(struct random *r, size_t *order, size_t nr)
{
    for (size_t i = nr; i > 1; i--) {
        size_t j = (size_t)random_below(r, i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

uint64_t random_fresh_seed(void)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = (uint64_t)now.tv_sec * 1000000007U ^ (uint64_t)now.tv_nsec;
    }
    return seed;
}

void random_uuid(char text[37])
{
    uint64_t high = random_fresh_seed(), low = random_fresh_seed();

    high = (high & ~0xf000ULL) | 0x4000U;
    low = (low & ~(3ULL << 62)) | (2ULL << 62);
    snprintf(text, 37, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
             (unsigned)(high >> 16) & 0xffff, (unsigned)high & 0xffff, (unsigned)(low >> 48),
             (unsigned long long)(low & 0xffffffffffffU));
}
