/* SPDX-License-Identifier: MIT */
/* What the tests of the GPT family share: small models whose every parameter matters. */
#ifndef HARNESS_TESTS_GPT_TESTING_H
#define HARNESS_TESTS_GPT_TESTING_H

#include "testing.h"

#include "models/gpt_weights.h"
#include "stats/random.h"

/* Seeded weights, then noise on everything: with biases 0 and gains 1 a forward that forgets them
 * would pass. */
static inline void noisy_weights(const struct gpt_weights *w, uint64_t seed)
{
    struct random random;

    gpt_weights_seed(w, seed);
    random_seed(&random, seed + 1);
    for (int64_t i = 0; i < gpt_weights_count(w->config, w->tied); i++)
        w->data[i] += (float)(0.1 * random_normal(&random));
}

/* FNV-1a over bytes (Fowler, Noll, Vo). */
static inline uint64_t hash_bytes(const void *bytes, size_t nr)
{
    const unsigned char *next = bytes;
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < nr; i++)
        hash = (hash ^ next[i]) * 0x100000001b3U;
    return hash;
}

static inline uint64_t hash_weights(const struct gpt_weights *w)
{
    return hash_bytes(w->data, (size_t)gpt_weights_count(w->config, w->tied) * sizeof(float));
}

#endif
