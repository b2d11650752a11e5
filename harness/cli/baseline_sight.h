/* SPDX-License-Identifier: MIT */
/*
 * What comparisons with a baseline can see: the smallest change found 4 times in 5 by the newest
 * self-test of each machine class and device that the baseline was measured on.
 */
#ifndef HARNESS_CLI_BASELINE_SIGHT_H
#define HARNESS_CLI_BASELINE_SIGHT_H

#include "base/array.h"
#include "store/store.h"

struct baseline_sight {
    char machine[96], device[64]; /* class name; label */
    int64_t tested_ms;            /* 0: there was no self-test by the present rule */
    double smallest; /* 0.042: 4.2 %; INFINITY: none of the sizes planted; NaN: unknown */
    bool planted;    /* counted; else what comparisons of the same expect to see */
    int launches;    /* a side, with which it holds */
};

struct baseline_sights {
    struct baseline_sight *items;
    size_t nr, capacity;
};

/* Appends. */
int baseline_sights(struct store *store, const struct store_baseline *baseline,
                    struct baseline_sights *out, struct error *err);

#endif
