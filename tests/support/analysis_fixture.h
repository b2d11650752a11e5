/* SPDX-License-Identifier: MIT */
/* Hand-made records for the tests of analysis. */
#ifndef HARNESS_TESTS_ANALYSIS_FIXTURE_H
#define HARNESS_TESTS_ANALYSIS_FIXTURE_H

#include "base/memory.h"
#include "core/record.h"
#include "testing.h"

#include <stdlib.h>

static inline struct run *fixture_run(struct records *r, const char *class_name, int64_t started_ms)
{
    struct run *run = records_add_run(r);

    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "%s", class_name);
    snprintf(run->machine.id, sizeof(run->machine.id), "%.16s", class_name);
    run->started_ms = started_ms;
    return run;
}

static inline void fixture_key(struct measurement *m, const char *key)
{
    struct error err;

    assert_ok(benchmark_name_parse(key, &m->bench, &err), &err);
}

/* A measurement of the newest run with `nr` equal samples of `ns`; not OK if nr is 0. */
static inline struct measurement *fixture_add(struct records *r, int launch, const char *key,
                                              double ns, size_t nr)
{
    struct measurement *m = &records_add(r, (int)r->nr_runs - 1, launch)->m;

    fixture_key(m, key);
    m->batch = 1;
    m->nr_samples = nr;
    m->outcome = nr > 0 ? OUTCOME_OK : OUTCOME_FAILED;
    m->samples = memory_zeroed(nr ? nr : 1, sizeof(*m->samples));
    for (size_t i = 0; i < nr; i++)
        m->samples[i] = (uint64_t)ns;
    return m;
}

/* One launch for each of `nr` times. */
static inline void fixture_launches(struct records *r, const char *key, const double *ns, int nr)
{
    for (int i = 0; i < nr; i++)
        fixture_add(r, i, key, ns[i], 3);
}

#endif
