/* SPDX-License-Identifier: MIT */
/*
 * The binding to Google Benchmark (libbenchmark): it drives the measuring loop, with manual time;
 * the raw samples stay on the C side. The one C++ file of this folder is gbench_loop.cc.
 *
 * libbenchmark runs rounds of a fixed number of iterations. After each round `next` says how many
 * more are wanted; 0 ends the loop. So the adaptive stop is ours (measure/sampling.h). What the
 * library takes from its flags and from the environment (BENCHMARK_REPETITIONS, BENCHMARK_OUT) does
 * not reach these rounds.
 */
#ifndef HARNESS_MEASURE_GBENCH_LOOP_H
#define HARNESS_MEASURE_GBENCH_LOOP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct loop {
    const char *name; /* shown by the library in its own messages */
    void *context;
    /* Takes one sample and gives its time in ns. */
    int (*sample)(void *context, uint64_t *ns, struct error *err);
    /* Iterations of the next round; 0 to end. Called before the first round, too. */
    int64_t (*next)(void *context);
};

/* 0, or -1 with the error of the sample that failed. Not reentrant: the library keeps a global
 * list of benchmarks. */
int loop_run(const struct loop *loop, struct error *err);

#ifdef __cplusplus
}
#endif

#endif
