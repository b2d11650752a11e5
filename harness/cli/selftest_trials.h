/* SPDX-License-Identifier: MIT */
/*
 * The comparisons of a self-test: this program against itself, with nothing planted or with a
 * slow-down of known size in some of the benchmarks. Tells on standard error how far it is.
 */
#ifndef HARNESS_CLI_SELFTEST_TRIALS_H
#define HARNESS_CLI_SELFTEST_TRIALS_H

#include "analysis/selftest.h"
#include "cli/choice.h"
#include "store/store.h"

#include <signal.h>

struct trials {
    const struct choice *choice;
    struct store *store; /* STORE_WRITE: for the runs */
    struct compare_settings compare;
    bool interleaved;                 /* by the A/B engine, block by block; else run after run */
    double sizes[SELFTEST_SIZES_MAX]; /* to plant, nr_sizes of them, all different */
    size_t nr_sizes;
    double budget;        /* s, of an interleaved comparison; 0: none */
    double case_timeout;  /* s */
    int64_t memory_limit; /* bytes; 0: the usual */
    bool once;            /* nothing that was disturbed is made again */
    uint64_t seed;        /* of what is planted where, and in which order; not 0 */
    const volatile sig_atomic_t *interrupted;
};

/* Fresh runs of the same, each compared with the one before it. */
int trials_aa(const struct trials *t, int comparisons, struct selftest *out, struct error *err);
/* Each size in a tenth of the benchmarks, at least one, chosen anew each time. `repeats`
 * comparisons of each size, in random order, each with an unplanted run just before it. */
int trials_power(const struct trials *t, int repeats, struct selftest *out, struct error *err);

/* Sets the sizes: 1, 2, 5, 10 % and, if that is more, twice the gate. */
void trials_usual_sizes(struct trials *t);
/* Launches a side, at most. */
int trials_launches(const struct trials *t);
/* A rough guess at the seconds that so many runs take; sides of a comparison count alike. */
double trials_seconds(const struct trials *t, int runs);
/* "12:05", minutes and seconds; the returned string is `text`. */
enum { TRIALS_TIME_SIZE = 24 };
char *trials_time(double seconds, char text[TRIALS_TIME_SIZE]);

#endif
