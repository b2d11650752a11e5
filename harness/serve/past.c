/* SPDX-License-Identifier: MIT */
#include "serve/past.h"

#include "analysis/series_join.h"
#include "base/array.h"
#include "store/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A history put in the place of another has other runs of the same numbers. */
struct known_run {
    int64_t id;
    char uuid[sizeof(((struct run *)0)->uuid)];
};

struct past_maker {
    char machine_class[96];
    size_t window;
    struct series_join *join;
    struct known_run *known; /* the runs in it, in its order */
    size_t nr, capacity;
};

struct past *past_keep(struct past *past)
{
    atomic_fetch_add(&past->holders, 1);
    return past;
}

void past_drop(struct past *past)
{
    if (!past || atomic_fetch_sub(&past->holders, 1) > 1)
        return;
    trends_release(&past->trends);
    accepted_steps_release(&past->accepted);
    remarks_release(&past->remarks);
    series_list_release(&past->series);
    records_release(&past->runs);
    free(past);
}

struct past_maker *past_maker_create(const char *machine_class, size_t window)
{
    struct past_maker *maker = memory_zeroed(1, sizeof(*maker));

    snprintf(maker->machine_class, sizeof(maker->machine_class), "%s", machine_class);
    maker->window = window;
    maker->join = series_join_create();
    return maker;
}

void past_maker_free(struct past_maker *maker)
{
    if (!maker)
        return;
    series_join_free(maker->join);
    free(maker->known);
    free(maker);
}

static void start_over(struct past_maker *maker)
{
    series_join_free(maker->join);
    maker->join = series_join_create();
    maker->nr = 0;
}

static void drop_first(struct records *runs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        run_release(&runs->runs[i]);
    runs->nr_runs -= nr;
    memmove(runs->runs, runs->runs + nr, runs->nr_runs * sizeof(*runs->runs));
}

/* Trials make no points. */
static void drop_trials(struct records *runs)
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

static bool is_known(const struct known_run *known, const struct run *run)
{
    return known->id == run->id && strcmp(known->uuid, run->uuid) == 0;
}

/* Where the first run that was read stands among those there are now; -1: some are gone, or there
 * are older ones than before. */
static int place_of_known(const struct past_maker *maker, const struct records *runs)
{
    size_t first = 0;

    if (maker->nr == 0)
        return -1;
    while (first < runs->nr_runs && !is_known(&maker->known[0], &runs->runs[first]))
        first++;
    if (runs->nr_runs - first < maker->nr)
        return -1;
    for (size_t i = 0; i < maker->nr; i++)
        if (!is_known(&maker->known[i], &runs->runs[first + i]))
            return -1;
    return (int)first;
}

/* Leaves the runs that the next past reaches back to: those known, or the newest. */
static void choose_runs(struct past_maker *maker, struct records *runs)
{
    int first = place_of_known(maker, runs);
    size_t window = maker->window ? maker->window : runs->nr_runs;

    /* The window grows with each new run, until it is worth reading half of it again. */
    if (first < 0 || runs->nr_runs - (size_t)first > 2 * window) {
        start_over(maker);
        first = runs->nr_runs > window ? (int)(runs->nr_runs - window) : 0;
    }
    drop_first(runs, (size_t)first);
}

static int read_run(struct past_maker *maker, struct store *store, const struct run *run,
                    struct error *err)
{
    struct store_filter filter = { .without_telemetry = true };
    struct records records = { 0 };
    int64_t bytes = 0;
    int rc = query_weigh(store, &run->id, 1, &filter, &bytes, err);

    if (rc == 0 && bytes > PAST_BYTES_MAX)
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

static int judge(struct past *past, struct error *err)
{
    struct trend_settings settings = {
        .metric = trend_metric("p50", err),
        .fdr = 0.05,
        .accepted = past->accepted.items,
        .nr_accepted = past->accepted.nr,
        .remarks = past->remarks.items,
        .nr_remarks = past->remarks.nr,
    };

    return trends_find(&past->series, &past->runs, &settings, &past->trends, err);
}

/* Somebody has removed it since the runs were listed. */
static bool has_gone(struct store *store, int64_t run)
{
    struct error ignored;
    int64_t missing;

    return query_missing_run(store, &run, 1, &missing, &ignored) == 0 && missing != 0;
}

/* True: to be stopped. */
static bool read_runs(struct past_maker *maker, struct store *store, const struct records *runs,
                      const atomic_bool *closing, int *rc, struct error *err)
{
    for (size_t i = maker->nr; *rc == 0 && i < runs->nr_runs; i++) {
        if (atomic_load(closing))
            return true;
        *rc = read_run(maker, store, &runs->runs[i], err);
        if (*rc && has_gone(store, runs->runs[i].id)) {
            *rc = 0;
            return true;
        }
    }
    return false;
}

int past_make(struct past_maker *maker, struct store *store, const atomic_bool *closing,
              struct past **out, struct error *err)
{
    struct past *past = memory_zeroed(1, sizeof(*past));

    *out = NULL;
    atomic_init(&past->holders, 1);
    snprintf(past->machine_class, sizeof(past->machine_class), "%s", maker->machine_class);
    int rc = store_finished_runs(store, maker->machine_class, &past->runs, err);
    if (rc == 0) {
        drop_trials(&past->runs);
        choose_runs(maker, &past->runs);
    }
    bool stopped = read_runs(maker, store, &past->runs, closing, &rc, err);
    if (rc == 0 && !stopped) {
        series_join_list(maker->join, &past->runs, &past->series);
        rc = accepted_steps_load(store, &past->accepted, err);
    }
    if (rc == 0 && !stopped)
        rc = remarks_load(store, &past->remarks, err);
    if (rc == 0 && !stopped)
        rc = judge(past, err);
    if (rc || stopped) {
        past_drop(past);
        return rc;
    }
    *out = past;
    return 0;
}
