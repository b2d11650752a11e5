/* SPDX-License-Identifier: MIT */
#include "long_history.h"

#include "base/memory.h"
#include "stats/random.h"
#include "store/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct writer {
    struct store *store;
    const struct long_history *h;
    struct random random;
    struct benchmark_name *names;
    struct measurement m;
};

/* What a real run reads beside a measurement, so that rows have a real row's size. */
static void add_telemetry(struct measurement *m)
{
    static const struct telemetry read[] = {
        { "cpu_mhz", 2894.56 },
        { "steal_percent", 0 },
        { "load1", 0.42 },
        { "major_faults", 0 },
        { "minor_faults", 12 },
        { "involuntary_switches", 3 },
        { TELEMETRY_MACHINE, 10240.5 },
        { "sampled_seconds", 0.2513 },
    };

    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
        measurement_add_telemetry(m, read[i].name, read[i].value);
}

static int make_names(struct writer *w, struct error *err)
{
    w->names = memory_zeroed(w->h->benchmarks + 1, sizeof(*w->names));
    for (size_t i = 0; i < w->h->benchmarks; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%zu,seq=64,n=192,k=48/cpu-2t/warm",
                 i + 1);
        if (benchmark_name_parse(key, &w->names[i], err))
            return -1;
    }
    return 0;
}

static int add_measurement(struct writer *w, int64_t launch, size_t run, size_t i,
                           struct error *err)
{
    bool slower = i < w->h->steps && run >= w->h->runs / 2;
    double level = 1e5 * (slower ? 1.1 : 1) * exp(0.01 * random_normal(&w->random));

    w->m.bench = w->names[i];
    for (size_t k = 0; k < w->m.nr_samples; k++)
        w->m.samples[k] = (uint64_t)(level * exp(0.02 * random_normal(&w->random)));
    return write_measurement(w->store, launch, &w->m, err);
}

static int add_launch(struct writer *w, int64_t run_id, size_t run, int seq, struct error *err)
{
    struct launch launch = { .seq = seq, .ended_ms = 1 };
    int64_t id;

    if (write_launch(w->store, run_id, &launch, &id, err))
        return -1;
    for (size_t k = 0; k < w->h->benchmarks; k++)
        if (add_measurement(w, id, run, k, err))
            return -1;
    return 0;
}

static int add_run(struct writer *w, size_t i, struct error *err)
{
    int64_t night = INT64_C(24) * 3600 * 1000;
    int64_t first = w->h->started_ms ? w->h->started_ms : 1700000000000;
    struct run run = { .started_ms = first + (int64_t)i * night, .suite = "ci" };

    run.ended_ms = run.started_ms + 1000;
    random_uuid(run.uuid);
    snprintf(run.machine.id, sizeof(run.machine.id), "0123456789abcdef");
    snprintf(run.machine.class_name, sizeof(run.machine.class_name), "made-up");
    snprintf(run.build.commit, sizeof(run.build.commit), "%07x", (unsigned)i + 1);
    if (write_run(w->store, &run, err))
        return -1;
    for (size_t seq = 0; seq < (w->h->launches ? w->h->launches : 1); seq++)
        if (add_launch(w, run.id, i, (int)seq, err))
            return -1;
    return 0;
}

static int add_all(struct writer *w, struct error *err)
{
    for (size_t i = 0; i < w->h->runs; i++)
        if (add_run(w, i, err))
            return -1;
    return 0;
}

int long_history_write(const char *path, const struct long_history *h, struct error *err)
{
    struct writer w = { .h = h };

    random_seed(&w.random, h->seed);
    if (make_names(&w, err) || store_open(&w.store, path, STORE_WRITE, err)) {
        free(w.names);
        return -1;
    }
    w.m = (struct measurement) { .outcome = OUTCOME_OK, .batch = 1, .stop = STOP_SAMPLES };
    snprintf(w.m.clock, sizeof(w.m.clock), "CLOCK_MONOTONIC_RAW");
    add_telemetry(&w.m);
    w.m.nr_samples = h->samples;
    w.m.samples = memory_zeroed(h->samples + 1, sizeof(*w.m.samples));
    int rc = sql_begin(w.store, err);
    if (rc == 0)
        rc = sql_end(w.store, add_all(&w, err), err);
    free(w.names);
    free(w.m.samples);
    store_close(w.store);
    return rc;
}
