/* SPDX-License-Identifier: MIT */
#include "metrics/summary.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static bool summary_has_times(const struct measurement *m)
{
    return m->outcome == OUTCOME_OK && m->nr_samples > 0 && m->batch > 0;
}

static void summary_add_samples(struct summary *s, const struct measurement *m, size_t launch)
{
    if (m->outcome != OUTCOME_OK)
        return;
    s->of[s->nr_of++] = (struct summary_of) { m, launch };
    if (!summary_has_times(m))
        return;
    if (s->n == 0)
        s->m = m;
    for (size_t i = 0; i < m->nr_samples; i++)
        s->sorted[s->n++] = (double)m->samples[i] / m->batch;
}

/* The samples from `begin` on are one launch's. */
static void summary_end_launch(struct summary *s, size_t begin)
{
    size_t n = s->n - begin;

    if (n == 0)
        return;
    s->means[s->nr_launches] = stats_mean(s->sorted + begin, n);
    s->medians[s->nr_launches++] = stats_median(s->sorted + begin, n);
}

/* There are at most as many launches as measurements. */
static void summary_prepare(struct summary *s, const struct measurement *first, size_t samples,
                            size_t measurements)
{
    *s = (struct summary) { .m = first, .mean = NAN, .sd = NAN };
    s->sorted = memory_zeroed(samples ? samples : 1, sizeof(*s->sorted));
    s->medians = memory_zeroed(measurements, sizeof(*s->medians));
    s->means = memory_zeroed(measurements, sizeof(*s->means));
    s->of = memory_zeroed(measurements, sizeof(*s->of));
}

static void summary_finish(struct summary *s)
{
    stats_sort(s->sorted, s->n);
    s->mean = stats_mean(s->sorted, s->n);
    s->sd = stats_sd(s->sorted, s->n);
}

void summary_init(struct summary *s, const struct record *const *records, size_t nr)
{
    size_t samples = 0, begin = 0, launch = 0;

    for (size_t i = 0; i < nr; i++)
        samples += records[i]->m.nr_samples;
    summary_prepare(s, &records[0]->m, samples, nr);
    for (size_t i = 0; i < nr; i++) {
        summary_add_samples(s, &records[i]->m, launch);
        if (i + 1 == nr || records[i + 1]->run != records[i]->run ||
            records[i + 1]->launch_seq != records[i]->launch_seq) {
            summary_end_launch(s, begin);
            begin = s->n;
            launch++;
        }
    }
    summary_finish(s);
}

void summary_init_one(struct summary *s, const struct measurement *m)
{
    summary_prepare(s, m, m->nr_samples, 1);
    summary_add_samples(s, m, 0);
    summary_end_launch(s, 0);
    summary_finish(s);
}

void summary_release(struct summary *s)
{
    free(s->sorted);
    free(s->medians);
    free(s->means);
    free(s->of);
    *s = (struct summary) { 0 };
}

struct interval summary_launch_interval(const double *launch_values, size_t nr, double confidence)
{
    struct interval none = { NAN, NAN };

    if (nr < SUMMARY_LAUNCHES_MIN)
        return none;
    double *logs = memory_zeroed(nr, sizeof(*logs));
    for (size_t i = 0; i < nr; i++)
        logs[i] = launch_values[i] > 0 ? log(launch_values[i]) : NAN;
    struct interval i = stats_mean_interval(logs, nr, confidence);
    free(logs);
    return (struct interval) { exp(i.low), exp(i.high) };
}
