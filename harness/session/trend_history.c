/* SPDX-License-Identifier: MIT */
#include "session/trend_history.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "session/history_file.h"

#include <stdlib.h>
#include <string.h>

static void keep_since(struct records *runs, int64_t since)
{
    bool *keep = memory_zeroed(runs->nr_runs + 1, sizeof(*keep));

    for (size_t i = 0; i < runs->nr_runs; i++)
        keep[i] = runs->runs[i].started_ms >= since && series_takes(&runs->runs[i]);
    history_keep_runs(runs, keep);
    free(keep);
}

struct machine_count {
    const char *machine;
    int64_t runs;
};

/* The newest `last` of each machine class. */
static void keep_last(struct records *runs, int64_t last)
{
    bool *keep = memory_zeroed(runs->nr_runs + 1, sizeof(*keep));
    ARRAY(struct machine_count) counts = ARRAY_EMPTY;

    for (size_t i = runs->nr_runs; i-- > 0;) {
        const char *machine = runs->runs[i].machine.class_name;
        size_t k = 0;
        while (k < counts.nr && strcmp(counts.items[k].machine, machine) != 0)
            k++;
        if (k == counts.nr)
            *array_push(&counts) = (struct machine_count) { machine, 0 };
        keep[i] = counts.items[k].runs++ < last;
    }
    history_keep_runs(runs, keep);
    array_release(&counts);
    free(keep);
}

/* The classes of the runs, each once, NULL-ended; free() it. Borrowed. */
static const char **machines_of(const struct records *runs)
{
    const char **machines = memory_zeroed(runs->nr_runs + 1, sizeof(*machines));
    size_t nr = 0;

    for (size_t i = 0; i < runs->nr_runs; i++) {
        const char *machine = runs->runs[i].machine.class_name;
        size_t k = 0;
        while (k < nr && strcmp(machines[k], machine) != 0)
            k++;
        if (k == nr)
            machines[nr++] = machine;
    }
    return machines;
}

/* No run is of that class. Where there is none of any, nothing is known of classes. */
static int check_machine(struct store *store, const char *machine, struct error *err)
{
    struct records all = { 0 };
    struct strbuf list;
    int rc = store_finished_runs(store, NULL, &all, err);

    if (rc == 0 && all.nr_runs > 0) {
        const char **machines = machines_of(&all), *nearest = text_nearest(machine, machines);
        strbuf_init(&list);
        for (size_t i = 0; machines[i]; i++)
            strbuf_addf(&list, "%s%s", i ? ", " : "", machines[i]);
        rc = error_set(err, "%s: no run is of machine class \"%s\"%s%s%s; there are runs of %s",
                       store_path(store), machine, nearest ? "; did you mean \"" : "",
                       nearest ? nearest : "", nearest ? "\"?" : "", list.data);
        strbuf_release(&list);
        free(machines);
    }
    records_release(&all);
    return rc;
}

static int load_runs(struct store *store, const struct trend_scope *scope, struct records *runs,
                     struct error *err)
{
    if (store_finished_runs(store, scope->machine, runs, err))
        return -1;
    if (scope->machine && runs->nr_runs == 0)
        return check_machine(store, scope->machine, err);
    keep_since(runs, scope->since);
    if (scope->last)
        keep_last(runs, scope->last);
    if (runs->nr_runs == 0)
        return 0;
    const struct run *newest = &runs->runs[runs->nr_runs - 1];
    return store_load_roofs(store, newest->machine.id, NULL, NULL, runs, err);
}

int trend_history_load(struct store *store, const struct trend_scope *scope,
                       const struct trend_settings *settings, struct trend_history *out,
                       struct error *err)
{
    struct store_filter facts = { .without_telemetry = !metric_needs_telemetry(settings->metric) };

    if (scope->alone) {
        facts.filters = settings->filters;
        facts.nr_filters = settings->nr_filters;
    }
    if (load_runs(store, scope, &out->runs, err))
        return -1;
    return history_series(store, &out->runs, settings->metric, &facts, &out->series, err);
}

int trend_history_find(struct trend_history *h, const struct trend_settings *settings,
                       struct error *err)
{
    return trends_find(&h->series, &h->runs, settings, &h->trends, err);
}

void trend_history_release(struct trend_history *h)
{
    trends_release(&h->trends);
    series_list_release(&h->series);
    records_release(&h->runs);
}
