/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "history/merge_parts.h"
#include "query/query.h"
#include "store/rows.h"
#include "store/samples.h"
#include "store/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- copying ---- */

static const char *const measurement_source[] = { "id",      "benchmark",  "launch",  "telemetry",
                                                  "numbers", "nr_samples", "samples", NULL };
static const char *const measurement_extra[] = { "benchmark",  "launch",  "telemetry", "numbers",
                                                 "nr_samples", "samples", NULL };

/* The columns of a row of measurement_source, behind the two that are translated: */
enum { TELEMETRY = 3, NUMBERS, FACTS = 7 };

/* Of what reading takes for something else no more than that comes in. */
static int insert_measurement(struct merge *m, struct sql_query *row,
                              const struct measurement *read, int64_t benchmark, int64_t launch,
                              struct error *err)
{
    char *telemetry = m->from->odd ? telemetry_text(read) : NULL;
    struct sql_query q;
    int rc = table_open_insert(&table_measurement, m->to, measurement_extra, &q, err);

    if (rc == 0) {
        sql_bind_int(&q, benchmark);
        sql_bind_int(&q, launch);
        if (m->from->odd)
            sql_bind_text(&q, telemetry);
        else
            rows_copy(&q, row, TELEMETRY, NUMBERS);
        rows_copy(&q, row, NUMBERS, FACTS);
        rows_copy_table(&table_measurement, &q, row, FACTS);
        rc = sql_run(&q, err);
    }
    cJSON_free(telemetry);
    return rc;
}

/* What reading would refuse here must not come in. */
static int copy_measurement(struct merge *m, struct sql_query *row, int64_t launch,
                            struct error *err)
{
    struct measurement read = { .nr_samples = 0 };
    int64_t benchmark;

    m->from->odd = NULL;
    int rc = read_measurement(m->from, sqlite3_column_int64(row->stmt, 0), &read, err);
    if (rc == 0)
        rc = merge_benchmark(m, sqlite3_column_int64(row->stmt, 1), &benchmark, err);
    if (rc == 0)
        rc = insert_measurement(m, row, &read, benchmark, launch, err);
    measurement_release(&read);
    return rc;
}

static int copy_measurements(struct merge *m, int64_t from, int64_t to, int64_t *nr,
                             struct error *err)
{
    struct sql_query q;
    int rc;

    if (rows_open_select(&table_measurement, m->from, measurement_source,
                         "WHERE launch = ? ORDER BY id", &q, err))
        return -1;
    sql_bind_int(&q, from);
    while ((rc = sql_step(&q, err)) > 0) {
        if (copy_measurement(m, &q, to, err)) {
            rc = -1;
            break;
        }
        ++*nr;
    }
    sql_close(&q);
    return rc;
}

static int copy_launches(struct merge *m, int64_t from, int64_t to, int64_t *nr, struct error *err)
{
    struct sql_query q;
    int rc;

    if (table_open_select(&table_launch, m->from, "WHERE run = ? ORDER BY seq", &q, err))
        return -1;
    sql_bind_int(&q, from);
    while ((rc = sql_step(&q, err)) > 0) {
        struct launch launch = { .seq = 0 };
        int64_t id, launch_id;
        id = sql_int(&q);
        rc = table_read(&table_launch, &q, &launch, err);
        if (rc == 0)
            rc = write_launch(m->to, to, &launch, &launch_id, err);
        launch_release(&launch);
        if (rc || (rc = copy_measurements(m, id, launch_id, nr, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int set_run(struct merge *m, int64_t id, const char *text, int64_t value, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, m->to, text, err))
        return -1;
    sql_bind_int(&q, value);
    sql_bind_int(&q, id);
    return sql_run(&q, err);
}

static int thinned_of(struct store *s, int64_t id, int64_t *when, struct error *err)
{
    struct sql_query q;

    *when = 0;
    if (s->version < SCHEMA_ANNOTATIONS)
        return 0;
    if (sql_open(&q, s, "SELECT thinned_ms FROM run WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, id);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *when = sql_int(&q);
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

static int copy_content(struct merge *m, const struct run *from, int64_t to, struct error *err)
{
    int64_t when, nr = 0;

    if (copy_launches(m, from->id, to, &nr, err) || thinned_of(m->from, from->id, &when, err) ||
        set_run(m, to, "UPDATE run SET thinned_ms = ? WHERE id = ?", when, err) ||
        set_run(m, to, "UPDATE run SET ended_ms = ? WHERE id = ?", from->ended_ms, err))
        return -1;
    m->result->measurements += nr;
    return 0;
}

static int add_run(struct merge *m, const struct run *from, int64_t *to, struct error *err)
{
    struct run run = *from; /* borrows its texts */

    if (write_run(m->to, &run, err) || copy_content(m, from, run.id, err))
        return -1;
    *to = run.id;
    m->result->runs_new++;
    return 0;
}

/* Baselines and annotations that name the run keep it; launches and measurements come anew. */
static int renew_run(struct merge *m, const struct run *from, int64_t to, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, m->to, "DELETE FROM launch WHERE run = ?", err))
        return -1;
    sql_bind_int(&q, to);
    if (sql_run(&q, err) || copy_content(m, from, to, err))
        return -1;
    m->result->runs_grown++;
    return 0;
}

/* ---- what a run holds ---- */

/* Its launches by their numbers, each with hashes of its measurements, in the order stored. When a
 * launch began is no part of it: an export does not say that, and each measurement has a time of
 * its own. */
struct run_item {
    int64_t seq;             /* of the launch */
    bool is_launch;          /* its beginning; else a measurement: */
    uint64_t facts, samples; /* hashes */
    bool thinned;            /* then the hash of the samples says nothing */
};

struct run_content {
    struct run_item *items;
    size_t nr, capacity;
};

/* The benchmark counts by its key: numbers differ from file to file. Behind the table's columns: */
enum { ITEM_KEY = 1, ITEM_FACTS, BEHIND_FACTS = 4 /* numbers, nr_samples, telemetry, samples */ };

static int open_measurements(struct store *s, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT m.id, b.key");
    table_add_columns(&table_measurement, "m", &sql);
    strbuf_adds(&sql,
                ", m.numbers, m.nr_samples, m.telemetry, m.samples FROM measurement m "
                "JOIN benchmark b ON b.id = m.benchmark WHERE m.launch = ? ORDER BY m.id");
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

static uint64_t hash_telemetry(struct store *s, const struct sql_query *q, bool as_read, int column,
                               uint64_t hash)
{
    struct measurement m = { .nr_samples = 0 };
    struct error ignored; /* what cannot be read is as it is */
    int rc = as_read ? read_measurement(s, sqlite3_column_int64(q->stmt, 0), &m, &ignored) : -1;

    if (rc == 0) {
        char *text = telemetry_text(&m);
        hash = rows_hash_text(hash, text);
        cJSON_free(text);
    } else {
        hash = rows_hash(hash, q, column, column + 1);
    }
    measurement_release(&m);
    return hash;
}

static struct run_item item_of(struct store *s, const struct sql_query *q, int64_t seq,
                               bool as_read)
{
    int end = sqlite3_column_count(q->stmt), behind = end - BEHIND_FACTS, samples = end - 1;
    const void *blob = sqlite3_column_blob(q->stmt, samples);
    uint64_t facts = rows_hash(ROWS_HASH_BEGIN, q, ITEM_KEY, ITEM_FACTS);

    facts = rows_hash_table(&table_measurement, facts, q, ITEM_FACTS);
    facts = rows_hash(facts, q, behind, behind + 2);
    return (struct run_item) {
        .seq = seq,
        .facts = hash_telemetry(s, q, as_read, samples - 1, facts),
        .samples = rows_hash(ROWS_HASH_BEGIN, q, samples, end),
        .thinned = samples_are_thin(blob, (size_t)sqlite3_column_bytes(q->stmt, samples)),
    };
}

static int add_measurements(struct store *s, int64_t launch, int64_t seq, bool as_read,
                            struct run_content *out, struct error *err)
{
    struct sql_query q;
    int rc;

    if (open_measurements(s, &q, err))
        return -1;
    sql_bind_int(&q, launch);
    while ((rc = sql_step(&q, err)) > 0)
        *array_push(out) = item_of(s, &q, seq, as_read);
    sql_close(&q);
    return rc;
}

/* `as_read`: of telemetry, too, what reading takes; that takes longer. */
static int read_content(struct store *s, int64_t run_id, bool as_read, struct run_content *out,
                        struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id, seq FROM launch WHERE run = ? ORDER BY seq", err))
        return -1;
    sql_bind_int(&q, run_id);
    while ((rc = sql_step(&q, err)) > 0) {
        int64_t launch = sql_int(&q), seq = sql_int(&q);
        *array_push(out) = (struct run_item) { .seq = seq, .is_launch = true };
        if ((rc = add_measurements(s, launch, seq, as_read, out, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static bool same_item(const struct run_item *a, const struct run_item *b)
{
    return a->seq == b->seq && a->is_launch == b->is_launch && a->facts == b->facts &&
           (a->samples == b->samples || a->thinned || b->thinned);
}

/* Does `whole` have each launch of `part`, with the same first measurements? So `part` may be of an
 * earlier time: what is measured again comes into a launch that has ended, behind the beginning of
 * later ones. */
static bool content_begins(const struct run_content *whole, const struct run_content *part)
{
    size_t at = 0;

    for (size_t i = 0; i < part->nr; i++) {
        const struct run_item *item = &part->items[i];
        while (item->is_launch && at < whole->nr && whole->items[at].seq < item->seq)
            at++;
        if (at == whole->nr || !same_item(&whole->items[at++], item))
            return false;
    }
    return true;
}

/* ---- a run that is there already ---- */

/* All but when it ended, as one text. */
static char *facts_of(const struct run *run)
{
    struct run copy = *run;

    copy.ended_ms = 0;
    return json_take_text(run_to_json(&copy));
}

static int read_ours(struct store *to, int64_t id, struct run *run, struct error *err)
{
    struct sql_query q;

    if (open_runs(to, "WHERE r.id = ?", &q, err))
        return -1;
    sql_bind_int(&q, id);
    int rc = sql_step(&q, err);
    rc = rc > 0 ? read_run(&q, run, err) : -1;
    sql_close(&q);
    return rc;
}

/* Two runs of one uuid: */
enum likeness { SAME, BEHIND, DIFFERENT };

static enum likeness compare_runs(const struct run *ours, const struct run_content *own,
                                  const struct run *theirs, const struct run_content *other,
                                  const char **why)
{
    char *a = facts_of(ours), *b = facts_of(theirs);
    bool same_facts = strcmp(a, b) == 0;
    bool theirs_begins = content_begins(own, other);
    bool ours_begins = content_begins(other, own);

    free(a);
    free(b);
    *why = "other measurements";
    if (!same_facts) {
        *why = "another machine, build, time or settings";
        return DIFFERENT;
    }
    if (theirs_begins && (theirs->ended_ms == 0 || theirs->ended_ms == ours->ended_ms) &&
        (theirs->ended_ms == 0 || ours_begins))
        return SAME;
    if (ours_begins && ours->ended_ms == 0)
        return BEHIND;
    if (ours_begins && theirs_begins)
        *why = "another end";
    return DIFFERENT;
}

static void tell_run(struct merge *m, const struct run *ours, const struct run *theirs,
                     const char *why)
{
    merge_conflict(m, "run %" PRId64 " (%.8s) has %s in %s (there run %" PRId64 "); ours stays",
                   ours->id, ours->uuid, why, m->from->path, theirs->id);
}

static int hold_against(struct merge *m, const struct run *ours, const struct run *theirs,
                        bool as_read, enum likeness *likeness, const char **why, struct error *err)
{
    struct run_content own = { 0 }, other = { 0 };
    int rc = read_content(m->to, ours->id, as_read, &own, err);

    if (rc == 0)
        rc = read_content(m->from, theirs->id, as_read, &other, err);
    if (rc == 0)
        *likeness = compare_runs(ours, &own, theirs, &other, why);
    array_release(&own);
    array_release(&other);
    return rc;
}

static int merge_present_run(struct merge *m, const struct run *theirs, int64_t id,
                             struct error *err)
{
    enum likeness likeness = DIFFERENT;
    struct run ours = { .id = 0 };
    const char *why;
    int rc = read_ours(m->to, id, &ours, err);

    if (rc == 0)
        rc = hold_against(m, &ours, theirs, false, &likeness, &why, err);
    /* Ours may be theirs as it was read, when it was merged. */
    if (rc == 0 && likeness == DIFFERENT)
        rc = hold_against(m, &ours, theirs, true, &likeness, &why, err);
    if (rc == 0 && likeness == SAME)
        m->result->runs_known++;
    else if (rc == 0 && likeness == BEHIND)
        rc = renew_run(m, theirs, id, err);
    else if (rc == 0)
        tell_run(m, &ours, theirs, why);
    run_release(&ours);
    return rc;
}

/* ---- annotations ---- */

static int copy_annotations(struct merge *m, int64_t from, int64_t to, struct error *err)
{
    struct sql_query q, insert;
    int rc;

    if (m->from->version < SCHEMA_ANNOTATIONS)
        return 0;
    if (sql_open(&q, m->from, "SELECT run, written_ms, text FROM annotation WHERE run = ?", err))
        return -1;
    sql_bind_int(&q, from);
    while ((rc = sql_step(&q, err)) > 0) {
        if ((rc = sql_open(&insert, m->to,
                           "INSERT OR IGNORE INTO annotation (run, written_ms, text) "
                           "VALUES (?, ?, ?)",
                           err)) < 0)
            break;
        sql_bind_int(&insert, to);
        rows_copy(&insert, &q, 1, 3);
        if ((rc = sql_run(&insert, err)) < 0)
            break;
        m->result->annotations += sqlite3_changes(m->to->db);
    }
    sql_close(&q);
    return rc;
}

/* ---- all of them ---- */

/* A pruning beside us may have given a number to another benchmark. Within a transaction. */
static int forget_if_changed(struct merge *m, struct error *err)
{
    bool changed;

    if (query_changed(m->to, &m->counter, &changed, err))
        return -1;
    for (size_t i = 0; changed && i < m->benchmarks.nr; i++)
        m->benchmarks.items[i].to = 0;
    return 0;
}

static int merge_run(struct merge *m, const struct run *from, struct error *err)
{
    int64_t id = 0;

    if (forget_if_changed(m, err))
        return -1;
    int rc = row_of_run(m->to, from->uuid, &id, err);
    if (rc < 0)
        return -1;
    if (rc > 0 ? merge_present_run(m, from, id, err) : add_run(m, from, &id, err))
        return -1;
    return copy_annotations(m, from->id, id, err);
}

/* What a transaction that was rolled back has counted does not count. */
static int merge_run_whole(struct merge *m, const struct run *from, struct error *err)
{
    struct store_merged before = *m->result;

    if (sql_begin(m->to, err))
        return -1;
    if (sql_end(m->to, merge_run(m, from, err), err) == 0)
        return 0;
    before.conflicts = m->result->conflicts;
    *m->result = before;
    for (size_t i = 0; i < m->benchmarks.nr; i++)
        m->benchmarks.items[i].to = 0;
    return -1;
}

int merge_runs(struct merge *m, struct error *err)
{
    struct sql_query q;
    bool ignored;
    int rc;

    if (merge_list_benchmarks(m, err) || query_changed(m->to, &m->counter, &ignored, err) ||
        open_runs(m->from, "ORDER BY r.started_ms, r.id", &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct run run = { .id = 0 };
        rc = read_run(&q, &run, err);
        if (rc == 0)
            rc = merge_run_whole(m, &run, err);
        run_release(&run);
        if (rc)
            break;
    }
    sql_close(&q);
    return rc;
}
