/* SPDX-License-Identifier: MIT */
/* Series from measurements that pass by: each leaves a number with its series, which a hash table
 * finds by key and machine class. */
#include "trend/series_parts.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct observation {
    int run, launch;
    double value;
};

struct building {
    struct benchmark_name *bench;
    int machine; /* the first run of that machine class */
    struct observation *items;
    size_t nr, capacity;
};

struct series_builder {
    const struct metric *metric;
    const struct records *records;
    struct series_run *runs;
    int *machines; /* of each run: the first run of its machine class */
    ARRAY(struct building) all;
    size_t *slots; /* hash table: 0, or the number of a series + 1 */
    size_t nr_slots;
    size_t newest;   /* number of the series found last */
    double *scratch; /* room for the samples of one measurement */
    size_t scratch_size;
    struct metric_context context; /* of context_run */
    size_t context_run;
};

static int first_of_class(const struct records *records, const int *machines, size_t run)
{
    const char *name = records->runs[run].machine.class_name;

    /* Runs of one machine class follow each other mostly. */
    if (run > 0 && strcmp(records->runs[machines[run - 1]].machine.class_name, name) == 0)
        return machines[run - 1];
    for (size_t i = 0; i < run; i++)
        if (machines[i] == (int)i && strcmp(records->runs[i].machine.class_name, name) == 0)
            return (int)i;
    return (int)run;
}

struct series_builder *series_builder_create(const struct metric *metric,
                                             const struct records *runs)
{
    struct series_builder *b = memory_zeroed(1, sizeof(*b));

    b->metric = metric;
    b->records = runs;
    b->runs = series_runs(runs);
    b->machines = memory_zeroed(runs->nr_runs + 1, sizeof(*b->machines));
    for (size_t i = 0; i < runs->nr_runs; i++)
        b->machines[i] = first_of_class(runs, b->machines, i);
    b->context_run = runs->nr_runs; /* none yet */
    b->nr_slots = 64;
    b->slots = memory_zeroed(b->nr_slots, sizeof(*b->slots));
    return b;
}

static void drop_all(struct series_builder *b)
{
    for (size_t i = 0; i < b->all.nr; i++) {
        free(b->all.items[i].bench);
        free(b->all.items[i].items);
    }
    array_release(&b->all);
}

void series_builder_free(struct series_builder *b)
{
    if (!b)
        return;
    drop_all(b);
    free(b->slots);
    free(b->scratch);
    free(b->machines);
    free(b->runs);
    free(b);
}

/* FNV-1a. */
static size_t hash_key(const char *key, int machine)
{
    uint64_t h = 0xcbf29ce484222325U ^ (uint64_t)machine;

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 0x100000001b3U;
    return (size_t)(h ^ (h >> 32));
}

static bool is_series(const struct building *s, const char *key, int machine)
{
    return s->machine == machine && strcmp(s->bench->key, key) == 0;
}

/* Where the series is, or the free slot where it belongs. */
static size_t *find_slot(const struct series_builder *b, const char *key, int machine)
{
    size_t i = hash_key(key, machine) & (b->nr_slots - 1);

    for (; b->slots[i]; i = (i + 1) & (b->nr_slots - 1)) {
        if (is_series(&b->all.items[b->slots[i] - 1], key, machine))
            break;
    }
    return &b->slots[i];
}

/* Keeps at least half of the slots free. */
static void grow_slots(struct series_builder *b)
{
    if (2 * (b->all.nr + 1) <= b->nr_slots)
        return;
    free(b->slots);
    b->nr_slots *= 2;
    b->slots = memory_zeroed(b->nr_slots, sizeof(*b->slots));
    for (size_t i = 0; i < b->all.nr; i++)
        *find_slot(b, b->all.items[i].bench->key, b->all.items[i].machine) = i + 1;
}

static void add_series(struct series_builder *b, const struct benchmark_name *bench, int machine)
{
    grow_slots(b);
    size_t *slot = find_slot(b, bench->key, machine);
    struct building *s = array_push(&b->all);
    *slot = b->all.nr;
    s->machine = machine;
    s->bench = memory_zeroed(1, sizeof(*s->bench));
    *s->bench = *bench;
}

static struct building *find_series(struct series_builder *b, const struct benchmark_name *bench,
                                    int machine)
{
    /* One run has its benchmarks in the order of the last one, mostly. */
    size_t guess = b->newest + 1 < b->all.nr ? b->newest + 1 : 0;

    if (guess >= b->all.nr || !is_series(&b->all.items[guess], bench->key, machine)) {
        size_t found = *find_slot(b, bench->key, machine);
        if (found == 0)
            add_series(b, bench, machine);
        guess = found ? found - 1 : b->all.nr - 1;
    }
    b->newest = guess;
    return &b->all.items[guess];
}

/* A percentile of the samples of one launch, in ns. */
static double launch_quantile(struct series_builder *b, const struct measurement *m, double p)
{
    if (m->nr_samples > b->scratch_size) {
        b->scratch_size = m->nr_samples;
        b->scratch = memory_resize(b->scratch, b->scratch_size, sizeof(*b->scratch));
    }
    for (size_t i = 0; i < m->nr_samples; i++)
        b->scratch[i] = (double)m->samples[i] / m->batch;
    return stats_select_quantile(b->scratch, m->nr_samples, p);
}

/* Any metric of one launch: sorts, and works out more than is needed here. */
static double launch_metric(struct series_builder *b, size_t run, const struct measurement *m)
{
    struct summary s;

    if (b->context_run != run) {
        b->context = metric_context_of(b->records, (int)run);
        b->context_run = run;
    }
    summary_init_one(&s, m);
    double value = metric_value(b->metric, &s, &b->context).value;
    summary_release(&s);
    return value;
}

static double launch_value(struct series_builder *b, size_t run, const struct measurement *m)
{
    const struct metric *metric = b->metric;

    bool timed = m->nr_samples > 0 && m->batch > 0;

    if (!timed && metric->kind != METRIC_FACT)
        return NAN;
    /* One sample may stand for many, of which the program that measured said more. */
    if (metric->kind == METRIC_LATENCY && metric->p > 0 && m->nr_samples > 1)
        return launch_quantile(b, m, metric->p);
    if (metric->kind == METRIC_RATE && metric->work && metric->work(m) > 0)
        return metric->work(m) / launch_quantile(b, m, 0.5);
    return launch_metric(b, run, m);
}

void series_builder_add(struct series_builder *b, size_t run, int launch_seq,
                        const struct measurement *m)
{
    if (m->outcome != OUTCOME_OK || !b->runs[run].taken)
        return;
    double value = launch_value(b, run, m);
    if (!isfinite(value))
        return;
    struct building *series = find_series(b, &m->bench, b->machines[run]);
    *array_push(series) = (struct observation) { (int)run, launch_seq, value };
}

static int order_observations(const void *x, const void *y)
{
    const struct observation *a = x, *b = y;
    int order = (a->run > b->run) - (a->run < b->run);

    if (!order)
        order = (a->launch > b->launch) - (a->launch < b->launch);
    return order ? order : (a->value > b->value) - (a->value < b->value);
}

/* The observations of one run become a point. */
static void add_point(const struct series_builder *b, const struct observation *items, size_t nr,
                      struct series *series)
{
    struct series_point *point = array_push(series);
    double *values = memory_zeroed(nr, sizeof(*values));

    *point = series_point_of(b->records, b->runs, items[0].run);
    for (size_t i = 0; i < nr; i++) {
        values[i] = items[i].value;
        point->launches += i == 0 || items[i].launch != items[i - 1].launch;
    }
    point->value = stats_median(values, nr);
    free(values);
}

static struct series finish_series(const struct series_builder *b, struct building *s)
{
    struct series series = { .machine = b->records->runs[s->machine].machine.class_name };

    qsort(s->items, s->nr, sizeof(*s->items), order_observations);
    for (size_t i = 0, end; i < s->nr; i = end) {
        for (end = i + 1; end < s->nr && s->items[end].run == s->items[i].run;)
            end++;
        add_point(b, s->items + i, end - i, &series);
    }
    return series;
}

static int order_series(const void *x, const void *y)
{
    const struct series *a = x, *b = y;
    int order = benchmark_order(a->bench, b->bench);

    return order ? order : strcmp(a->machine, b->machine);
}

void series_builder_finish(struct series_builder *b, struct series_list *list)
{
    *list = (struct series_list) { 0 };
    list->names = memory_zeroed(b->all.nr + 1, sizeof(*list->names));
    for (size_t i = 0; i < b->all.nr; i++) {
        struct series series = finish_series(b, &b->all.items[i]);
        list->names[i] = *b->all.items[i].bench;
        series.bench = &list->names[i];
        series_list_add(list, &series);
    }
    if (list->nr)
        qsort(list->items, list->nr, sizeof(*list->items), order_series);
    drop_all(b);
    memset(b->slots, 0, b->nr_slots * sizeof(*b->slots));
}
