/* SPDX-License-Identifier: MIT */
/*
 * Seeded random numbers, the same on every machine.
 * Generator: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 (Steele et al., 2014).
 * Normal deviates: inverse distribution function (stats/stats.h), one draw each. Not for secrets.
 */
#ifndef HARNESS_STATS_RANDOM_H
#define HARNESS_STATS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_u64(struct random *r);
uint64_t random_below(struct random *r, uint64_t limit); /* [0, limit), unbiased; limit > 0 */
double random_uniform(struct random *r);                 /* [0, 1) */
double random_normal(struct random *r);                  /* mean 0, sd 1 */
/* n floats of N(mean, scale^2). The same seed gives the same floats for any number of threads: the
 * array is cut into blocks with seeds of their own. */
void random_fill_normal(float *x, size_t n, double mean, double scale, uint64_t seed);
void random_permutation(struct random *r, size_t *order, size_t nr); /* 0..nr-1, shuffled */
void random_shuffle(struct random *r, size_t *order, size_t nr);     /* what is there */
/* A seed that differs from call to call and process to process (from the kernel's generator). */
uint64_t random_fresh_seed(void);
/* A random UUID (version 4, RFC 9562), 36 characters and NUL. */
void random_uuid(char text[37]);

#endif
