/* SPDX-License-Identifier: MIT */
/* Records and presets for the tests of figures that are made from raw samples. */
#ifndef HARNESS_TESTS_SAMPLES_TESTING_H
#define HARNESS_TESTS_SAMPLES_TESTING_H

#include "figure_testing.h"
#include "output_records.h"
#include "presets_testing.h"

#include "chart/chart.h"

#define KEY(variant) "gemm/linear/" variant "/fp32/batch=4,seq=64,n=192,k=48/cpu-4t/warm"

static inline struct figure *build(const struct records *records, const char *name)
{
    struct error err;
    struct chart chart = { .preset = presets_find(&presets, name, &err),
                           .records = records,
                           .run = run_newest(records) };

    if (!chart.preset)
        fail_msg("%s", err.message);
    return chart_build(&chart);
}

/* Figures of one benchmark alone, of a preset by hand. */
static inline struct figure *build_text(const struct records *records, const char *preset_text)
{
    struct preset preset;
    struct error err;

    assert_ok(preset_parse(&preset, preset_text, strlen(preset_text), "test", &err), &err);
    struct chart chart = { .preset = &preset, .records = records, .run = run_newest(records) };
    struct figure *f = chart_build(&chart);
    preset_release(&preset);
    return f;
}

/* Samples by a rule: the i-th takes first + (i * step) % range. */
static inline struct measurement *ruled(struct records *r, int run, int launch, const char *key,
                                        size_t n, uint64_t first, uint64_t step, uint64_t range)
{
    struct measurement *m = made_measurement(r, run, launch, key, 0, 0, n, 1);

    for (size_t i = 0; i < n; i++)
        m->samples[i] = first + (i * step) % range;
    return m;
}

static inline void add_telemetry(struct measurement *m, int nth)
{
    m->started_ms += 250 * nth;
    measurement_add_telemetry(m, "cpu_mhz", 2600 + nth % 5 * 10);
    measurement_add_telemetry(m, "steal_percent", nth % 3);
    measurement_add_telemetry(m, "minor_faults", nth);
    measurement_add_telemetry(m, "major_faults", 0);
    measurement_add_telemetry(m, "max_rss_bytes", 3e7 + 1e5 * nth);
}

/* Three kernels: steady, drifting with a wild sample, and one of few samples. */
static inline void add_kernels(struct records *r, int run, double slow)
{
    static const struct {
        const char *key;
        double ns, spread;
        size_t n;
        uint64_t drift, wild; /* ns a sample; the 50th sample, 0: as it is */
    } rows[] = {
        { KEY("naive"), 4e5, 0.01, 100, 0, 0 },
        { KEY("openblas"), 2e4, 0.02, 100, 60, 900000 },
        { KEY("simd"), 2.5e4, 0.05, 9, 0, 0 },
    };

    for (int nth = 0; nth < 6; nth++) {
        int launch = nth / 3, k = nth % 3;
        struct measurement *m =
            made_measurement(r, run, launch, rows[k].key, rows[k].ns * slow, rows[k].spread,
                             rows[k].n, made_seed(run, launch, k + 1));
        for (size_t i = 0; i < m->nr_samples; i++)
            m->samples[i] += i * rows[k].drift;
        if (rows[k].wild)
            m->samples[50] = rows[k].wild;
        made_work(m, 4.7e6, 3e5);
        m->footprint = 420000;
        add_telemetry(m, nth);
    }
}

#endif
