/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks of all benches of a gate, found by their keys. A bench may print thousands, and
 * each result is looked for between two measurements: the time of that grows with the log of their
 * number.
 */
#ifndef HARNESS_SESSION_BENCH_BENCH_KEYS_H
#define HARNESS_SESSION_BENCH_BENCH_KEYS_H

#include "base/array.h"
#include "core/benchmark.h"

#include <stdbool.h>

/* A benchmark of a bench's results. */
struct bench_key {
    char key[KEY_SIZE];
    size_t bench;
    bool need;
    double harm; /* see comparison_harm() */
};

struct bench_keys {
    ARRAY(struct bench_key) known; /* in the order in which they were added */
    ARRAY(size_t) order;           /* the same by their keys */
};

/* NULL: none has that key. What it hands back stands until the next one is added. */
struct bench_key *bench_keys_find(const struct bench_keys *keys, const char *key);
/* Adds one that is needed; there must be none of that key yet. */
void bench_keys_add(struct bench_keys *keys, const char *key, size_t bench);
void bench_keys_release(struct bench_keys *keys);

#endif
