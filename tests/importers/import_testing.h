/* SPDX-License-Identifier: MIT */
/* Importing in tests: from fixtures and from texts. */
#ifndef HARNESS_TESTS_IMPORT_TESTING_H
#define HARNESS_TESTS_IMPORT_TESTING_H

#include "testing.h"

#include "importers/import.h"
#include "stats/stats.h"

#include <stdlib.h>

#define IMPORT_FIXTURES HARNESS_SOURCE_DIR "/tests/fixtures/"

/* The file or folder below tests/fixtures, which must be taken. */
static inline void import_fixture(const char *name, const struct import_options *options,
                                  struct imported *out)
{
    char path[512];
    struct error err;

    snprintf(path, sizeof(path), IMPORT_FIXTURES "%s", name);
    assert_ok(import_file(path, options, out, &err), &err);
}

static inline const struct measurement *import_measurement(const struct imported *in,
                                                           const char *key, int launch)
{
    for (size_t i = 0; i < in->records.nr; i++)
        if (strcmp(in->records.items[i].m.bench.key, key) == 0 &&
            in->records.items[i].launch_seq == launch)
            return &in->records.items[i].m;
    fail_msg("there is no \"%s\" in launch %d", key, launch);
    return NULL;
}

/* Median time of one iteration in ns; NaN without samples. */
static inline double import_median(const struct measurement *m)
{
    double *times = calloc(m->nr_samples + 1, sizeof(*times));

    for (size_t i = 0; i < m->nr_samples; i++)
        times[i] = (double)m->samples[i] / m->batch;
    double median = stats_median(times, m->nr_samples);
    free(times);
    return median;
}

#endif
