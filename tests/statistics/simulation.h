/* SPDX-License-Identifier: MIT */
/*
 * Simulated runs: suites of benchmarks whose launches and samples have noise of a chosen kind.
 * Everything follows from the seed.
 */
#ifndef HARNESS_TESTS_SIMULATION_H
#define HARNESS_TESTS_SIMULATION_H

#include "analysis/compare.h"
#include "base/random.h"
#include "core/record.h"

#include <stddef.h>

enum noise_kind {
    NOISE_NORMAL,
    NOISE_LOGNORMAL, /* skewed to the slow side */
    NOISE_BIMODAL,   /* two equally likely modes, two sd apart, hardly any noise in a mode */
    NOISE_HEAVY,     /* Student's t with 3 degrees of freedom */
    NOISE_MIXED,     /* each benchmark its own kind and size */
    NOISE_KIND_NR,
};

extern const char *const noise_names[NOISE_KIND_NR];

struct simulation {
    enum noise_kind kind;
    int benchmarks, launches, samples;
    double within;  /* sd of a sample inside its launch, as a fraction */
    double between; /* sd of a launch, as a fraction */
};

/* A deviate of mean 0 and sd 1. */
double noise_draw(struct random *r, enum noise_kind kind);

/* One run. The true time of benchmark i is multiplied by factor[i]; NULL means 1 everywhere. Noise
 * of kind NOISE_MIXED is chosen by benchmark number, so that both sides agree on it. */
void simulate(const struct simulation *s, const double *factor, struct random *r,
              struct records *out);

/* Simulates base and head and compares them; head has the factors. Release c with
 * comparison_release(); its rows' names are not to be read. */
void simulate_comparison(const struct simulation *s, const double *factor,
                         const struct compare_settings *settings, struct random *r,
                         struct comparison *c);

/* Fails the test if `hits` of `n` trials show with 99.9 % confidence that the true rate is above
 * (or below) the bound: the simulation's own chance is allowed for, and nothing more. Prints the
 * rate either way. */
void assert_rate_at_most(const char *what, size_t hits, size_t n, double bound);
void assert_rate_at_least(const char *what, size_t hits, size_t n, double bound);

#endif
