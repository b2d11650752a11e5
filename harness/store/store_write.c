/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/memory.h"
#include "core/names.h"
#include "stats/random.h"
#include "store/columns.h"
#include "store/keeping.h"
#include "store/samples.h"
#include "store/samples_thin.h"
#include "store/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_by_uuid(struct store *s, const char *text, const char *uuid, int64_t *id,
                        struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_text(&q, uuid);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *id = sql_int(&q);
    sql_close(&q);
    return rc;
}

int find_run(struct store *s, const char *uuid, int64_t *id, struct error *err)
{
    return find_by_uuid(s, "SELECT id FROM run WHERE uuid = ?", uuid, id, err);
}

int find_comparison(struct store *s, const char *uuid, int64_t *id, struct error *err)
{
    return find_by_uuid(s, "SELECT id FROM comparison WHERE uuid = ?", uuid, id, err);
}

int write_run(struct store *s, struct run *run, struct error *err)
{
    static const char *const extra[] = { "machine", "build", NULL };
    struct sql_query q;
    int64_t machine, build;

    if (table_check_object(&table_machine, s, &run->machine, err) ||
        table_check_object(&table_run, s, run, err) ||
        table_intern(&table_machine, s, &run->machine, &machine, err) ||
        table_intern(&table_build, s, &run->build, &build, err) ||
        table_open_insert(&table_run, s, extra, &q, err))
        return -1;
    sql_bind_int(&q, machine);
    sql_bind_int(&q, build);
    table_bind(&table_run, &q, run);
    if (sql_run(&q, err))
        return -1;
    run->id = sql_last_id(s);
    return 0;
}

int store_begin_run(struct store *s, struct run *run, struct error *err)
{
    if (run->uuid[0] == '\0')
        random_uuid(run->uuid);
    if (sql_begin(s, err) || sql_end(s, write_run(s, run, err), err))
        return -1;
    keeping_run(s, run);
    return 0;
}

/* Runs an UPDATE or DELETE that must meet exactly one row. */
static int change_one(struct store *s, struct sql_query *q, const char *what, int64_t id,
                      struct error *err)
{
    if (sql_run(q, err))
        return -1;
    if (sqlite3_changes(s->db) == 1)
        return 0;
    return error_set(err, "%s: there is no %s %" PRId64, s->path, what, id);
}

static int update_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "UPDATE run SET ended_ms = ? WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, ended_ms);
    sql_bind_int(&q, run_id);
    return change_one(s, &q, "run", run_id, err);
}

static int end_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err)
{
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, update_run(s, run_id, ended_ms, err), err);
}

int store_end_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err)
{
    if (end_run(s, run_id, ended_ms, err) &&
        (keeping_go_elsewhere(s, err) || end_run(s, run_id, ended_ms, err)))
        return -1;
    keeping_forget(s, run_id);
    /* A courtesy to those who look at the main file alone: it may fail, because others read the
     * file, and the run is stored all the same. */
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return 0;
}

int write_launch(struct store *s, int64_t run_id, const struct launch *launch, int64_t *launch_id,
                 struct error *err)
{
    static const char *const extra[] = { "run", NULL };
    struct sql_query q;

    if (table_check_object(&table_launch, s, launch, err) ||
        table_open_insert(&table_launch, s, extra, &q, err))
        return -1;
    sql_bind_int(&q, run_id);
    table_bind(&table_launch, &q, launch);
    if (sql_run(&q, err))
        return -1;
    *launch_id = sql_last_id(s);
    return 0;
}

static int begin_launch(struct store *s, int64_t run_id, const struct launch *launch, int64_t *id,
                        struct error *err)
{
    if (sql_begin(s, err))
        return -1;
    return sql_end(s, write_launch(s, run_id, launch, id, err), err);
}

int store_begin_launch(struct store *s, int64_t run_id, const struct launch *launch,
                       int64_t *launch_id, struct error *err)
{
    if (begin_launch(s, run_id, launch, launch_id, err) &&
        (keeping_go_elsewhere(s, err) || begin_launch(s, run_id, launch, launch_id, err)))
        return -1;
    keeping_launch(s, run_id, *launch_id, launch);
    return 0;
}

int store_find_launch(struct store *s, int64_t run_id, int seq, int64_t *launch_id,
                      struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT id FROM launch WHERE run = ? AND seq = ?", err))
        return -1;
    sql_bind_int(&q, run_id);
    sql_bind_int(&q, seq);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *launch_id = sql_int(&q);
    sql_close(&q);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return error_set(err, "%s: run %" PRId64 " has no launch %d", s->path, run_id, seq);
}

static int update_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                         struct error *err)
{
    static const char *const text =
        "UPDATE launch SET ended_ms = ?, exit_status = ?, error_text = ? WHERE id = ?";
    struct sql_query q;

    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_int(&q, launch->ended_ms);
    sql_bind_int(&q, launch->exit_status);
    sql_bind_text(&q, launch->error_text);
    sql_bind_int(&q, launch_id);
    return change_one(s, &q, "launch", launch_id, err);
}

static int end_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                      struct error *err)
{
    if (sql_begin(s, err))
        return -1;
    return sql_end(s, update_launch(s, launch_id, launch, err), err);
}

int store_end_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                     struct error *err)
{
    if (end_launch(s, launch_id, launch, err) &&
        (keeping_go_elsewhere(s, err) || end_launch(s, launch_id, launch, err)))
        return -1;
    keeping_launch_end(s, launch_id, launch);
    return 0;
}

int write_dims(struct store *s, int64_t benchmark, const struct benchmark_name *name,
               struct error *err)
{
    static const char *const text =
        "INSERT INTO benchmark_dim (benchmark, position, name, value) VALUES (?, ?, ?, ?)";

    for (int i = 0; i < name->nr_dims; i++) {
        const struct benchmark_dim *dim = &name->dims[i];
        struct sql_query q;
        if (!name_is_line(dim->name) || dim->value > FACT_COUNT_MAX || dim->value < -FACT_COUNT_MAX)
            return error_set(err, "%s: not stored: dim %d of \"%s\" is not what it can be", s->path,
                             i + 1, name->key);
        if (sql_open(&q, s, text, err))
            return -1;
        sql_bind_int(&q, benchmark);
        sql_bind_int(&q, i);
        sql_bind_text(&q, name->dims[i].name);
        sql_bind_int(&q, name->dims[i].value);
        if (sql_run(&q, err))
            return -1;
    }
    return 0;
}

int write_benchmark(struct store *s, const struct benchmark_name *name, int64_t *id,
                    struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT id FROM benchmark WHERE key = ?", err))
        return -1;
    sql_bind_text(&q, name->key);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *id = sql_int(&q);
    sql_close(&q);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (table_check_object(&table_benchmark, s, name, err) ||
        table_open_insert(&table_benchmark, s, NULL, &q, err))
        return -1;
    table_bind(&table_benchmark, &q, name);
    if (sql_run(&q, err))
        return -1;
    *id = sql_last_id(s);
    return write_dims(s, *id, name, err);
}

/* Not cJSON's own numbers: they are rounded to 15 digits where the last one differs little. */
static void add_exact(cJSON *object, const char *key, double value)
{
    char digits[32];

    snprintf(digits, sizeof(digits), "%.17g", value);
    cJSON_AddRawToObject(object, key, digits);
}

/* NULL if there is none. */
static char *telemetry_text(const struct measurement *m)
{
    if (m->nr_telemetry == 0)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    for (int i = 0; i < m->nr_telemetry; i++)
        if (fact_is_finite(m->telemetry[i].value) && name_is_line(m->telemetry[i].name))
            add_exact(object, m->telemetry[i].name, m->telemetry[i].value);
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

/* NULL if there are none. */
static unsigned char *samples_blob(const struct measurement *m, size_t *length)
{
    if (m->nr_samples == 0)
        return NULL;
    if (!m->thinned)
        return samples_encode(m->samples, m->nr_samples, length);
    uint64_t *copy = memory_resize(NULL, m->nr_samples, sizeof(*copy));
    memcpy(copy, m->samples, m->nr_samples * sizeof(*copy));
    unsigned char *blob = samples_thin(copy, m->nr_samples, length);
    free(copy);
    return blob ? blob : samples_encode(m->samples, m->nr_samples, length);
}

int write_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                      struct error *err)
{
    static const char *const extra[] = { "launch",     "benchmark", "telemetry",
                                         "nr_samples", "samples",   NULL };
    struct sql_query q;
    int64_t benchmark;
    size_t length = 0;

    if (table_check_object(&table_measurement, s, m, err) ||
        write_benchmark(s, &m->bench, &benchmark, err) ||
        table_open_insert(&table_measurement, s, extra, &q, err))
        return -1;
    char *telemetry = telemetry_text(m);
    unsigned char *blob = samples_blob(m, &length);
    sql_bind_int(&q, launch_id);
    sql_bind_int(&q, benchmark);
    sql_bind_text(&q, telemetry);
    sql_bind_int(&q, (int64_t)m->nr_samples);
    sql_bind_blob(&q, blob, length);
    table_bind(&table_measurement, &q, m);
    int rc = sql_run(&q, err);
    free(blob);
    cJSON_free(telemetry);
    return rc;
}

static int add_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                           struct error *err)
{
    if (sql_begin(s, err))
        return -1;
    return sql_end(s, write_measurement(s, launch_id, m, err), err);
}

int store_add_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                          struct error *err)
{
    if (add_measurement(s, launch_id, m, err) &&
        (keeping_go_elsewhere(s, err) || add_measurement(s, launch_id, m, err)))
        return -1;
    keeping_measurement(s, launch_id, m);
    return 0;
}

int write_ceilings(struct store *s, const struct machine *machine, const char *epoch,
                   const struct ceiling *ceilings, size_t nr, struct error *err)
{
    static const char *const extra[] = { "machine", "epoch", NULL };
    int64_t id;

    if (table_intern(&table_machine, s, machine, &id, err))
        return -1;
    for (size_t i = 0; i < nr; i++) {
        struct sql_query q;
        if (table_check_object(&table_ceiling, s, &ceilings[i], err) ||
            table_open_insert(&table_ceiling, s, extra, &q, err))
            return -1;
        sql_bind_int(&q, id);
        sql_bind_text(&q, epoch);
        table_bind(&table_ceiling, &q, &ceilings[i]);
        if (sql_run(&q, err))
            return -1;
    }
    return 0;
}

int store_add_ceilings(struct store *s, const struct machine *machine, const char *epoch,
                       const struct ceiling *ceilings, size_t nr, struct error *err)
{
    if (sql_begin_lasting(s, err) ||
        sql_end(s, write_ceilings(s, machine, epoch, ceilings, nr, err), err))
        return -1;
    keeping_ceilings(s, machine, epoch, ceilings, nr);
    return 0;
}
