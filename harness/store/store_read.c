/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "store/read.h"
#include "store/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- benchmarks: their names are read once, then looked up by id ---- */

struct known_benchmark {
    int64_t id;
    bool wanted;
    struct benchmark_name name;
};

struct known_benchmarks {
    struct known_benchmark *items; /* ascending ids */
    size_t nr, capacity;
};

static struct known_benchmark *find_benchmark(const struct known_benchmarks *all, int64_t id)
{
    size_t low = 0, high = all->nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->nr && all->items[low].id == id ? &all->items[low] : NULL;
}

static bool filter_wants(const struct store_filter *f, const char *key)
{
    if (!f || f->nr_filters + f->nr_keys == 0)
        return true;
    for (size_t i = 0; i < f->nr_filters; i++)
        if (text_filter_matches(f->filters[i], key))
            return true;
    for (size_t i = 0; i < f->nr_keys; i++)
        if (strcmp(f->keys[i], key) == 0)
            return true;
    return false;
}

static int read_dims(struct store *s, struct known_benchmarks *all, struct error *err)
{
    static const char *const text =
        "SELECT benchmark, name, value FROM benchmark_dim ORDER BY benchmark, position";
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct known_benchmark *b = find_benchmark(all, sql_int(&q));
        const char *name = sql_text(&q);
        if (!b || !name || b->name.nr_dims == SHAPE_MAX ||
            strlen(name) >= sizeof(b->name.dims[0].name)) {
            rc = error_set(err, "%s: the dims of a benchmark are damaged", s->path);
            break;
        }
        struct benchmark_dim *dim = &b->name.dims[b->name.nr_dims++];
        snprintf(dim->name, sizeof(dim->name), "%s", name);
        dim->value = sql_int(&q);
    }
    sql_close(&q);
    return rc;
}

static int read_benchmarks(struct store *s, const struct store_filter *filter,
                           struct known_benchmarks *all, struct error *err)
{
    struct strbuf sql;
    struct sql_query q;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT b.id");
    table_add_columns(&table_benchmark, "b", &sql);
    strbuf_adds(&sql, " FROM benchmark b ORDER BY b.id");
    int rc = sql_open(&q, s, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct known_benchmark *b = array_push(all);
        b->id = sql_int(&q);
        if ((rc = table_read(&table_benchmark, &q, &b->name, err)) < 0)
            break;
        b->wanted = filter_wants(filter, b->name.key);
    }
    sql_close(&q);
    return rc < 0 ? -1 : read_dims(s, all, err);
}

/* ---- one measurement ---- */

static int read_telemetry(const char *text, struct measurement *m, struct error *err)
{
    if (!text)
        return 0;
    cJSON *object = json_parse(text, strlen(text), "telemetry", err);
    if (!object)
        return -1;
    if (!cJSON_IsObject(object)) {
        cJSON_Delete(object);
        return error_set(err, "telemetry is not a JSON object");
    }
    for (const cJSON *item = object->child; item; item = item->next)
        measurement_add_telemetry(m, item->string, cJSON_IsNumber(item) ? item->valuedouble : NAN);
    cJSON_Delete(object);
    return 0;
}

static int read_samples(struct sql_query *q, int64_t expected, struct measurement *m,
                        struct error *err)
{
    size_t length;
    const void *blob = sql_blob(q, &length);

    if (blob && samples_decode(blob, length, &m->samples, &m->nr_samples, err))
        return -1;
    if ((uint64_t)expected != m->nr_samples)
        return error_set(err, "%zu samples where %" PRId64 " were stored", m->nr_samples, expected);
    return 0;
}

static int read_row(struct sql_query *q, bool with_samples, struct measurement *m,
                    struct error *err)
{
    if (table_read(&table_measurement, q, m, err) || read_telemetry(sql_text(q), m, err))
        return -1;
    int64_t nr_samples = sql_int(q);
    return with_samples ? read_samples(q, nr_samples, m, err) : 0;
}

int read_measurement(struct store *s, int64_t id, bool with_samples, struct measurement *m,
                     struct error *err)
{
    struct strbuf sql;
    struct sql_query q;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT m.id");
    table_add_columns(&table_measurement, "m", &sql);
    strbuf_addf(&sql, ", m.telemetry, m.nr_samples%s FROM measurement m WHERE m.id = ?",
                with_samples ? ", m.samples" : "");
    int rc = sql_open(&q, s, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    sql_bind_int(&q, id);
    if ((rc = sql_step(&q, err)) > 0) {
        sql_int(&q);
        rc = read_row(&q, with_samples, m, err);
        if (rc)
            error_prefix(err, "%s: measurement %" PRId64, s->path, id);
    } else if (rc == 0) {
        rc = error_set(err, "%s: measurement %" PRId64 " is in the index only", s->path, id);
    }
    sql_close(&q);
    return rc;
}

/* ---- runs ---- */

int open_runs(struct store *s, const char *tail, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT r.id");
    table_add_columns(&table_run, "r", &sql);
    table_add_columns(&table_machine, "m", &sql);
    table_add_columns(&table_build, "b", &sql);
    strbuf_addf(&sql,
                " FROM run r JOIN machine m ON m.id = r.machine JOIN build b ON b.id = r.build %s",
                tail);
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

int read_run(struct sql_query *q, struct run *run, struct error *err)
{
    run->id = sql_int(q);
    int rc = table_read(&table_run, q, run, err);
    if (table_read(&table_machine, q, &run->machine, err) ||
        table_read(&table_build, q, &run->build, err))
        rc = -1;
    return rc;
}

static int load_run(struct store *s, int64_t id, struct records *out, struct error *err)
{
    struct sql_query q;

    if (open_runs(s, "WHERE r.id = ?", &q, err))
        return -1;
    sql_bind_int(&q, id);
    int rc = sql_step(&q, err);
    if (rc == 0)
        rc = error_set(err, "%s: there is no run %" PRId64, s->path, id);
    else if (rc > 0)
        rc = read_run(&q, records_add_run(out), err);
    sql_close(&q);
    return rc;
}

/* ---- loading ---- */

struct loading {
    struct store *store;
    const struct store_filter *filter;
    struct known_benchmarks benchmarks;
    struct records *out;
};

/* All of one run, into the newest entry of out->runs. */
static int load_measurements(struct loading *l, int64_t run_id, struct error *err)
{
    static const char *const text =
        "SELECT l.seq, m.id, m.benchmark FROM launch l JOIN measurement m ON m.launch = l.id "
        "WHERE l.run = ? ORDER BY l.seq, m.id";
    bool with_samples = !l->filter || !l->filter->without_samples;
    int index = (int)l->out->nr_runs - 1;
    struct sql_query q;
    int rc;

    if (sql_open(&q, l->store, text, err))
        return -1;
    sql_bind_int(&q, run_id);
    while ((rc = sql_step(&q, err)) > 0) {
        int seq = (int)sql_int(&q);
        int64_t id = sql_int(&q);
        const struct known_benchmark *b = find_benchmark(&l->benchmarks, sql_int(&q));
        if (b && !b->wanted)
            continue;
        if (!b) {
            rc = error_set(err, "%s: measurement %" PRId64 " has no benchmark", l->store->path, id);
            break;
        }
        struct record *record = records_add(l->out, index, seq);
        record->m.bench = b->name;
        if ((rc = read_measurement(l->store, id, with_samples, &record->m, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static const struct run *newest_run(const struct records *records)
{
    const struct run *newest = NULL;

    for (size_t i = 0; i < records->nr_runs; i++)
        if (!newest || records->runs[i].started_ms >= newest->started_ms)
            newest = &records->runs[i];
    return newest;
}

/* `only_matching` drops runs that have no measurement the filter wants. */
static int load_runs(struct loading *l, const int64_t *run_ids, size_t nr, bool only_matching,
                     struct error *err)
{
    size_t earlier = l->out->nr_runs;

    if (read_benchmarks(l->store, l->filter, &l->benchmarks, err))
        return -1;
    for (size_t i = 0; i < nr; i++) {
        size_t before = l->out->nr;
        if (load_run(l->store, run_ids[i], l->out, err) || load_measurements(l, run_ids[i], err))
            return -1;
        if (only_matching && l->out->nr == before)
            run_release(&l->out->runs[--l->out->nr_runs]);
    }
    /* `out` may hold runs of an earlier call or of a file, with their ceilings. */
    const struct run *newest = newest_run(l->out);
    if (!newest || newest < l->out->runs + earlier)
        return 0;
    l->out->nr_ceilings = 0;
    return store_load_ceilings(l->store, newest->machine.id, NULL, NULL, l->out, err);
}

/* Reads inside one transaction see one state of the file, whatever others write meanwhile. */
static int load_snapshot(struct loading *l, const int64_t *run_ids, size_t nr, bool only_matching,
                         struct error *err)
{
    bool nested = !sqlite3_get_autocommit(l->store->db);

    if (!nested && sql_execute(l->store, "BEGIN", err))
        return -1;
    int rc = load_runs(l, run_ids, nr, only_matching, err);
    array_release(&l->benchmarks);
    if (!nested)
        sqlite3_exec(l->store->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int store_load(struct store *s, const int64_t *run_ids, size_t nr,
               const struct store_filter *filter, struct records *out, struct error *err)
{
    struct loading l = { .store = s, .filter = filter, .out = out };

    return load_snapshot(&l, run_ids, nr, false, err);
}

void runs_add(struct store_runs *runs, int64_t id)
{
    runs->ids = array_grow(runs->ids, runs->nr, &runs->capacity, sizeof(*runs->ids));
    runs->ids[runs->nr++] = id;
}

void store_runs_release(struct store_runs *runs)
{
    free(runs->ids);
    runs->ids = NULL;
    runs->nr = runs->capacity = 0;
}

static int finished_runs(struct store *s, const char *machine_class, struct store_runs *out,
                         struct error *err)
{
    static const char *const text =
        "SELECT r.id FROM run r JOIN machine m ON m.id = r.machine "
        "WHERE r.ended_ms > 0 AND (?1 IS NULL OR m.class = ?1) ORDER BY r.started_ms, r.id";
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_text(&q, machine_class);
    while ((rc = sql_step(&q, err)) > 0)
        runs_add(out, sql_int(&q));
    sql_close(&q);
    return rc;
}

int store_series(struct store *s, const char *machine_class, const struct store_filter *filter,
                 struct records *out, struct error *err)
{
    struct loading l = { .store = s, .filter = filter, .out = out };
    struct store_runs runs = { .nr = 0 };

    if (sql_execute(s, "BEGIN", err))
        return -1;
    int rc = finished_runs(s, machine_class, &runs, err);
    if (rc == 0)
        rc = load_snapshot(&l, runs.ids, runs.nr, true, err);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    store_runs_release(&runs);
    return rc;
}

/* ---- ceilings ---- */

static bool is_older_duplicate(const struct records *out, size_t from, const struct ceiling *c)
{
    for (size_t i = from; i < out->nr_ceilings; i++)
        if (strcmp(out->ceilings[i].name, c->name) == 0 &&
            strcmp(out->ceilings[i].device, c->device) == 0)
            return true;
    return false;
}

static int read_ceilings(struct sql_query *q, struct records *out, struct error *err)
{
    size_t from = out->nr_ceilings;
    int rc;

    while ((rc = sql_step(q, err)) > 0) {
        struct ceiling c;
        sql_int(q);
        if (table_read(&table_ceiling, q, &c, err))
            return -1;
        if (is_older_duplicate(out, from, &c))
            continue;
        out->ceilings =
            array_grow(out->ceilings, out->nr_ceilings, &out->ceilings_capacity, sizeof(c));
        out->ceilings[out->nr_ceilings++] = c;
    }
    return rc;
}

int store_load_ceilings(struct store *s, const char *machine_id, const char *device,
                        const char *epoch, struct records *out, struct error *err)
{
    struct strbuf sql;
    struct sql_query q;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT c.id");
    table_add_columns(&table_ceiling, "c", &sql);
    strbuf_adds(&sql,
                " FROM ceiling c JOIN machine m ON m.id = c.machine "
                "WHERE m.fingerprint = ?1 AND (?2 IS NULL OR c.device = ?2) "
                "AND (?3 IS NULL OR c.epoch = ?3) ORDER BY c.measured_ms DESC, c.id DESC");
    int rc = sql_open(&q, s, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    sql_bind_text(&q, machine_id);
    sql_bind_text(&q, device);
    sql_bind_text(&q, epoch);
    rc = read_ceilings(&q, out, err);
    sql_close(&q);
    return rc;
}
