/* SPDX-License-Identifier: MIT */
/* Runs of a long history: sixty benchmarks and more, three launches, telemetry, a new compiler half
 * way through, and a step for the worse in every seventh benchmark at two thirds. */
#ifndef HARNESS_TESTS_LONG_HISTORY_H
#define HARNESS_TESTS_LONG_HISTORY_H

#include "output_records.h"

enum { LONG_HISTORY_BENCHMARKS = 60, LONG_HISTORY_LAUNCHES = 3 };

static inline void long_history_telemetry(struct measurement *m, struct random *random)
{
    measurement_add_telemetry(m, "cpu_mhz", 2400 + 300 * random_uniform(random));
    measurement_add_telemetry(m, "load1", random_uniform(random));
    measurement_add_telemetry(m, "minor_faults", floor(900 * random_uniform(random)));
    measurement_add_telemetry(m, "steal_percent", random_uniform(random));
}

/* The nth benchmark: sizes of a linear layer by two variants, and of a model. `night` is the number
 * of the run in the history: each has noise of its own. */
static inline void long_history_measure(struct records *r, int run, int night, int launch, int nth,
                                        double slow, size_t samples)
{
    static const char *const kernels[] = { "gemm/linear/simd", "gemm/linear/openblas",
                                           "gpt/micro/prefill/simd" };
    int kind = nth % 3, batch = 1 << nth / 3 % 5, seq = 32 << nth / 15 % 4;
    double tokens = batch * seq, n = 768 + 256.0 * (nth / LONG_HISTORY_BENCHMARKS);
    uint64_t seed = made_seed(night, launch, nth);
    struct random random;
    char key[KEY_SIZE];

    if (kind == 2)
        snprintf(key, sizeof(key), "%s/fp32/batch=%d,seq=%d,block=%.0f/cpu-4t/warm", kernels[kind],
                 batch, seq, n);
    else
        snprintf(key, sizeof(key), "%s/fp32/batch=%d,seq=%d,n=%.0f,k=256/cpu-4t/warm",
                 kernels[kind], batch, seq, n);
    double ns = kind == 2 ? 90000 + tokens * 65000 : 3000 + tokens * n * (2.5 + kind);
    struct measurement *m = made_measurement(r, run, launch, key, slow * ns, 0.02, samples, seed);
    made_work(m, kind == 2 ? tokens * 1.4e7 : tokens * n * 512,
              kind == 2 ? tokens * 2e5 + 2.8e7 : 4 * (tokens * (n + 256) + n * 256));
    random_seed(&random, seed + 1);
    long_history_telemetry(m, &random);
}

/* Adds the run of that number, of `runs` in all. */
static inline void long_history_add(struct records *r, int nth, int runs, int benchmarks,
                                    size_t samples)
{
    char commit[COMMIT_SIZE];

    snprintf(commit, sizeof(commit), "%08x4e5f60718293a4b5c6d7e8f901234567",
             0x1f3a9c2dU + (unsigned)nth * 2654435761U);
    int index = made_run(r, nth, commit, nth < runs / 2 ? "gcc 12.2.0" : "gcc 13.1.0");
    r->runs[index].environment = memory_string(
        "{\"kernel_release\":\"6.1.0-26-amd64\",\"libc\":\"2.36\","
        "\"governor\":\"performance\",\"load1\":0.31}");
    r->runs[index].settings = memory_string(
        "{\"device\":\"cpu\",\"launches\":3,\"sampling\":{"
        "\"min_time\":0.1,\"max_time\":0.5,\"iterations\":0}}");
    for (int launch = 0; launch < LONG_HISTORY_LAUNCHES; launch++)
        for (int i = 0; i < benchmarks; i++)
            long_history_measure(r, index, nth, launch, i,
                                 nth > 2 * runs / 3 && i % 7 == 0 ? 1.08 : 1, samples);
}

#endif
