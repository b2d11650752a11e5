/* SPDX-License-Identifier: MIT */
/*
 * A profiled case: instead of samples, a number of iterations with the scopes of
 * profile/profile.h on, each inside an outermost scope that is called like the kernel. Everything
 * before and after (allocation, check against the oracle, warm-up, check again) is as in any case.
 *
 * What comes out: the trace in a file; the time of each iteration as the measurement
 * `<kernel>:all`; and of each operation inside it the time per iteration on the main thread, as
 * `<kernel>:<operation>`, with what is nested in it; without that in its telemetry, `self_ns`. On a
 * GPU an operation's time is the GPU's own. Names keep ordinary history apart from what was
 * measured with scopes on. Clocks, power and temperature meanwhile are
 * counters in the trace (machine/sensor_tracks.h).
 *
 * Uses the global profiler: one at a time in a process.
 */
#ifndef HARNESS_MEASURE_PROFILING_H
#define HARNESS_MEASURE_PROFILING_H

#include "core/record.h"
#include "gputrace/kernel_sequence.h"
#include "machine/nvml.h"

#include <stdbool.h>

struct profiling {
    int iterations;     /* at least 1; after two that are not kept */
    const char *folder; /* exists; the trace goes to profiling_file() in it */
    bool activity;      /* on CUDA: collect what the GPU does, too */
    bool counters;      /* and then count in a pass of its own: measure/profiling_counters.h */
    const char *plant;  /* an operation to make slower, see measure/plant.h; NULL: none */
    double plant_share; /* 0.5: by 50 % */
};

/* What is profiled. */
struct profiled_call {
    const struct call *call;         /* prepared and warm */
    bool cold;                       /* the caches are emptied before each iteration */
    const struct input_fill *inputs; /* as in the benchmark */
    const struct nvml *gpu;          /* the device's, for clocks and power; NULL: none */
    /* Makes in-out tensors what they were, before each iteration and outside of it. */
    int (*restore)(void *context, struct error *err);
    void *context;
};

/* One operation's share of a case: ns of each iteration, work of one. */
struct profiled_operation {
    char name[NAME_SIZE];
    uint64_t *samples; /* owned; as many as iterations */
    double self_ns;    /* of an iteration, without the operations inside it: the median */
    double flops, bytes;
    bool gpu;       /* times are the GPU's */
    double planted; /* share of it; 0: none */
};

struct profiled {
    struct profiled_operation *items;
    size_t nr, capacity;
    size_t nr_samples;
    struct kernel_sequence kernels; /* of an iteration; empty where they are not known */
};

/* `m` gets the samples of the whole, the trace goes to its file. -1: no memory, no room for so many
 * iterations, the file cannot be written, or the device failed. Release `out` whatever the result.
 */
int profiling_run(const struct profiling *p, const struct profiled_call *what,
                  struct measurement *m, struct profiled *out, struct error *err);
void profiled_release(struct profiled *out);

/* The measurement of one operation, from that of the whole: same outcome, check and telemetry.
 * Release it. */
void profiled_measurement(const struct profiled *p, size_t i, const struct measurement *whole,
                          struct measurement *m);

/* The benchmark's name in an ordinary run, by which files are called. */
void profiling_name(const struct profiled_call *what, struct benchmark_name *name);
/* Its trace, and its counters; free() them. */
char *profiling_file(const char *folder, const struct benchmark_name *name);
char *profiling_counters_file(const char *folder, const struct benchmark_name *name);

#endif
