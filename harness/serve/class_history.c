/* SPDX-License-Identifier: MIT */
#include "serve/class_history.h"

#include "base/array.h"
#include "query/query.h"
#include "trend/series_join.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A history put in the place of another has other runs of the same numbers. */
struct known_run {
    int64_t id;
    char uuid[sizeof(((struct run *)0)->uuid)];
};

struct class_history_maker {
    char machine_class[96];
    size_t window;
    struct series_join *join;
    struct known_run *known; /* the runs in it, in its order */
    size_t nr, capacity;
};

struct class_history *class_history_keep(struct class_history *history)
{
    atomic_fetch_add(&history->holders, 1);
    return history;
}

void class_history_drop(struct class_history *history)
{
    if (!history || atomic_fetch_sub(&history->holders, 1) > 1)
        return;
    trends_release(&history->trends);
    annotations_release(&history->annotations);
    series_list_release(&history->series);
    records_release(&history->runs);
    free(history);
}

struct class_history_maker *class_history_maker_create(const char *machine_class, size_t window)
{
    struct class_history_maker *maker = memory_zeroed(1, sizeof(*maker));

    snprintf(maker->machine_class, sizeof(maker->machine_class), "%s", machine_class);
    maker->window = window;
    maker->join = series_join_create();
    return maker;
}

void class_history_maker_free(struct class_history_maker *maker)
{
    if (!maker)
        return;
    series_join_free(maker->join);
    free(maker->known);
    free(maker);
}

static void maker_start_over(struct class_history_maker *maker)
{
    series_join_free(maker->join);
    maker->join = series_join_create();
    maker->nr = 0;
}

static void maker_drop_first(struct records *runs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        run_release(&runs->runs[i]);
    runs->nr_runs -= nr;
    if (runs->nr_runs > 0) /* of a class that has none there is no array */
        memmove(runs->runs, runs->runs + nr, runs->nr_runs * sizeof(*runs->runs));
}

/* Trials make no points. */
static void maker_drop_trials(struct records *runs)
{
    size_t kept = 0;

    for (size_t i = 0; i < runs->nr_runs; i++) {
        if (series_takes(&runs->runs[i]))
            runs->runs[kept++] = runs->runs[i];
        else
            run_release(&runs->runs[i]);
    }
    runs->nr_runs = kept;
}

static bool maker_knows(const struct known_run *known, const struct run *run)
{
    return known->id == run->id && strcmp(known->uuid, run->uuid) == 0;
}

/* Where the first run that was read stands among those there are now; -1: some are gone, or there
 * are older ones than before. */
static int maker_place_of_known(const struct class_history_maker *maker, const struct records *runs)
{
    size_t first = 0;

    if (maker->nr == 0)
        return -1;
    while (first < runs->nr_runs && !maker_knows(&maker->known[0], &runs->runs[first]))
        first++;
    if (runs->nr_runs - first < maker->nr)
        return -1;
    for (size_t i = 0; i < maker->nr; i++)
        if (!maker_knows(&maker->known[i], &runs->runs[first + i]))
            return -1;
    return (int)first;
}

/* Leaves the runs that the next history reaches back to: those known, or the newest. */
static void maker_choose_runs(struct class_history_maker *maker, struct records *runs)
{
    int first = maker_place_of_known(maker, runs);
    size_t window = maker->window ? maker->window : runs->nr_runs;

    /* The window grows with each new run, until it is worth reading half of it again. */
    if (first < 0 || runs->nr_runs - (size_t)first > 2 * window) {
        maker_start_over(maker);
        first = runs->nr_runs > window ? (int)(runs->nr_runs - window) : 0;
    }
    maker_drop_first(runs, (size_t)first);
}

static int maker_read_run(struct class_history_maker *maker, struct store *store,
                          const struct run *run, struct error *err)
{
    struct store_filter filter = { .without_telemetry = true };
    struct records records = { 0 };
    int64_t bytes = 0;
    int rc = query_weigh(store, &run->id, 1, &filter, &bytes, err);

    if (rc == 0 && bytes > CLASS_HISTORY_BYTES_MAX)
        rc = error_set(err, "run %" PRId64 " has %" PRId64 " MB of measurements", run->id,
                       bytes >> 20);
    if (rc == 0)
        rc = store_load(store, &run->id, 1, &filter, &records, err);
    if (rc == 0) {
        series_join_add(maker->join, &records);
        maker->known = array_grow(maker->known, maker->nr, &maker->capacity, sizeof(*maker->known));
        struct known_run *known = &maker->known[maker->nr++];
        known->id = run->id;
        snprintf(known->uuid, sizeof(known->uuid), "%s", run->uuid);
    }
    records_release(&records);
    return rc;
}

static int maker_find_trends(struct class_history *history, struct error *err)
{
    struct trend_settings settings = {
        .metric = trend_metric("p50", err),
        .fdr = TREND_FDR,
    };

    annotations_apply(&history->annotations, &settings);
    return trends_find(&history->series, &history->runs, &settings, &history->trends, err);
}

/* Somebody has removed it since the runs were listed. */
static bool maker_run_has_gone(struct store *store, int64_t run)
{
    struct error ignored;
    int64_t missing;

    return query_missing_run(store, &run, 1, &missing, &ignored) == 0 && missing != 0;
}

/* True: to be stopped. */
static bool maker_read_runs(struct class_history_maker *maker, struct store *store,
                            const struct records *runs, const atomic_bool *closing, int *rc,
                            struct error *err)
{
    for (size_t i = maker->nr; *rc == 0 && i < runs->nr_runs; i++) {
        if (atomic_load(closing))
            return true;
        *rc = maker_read_run(maker, store, &runs->runs[i], err);
        if (*rc && maker_run_has_gone(store, runs->runs[i].id)) {
            *rc = 0;
            return true;
        }
    }
    return false;
}

int class_history_make(struct class_history_maker *maker, struct store *store,
                       const atomic_bool *closing, struct class_history **out, struct error *err)
{
    struct class_history *history = memory_zeroed(1, sizeof(*history));

    *out = NULL;
    atomic_init(&history->holders, 1);
    snprintf(history->machine_class, sizeof(history->machine_class), "%s", maker->machine_class);
    int rc = store_finished_runs(store, maker->machine_class, &history->runs, err);
    if (rc == 0) {
        maker_drop_trials(&history->runs);
        maker_choose_runs(maker, &history->runs);
    }
    bool stopped = maker_read_runs(maker, store, &history->runs, closing, &rc, err);
    if (rc == 0 && !stopped) {
        series_join_list(maker->join, &history->runs, &history->series);
        rc = annotations_load(store, &history->annotations, err);
    }
    if (rc == 0 && !stopped)
        rc = maker_find_trends(history, err);
    if (rc || stopped) {
        class_history_drop(history);
        return rc;
    }
    *out = history;
    return 0;
}
