/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/json.h"
#include "store/prune.h"
#include "store/read.h"
#include "store/schema.h"
#include "store/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBLEMS_SHOWN = 3 };

struct checking {
    struct store *store;
    struct store_health *health;
    struct strbuf problems; /* the first few, as text */
};

static void add_problem(struct checking *c, const char *text)
{
    if (c->health->problems++ < PROBLEMS_SHOWN)
        strbuf_addf(&c->problems, "%s%s", c->problems.length ? "; " : "", text);
}

/* integrity_check answers with one row "ok", or one row a problem. */
static int check_integrity(struct checking *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, "PRAGMA integrity_check(100)", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        const char *text = sql_text(&q);
        if (!text || strcmp(text, "ok") != 0)
            add_problem(c, text ? text : "no answer");
    }
    sql_close(&q);
    return rc;
}

static int check_references(struct checking *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, "PRAGMA foreign_key_check", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char text[160];
        const char *table = sql_text(&q);
        int64_t row = sql_int(&q);
        snprintf(text, sizeof(text), "row %" PRId64 " of %.64s refers to nothing", row,
                 table ? table : "?");
        add_problem(c, text);
    }
    sql_close(&q);
    return rc;
}

static int check_measurements(struct checking *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, "SELECT id FROM measurement ORDER BY id", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct measurement m = { .nr_samples = 0 };
        struct error problem;
        if (read_measurement(c->store, sql_int(&q), &m, &problem))
            add_problem(c, problem.message);
        c->health->measurements++;
        c->health->samples += (int64_t)m.nr_samples;
        measurement_release(&m);
    }
    sql_close(&q);
    return rc;
}

static bool is_json(const char *text)
{
    struct error ignored;
    cJSON *json = text ? json_parse(text, strlen(text), "", &ignored) : NULL;

    cJSON_Delete(json);
    return json != NULL;
}

/* The texts of a query: a number of its own, what they are, and two that must be JSON. */
static int check_json(struct checking *c, const char *query, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, query, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char text[80];
        int64_t row = sql_int(&q);
        const char *table = sql_text(&q);
        snprintf(text, sizeof(text), "%.32s %" PRId64 " holds what is no JSON", table, row);
        if (!is_json(sql_text(&q)) || !is_json(sql_text(&q)))
            add_problem(c, text);
    }
    sql_close(&q);
    return rc;
}

static int check_verdicts(struct checking *c, struct error *err)
{
    if (c->store->version < SCHEMA_VERDICTS)
        return 0;
    return check_json(c, "SELECT id, 'comparison', settings, settings FROM comparison", err) ||
                   check_json(c, "SELECT id, 'verdict', result, evidence FROM verdict", err) ||
                   check_json(c, "SELECT id, 'selftest', result, result FROM selftest", err)
               ? -1
               : 0;
}

static int check_all(struct checking *c, struct error *err)
{
    struct store *s = c->store;

    if (check_integrity(c, err) || check_references(c, err))
        return -1;
    if (sql_one_int(s, "SELECT count(*) FROM run", &c->health->runs, err) ||
        sql_one_int(s, "SELECT count(*) FROM launch", &c->health->launches, err))
        return -1;
    return check_measurements(c, err) || check_verdicts(c, err) ? -1 : 0;
}

int store_verify(struct store *s, struct store_health *health, struct error *err)
{
    struct checking c = { .store = s, .health = health };

    *health = (struct store_health) { 0 };
    strbuf_init(&c.problems);
    int rc = sql_execute(s, "BEGIN", err);
    if (rc == 0)
        rc = check_all(&c, err);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    if (rc == 0 && health->problems > 0)
        rc =
            error_set(err,
                      "%s: %" PRId64
                      " problem%s: %s. Keep a copy of the file, then restore a "
                      "backup or save what can be read: `harness history salvage FILE NEW`",
                      s->path, health->problems, health->problems == 1 ? "" : "s", c.problems.data);
    strbuf_release(&c.problems);
    return rc;
}

static int copy_pages(struct store *from, struct store *to, struct error *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->db, "main", from->db, "main");

    if (!backup)
        return sql_error(to, sqlite3_extended_errcode(to->db), err);
    /* One step reads everything as one snapshot; writers in WAL mode are not held up. */
    int rc = sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    if (rc == SQLITE_DONE)
        return 0;
    bool reading = (rc & 0xff) == SQLITE_BUSY || rc == SQLITE_IOERR_DATA;
    return sql_error(reading ? from : to, rc, err);
}

static int copy_to(struct store *s, struct store *copy, struct error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(copy->path, &copy->db, flags, WATCH_VFS);
    bool watched = watch_is_on(s->db);

    if (rc == SQLITE_OK && watched)
        rc = watch_new_file(copy->db);
    if (rc != SQLITE_OK)
        rc = sql_error(copy, rc, err);
    else
        rc = copy_pages(s, copy, err);
    /* Out of WAL mode: a backup is one file. The next writer turns it on again. */
    if (rc == 0)
        rc = sql_execute(copy, "PRAGMA journal_mode = DELETE", err);
    if (rc == 0 && !watched) /* nobody else has the copy */
        rc = store_vacuum(copy, err);
    sql_release_cache(copy);
    if (sqlite3_close(copy->db) != SQLITE_OK && rc == 0)
        rc = error_set(err, "%s: cannot finish the backup", copy->path);
    return rc;
}

int store_backup(struct store *s, const char *path, struct error *err)
{
    struct strbuf partial;

    if (file_exists(path))
        return error_set(err, "%s: exists already; a backup does not replace files", path);
    if (file_make_parent(path, err))
        return -1;
    strbuf_init(&partial);
    strbuf_addf(&partial, "%s.%ld.partial", path, (long)getpid());
    struct store copy = { .path = partial.data, .mode = STORE_WRITE };
    int rc = copy_to(s, &copy, err);
    if (rc == 0 && link(partial.data, path))
        rc = error_set(err, "%s: cannot create the backup", path);
    unlink(partial.data);
    strbuf_release(&partial);
    return rc;
}
