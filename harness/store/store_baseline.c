/* SPDX-License-Identifier: MIT */
/* Names of runs in the history. A baseline that is a file holds records: core/record_json. */
#include "base/array.h"
#include "core/names.h"
#include "store/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names_query = "SELECT name FROM baseline ORDER BY name";

static int find_id(struct store *s, const char *name, int64_t *id, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT id FROM baseline WHERE name = ?", err))
        return -1;
    sql_bind_text(&q, name);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *id = sql_int(&q);
    sql_close(&q);
    return rc;
}

static int delete_id(struct store *s, int64_t id, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "DELETE FROM baseline WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, id);
    return sql_run(&q, err);
}

static int has_run(struct store *s, int64_t run_id, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT 1 FROM run WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, run_id);
    int rc = sql_step(&q, err);
    sql_close(&q);
    return rc;
}

static int add_members(struct store *s, int64_t baseline, const int64_t *run_ids, size_t nr,
                       struct error *err)
{
    static const char *const text =
        "INSERT OR IGNORE INTO baseline_run (baseline, run) VALUES (?, ?)";

    for (size_t i = 0; i < nr; i++) {
        struct sql_query q;
        int rc = has_run(s, run_ids[i], err);
        if (rc == 0)
            return error_set(err, "%s: there is no run %" PRId64, s->path, run_ids[i]);
        if (rc < 0 || sql_open(&q, s, text, err))
            return -1;
        sql_bind_int(&q, baseline);
        sql_bind_int(&q, run_ids[i]);
        if (sql_run(&q, err))
            return -1;
    }
    return 0;
}

/* Deletes the old one of that name, or complains about it. */
static int make_room(struct store *s, const char *name, bool replace, struct error *err)
{
    int64_t id;
    int rc = find_id(s, name, &id, err);

    if (rc <= 0)
        return rc;
    if (!replace)
        return error_set(err,
                         "%s: there is a baseline \"%s\" already; replace it with --replace or "
                         "choose another name",
                         s->path, name);
    return delete_id(s, id, err);
}

static int insert_baseline(struct store *s, const struct store_baseline *b, bool replace,
                           struct error *err)
{
    static const char *const text =
        "INSERT INTO baseline (name, created_ms, note) VALUES (?, ?, ?)";
    struct sql_query q;

    if (make_room(s, b->name, replace, err) || sql_open(&q, s, text, err))
        return -1;
    sql_bind_text(&q, b->name);
    sql_bind_int(&q, b->created_ms);
    sql_bind_text(&q, b->note);
    if (sql_run(&q, err))
        return -1;
    return add_members(s, sql_last_id(s), b->run_ids, b->nr_runs, err);
}

int store_baseline_save(struct store *s, const char *name, const int64_t *run_ids, size_t nr,
                        int64_t created_ms, const char *note, bool replace, struct error *err)
{
    if (name_check_baseline(name, STORE_NAME_SIZE, err))
        return -1;
    if (nr == 0)
        return error_set(err, "baseline \"%s\" would name no runs", name);
    struct store_baseline b = { .created_ms = created_ms, .nr_runs = nr };
    snprintf(b.name, sizeof(b.name), "%s", name);
    b.note = memory_string(note);
    b.run_ids = memory_resize(NULL, nr, sizeof(*run_ids));
    memcpy(b.run_ids, run_ids, nr * sizeof(*run_ids));
    int rc = sql_begin_lasting(s, err);
    if (rc == 0)
        rc = sql_end(s, insert_baseline(s, &b, replace, err), err);
    free(b.note);
    free(b.run_ids);
    return rc;
}

static int remove_named(struct store *s, const char *name, struct error *err)
{
    char nearest[STORE_NAME_SIZE];
    struct strbuf list;
    int64_t id;
    int rc = find_id(s, name, &id, err);

    if (rc != 0)
        return rc < 0 ? -1 : delete_id(s, id, err);
    strbuf_init(&list);
    if (read_nearest_name(s, names_query, name, nearest, err) == 0 &&
        read_name_list(s, names_query, "There are: ", &list, err) == 0)
        error_set(err, "%s: there is no baseline \"%s\"%s%s%s%s", s->path, name,
                  nearest[0] ? "; did you mean \"" : "", nearest, nearest[0] ? "\"?" : ".",
                  list.length ? list.data + 1 : " There are none");
    strbuf_release(&list);
    return -1;
}

int store_baseline_remove(struct store *s, const char *name, struct error *err)
{
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, remove_named(s, name, err), err);
}

static void add_member(struct store_baseline *b, int64_t run_id)
{
    b->run_ids = array_grow(b->run_ids, b->nr_runs, &b->runs_capacity, sizeof(*b->run_ids));
    b->run_ids[b->nr_runs++] = run_id;
}

static int read_baseline(struct sql_query *q, int64_t id, struct store_baseline *b,
                         struct error *err)
{
    const char *name = sql_text(q);
    char shown[STORE_NAME_SIZE];

    snprintf(shown, sizeof(shown), "%s", name ? name : "");
    name_mend(shown);
    if (name_check_baseline(name ? name : "", STORE_NAME_SIZE, err))
        return error_set(err,
                         "%s: baseline %" PRId64
                         " has a name that none can have, \"%s\"; somebody "
                         "else's harness wrote it, or none. `harness baseline remove NAME` removes "
                         "it, `harness history salvage FILE NEW` leaves it out",
                         q->store->path, id, shown);
    snprintf(b->name, sizeof(b->name), "%s", name);
    b->created_ms = sql_int(q);
    b->note = memory_string(sql_text(q));
    return 0;
}

int read_baselines(struct store *s, struct store_baselines *out, struct string_list *refused,
                   struct error *err)
{
    static const char *const text =
        "SELECT b.id, r.run, b.name, b.created_ms, b.note FROM baseline b "
        "JOIN baseline_run r ON r.baseline = b.id JOIN run ON run.id = r.run "
        "ORDER BY b.name, b.id, run.started_ms, run.id";
    int64_t last = -1, skipped = -1;
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        int64_t id = sql_int(&q), run_id = sql_int(&q);
        if (id == skipped)
            continue;
        if (id != last && read_baseline(&q, id, array_push(out), err)) {
            out->nr--; /* it owns nothing yet */
            rc = -1;
            if (!refused)
                break;
            string_list_add(refused, err->message);
            skipped = id;
            continue;
        }
        last = id;
        add_member(&out->items[out->nr - 1], run_id);
    }
    sql_close(&q);
    return rc;
}

int store_baseline_list(struct store *s, struct store_baselines *out, struct error *err)
{
    return read_baselines(s, out, NULL, err);
}

void store_baselines_release(struct store_baselines *baselines)
{
    for (size_t i = 0; i < baselines->nr; i++) {
        free(baselines->items[i].note);
        free(baselines->items[i].run_ids);
    }
    array_release(baselines);
}
