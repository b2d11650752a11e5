/* SPDX-License-Identifier: MIT */
/* All operations of a profile as numbers, which the page sorts, filters and saves. */
#include "page/page_parts.h"

#include "base/json.h"
#include "chart/base/profile_data.h"
#include "chart/profile/profile_base.h"

#include <math.h>
#include <string.h>

/* As many as a page bears, those of the longest own time. */
enum { ROWS_MOST = 20000 };

static const char *const operation_columns[] = {
    "operation",   "side",   "calls", "total",     "self",
    "share",       "median", "low",   "high",      "mean_iteration",
    "mean",        "sd",     "min",   "p50",       "p95",
    "max",         "gpu",    "cpu",   "transfer",  "launch",
    "utilization", "flops",  "bytes", "allocated", "peak",
    "backend",     "shown",
};

static void operation_push_number(cJSON *row, double value)
{
    cJSON_AddItemToArray(row, isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

static void operation_push_text(cJSON *row, const char *text)
{
    cJSON_AddItemToArray(row, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static double operation_part_ns(const struct prof_row *row, int64_t ns)
{
    return row->side == PROF_HOST && ns > 0 ? (double)ns : NAN;
}

/* Whole ns say more than any clock here. */
static double operation_whole_ns(double ns)
{
    return round(ns);
}

static cJSON *operation_row_json(const struct profile_data *data, const struct prof_row *row,
                                 double share)
{
    const struct timeline_middle *m = &timeline_typical_row(&data->found.typical, row)->self;
    double ns = timeline_row_ns(&data->found, row);
    const double numbers[] = {
        (double)row->side,
        (double)row->calls,
        (double)row->total,
        (double)row->self,
        share,
        m->median,
        m->low,
        m->high,
        operation_whole_ns(m->mean),
        operation_whole_ns(row->mean),
        row->calls > 1 ? operation_whole_ns(row->sd) : NAN,
        (double)row->min,
        (double)row->p50,
        (double)row->p95,
        (double)row->max,
        operation_part_ns(row, row->gpu),
        operation_part_ns(row, row->launch > 0 ? row->cpu : 0),
        operation_part_ns(row, row->transfer),
        operation_part_ns(row, row->launch),
        prof_row_utilisation(row) > 0 ? 100 * prof_row_utilisation(row) : NAN,
        row->flops > 0 && ns > 0 ? row->flops / ns * 1e9 : NAN,
        row->bytes > 0 && ns > 0 ? (double)row->bytes / ns * 1e9 : NAN,
        row->memory_mean >= 0 ? (double)row->memory_mean : NAN,
        row->memory_peak >= 0 ? (double)row->memory_peak : NAN,
    };
    cJSON *json = cJSON_CreateArray();
    char shown[KERNEL_NAME_SIZE];

    operation_push_text(json, row->name);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        operation_push_number(json, numbers[i]);
    operation_push_text(json, row->backend);
    const char *name = profile_shown_name(row->side, row->name, shown);
    operation_push_text(json, strcmp(name, row->name) ? name : NULL);
    return json;
}

static void operation_add_side(const struct profile_data *data, enum prof_side side, cJSON *rows)
{
    size_t room = ROWS_MOST - (size_t)cJSON_GetArraySize(rows);
    struct profile_worst w;

    profile_worst_init(&w, data, side, true, room);
    for (size_t i = 0; i < w.nr; i++)
        cJSON_AddItemToArray(rows, operation_row_json(data, w.list[i].row, w.list[i].share));
    profile_worst_release(&w);
}

struct cJSON *page_profile_operations(const struct profile_data *data)
{
    cJSON *all = cJSON_CreateObject();
    cJSON *columns = cJSON_AddArrayToObject(all, "columns");
    cJSON *rows = cJSON_AddArrayToObject(all, "rows");
    size_t nr = data->rows.nr_rows < ROWS_MOST ? data->rows.nr_rows : ROWS_MOST;

    for (size_t i = 0; i < sizeof(operation_columns) / sizeof(operation_columns[0]); i++)
        operation_push_text(columns, operation_columns[i]);
    operation_add_side(data, PROF_HOST, rows);
    operation_add_side(data, PROF_DEVICE, rows);
    if (nr < data->rows.nr_rows)
        json_add_int(all, "left_out", (int64_t)(data->rows.nr_rows - nr));
    return all;
}

void page_add_words(cJSON *array, struct strbuf *text)
{
    if (text->length)
        cJSON_AddItemToArray(array, cJSON_CreateString(text->data));
    strbuf_clear(text);
}

void page_add_operation(cJSON *array, const char *name, struct strbuf *words)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "operation", name);
    cJSON_AddStringToObject(json, "words", words->data);
    cJSON_AddItemToArray(array, json);
    strbuf_clear(words);
}
