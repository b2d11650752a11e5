/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "core/names.h"
#include "store/rows.h"
#include "store/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (run->kind == RUN_KIND_NR) /* until the next writer comes, see store_schema.c */
        legacy_run_facts(run);
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

/* A sink: puts a measurement into records, and takes it. */
static int keep_measurement(void *context, size_t run, int launch_seq, struct measurement *m,
                            struct error *err)
{
    (void)err;
    records_add(context, (int)run, launch_seq)->m = *m;
    *m = (struct measurement) { .outcome = OUTCOME_FAILED }; /* what it owned is theirs */
    return 0;
}

static const struct run *newest_run(const struct records *records)
{
    const struct run *newest = NULL;

    for (size_t i = 0; i < records->nr_runs; i++)
        if (!newest || records->runs[i].started_ms >= newest->started_ms)
            newest = &records->runs[i];
    return newest;
}

struct loading {
    struct store *store;
    const struct store_filter *filter;
    struct records *out;
    bool only_matching; /* drop runs that have no measurement the filter wants */
};

static int load_runs(const struct loading *l, struct scan *scan, const int64_t *run_ids, size_t nr,
                     struct error *err)
{
    struct store_sink sink = { l->out, keep_measurement };

    for (size_t i = 0; i < nr; i++) {
        size_t before = l->out->nr;
        if (load_run(l->store, run_ids[i], l->out, err) ||
            scan_run(scan, run_ids[i], l->out->nr_runs - 1, &sink, err))
            return -1;
        if (l->only_matching && l->out->nr == before)
            run_release(&l->out->runs[--l->out->nr_runs]);
    }
    return 0;
}

static int load_all(const struct loading *l, const int64_t *run_ids, size_t nr, struct error *err)
{
    size_t earlier = l->out->nr_runs;
    struct scan *scan = scan_create(l->store, l->filter, SCAN_INSERTED, err);
    int rc = scan ? load_runs(l, scan, run_ids, nr, err) : -1;

    scan_free(scan);
    if (rc)
        return -1;
    /* `out` may hold runs of an earlier call or of a file, with their roofs. */
    const struct run *newest = newest_run(l->out);
    if (!newest || newest < l->out->runs + earlier)
        return 0;
    l->out->nr_roofs = 0;
    return store_load_roofs(l->store, newest->machine.id, NULL, NULL, l->out, err);
}

/* Reads inside one transaction see one state of the file, whatever others write meanwhile. */
static int begin_snapshot(struct store *s, bool *nested, struct error *err)
{
    *nested = !sqlite3_get_autocommit(s->db);
    return *nested ? 0 : sql_execute(s, "BEGIN", err);
}

static void end_snapshot(struct store *s, bool nested)
{
    if (!nested)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_begin_reading(struct store *s, struct error *err)
{
    return sql_execute(s, "BEGIN", err);
}

void store_end_reading(struct store *s)
{
    end_snapshot(s, false);
}

static int load_snapshot(const struct loading *l, const int64_t *run_ids, size_t nr,
                         struct error *err)
{
    bool nested;

    if (begin_snapshot(l->store, &nested, err))
        return -1;
    int rc = load_all(l, run_ids, nr, err);
    end_snapshot(l->store, nested);
    return rc;
}

int store_load(struct store *s, const int64_t *run_ids, size_t nr,
               const struct store_filter *filter, struct records *out, struct error *err)
{
    struct loading l = { .store = s, .filter = filter, .out = out };

    return load_snapshot(&l, run_ids, nr, err);
}

int store_scan(struct store *s, const int64_t *run_ids, size_t nr,
               const struct store_filter *filter, const struct store_sink *sink, struct error *err)
{
    bool nested;
    int rc = 0;

    if (begin_snapshot(s, &nested, err))
        return -1;
    struct scan *scan = scan_create(s, filter, SCAN_BY_LAUNCH, err);
    for (size_t i = 0; scan && rc == 0 && i < nr; i++)
        rc = scan_run(scan, run_ids[i], i, sink, err);
    end_snapshot(s, nested);
    if (!scan)
        rc = -1;
    scan_free(scan);
    return rc;
}

int store_finished_runs(struct store *s, const char *machine_class, struct records *out,
                        struct error *err)
{
    static const char *const tail =
        "WHERE r.ended_ms > 0 AND (?1 IS NULL OR m.class = ?1) "
        "ORDER BY r.started_ms, r.id";
    struct sql_query q;
    int rc;

    if (open_runs(s, tail, &q, err))
        return -1;
    sql_bind_text(&q, machine_class);
    while ((rc = sql_step(&q, err)) > 0)
        if (read_run(&q, records_add_run(out), err)) {
            rc = -1;
            break;
        }
    sql_close(&q);
    return rc;
}

int store_sweep_first(struct store *s, const char *sweep, int64_t *id, int64_t *started_ms,
                      struct error *err)
{
    static const char *const text =
        "SELECT id, started_ms FROM run WHERE sweep = ? ORDER BY started_ms, id LIMIT 1";
    struct sql_query q;

    *id = *started_ms = INT64_MAX;
    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_text(&q, sweep);
    int rc = sql_step(&q, err);
    if (rc > 0) {
        *id = sql_int(&q);
        *started_ms = sql_int(&q);
    }
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

/* Their ids, oldest first; free() them. */
static int finished_ids(struct store *s, const char *machine_class, int64_t **ids, size_t *nr,
                        struct error *err)
{
    struct records finished = { .nr = 0 };
    int rc = store_finished_runs(s, machine_class, &finished, err);

    *nr = finished.nr_runs;
    *ids = memory_zeroed(finished.nr_runs, sizeof(**ids));
    for (size_t i = 0; i < finished.nr_runs; i++)
        (*ids)[i] = finished.runs[i].id;
    records_release(&finished);
    return rc;
}

int store_series(struct store *s, const char *machine_class, const struct store_filter *filter,
                 struct records *out, struct error *err)
{
    struct loading l = { .store = s, .filter = filter, .out = out, .only_matching = true };
    int64_t *ids;
    size_t nr;
    bool nested;

    if (begin_snapshot(s, &nested, err))
        return -1;
    int rc = finished_ids(s, machine_class, &ids, &nr, err);
    if (rc == 0)
        rc = load_snapshot(&l, ids, nr, err);
    end_snapshot(s, nested);
    free(ids);
    return rc;
}

/* ---- roofs ---- */

static bool is_older_duplicate(const struct records *out, size_t from, const struct roof *c)
{
    for (size_t i = from; i < out->nr_roofs; i++)
        if (strcmp(out->roofs[i].name, c->name) == 0 &&
            strcmp(out->roofs[i].device, c->device) == 0)
            return true;
    return false;
}

static int read_roofs(struct sql_query *q, struct records *out, struct error *err)
{
    size_t from = out->nr_roofs;
    int rc;

    while ((rc = sql_step(q, err)) > 0) {
        struct roof c;
        sql_int(q);
        if (table_read(&table_roof, q, &c, err))
            return -1;
        if (is_older_duplicate(out, from, &c))
            continue;
        out->roofs = array_grow(out->roofs, out->nr_roofs, &out->roofs_capacity, sizeof(c));
        out->roofs[out->nr_roofs++] = c;
    }
    return rc;
}

int store_load_roofs(struct store *s, const char *machine_id, const char *device, const char *epoch,
                     struct records *out, struct error *err)
{
    struct strbuf sql;
    struct sql_query q;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT c.id");
    table_add_columns(&table_roof, "c", &sql);
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
    rc = read_roofs(&q, out, err);
    sql_close(&q);
    /* Whoever asks for the roofs of each run of a long history need not look for the newest. */
    snprintf(out->roofs_of, sizeof(out->roofs_of), "%s", machine_id);
    return rc;
}

/* ---- lists ---- */

static int count_outcomes(struct store *s, struct store_listed *listed, struct error *err)
{
    static const char *const text =
        "SELECT m.outcome, count(*) FROM launch l "
        "JOIN measurement m ON m.launch = l.id "
        "WHERE l.run = ? GROUP BY m.outcome";
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_int(&q, listed->run.id);
    while ((rc = sql_step(&q, err)) > 0) {
        const char *name = sql_text(&q);
        int outcome = name ? outcome_find(name) : -1;
        if (outcome >= 0)
            listed->outcomes[outcome] = sql_int(&q);
    }
    sql_close(&q);
    return rc;
}

static int count_launches(struct store *s, struct store_listed *listed, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT count(*) FROM launch WHERE run = ?", err))
        return -1;
    sql_bind_int(&q, listed->run.id);
    int rc = sql_step(&q, err);
    if (rc > 0)
        listed->launches = sql_int(&q);
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

int store_list_runs(struct store *s, const char *machine_class, size_t limit,
                    struct store_listing *out, struct error *err)
{
    static const char *const tail =
        "WHERE (?1 IS NULL OR m.class = ?1) ORDER BY r.started_ms DESC, r.id DESC LIMIT ?2";
    struct sql_query q;
    int rc;

    if (open_runs(s, tail, &q, err))
        return -1;
    sql_bind_text(&q, machine_class);
    sql_bind_int(&q, limit ? (int64_t)limit : -1);
    while ((rc = sql_step(&q, err)) > 0) {
        struct store_listed *listed = array_push(out);
        if ((rc = read_run(&q, &listed->run, err)) < 0 ||
            (rc = count_launches(s, listed, err)) < 0 || (rc = count_outcomes(s, listed, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

void store_listing_release(struct store_listing *listing)
{
    for (size_t i = 0; i < listing->nr; i++)
        run_release(&listing->items[i].run);
    array_release(listing);
}

char *read_words(struct sql_query *q)
{
    const char *text = sql_text(q);
    char *words = memory_string(text ? text : "");

    name_mend(words);
    return words;
}

int read_name_list(struct store *s, const char *query, const char *title, struct strbuf *out,
                   struct error *err)
{
    struct sql_query q;
    size_t nr = 0;
    int rc;

    if (sql_open(&q, s, query, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char *name = read_words(&q);
        if (nr++ < READ_SHOWN_MAX)
            strbuf_addf(out, "%s%s%.100s", nr == 1 ? ". " : ", ", nr == 1 ? title : "", name);
        free(name);
    }
    sql_close(&q);
    if (nr > READ_SHOWN_MAX)
        strbuf_addf(out, " and %zu more", nr - READ_SHOWN_MAX);
    return rc;
}

int read_nearest_name(struct store *s, const char *query, const char *word,
                      char nearest[STORE_NAME_SIZE], struct error *err)
{
    struct string_list names = { .nr = 0 };
    struct sql_query q;
    int rc;

    nearest[0] = '\0';
    if (sql_open(&q, s, query, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char *name = read_words(&q);
        string_list_add(&names, name);
        free(name);
    }
    sql_close(&q);
    *array_push(&names) = NULL; /* ends the list for text_nearest() */
    names.nr--;
    const char *found = text_nearest(word, (const char *const *)names.items);
    if (found)
        snprintf(nearest, STORE_NAME_SIZE, "%s", found);
    string_list_release(&names);
    return rc;
}
