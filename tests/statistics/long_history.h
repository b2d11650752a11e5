/* SPDX-License-Identifier: MIT */
/* A history as years of nightly runs leave it, made up: for speed programs. */
#ifndef HARNESS_TESTS_LONG_HISTORY_H
#define HARNESS_TESTS_LONG_HISTORY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct long_history {
    size_t benchmarks, runs;
    size_t launches; /* of each run; 0: one */
    size_t samples;  /* of each measurement */
    size_t steps;    /* benchmarks that get 10 % slower half-way: the first ones */
    uint64_t seed;
    int64_t started_ms; /* of the first run, one a night; 0: in 2023 */
};

/* Writes a new file in one transaction: samples with 2 % of noise, runs with 1 %. */
int long_history_write(const char *path, const struct long_history *h, struct error *err);

#endif
