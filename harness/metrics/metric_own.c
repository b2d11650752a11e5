/* SPDX-License-Identifier: MIT */
#include "metrics/metric_own.h"

#include "base/memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One row a kind, made when it is first asked for, and never changed then. */
static struct {
    pthread_mutex_t lock;
    struct metric *rows[NUMBER_KINDS_MAX];
} own = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- values ---- */

/* Of one launch, ascending; free() it. *nr 0: it does not say it. */
static double *metric_own_values(const struct summary *s, const struct number_kind *kind,
                                 size_t first, size_t end, size_t *nr)
{
    double *values = NULL;

    *nr = 0;
    for (size_t i = first; i < end; i++) {
        const struct number *number = measurement_number(s->of[i].m, kind);
        if (!number || number->nr == 0)
            continue;
        values = memory_resize(values, *nr + number->nr, sizeof(*values));
        memcpy(values + *nr, number->values, number->nr * sizeof(*values));
        *nr += number->nr;
    }
    if (values)
        stats_sort(values, *nr);
    return values;
}

/* Medians of the launches that say it; returns how many. */
static size_t metric_own_medians(const struct summary *s, const struct number_kind *kind,
                                 double *medians)
{
    size_t nr = 0, n;

    for (size_t first = 0, end; first < s->nr_of; first = end) {
        for (end = first + 1; end < s->nr_of && s->of[end].launch == s->of[first].launch;)
            end++;
        double *values = metric_own_values(s, kind, first, end, &n);
        if (n > 0)
            medians[nr++] = stats_quantile(values, n, 0.5);
        free(values);
    }
    return nr;
}

/* The interval over launches is for their geometric mean, so all must be above zero; it is widened
 * to hold the value beside it. */
static struct interval metric_own_interval(const struct summary *s, const struct number_kind *kind,
                                           double value)
{
    double *medians = memory_zeroed(s->nr_of + 1, sizeof(*medians));
    size_t nr = metric_own_medians(s, kind, medians);
    struct interval i = summary_launch_interval(medians, nr, 0.95);

    free(medians);
    return isnan(i.low) ? i : (struct interval) { fmin(i.low, value), fmax(i.high, value) };
}

static size_t metric_own_launches(const struct summary *s)
{
    size_t nr = 0;

    for (size_t i = 0; i < s->nr_of; i++)
        nr += i == 0 || s->of[i].launch != s->of[i - 1].launch;
    return nr;
}

static void derive_number(const struct metric_input *in, struct metric_value *value)
{
    const struct number_kind *kind = in->metric->number;
    size_t nr;
    double *values = metric_own_values(in->s, kind, 0, in->s->nr_of, &nr);

    if (nr > 0) {
        value->value = stats_quantile(values, nr, 0.5);
        value->few = nr < stats_quantile_needs(0.5, 0.95);
        value->interval = metric_own_launches(in->s) >= SUMMARY_LAUNCHES_MIN
                              ? metric_own_interval(in->s, kind, value->value)
                              : stats_quantile_interval(values, nr, 0.5, 0.95);
    }
    free(values);
}

/* ---- rows ---- */

static struct metric *metric_own_make(const struct number_kind *kind)
{
    static const enum direction directions[BETTER_NR] = {
        [BETTER_NONE] = NO_DIRECTION,
        [BETTER_LOWER] = LOWER_IS_BETTER,
        [BETTER_HIGHER] = HIGHER_IS_BETTER,
    };
    struct metric *m = memory_zeroed(1, sizeof(*m));

    *m = (struct metric) {
        .id = kind->id,
        .label = kind->name,
        .unit = kind->unit,
        .direction = directions[kind->better],
        .kind = METRIC_FACT,
        .base = kind->unit,
        .factor = 1,
        .derive = derive_number,
        .number = kind,
    };
    return m;
}

const struct metric *metric_own_at(size_t i)
{
    const struct number_kind *kind = number_kind_at(i);

    if (!kind)
        return NULL;
    pthread_mutex_lock(&own.lock);
    if (!own.rows[i])
        own.rows[i] = metric_own_make(kind);
    const struct metric *m = own.rows[i];
    pthread_mutex_unlock(&own.lock);
    return m;
}
