/* SPDX-License-Identifier: MIT */
#include "cli/durations.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 500 }; /* looked into; older ones say little */

/* The mean of each key over the launches of one run. */
struct tally {
    const char *const *keys;
    size_t nr;
    double *seconds, *sum; /* seconds: what is asked for; 0 or NaN: not known yet */
    size_t *launches;
};

static void tally_init(struct tally *t, const char *const *keys, size_t nr, double *seconds)
{
    *t = (struct tally) { .keys = keys, .nr = nr, .seconds = seconds };
    t->sum = memory_zeroed(nr + 1, sizeof(*t->sum));
    t->launches = memory_zeroed(nr + 1, sizeof(*t->launches));
}

static void tally_release(struct tally *t)
{
    free(t->sum);
    free(t->launches);
}

static void tally_add(struct tally *t, const struct measurement *m)
{
    for (size_t i = 0; m->seconds > 0 && i < t->nr; i++) {
        if (strcmp(t->keys[i], m->bench.key) != 0)
            continue;
        t->sum[i] += m->seconds;
        t->launches[i]++;
    }
}

/* The end of a run; true once nothing is left to be found. */
static bool tally_run(struct tally *t)
{
    bool all = true;

    for (size_t i = 0; i < t->nr; i++) {
        if (!(t->seconds[i] > 0) && t->launches[i] > 0)
            t->seconds[i] = t->sum[i] / (double)t->launches[i];
        t->sum[i] = 0;
        t->launches[i] = 0;
        all &= t->seconds[i] > 0;
    }
    return all;
}

/* ---- a history ---- */

/* What a run says of its part; `count` 0: it is whole. */
struct part {
    char plan[24];
    long index, count;
};

static struct part part_of(const struct run *run)
{
    cJSON *json = run->settings ? cJSON_Parse(run->settings) : NULL;
    struct part p = { .count = 0 };

    if (sscanf(json_string(json, "shard", ""), "%ld/%ld", &p.index, &p.count) != 2)
        p.count = 0;
    snprintf(p.plan, sizeof(p.plan), "%s", json_string(json, "shard_plan", ""));
    cJSON_Delete(json);
    return p;
}

static bool counts(const struct run *run)
{
    return run->ended_ms > 0 && !run_is_trial(run->label, run->settings) &&
           !run_is_profile(run->settings);
}

static bool same_plan(const struct part *a, const struct part *b)
{
    return a->count == b->count && strcmp(a->plan, b->plan) == 0;
}

/* How often this part of the plan was finished, by the runs from `from` (newest first) on. */
static size_t finished(const struct store_listing *l, const struct part *parts, size_t from,
                       const struct part *p, long index)
{
    size_t nr = 0;

    for (size_t i = from; i < l->nr; i++)
        nr += counts(&l->items[i].run) && parts[i].index == index && same_plan(&parts[i], p);
    return nr;
}

/* Whether all other parts were finished as often as this one was with this run. */
static bool complete(const struct store_listing *l, const struct part *parts, size_t which)
{
    const struct part *p = &parts[which];
    size_t own = p->count > 0 ? finished(l, parts, which, p, p->index) : 0;

    for (long index = 1; index <= p->count && p->count <= (long)l->nr; index++)
        if (finished(l, parts, 0, p, index) < own)
            return false;
    return p->count <= (long)l->nr;
}

static int on_measurement(void *context, size_t run, int launch_seq, struct measurement *m,
                          struct error *err)
{
    (void)run;
    (void)launch_seq;
    (void)err;
    tally_add(context, m);
    return 0;
}

static int scan_runs(struct store *store, const struct store_listing *l, const struct part *parts,
                     struct tally *t, struct error *err)
{
    const struct store_filter filter = {
        .keys = t->keys, .nr_keys = t->nr, .without_samples = true, .without_telemetry = true
    };
    const struct store_sink sink = { .context = t, .measurement = on_measurement };
    size_t looked = 0;

    for (size_t i = 0; i < l->nr && looked < RUNS_MAX; i++) {
        if (!counts(&l->items[i].run) || !complete(l, parts, i))
            continue;
        if (store_scan(store, &l->items[i].run.id, 1, &filter, &sink, err))
            return -1;
        if (tally_run(t))
            return 0;
        looked++;
    }
    return 0;
}

int durations_of_store(struct store *store, const char *const *keys, size_t nr, double *seconds,
                       struct error *err)
{
    struct store_listing listing = { 0 };
    struct tally tally;

    int rc = store_list_runs(store, NULL, 0, &listing, err);
    struct part *parts = memory_zeroed(listing.nr + 1, sizeof(*parts));
    for (size_t i = 0; i < listing.nr; i++)
        parts[i] = part_of(&listing.items[i].run);
    tally_init(&tally, keys, nr, seconds);
    if (rc == 0)
        rc = scan_runs(store, &listing, parts, &tally, err);
    tally_release(&tally);
    free(parts);
    store_listing_release(&listing);
    return rc;
}

/* ---- a file ---- */

static int newest_first(const void *a, const void *b)
{
    const struct run *const *x = a, *const *y = b;

    return ((*x)->started_ms < (*y)->started_ms) - ((*x)->started_ms > (*y)->started_ms);
}

static void tally_records(struct tally *t, const struct records *records)
{
    const struct run **order = memory_zeroed(records->nr_runs + 1, sizeof(*order));

    for (size_t i = 0; i < records->nr_runs; i++)
        order[i] = &records->runs[i];
    qsort(order, records->nr_runs, sizeof(*order), newest_first);
    for (size_t r = 0; r < records->nr_runs; r++) {
        for (size_t i = 0; i < records->nr; i++)
            if (&records->runs[records->items[i].run] == order[r])
                tally_add(t, &records->items[i].m);
        tally_run(t);
    }
    free(order);
}

static int read_map(const cJSON *map, struct tally *t, struct error *err)
{
    if (!cJSON_IsObject(map))
        return error_set(err,
                         "it has neither \"runs\" nor \"seconds\": give the JSON of `harness "
                         "run --json`, a history, or {\"schema_version\": 1, \"seconds\": "
                         "{\"KEY\": SECONDS}}");
    for (size_t i = 0; i < t->nr; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(map, t->keys[i]);
        if (item && !(cJSON_IsNumber(item) && item->valuedouble > 0 && isfinite(item->valuedouble)))
            return error_set(err, "the seconds of %s are no number above 0", t->keys[i]);
        if (item)
            t->seconds[i] = item->valuedouble;
    }
    return 0;
}

static int read_json(const char *path, struct tally *t, struct error *err)
{
    struct records records = { 0 };
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, err);
    int rc = 0;

    if (!json)
        return -1;
    if (cJSON_HasObjectItem(json, "runs")) {
        rc = records_from_json(json, &records, err);
        if (rc == 0)
            tally_records(t, &records);
    } else {
        rc = read_map(cJSON_GetObjectItemCaseSensitive(json, "seconds"), t, err);
    }
    records_release(&records);
    cJSON_Delete(json);
    return rc ? error_prefix(err, "%s", path) : 0;
}

int durations_of_file(const char *path, const char *const *keys, size_t nr, double *seconds,
                      struct error *err)
{
    struct tally tally;
    struct store *store;

    if (store_is_database(path)) {
        int rc = store_open(&store, path, STORE_READ, err);
        if (rc == 0)
            rc = durations_of_store(store, keys, nr, seconds, err);
        store_close(store);
        return rc;
    }
    tally_init(&tally, keys, nr, seconds);
    int rc = read_json(path, &tally, err);
    tally_release(&tally);
    return rc;
}
