/* SPDX-License-Identifier: MIT */
#include "store/rows.h"

#include "base/json.h"
#include "base/memory.h"
#include "core/names.h"
#include "store/columns.h"
#include "store/samples.h"

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

int row_of_run(struct store *s, const char *uuid, int64_t *id, struct error *err)
{
    return find_by_uuid(s, "SELECT id FROM run WHERE uuid = ?", uuid, id, err);
}

int row_of_comparison(struct store *s, const char *uuid, int64_t *id, struct error *err)
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

char *telemetry_text(const struct measurement *m)
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
static char *numbers_text(const struct measurement *m)
{
    cJSON *object = numbers_to_json(m->numbers, m->nr_numbers);
    char *text = object ? cJSON_PrintUnformatted(object) : NULL;

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
    static const char *const extra[] = { "launch",     "benchmark", "telemetry", "numbers",
                                         "nr_samples", "samples",   NULL };
    struct sql_query q;
    int64_t benchmark;
    size_t length = 0;

    if (table_check_object(&table_measurement, s, m, err) ||
        write_benchmark(s, &m->bench, &benchmark, err) ||
        table_open_insert(&table_measurement, s, extra, &q, err))
        return -1;
    char *telemetry = telemetry_text(m), *numbers = numbers_text(m);
    unsigned char *blob = samples_blob(m, &length);
    sql_bind_int(&q, launch_id);
    sql_bind_int(&q, benchmark);
    sql_bind_text(&q, telemetry);
    sql_bind_text(&q, numbers);
    sql_bind_int(&q, (int64_t)m->nr_samples);
    sql_bind_blob(&q, blob, length);
    table_bind(&table_measurement, &q, m);
    int rc = sql_run(&q, err);
    free(blob);
    cJSON_free(telemetry);
    cJSON_free(numbers);
    return rc;
}

int write_roofs(struct store *s, const struct machine *machine, const char *epoch,
                const struct roof *roofs, size_t nr, struct error *err)
{
    static const char *const extra[] = { "machine", "epoch", NULL };
    int64_t id;

    if (table_intern(&table_machine, s, machine, &id, err))
        return -1;
    for (size_t i = 0; i < nr; i++) {
        struct sql_query q;
        if (table_check_object(&table_roof, s, &roofs[i], err) ||
            table_open_insert(&table_roof, s, extra, &q, err))
            return -1;
        sql_bind_int(&q, id);
        sql_bind_text(&q, epoch);
        table_bind(&table_roof, &q, &roofs[i]);
        if (sql_run(&q, err))
            return -1;
    }
    return 0;
}
