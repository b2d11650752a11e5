/* SPDX-License-Identifier: MIT */
/*
 * Simulated runs: suites of benchmarks whose launches and samples have noise of a chosen kind.
 * Everything follows from the seed.
 */
#ifndef HARNESS_TESTS_SIMULATION_H
#define HARNESS_TESTS_SIMULATION_H

#include "core/record.h"
#include "stats/random.h"
#include "verdict/compare.h"

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
    /* Only of simulate_items(): */
    double serial;            /* correlation of successive launches, AR(1) */
    double inner_serial;      /* of successive samples: `within` is more than samples let on */
    double run_noise;         /* sd of a run, each benchmark on its own */
    double common;            /* sd of a run, all benchmarks alike */
    int base_runs, head_runs; /* runs of `launches` each; 0: one */
    int blocks;               /* interleaved blocks of two launches a side; 0: apart */
    int earlier;              /* runs before the base */
    double earlier_changes;   /* share of their steps, of a benchmark, that are a change of 5 % */
    double drift;             /* how much slower all is at the end of the blocks, as a fraction */
};

/* A deviate of mean 0 and sd 1. */
double noise_draw(struct random *r, enum noise_kind kind);

/* One run. The true time of benchmark i is multiplied by factor[i]; NULL means 1 everywhere. Noise
 * of kind NOISE_MIXED is chosen by benchmark number, so that both sides agree on it. */
void simulate(const struct simulation *s, const double *factor, struct random *r,
              struct records *out);

/* Evidence alone, a value a launch: far faster. `within` is then the noise of that value which the
 * samples inside the launch account for, and is stated. The items are for compare_decide(). */
struct compare_item *simulate_items(const struct simulation *s, const double *factor,
                                    struct random *r);
/* ... and that. Release c. */
void simulate_decision(const struct simulation *s, const double *factor,
                       const struct compare_settings *settings, struct random *r,
                       struct comparison *c);
/* `trials` times what $HARNESS_TRIALS says (default 1; 0.3 for a quick look), at least one. */
size_t trials(size_t trials);

/* Simulates base and head and compares them; head has the factors. Release c with
 * comparison_release(); its rows' names are not to be read. */
void simulate_comparison(const struct simulation *s, const double *factor,
                         const struct compare_settings *settings, struct random *r,
                         struct comparison *c);

/* Fails the test if `hits` of `n` trials show with 99.9 % confidence that the true rate is above
 * (or below) the bound: the simulation's own chance is allowed for, and nothing more. Prints the
 * rate with its 95 % interval either way. */
void assert_rate_at_most(const char *what, size_t hits, size_t n, double bound);
void assert_rate_at_least(const char *what, size_t hits, size_t n, double bound);
/* The same for what was promised: the rate that was seen must keep the bound itself. */
void assert_seen_at_most(const char *what, size_t hits, size_t n, double bound);
void assert_seen_at_least(const char *what, size_t hits, size_t n, double bound);

#endif
