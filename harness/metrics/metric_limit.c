/* SPDX-License-Identifier: MIT */
#include "metrics/metric_limit.h"

#include "base/array.h"
#include "stats/stats.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_DIGITS_MAX = 12, LIMIT_TEXT_SIZE = 96 };

/* A row of its own, with its texts. `metric.p` is the limit in ns. */
struct limit_row {
    struct metric metric;
    char id[LIMIT_TEXT_SIZE], label[LIMIT_TEXT_SIZE];
};

/* Rows stay where they are; the list of them grows. */
static struct {
    pthread_mutex_t lock;
    ARRAY(struct limit_row *) rows;
} limits = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- values ---- */

/* How many samples are within the limit. */
static size_t limit_count(const struct metric_input *in)
{
    return stats_count_below(in->s->sorted, in->s->n, in->metric->p, true);
}

/* Of what somebody else measured there may be one number alone, a median: it says nothing of how
 * many were within a limit. */
static bool limit_has_samples(const struct summary *s)
{
    return s->n > 1 || (s->n == 1 && isnan(measurement_telemetry(s->m, "summary_samples")));
}

static void derive_good(const struct metric_input *in, struct metric_value *value)
{
    if (limit_has_samples(in->s))
        value->value = (double)limit_count(in);
}

static void derive_within(const struct metric_input *in, struct metric_value *value)
{
    if (limit_has_samples(in->s))
        value->value = (double)limit_count(in) / (double)in->s->n;
}

/* The time of what came too late counts: it was spent, too. */
static void derive_goodput(const struct metric_input *in, struct metric_value *value)
{
    double ns = in->s->mean * (double)in->s->n;

    if (limit_has_samples(in->s) && in->s->m->tokens > 0 && ns > 0)
        value->value = 1e9 * (double)in->s->m->tokens * (double)limit_count(in) / ns;
}

/* ---- rows ---- */

static const struct limit_family {
    const char *prefix, *example, *label, *unit, *base;
    enum quantity quantity;
    void (*derive)(const struct metric_input *in, struct metric_value *value);
} families[] = {
    { "good_", "good_5ms", "samples within", "samples", "samples", QUANTITY_PLAIN, derive_good },
    { "within_", "within_5ms", "share of samples within", "fraction", "", QUANTITY_SHARE,
      derive_within },
    { "goodput_", "goodput_5ms", "token rate within", "tokens/s", " tokens/s", QUANTITY_RATE,
      derive_goodput },
};

enum { NR_FAMILIES = sizeof(families) / sizeof(families[0]) };

static const struct limit_unit {
    const char *name;
    double ns;
} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

/* "5ms" in ns; 0 for what is no limit. */
static double limit_parse(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > LIMIT_DIGITS_MAX || *text == '0')
        return 0;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(text + digits, units[i].name) == 0)
            return strtod(text, NULL) * units[i].ns;
    return 0;
}

static const struct limit_family *limit_family_of(const char *id)
{
    for (size_t i = 0; i < NR_FAMILIES; i++)
        if (strncmp(id, families[i].prefix, strlen(families[i].prefix)) == 0)
            return &families[i];
    return NULL;
}

static struct limit_row *limit_row_make(const struct limit_family *family, const char *id,
                                        double ns)
{
    struct limit_row *row = memory_zeroed(1, sizeof(*row));
    const char *limit = id + strlen(family->prefix);
    size_t digits = strspn(limit, "0123456789");

    snprintf(row->id, sizeof(row->id), "%s", id);
    snprintf(row->label, sizeof(row->label), "%s %.*s %s", family->label, (int)digits, limit,
             limit + digits);
    row->metric = (struct metric) {
        .id = row->id,
        .label = row->label,
        .unit = family->unit,
        .direction = NO_DIRECTION,
        .kind = METRIC_FACT,
        .quantity = family->quantity,
        .base = family->base,
        .factor = 1,
        .p = ns,
        .derive = family->derive,
    };
    return row;
}

/* With the lock held. */
static const struct metric *limit_row_find(const struct limit_family *family, const char *id,
                                           double ns)
{
    for (size_t i = 0; i < limits.rows.nr; i++)
        if (strcmp(limits.rows.items[i]->id, id) == 0)
            return &limits.rows.items[i]->metric;
    if (limits.rows.nr == METRIC_LIMITS_MAX)
        return NULL;
    struct limit_row *row = limit_row_make(family, id, ns);
    *(struct limit_row **)array_push(&limits.rows) = row;
    return &row->metric;
}

const struct metric *metric_limit_find(const char *id)
{
    const struct limit_family *family = limit_family_of(id);
    double ns = family ? limit_parse(id + strlen(family->prefix)) : 0;

    if (!(ns > 0))
        return NULL;
    pthread_mutex_lock(&limits.lock);
    const struct metric *metric = limit_row_find(family, id, ns);
    pthread_mutex_unlock(&limits.lock);
    return metric;
}

const struct metric *metric_limit_example(size_t i)
{
    return i < NR_FAMILIES ? metric_limit_find(families[i].example) : NULL;
}

bool metric_limit_lacks(const char *id)
{
    for (size_t i = 0; i < NR_FAMILIES; i++) {
        size_t length = strlen(families[i].prefix) - 1;
        if (strncmp(id, families[i].prefix, length) == 0 &&
            (id[length] == '\0' || id[length] == '_') && !metric_limit_find(id))
            return true;
    }
    return false;
}
