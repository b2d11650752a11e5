/* SPDX-License-Identifier: MIT */
#include "session/measure/sharding.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "launch/shard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 500 }; /* looked into; older ones say little */

/* The mean of each key over the launches of one run. */
struct tally_item {
    const char *key;
    size_t at; /* among the keys as they were given */
    double sum;
    size_t launches;
};

struct tally {
    const char *const *keys;
    size_t nr;
    double *seconds;          /* what is asked for; 0 or NaN: not known yet */
    struct tally_item *items; /* by key */
};

static int order_items(const void *a, const void *b)
{
    return strcmp(((const struct tally_item *)a)->key, ((const struct tally_item *)b)->key);
}

static void tally_init(struct tally *t, const char *const *keys, size_t nr, double *seconds)
{
    *t = (struct tally) { .keys = keys, .nr = nr, .seconds = seconds };
    t->items = memory_zeroed(nr + 1, sizeof(*t->items));
    for (size_t i = 0; i < nr; i++)
        t->items[i] = (struct tally_item) { .key = keys[i], .at = i };
    qsort(t->items, nr, sizeof(*t->items), order_items);
}

static void tally_release(struct tally *t)
{
    free(t->items);
}

static void tally_add(struct tally *t, const struct measurement *m)
{
    const struct tally_item wanted = { .key = m->bench.key };

    if (t->nr == 0 || !(m->seconds > 0))
        return;
    struct tally_item *item = bsearch(&wanted, t->items, t->nr, sizeof(*t->items), order_items);
    if (!item)
        return;
    item->sum += m->seconds;
    item->launches++;
}

/* The end of a run; true once nothing is left to be found. */
static bool tally_run(struct tally *t)
{
    bool all = true;

    for (size_t i = 0; i < t->nr; i++) {
        struct tally_item *item = &t->items[i];
        double *seconds = &t->seconds[item->at];
        if (!(*seconds > 0) && item->launches > 0)
            *seconds = item->sum / (double)item->launches;
        item->sum = 0;
        item->launches = 0;
        all &= *seconds > 0;
    }
    return all;
}

/* ---- a history ---- */

/* What a shard may know. */
struct known {
    struct records runs;        /* finished, oldest first */
    int64_t first_id, first_ms; /* of the sweep; INT64_MAX: there is none */
};

static bool run_counts(const struct known *known, const struct run *run)
{
    return run_kind_is_history(run->kind) && run_kind_tells_times(run->kind) &&
           run->id < known->first_id && run->ended_ms <= known->first_ms;
}

static bool same_plan(const struct run_shard *a, const struct run_shard *b)
{
    return a->count == b->count && strcmp(a->plan, b->plan) == 0;
}

/* How often this part of the plan was finished, by the first `nr` runs (oldest first). */
static size_t count_finished(const struct known *known, size_t nr, const struct run_shard *p,
                             unsigned index)
{
    size_t found = 0;

    for (size_t i = 0; i < nr; i++) {
        const struct run *run = &known->runs.runs[i];
        found += run_counts(known, run) && run->shard.index == index && same_plan(&run->shard, p);
    }
    return found;
}

/* Whether all other parts were finished as often as this one was with this run. */
static bool is_shard_complete(const struct known *known, size_t which)
{
    size_t nr = known->runs.nr_runs;
    const struct run_shard *p = &known->runs.runs[which].shard;
    size_t own = p->count > 0 ? count_finished(known, which + 1, p, p->index) : 0;

    for (unsigned index = 1; index <= p->count && p->count <= nr; index++)
        if (count_finished(known, nr, p, index) < own)
            return false;
    return p->count <= nr;
}

struct scanning {
    struct tally *tally;
    size_t run; /* of those that are scanned: this one is being added */
};

static int on_tallied_measurement(void *context, size_t run, int launch_seq, struct measurement *m,
                                  struct error *err)
{
    struct scanning *scanning = context;

    (void)launch_seq;
    (void)err;
    if (run != scanning->run)
        tally_run(scanning->tally);
    scanning->run = run;
    tally_add(scanning->tally, m);
    return 0;
}

/* The next runs that count, newest first, before the one at *end. */
static size_t next_runs(const struct known *known, size_t *end, int64_t *ids, size_t most)
{
    size_t nr = 0;

    while (*end > 0 && nr < most) {
        size_t i = --*end;
        const struct run *run = &known->runs.runs[i];
        if (run_counts(known, run) && is_shard_complete(known, i))
            ids[nr++] = run->id;
    }
    return nr;
}

/* The newest run has nearly all as a rule, so the first look is at it alone; each look reads what
 * benchmarks there are, so the next ones are at ever more. */
static int scan_runs(struct store *store, const struct known *known, struct tally *t,
                     struct error *err)
{
    const struct store_filter filter = {
        .keys = t->keys, .nr_keys = t->nr, .without_samples = true, .without_telemetry = true
    };
    size_t end = known->runs.nr_runs, looked = 0, most = 1, nr;
    int64_t ids[RUNS_MAX];

    while (looked < RUNS_MAX && (nr = next_runs(known, &end, ids, most)) > 0) {
        struct scanning scanning = { .tally = t };
        const struct store_sink sink = { .context = &scanning,
                                         .measurement = on_tallied_measurement };
        if (store_scan(store, ids, nr, &filter, &sink, err))
            return -1;
        if (tally_run(t))
            return 0;
        looked += nr;
        most = 4 * most < RUNS_MAX - looked ? 4 * most : RUNS_MAX - looked;
    }
    return 0;
}

int durations_of_store(struct store *store, const char *sweep, const char *const *keys, size_t nr,
                       double *seconds, struct error *err)
{
    struct known known = { .first_id = INT64_MAX, .first_ms = INT64_MAX };
    struct tally tally;

    int rc = store_finished_runs(store, NULL, &known.runs, err);
    if (rc == 0 && sweep && *sweep)
        rc = store_sweep_first(store, sweep, &known.first_id, &known.first_ms, err);
    tally_init(&tally, keys, nr, seconds);
    if (rc == 0)
        rc = scan_runs(store, &known, &tally, err);
    tally_release(&tally);
    records_release(&known.runs);
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

static int read_durations_map(const cJSON *map, struct tally *t, struct error *err)
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

static int read_durations_json(const char *path, struct tally *t, struct error *err)
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
        rc = read_durations_map(cJSON_GetObjectItemCaseSensitive(json, "seconds"), t, err);
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
        int rc = store_open(&store, path, STORE_LOOK, err);
        if (rc == 0)
            rc = durations_of_store(store, NULL, keys, nr, seconds, err);
        store_close(store);
        return rc;
    }
    tally_init(&tally, keys, nr, seconds);
    int rc = read_durations_json(path, &tally, err);
    tally_release(&tally);
    return rc;
}

/* ---- shards ---- */

enum { COUNT_MAX = 100000 };

int sharding_parse(const char *text, struct sharding *s, struct error *err)
{
    long index, count;
    char rest;

    *s = (struct sharding) { .count = 0 };
    if (!text)
        return 0;
    if (sscanf(text, "%ld/%ld%c", &index, &count, &rest) != 2 || index < 1 || index > count ||
        count > COUNT_MAX)
        return error_set(err, "--shard: \"%s\" is not I/N with 1 <= I <= N", text);
    s->index = (size_t)index;
    s->count = (size_t)count;
    return 0;
}

/* What a division works on. */
struct division {
    struct benchmark_name *names;
    struct shard_item *items;
    const char **keys;
    double *seconds;
    size_t *owner;
};

static void division_init(struct division *d, const struct workload *workload)
{
    size_t nr = workload->list.nr;

    d->names = memory_zeroed(nr + 1, sizeof(*d->names));
    d->items = memory_zeroed(nr + 1, sizeof(*d->items));
    d->keys = memory_zeroed(nr + 1, sizeof(*d->keys));
    d->seconds = memory_zeroed(nr + 1, sizeof(*d->seconds));
    d->owner = memory_zeroed(nr + 1, sizeof(*d->owner));
    for (size_t i = 0; i < nr; i++) {
        benchmark_name_of(&workload->list.items[i], workload_device(workload, i), &d->names[i]);
        d->keys[i] = d->names[i].key;
    }
}

static void division_release(struct division *d)
{
    free(d->names);
    free(d->items);
    free(d->keys);
    free(d->seconds);
    free(d->owner);
}

static void divide_workload(struct sharding *s, struct division *d, struct workload *workload)
{
    struct benchmark_list *list = &workload->list;
    size_t kept = 0;

    for (size_t i = 0; i < list->nr; i++)
        d->items[i] = (struct shard_item) { d->keys[i], d->names[i].kernel, d->seconds[i] };
    shard_assign(d->items, list->nr, s->count, d->owner, d->seconds);
    s->plan = shard_digest(d->items, list->nr, s->count, d->owner);
    s->whole = list->nr;
    for (size_t i = 0; i < list->nr; i++) {
        s->all += d->seconds[i];
        if (d->owner[i] != s->index - 1)
            continue;
        s->seconds += d->seconds[i];
        workload->device_of[kept] = workload->device_of[i];
        list->items[kept++] = list->items[i];
    }
    list->nr = kept;
}

/* However they are divided, the first parts get something each. */
int sharding_check(const struct sharding *s, size_t nr, const char *durations, struct error *err)
{
    if (durations && s->count == 0)
        return error_set(err, "--durations goes with --shard");
    return s->index <= nr
               ? 0
               : error_set(err, "--shard %zu/%zu leaves nothing to measure", s->index, s->count);
}

int sharding_keep(struct sharding *s, struct workload *workload, const char *durations,
                  struct store *store, struct error *err)
{
    struct division d;
    size_t nr = workload->list.nr;

    if (s->count == 0)
        return 0;
    division_init(&d, workload);
    int rc = durations ? durations_of_file(durations, d.keys, nr, d.seconds, err)
             : store   ? durations_of_store(store, s->sweep, d.keys, nr, d.seconds, err)
                       : 0;
    if (rc && durations)
        error_prefix(err, "--durations");
    if (rc == 0)
        divide_workload(s, &d, workload);
    division_release(&d);
    return rc;
}

enum { PLAN_SIZE = 17 };

static void print_plan(const struct sharding *s, char text[PLAN_SIZE])
{
    snprintf(text, PLAN_SIZE, "%016llx", (unsigned long long)s->plan);
}

void sharding_describe(const struct sharding *s, struct run_shard *shard)
{
    char plan[PLAN_SIZE];

    if (s->count == 0)
        return;
    shard->index = (unsigned)s->index;
    shard->count = (unsigned)s->count;
    print_plan(s, plan);
    snprintf(shard->plan, sizeof(shard->plan), "%s", plan);
}

void sharding_note(const struct sharding *s, size_t kept, const struct session_sink *sink)
{
    char part[TEXT_UNIT_SIZE], all[TEXT_UNIT_SIZE], plan[PLAN_SIZE], times[128] = "";

    if (s->count == 0)
        return;
    print_plan(s, plan);
    if (s->all > 0)
        snprintf(times, sizeof(times), ", %s of %s a launch by what they last took",
                 text_time(s->seconds * 1e9, part), text_time(s->all * 1e9, all));
    sink_note(sink, "shard %zu/%zu: %zu of %zu benchmarks%s; plan %s\n", s->index, s->count, kept,
              s->whole, times, plan);
}
