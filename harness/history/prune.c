/* SPDX-License-Identifier: MIT */
#include "history/prune.h"

#include "base/array.h"
#include "base/text.h"
#include "query/query.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/sql.h"
#include "vfs/page_checksum.h"

#include <stdlib.h>

enum { DAY_MS = 86400 * 1000, UNFINISHED_MS = 2 * DAY_MS };
static const int64_t YEAR_MS = INT64_C(365) * DAY_MS;

/* One run, and what becomes of it. */
struct candidate {
    int64_t id, started_ms, thinned_ms;
    bool finished, named;
    size_t nth; /* so many finished ones are newer */
};

struct pruning {
    struct store *store;
    const struct store_prune *rules;
    struct store_pruned *result;
    ARRAY(struct candidate) runs;
    int64_t counter; /* query_changed() */
    bool overtaken;  /* others have written since the runs were read */
};

/* ---- which ---- */

/* What a comparison found stays open to a closer look. */
#define FINDS                                                                                      \
    "EXISTS (SELECT 1 FROM verdict v WHERE v.comparison = c.id AND "                               \
    "v.verdict IN ('regressed', 'broken', 'improved', 'fixed'))"
#define FOUND "(SELECT base_commit AS hash, head_commit AS other FROM comparison c WHERE " FINDS ")"
/* Of a side that has several: they are in the settings. */
#define SEVERAL                                                                                    \
    "json_each(CASE WHEN '' IN (c.base_commit, c.head_commit) AND json_valid(c.settings) "         \
    "THEN c.settings ELSE '{}' END, '$.commits') s"
#define ONE_OF_SEVERAL "CASE s.type WHEN 'object' THEN json_extract(s.value, '$.commit') END"

#define NAMED_BY_BASELINE "EXISTS (SELECT 1 FROM baseline_run WHERE run = r.id)"
#define NAMED_BY_VERDICT                                                                           \
    "(b.commit_hash <> '' AND b.commit_hash IN (SELECT hash FROM " FOUND                           \
    " UNION SELECT other FROM " FOUND " UNION SELECT " ONE_OF_SEVERAL                              \
    " FROM comparison c, " SEVERAL " WHERE " FINDS "))"
#define RUNS_TEXT(thinned, named)                                                                  \
    "SELECT r.id, r.started_ms, r.ended_ms > 0, " thinned ", " named                               \
    " FROM run r JOIN build b ON b.id = r.build ORDER BY r.started_ms DESC, r.id DESC"

/* Of one: the comparisons of its commit alone are looked into. */
#define RUN_TEXT                                                                                   \
    "SELECT " NAMED_BY_BASELINE                                                                    \
    " OR (b.commit_hash <> '' AND EXISTS (SELECT 1 FROM comparison c "                             \
    "WHERE (b.commit_hash IN (c.base_commit, c.head_commit) OR b.commit_hash IN "                  \
    "(SELECT " ONE_OF_SEVERAL " FROM " SEVERAL ")) AND " FINDS                                     \
    "))"                                                                                           \
    " FROM run r JOIN build b ON b.id = r.build WHERE r.id = ?"

/* A dry run may look at an older file. */
static const char *text_for(const struct store *s)
{
    if (s->version < SCHEMA_VERDICTS)
        return RUNS_TEXT("0", NAMED_BY_BASELINE);
    if (s->version < SCHEMA_ANNOTATIONS)
        return RUNS_TEXT("0", NAMED_BY_BASELINE " OR " NAMED_BY_VERDICT);
    return RUNS_TEXT("r.thinned_ms", NAMED_BY_BASELINE " OR " NAMED_BY_VERDICT);
}

static int read_runs(struct pruning *p, struct error *err)
{
    struct sql_query q;
    size_t finished = 0;
    int rc;

    if (sql_open(&q, p->store, text_for(p->store), err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct candidate *c = array_push(&p->runs);
        c->id = sql_int(&q);
        c->started_ms = sql_int(&q);
        c->finished = sql_int(&q);
        c->thinned_ms = sql_int(&q);
        c->named = sql_int(&q);
        c->nth = finished;
        finished += c->finished;
    }
    sql_close(&q);
    return rc;
}

/* In ms; a damaged file may hold any start. */
static int64_t age_of(const struct store_prune *rules, const struct candidate *c)
{
    int64_t age;

    return __builtin_sub_overflow(rules->now_ms, c->started_ms, &age) ? INT64_MAX : age;
}

static bool removes_runs(const struct store_prune *rules)
{
    return rules->keep_ms > 0 || rules->keep_runs > 0;
}

static bool is_kept(const struct store_prune *rules, const struct candidate *c)
{
    if (!removes_runs(rules))
        return true;
    return (rules->keep_ms > 0 && age_of(rules, c) <= rules->keep_ms) ||
           (rules->keep_runs > 0 && (int64_t)c->nth < rules->keep_runs);
}

static bool may_be_running(const struct store_prune *rules, const struct candidate *c)
{
    return !c->finished && age_of(rules, c) <= UNFINISHED_MS;
}

static bool is_old(const struct store_prune *rules, const struct candidate *c)
{
    return rules->samples_ms > 0 && age_of(rules, c) > rules->samples_ms && c->thinned_ms == 0;
}

/* ---- is the clock right? ---- */

static bool is_touched(const struct store_prune *rules, const struct candidate *c, int64_t *limit)
{
    if (c->named || may_be_running(rules, c))
        return false;
    bool goes = !is_kept(rules, c), old = is_old(rules, c);
    *limit = goes ? rules->keep_ms : rules->samples_ms;
    return (goes && rules->keep_ms > 0) || (!goes && old);
}

static int refuse_odd_clock(const struct pruning *p, int64_t from_ms, int64_t to_ms,
                            struct error *err)
{
    char from[TEXT_UNIT_SIZE], to[TEXT_UNIT_SIZE];

    return error_set(
        err,
        "%s: nothing was pruned, because the clock may be wrong: it jumps from %.10s to "
        "%.10s. If it is right, add --trust-clock (--dry-run says what would go)",
        p->store->path, text_timestamp(from_ms, from), text_timestamp(to_ms, to));
}

/* Runs are in order, newest first. */
static int check_clock(const struct pruning *p, struct error *err)
{
    const struct store_prune *rules = p->rules;
    int64_t newer = rules->now_ms, limit, gap;

    if (rules->dry_run || rules->trust_clock || p->runs.nr == 0 ||
        (rules->keep_ms == 0 && rules->samples_ms == 0))
        return 0;
    if (age_of(rules, &p->runs.items[0]) < -DAY_MS)
        return refuse_odd_clock(p, p->runs.items[0].started_ms, rules->now_ms, err);
    for (size_t i = 0; i < p->runs.nr; i++) {
        const struct candidate *c = &p->runs.items[i];
        if (is_touched(rules, c, &limit)) {
            bool far = __builtin_sub_overflow(newer, c->started_ms, &gap) || gap - YEAR_MS > limit;
            return far ? refuse_odd_clock(p, c->started_ms, newer, err) : 0;
        }
        newer = c->started_ms;
    }
    return 0;
}

/* ---- removing ---- */

static int count_results(struct store *s, int64_t run, int64_t *nr, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s,
                 "SELECT count(*) FROM launch l JOIN measurement m ON m.launch = l.id "
                 "WHERE l.run = ?",
                 err))
        return -1;
    sql_bind_int(&q, run);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *nr = sql_int(&q);
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

/* Launches and measurements go with it. */
static int delete_run(struct store *s, int64_t run, int64_t *removed, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "DELETE FROM run WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, run);
    if (sql_run(&q, err))
        return -1;
    *removed = sqlite3_changes(s->db);
    return 0;
}

/* Within a transaction: has a baseline or a verdict named it since the runs were read? */
static int is_named_by_now(struct pruning *p, int64_t run, bool *named, struct error *err)
{
    struct sql_query q;
    bool changed;

    *named = false;
    if (query_changed(p->store, &p->counter, &changed, err))
        return -1;
    p->overtaken = p->overtaken || changed;
    if (!p->overtaken)
        return 0;
    if (sql_open(&q, p->store, RUN_TEXT, err))
        return -1;
    sql_bind_int(&q, run);
    int rc = sql_step(&q, err);
    *named = rc > 0 && sql_int(&q);
    sql_close(&q);
    p->result->named += *named;
    return rc < 0 ? -1 : 0;
}

static int delete_unnamed(struct pruning *p, int64_t run, int64_t *removed, struct error *err)
{
    bool named;

    *removed = 0;
    if (is_named_by_now(p, run, &named, err))
        return -1;
    return named ? 0 : delete_run(p->store, run, removed, err);
}

static int remove_run(struct pruning *p, const struct candidate *c, struct error *err)
{
    int64_t nr = 0, removed = 1;

    if (count_results(p->store, c->id, &nr, err))
        return -1;
    if (!p->rules->dry_run) {
        if (sql_begin(p->store, err) ||
            sql_end(p->store, delete_unnamed(p, c->id, &removed, err), err))
            return -1;
    }
    p->result->removed += removed;
    p->result->removed_results += removed ? nr : 0;
    return 0;
}

/* What no run shares any more. The last transaction, by which all before it last. */
static int remove_orphans(struct store *s, bool any, struct error *err)
{
    static const char script[] =
        "DELETE FROM benchmark WHERE NOT EXISTS "
        "(SELECT 1 FROM measurement WHERE measurement.benchmark = benchmark.id);"
        "DELETE FROM build WHERE id NOT IN (SELECT build FROM run);"
        "DELETE FROM machine WHERE id NOT IN (SELECT machine FROM run) "
        "AND id NOT IN (SELECT machine FROM ceiling)";

    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, any ? sql_execute(s, script, err) : 0, err);
}

/* ---- thinning ---- */

static int store_summary(struct store *s, int64_t id, const void *blob, size_t length,
                         struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "UPDATE measurement SET samples = ? WHERE id = ?", err))
        return -1;
    sql_bind_blob(&q, blob, length);
    sql_bind_int(&q, id);
    return sql_run(&q, err);
}

/* Short series are hardly shorter as a summary, and lose their order: they stay. */
static int thin_one(struct pruning *p, int64_t id, const void *blob, size_t length,
                    struct error *err)
{
    uint64_t *samples;
    size_t nr, after = 0;
    int rc = 0;

    if (samples_are_thin(blob, length))
        return 0;
    if (samples_decode(blob, length, &samples, &nr, err))
        return error_prefix(err, "%s: measurement %lld", p->store->path, (long long)id);
    unsigned char *summary = samples_thin(samples, nr, &after);
    if (summary && 4 * after <= 3 * length) {
        if (!p->rules->dry_run)
            rc = store_summary(p->store, id, summary, after, err);
        p->result->thinned_results++;
        p->result->samples_before += (int64_t)length;
        p->result->samples_after += (int64_t)after;
    }
    free(summary);
    free(samples);
    return rc;
}

struct blob {
    int64_t id;
    size_t length;
    unsigned char *bytes; /* owned */
};

/* First read, then written: no statement looks at a table that changes under it. */
static int thin_launch(struct pruning *p, int64_t launch, struct error *err)
{
    ARRAY(struct blob) blobs = ARRAY_EMPTY;
    struct sql_query q;
    int rc;

    if (sql_open(&q, p->store,
                 "SELECT id, samples FROM measurement WHERE launch = ? AND samples IS NOT NULL",
                 err))
        return -1;
    sql_bind_int(&q, launch);
    while ((rc = sql_step(&q, err)) > 0) {
        struct blob *blob = array_push(&blobs);
        blob->id = sql_int(&q);
        const void *bytes = sql_blob(&q, &blob->length);
        blob->bytes = memory_zeroed(blob->length + 1, 1);
        if (blob->length)
            memcpy(blob->bytes, bytes, blob->length);
    }
    sql_close(&q);
    for (size_t i = 0; i < blobs.nr; i++) {
        if (rc == 0)
            rc = thin_one(p, blobs.items[i].id, blobs.items[i].bytes, blobs.items[i].length, err);
        free(blobs.items[i].bytes);
    }
    array_release(&blobs);
    return rc;
}

static int thin_launches(struct pruning *p, const struct candidate *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, p->store, "SELECT id FROM launch WHERE run = ? ORDER BY seq", err))
        return -1;
    sql_bind_int(&q, c->id);
    while ((rc = sql_step(&q, err)) > 0) {
        if ((rc = thin_launch(p, sql_int(&q), err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int mark_thinned(struct pruning *p, int64_t run, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, p->store, "UPDATE run SET thinned_ms = ? WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, p->rules->now_ms);
    sql_bind_int(&q, run);
    return sql_run(&q, err);
}

static int thin_unnamed(struct pruning *p, const struct candidate *c, struct error *err)
{
    bool named;

    if (is_named_by_now(p, c->id, &named, err))
        return -1;
    if (named)
        return 0;
    return thin_launches(p, c, err) ? -1 : mark_thinned(p, c->id, err);
}

static int thin_run(struct pruning *p, const struct candidate *c, struct error *err)
{
    int64_t before = p->result->thinned_results;
    int rc;

    if (p->rules->dry_run) {
        rc = thin_launches(p, c, err);
    } else {
        if (sql_begin(p->store, err))
            return -1;
        rc = sql_end(p->store, thin_unnamed(p, c, err), err);
    }
    p->result->thinned += p->result->thinned_results > before;
    return rc;
}

/* ---- the whole ---- */

static int prune_candidate(struct pruning *p, const struct candidate *c, struct error *err)
{
    bool goes = !is_kept(p->rules, c), old = is_old(p->rules, c);

    if (may_be_running(p->rules, c))
        return 0;
    if (c->named) {
        p->result->named += goes || old;
        return 0;
    }
    if (goes)
        return remove_run(p, c, err);
    return old ? thin_run(p, c, err) : 0;
}

int store_prune(struct store *s, const struct store_prune *rules, struct store_pruned *pruned,
                struct error *err)
{
    struct pruning p = { .store = s, .rules = rules, .result = pruned };
    bool ignored;

    *pruned = (struct store_pruned) { 0 };
    int rc = query_changed(s, &p.counter, &ignored, err);
    if (rc == 0)
        rc = read_runs(&p, err);
    pruned->runs = (int64_t)p.runs.nr;
    if (rc == 0)
        rc = check_clock(&p, err);
    for (size_t i = 0; rc == 0 && i < p.runs.nr; i++)
        rc = prune_candidate(&p, &p.runs.items[i], err);
    /* Also where nothing was removed: a pruning that was killed has left them. */
    if (rc == 0 && !rules->dry_run)
        rc = remove_orphans(s, removes_runs(rules), err);
    array_release(&p.runs);
    return rc;
}
