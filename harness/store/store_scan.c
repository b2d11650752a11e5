/* SPDX-License-Identifier: MIT */
/* Measurements on their way out of the file: one statement a run, and nothing is decoded that was
 * not asked for. */
#include "base/array.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "core/names.h"
#include "store/rows.h"
#include "store/samples.h"
#include "store/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- benchmarks: their names are read once, then looked up by id ---- */

enum { FEW_SHARE = 4 };               /* of all: a quarter */
enum { PUT_TOGETHER_MAX = 32000000 }; /* samples: 256 MB */

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

bool filter_wants(const struct store_filter *f, const char *key)
{
    if (!f || f->nr_filters + f->nr_keys == 0)
        return true;
    if (f->nr_filters > 0 && text_filters_take(f->filters, f->nr_filters, key))
        return true;
    return name_find(f->keys, f->nr_keys, key) >= 0;
}

int read_dim(struct sql_query *q, struct benchmark_name *name, struct error *err)
{
    struct benchmark_dim *dim = &name->dims[name->nr_dims];
    const char *text = sql_text(q);

    if (name->nr_dims == SHAPE_MAX || !text || strlen(text) >= sizeof(dim->name) ||
        !name_is_line(text))
        return error_set(err, "%s: a dim of benchmark \"%.200s\" is damaged", q->store->path,
                         name->key);
    snprintf(dim->name, sizeof(dim->name), "%s", text);
    dim->value = sql_int(q);
    if (dim->value > FACT_COUNT_MAX || dim->value < -FACT_COUNT_MAX)
        return error_set(err, "%s: dim %s of benchmark \"%.200s\" is no number that a dim can be",
                         q->store->path, dim->name, name->key);
    name->nr_dims++;
    return 0;
}

static int read_all_dims(struct store *s, struct known_benchmarks *all, struct error *err)
{
    static const char *const text =
        "SELECT benchmark, name, value FROM benchmark_dim ORDER BY benchmark, position";
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct known_benchmark *b = find_benchmark(all, sql_int(&q));
        if (!b)
            rc = error_set(err, "%s: a dim has no benchmark", s->path);
        else
            rc = read_dim(&q, &b->name, err);
        if (rc < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int order_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Many keys are asked for, and there are many benchmarks: the keys are sorted once. */
static void choose_benchmarks(const struct store_filter *filter, struct known_benchmarks *all)
{
    size_t nr = filter ? filter->nr_keys : 0;
    const char **keys = memory_zeroed(nr + 1, sizeof(*keys));
    struct store_filter rest = filter ? *filter : (struct store_filter) { .nr_keys = 0 };

    if (nr > 0)
        memcpy(keys, filter->keys, nr * sizeof(*keys));
    qsort(keys, nr, sizeof(*keys), order_keys);
    rest.nr_keys = 0;
    for (size_t i = 0; i < all->nr; i++) {
        const char *key = all->items[i].name.key;
        bool is_key = nr > 0 && bsearch(&key, keys, nr, sizeof(*keys), order_keys);
        bool other = nr == 0 || rest.nr_filters > 0;
        all->items[i].wanted = is_key || (other && filter_wants(&rest, key));
    }
    free(keys);
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
    }
    sql_close(&q);
    choose_benchmarks(filter, all);
    return rc < 0 ? -1 : read_all_dims(s, all, err);
}

/* ---- one measurement ---- */

static int read_telemetry(struct store *s, const char *text, struct measurement *m,
                          struct error *err)
{
    if (!text)
        return 0;
    if (strlen(text) > READ_TEXT_MAX)
        return error_set(err, "telemetry of more than %d bytes", READ_TEXT_MAX);
    cJSON *object = json_parse(text, strlen(text), "telemetry", err);
    if (!object)
        return -1;
    if (!cJSON_IsObject(object)) {
        cJSON_Delete(object);
        return error_set(err, "telemetry is not a JSON object");
    }
    int rc = 0;
    for (const cJSON *item = object->child; rc == 0 && item; item = item->next) {
        if (!name_is_line(item->string))
            rc = error_set(err, "a name in its telemetry cannot be one");
        else if (cJSON_IsNumber(item) && fact_is_finite(item->valuedouble))
            measurement_add_telemetry(m, item->string, item->valuedouble);
        else if (!cJSON_IsNull(item))
            s->odd = "telemetry";
    }
    cJSON_Delete(object);
    return rc;
}

static int read_numbers(const char *text, struct measurement *m, struct error *err)
{
    if (!text)
        return 0;
    if (strlen(text) > READ_TEXT_MAX)
        return error_set(err, "numbers of more than %d bytes", READ_TEXT_MAX);
    cJSON *object = json_parse(text, strlen(text), "numbers", err);
    int rc = object ? numbers_from_json(object, m->numbers, &m->nr_numbers, err) : -1;
    cJSON_Delete(object);
    return rc;
}

static int read_samples(struct sql_query *q, int64_t expected, struct measurement *m,
                        struct error *err)
{
    size_t length;
    const void *blob = sql_blob(q, &length);

    m->thinned = blob && samples_are_thin(blob, length);
    if (blob && samples_decode(blob, length, &m->samples, &m->nr_samples, err))
        return -1;
    if ((uint64_t)expected != m->nr_samples)
        return error_set(err, "%zu samples where %" PRId64 " were stored", m->nr_samples, expected);
    return 0;
}

/* What a reader does not want of a measurement. */
struct spared {
    bool samples, telemetry;
};

static struct spared spared_by(const struct store_filter *f)
{
    return f ? (struct spared) { f->without_samples, f->without_telemetry }
             : (struct spared) { false, false };
}

/* "m.outcome, ..., m.nr_samples" in the order of read_row(). */
static void add_row_columns(struct strbuf *sql, struct spared spared)
{
    table_add_columns(&table_measurement, "m", sql);
    strbuf_addf(sql, "%s, m.numbers, m.nr_samples%s", spared.telemetry ? "" : ", m.telemetry",
                spared.samples ? "" : ", m.samples");
}

static int read_row(struct sql_query *q, struct spared spared, struct measurement *m,
                    struct error *err)
{
    if (table_read(&table_measurement, q, m, err) ||
        (!spared.telemetry && read_telemetry(q->store, sql_text(q), m, err)) ||
        read_numbers(sql_text(q), m, err))
        return -1;
    int64_t nr_samples = sql_int(q);
    return spared.samples ? 0 : read_samples(q, nr_samples, m, err);
}

int read_measurement(struct store *s, int64_t id, struct measurement *m, struct error *err)
{
    struct spared nothing = { false, false };
    struct strbuf sql;
    struct sql_query q;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT m.id");
    add_row_columns(&sql, nothing);
    strbuf_adds(&sql, " FROM measurement m WHERE m.id = ?");
    int rc = sql_open(&q, s, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    sql_bind_int(&q, id);
    if ((rc = sql_step(&q, err)) > 0) {
        sql_int(&q);
        rc = read_row(&q, nothing, m, err);
        if (rc)
            error_prefix(err, "%s: measurement %" PRId64, s->path, id);
    } else if (rc == 0) {
        rc = error_set(err, "%s: measurement %" PRId64 " is in the index only", s->path, id);
    }
    sql_close(&q);
    return rc;
}

/* The newest measurement of each benchmark that has any tells what there is: a look into the index
 * for each, however many measurements there are. */
int read_number_kinds(struct store *s, struct error *err)
{
    static const char text[] =
        "SELECT id, numbers FROM measurement WHERE id IN (SELECT (SELECT max(id) FROM measurement "
        "INDEXED BY measurement_with_numbers WHERE benchmark = b.id AND numbers IS NOT NULL) "
        "FROM benchmark b) ORDER BY id";
    struct error odd; /* whoever reads that row is told */
    struct sql_query q;
    int rc;

    if (s->version < SCHEMA_NUMBERS)
        return 0;
    if (sql_open(&q, s, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct measurement m = { .nr_numbers = 0 };
        sql_int(&q);
        read_numbers(sql_text(&q), &m, &odd);
        measurement_release(&m);
    }
    sql_close(&q);
    return rc;
}

/* ---- the measurements of runs ---- */

struct scan {
    struct store *store;
    const struct store_filter *filter;
    struct known_benchmarks benchmarks;
    struct strbuf sql;
    struct strbuf few; /* their ids as a JSON array; empty where most are wanted */
    enum scan_order order;
    uint64_t put_together; /* samples of summaries that were handed over to be kept */
};

/* With few benchmarks the index finds their measurements among those of a launch; with many it is
 * quicker to pass by the others. */
static void note_few(struct scan *scan)
{
    const struct known_benchmarks *all = &scan->benchmarks;
    size_t wanted = 0;

    for (size_t i = 0; i < all->nr; i++)
        wanted += all->items[i].wanted;
    if (wanted * FEW_SHARE > all->nr)
        return;
    strbuf_addc(&scan->few, '[');
    for (size_t i = 0; i < all->nr; i++)
        if (all->items[i].wanted)
            strbuf_addf(&scan->few, "%s%" PRId64, scan->few.length > 1 ? "," : "",
                        all->items[i].id);
    strbuf_addc(&scan->few, ']');
}

static void make_select(struct scan *scan)
{
    strbuf_adds(&scan->sql, "SELECT l.seq, m.id, m.benchmark");
    add_row_columns(&scan->sql, spared_by(scan->filter));
    strbuf_addf(&scan->sql,
                " FROM launch l JOIN measurement m ON m.launch = l.id%s WHERE l.run = ?1 "
                "ORDER BY l.seq%s",
                scan->few.length ? " AND m.benchmark IN (SELECT value FROM json_each(?2))" : "",
                scan->order == SCAN_INSERTED ? ", m.id" : "");
}

struct scan *scan_create(struct store *s, const struct store_filter *filter, enum scan_order order,
                         struct error *err)
{
    struct scan *scan = memory_zeroed(1, sizeof(*scan));

    *scan = (struct scan) { .store = s, .filter = filter, .order = order };
    strbuf_init(&scan->sql);
    strbuf_init(&scan->few);
    if (read_benchmarks(s, filter, &scan->benchmarks, err)) {
        scan_free(scan);
        return NULL;
    }
    note_few(scan);
    make_select(scan);
    return scan;
}

void scan_free(struct scan *scan)
{
    if (!scan)
        return;
    array_release(&scan->benchmarks);
    strbuf_release(&scan->sql);
    strbuf_release(&scan->few);
    free(scan);
}

/* A summary of some bytes stands for up to a million samples, so a small file could ask for all
 * memory there is. Whoever reads in the order of insertion keeps what he gets. */
static int count_put_together(struct scan *scan, const struct measurement *m, struct error *err)
{
    if (!m->thinned || scan->order != SCAN_INSERTED)
        return 0;
    scan->put_together += m->nr_samples;
    if (scan->put_together <= PUT_TOGETHER_MAX)
        return 0;
    return error_set(err,
                     "%s: the summaries of samples stand for more than %d million of them; look at "
                     "fewer runs, or at fewer benchmarks",
                     scan->store->path, PUT_TOGETHER_MAX / 1000000);
}

/* The row that the query stands at; nothing happens to one that the filter does not want. */
static int scan_row(struct scan *scan, struct sql_query *q, size_t run,
                    const struct store_sink *sink, struct error *err)
{
    struct measurement m = { .outcome = OUTCOME_FAILED };
    int seq = (int)sql_int(q);
    int64_t id = sql_int(q);
    const struct known_benchmark *b = find_benchmark(&scan->benchmarks, sql_int(q));

    if (!b)
        return error_set(err, "%s: measurement %" PRId64 " has no benchmark", scan->store->path,
                         id);
    if (!b->wanted)
        return 0;
    m.bench = b->name;
    int rc = read_row(q, spared_by(scan->filter), &m, err);
    if (rc)
        error_prefix(err, "%s: measurement %" PRId64, scan->store->path, id);
    else if ((rc = count_put_together(scan, &m, err)) == 0)
        rc = sink->measurement(sink->context, run, seq, &m, err);
    measurement_release(&m);
    return rc;
}

int scan_run(struct scan *scan, int64_t run_id, size_t run, const struct store_sink *sink,
             struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, scan->store, scan->sql.data, err))
        return -1;
    sql_bind_int(&q, run_id);
    if (scan->few.length)
        sql_bind_text(&q, scan->few.data);
    while ((rc = sql_step(&q, err)) > 0)
        if (scan_row(scan, &q, run, sink, err)) {
            rc = -1;
            break;
        }
    sql_close(&q);
    return rc;
}
