/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_tables.h"

#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it is ---- */

static bool tables_begins_with(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);

    return (size_t)(end - text) >= length && memcmp(text, word, length) == 0;
}

bool timeline_tables_is(const char *text, size_t length)
{
    const char *end = text + length;

    while (text < end && strchr(" \t\r\n{", *text) && *text)
        text++;
    return tables_begins_with(text, end, "\"schema_version\"") ||
           tables_begins_with(text, end, "\"schema\"");
}

/* ---- rows ---- */

enum row_kind { ROW_TEXT, ROW_COUNT, ROW_WHOLE, ROW_REAL, ROW_SIDE, ROW_DEVICE };

static const struct row_member {
    const char *name;
    enum row_kind kind;
    size_t at;
} row_members[] = {
    { "name", ROW_TEXT, offsetof(struct prof_row, name) },
    { "backend", ROW_TEXT, offsetof(struct prof_row, backend) },
    { "category", ROW_TEXT, offsetof(struct prof_row, category) },
    { "side", ROW_SIDE, offsetof(struct prof_row, side) },
    { "device", ROW_DEVICE, offsetof(struct prof_row, device) },
    { "calls", ROW_COUNT, offsetof(struct prof_row, calls) },
    { "mean", ROW_REAL, offsetof(struct prof_row, mean) },
    { "sd", ROW_REAL, offsetof(struct prof_row, sd) },
    { "flops", ROW_REAL, offsetof(struct prof_row, flops) },
    { "total", ROW_WHOLE, offsetof(struct prof_row, total) },
    { "self", ROW_WHOLE, offsetof(struct prof_row, self) },
    { "min", ROW_WHOLE, offsetof(struct prof_row, min) },
    { "max", ROW_WHOLE, offsetof(struct prof_row, max) },
    { "p50", ROW_WHOLE, offsetof(struct prof_row, p50) },
    { "p95", ROW_WHOLE, offsetof(struct prof_row, p95) },
    { "p99", ROW_WHOLE, offsetof(struct prof_row, p99) },
    { "gpu", ROW_WHOLE, offsetof(struct prof_row, gpu) },
    { "cpu", ROW_WHOLE, offsetof(struct prof_row, cpu) },
    { "transfer", ROW_WHOLE, offsetof(struct prof_row, transfer) },
    { "launch", ROW_WHOLE, offsetof(struct prof_row, launch) },
    { "bytes", ROW_WHOLE, offsetof(struct prof_row, bytes) },
    { "memory_peak", ROW_WHOLE, offsetof(struct prof_row, memory_peak) },
    { "memory_mean", ROW_WHOLE, offsetof(struct prof_row, memory_mean) },
};
enum { NR_ROW_MEMBERS = sizeof(row_members) / sizeof(row_members[0]), COLUMNS_MOST = 64 };

struct tables_reader {
    struct timeline_tables *to;
    const struct row_member *columns[COLUMNS_MOST]; /* NULL: one that a later version added */
    size_t nr_columns;
    const char *what;
    struct error *err;
};

/* Within what an int64_t and a double hold exactly enough: some hundred years in ns. */
static const double whole_most = 9e18;

static bool tables_is_number(const cJSON *item, double least)
{
    return cJSON_IsNumber(item) && item->valuedouble >= least && item->valuedouble <= whole_most;
}

static int tables_text(struct tables_reader *r, const cJSON *item, const char **to)
{
    if (cJSON_IsNull(item) || (cJSON_IsNumber(item) && item->valuedouble == 0)) {
        *to = NULL;
        return 0;
    }
    *to = cJSON_IsString(item) ? prof_trace_text(&r->to->texts, item->valuestring) : NULL;
    return *to ? 0 : -1;
}

static int tables_side(const cJSON *item, enum prof_side *side)
{
    if (!cJSON_IsNumber(item) || (item->valuedouble != 0 && item->valuedouble != 1))
        return -1;
    *side = item->valuedouble != 0 ? PROF_DEVICE : PROF_HOST;
    return 0;
}

static int tables_member(struct tables_reader *r, const struct row_member *m, const cJSON *item,
                         struct prof_row *row)
{
    char *at = (char *)row + m->at;

    if (m->kind == ROW_TEXT)
        return tables_text(r, item, (const char **)at);
    if (m->kind == ROW_SIDE)
        return tables_side(item, (enum prof_side *)at);
    if (!tables_is_number(item, m->kind == ROW_WHOLE ? -1 : 0))
        return -1;
    if (m->kind == ROW_REAL)
        *(double *)at = item->valuedouble;
    else if (m->kind == ROW_COUNT)
        *(size_t *)at = (size_t)item->valuedouble;
    else if (m->kind == ROW_DEVICE)
        *(int *)at = item->valuedouble < PROF_DEVICES ? (int)item->valuedouble : PROF_GPU;
    else
        *(int64_t *)at = (int64_t)item->valuedouble;
    return 0;
}

static int tables_row(struct tables_reader *r, const cJSON *list, size_t nth, struct prof_row *row)
{
    const cJSON *item = cJSON_IsArray(list) ? list->child : NULL;

    *row = (struct prof_row) { .memory_peak = -1, .memory_mean = -1 };
    for (size_t c = 0; c < r->nr_columns; c++, item = item->next) {
        if (!item)
            return error_set(r->err, "%s: row %zu of the summary has %zu of %zu columns", r->what,
                             nth + 1, c, r->nr_columns);
        if (r->columns[c] && tables_member(r, r->columns[c], item, row))
            return error_set(r->err, "%s: \"%s\" in row %zu of the summary is not what it must be",
                             r->what, r->columns[c]->name, nth + 1);
    }
    if (!row->category)
        row->category =
            prof_trace_text(&r->to->texts, row->side == PROF_DEVICE ? PROF_KERNELS : PROF_SCOPES);
    if (!row->name || !row->category)
        return error_set(r->err, "%s: row %zu of the summary has no name", r->what, nth + 1);
    return 0;
}

static int tables_columns(struct tables_reader *r, const cJSON *summary)
{
    const cJSON *columns = cJSON_GetObjectItemCaseSensitive(summary, "columns"), *one;

    cJSON_ArrayForEach(one, columns)
    {
        if (r->nr_columns == COLUMNS_MOST || !cJSON_IsString(one))
            return error_set(r->err, "%s: \"columns\" of the summary are not names", r->what);
        for (size_t i = 0; i < NR_ROW_MEMBERS; i++)
            if (strcmp(row_members[i].name, one->valuestring) == 0)
                r->columns[r->nr_columns] = &row_members[i];
        r->nr_columns++;
    }
    return r->nr_columns ? 0 : error_set(r->err, "%s: its summary has no \"columns\"", r->what);
}

static int tables_rows(struct tables_reader *r, const cJSON *summary)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(summary, "rows"), *one;
    struct prof_summary *s = &r->to->summary;

    if (tables_columns(r, summary))
        return -1;
    s->rows = memory_zeroed((size_t)cJSON_GetArraySize(rows) + 1, sizeof(*s->rows));
    cJSON_ArrayForEach(one, rows)
    {
        struct prof_row *row = &s->rows[s->nr_rows];
        if (tables_row(r, one, s->nr_rows, row))
            return -1;
        s->nr_rows++;
        s->total[row->side] += row->self;
        s->calls[row->side] += row->calls;
    }
    prof_summary_sort(s);
    return 0;
}

static void tables_meta(struct tables_reader *r, const cJSON *summary)
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(summary, "meta");
    struct prof_meta *to = &r->to->texts.meta;
    double rate = json_number(meta, "rate", 1);
    int64_t end = json_int(meta, "duration", 0);

    to->rate = rate >= 0 && rate <= 1 ? rate : 1;
    to->end = end > 0 ? end : 0;
    to->skipped = (uint64_t)fmax(0, json_number(meta, "skipped", 0));
    to->dropped = (uint64_t)fmax(0, json_number(meta, "dropped", 0));
    r->to->summary.meta = *to;
}

/* ---- iterations and parts ---- */

/* NULL: not `nr` numbers. */
static int64_t *tables_times(const cJSON *array, size_t nr)
{
    int64_t *times = memory_zeroed(nr + 1, sizeof(*times));
    size_t i = 0;
    const cJSON *one;

    cJSON_ArrayForEach(one, array)
    {
        if (i == nr || !tables_is_number(one, -whole_most))
            break;
        times[i++] = (int64_t)one->valuedouble;
    }
    if (i == nr && (size_t)cJSON_GetArraySize(array) == nr)
        return times;
    free(times);
    return NULL;
}

static int tables_layer(struct tables_reader *r, const cJSON *json, struct layer_samples *layer)
{
    size_t nr = r->to->layers.nr_iterations;
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(json, "gpu_ns");
    const cJSON *launch = cJSON_GetObjectItemCaseSensitive(json, "launch_ns");
    int64_t depth = json_int(json, "depth", 0);

    *layer = (struct layer_samples) {
        .name = prof_trace_text(&r->to->texts, json_string(json, "operation", "")),
        .depth = depth > 0 && depth < 1000 ? (int)depth : 0,
        .flops = fmax(0, json_number(json, "flops", 0)),
        .bytes = fmax(0, json_number(json, "bytes", 0)),
        .total_ns = tables_times(cJSON_GetObjectItemCaseSensitive(json, "total_ns"), nr),
        .self_ns = tables_times(cJSON_GetObjectItemCaseSensitive(json, "self_ns"), nr),
        .gpu_ns = gpu ? tables_times(gpu, nr) : memory_zeroed(nr + 1, sizeof(int64_t)),
        .launch_ns = launch ? tables_times(launch, nr) : memory_zeroed(nr + 1, sizeof(int64_t)),
    };
    if (!layer->name || !layer->name[0] || !layer->total_ns || !layer->self_ns || !layer->gpu_ns ||
        !layer->launch_ns)
        return error_set(r->err, "%s: an operation of \"layers\" has not one time an iteration",
                         r->what);
    /* 0 in files of older programs: then sums are shown, no medians. */
    layer->calls = (size_t)fmax(0, json_number(json, "calls", 0));
    return 0;
}

static int tables_layers(struct tables_reader *r, const cJSON *json)
{
    const cJSON *layers = cJSON_GetObjectItemCaseSensitive(json, "layers"), *one;
    const cJSON *ns = cJSON_GetObjectItemCaseSensitive(layers, "ns");
    struct timeline_layers *to = &r->to->layers;
    size_t nr = (size_t)cJSON_GetArraySize(ns);

    if (!layers || nr == 0)
        return 0;
    to->iteration = prof_trace_text(&r->to->texts, json_string(layers, "iteration", ""));
    to->ns = tables_times(ns, nr);
    to->rest_ns = tables_times(cJSON_GetObjectItemCaseSensitive(layers, "rest_ns"), nr);
    const cJSON *launch = cJSON_GetObjectItemCaseSensitive(layers, "rest_launch_ns");
    to->rest_launch_ns = launch ? tables_times(launch, nr) : memory_zeroed(nr + 1, sizeof(int64_t));
    to->gpu_ns = memory_zeroed(nr + 1, sizeof(int64_t));
    to->start = memory_zeroed(nr + 1, sizeof(int64_t));
    if (!to->iteration || !to->ns || !to->rest_ns || !to->rest_launch_ns)
        return error_set(r->err, "%s: \"layers\" has not one \"ns\" and \"rest_ns\" an iteration",
                         r->what);
    to->nr_iterations = nr;
    for (size_t i = 1; i < nr; i++) /* one behind the other: their places are in the trace alone */
        to->start[i] = to->start[i - 1] + to->ns[i - 1];
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(layers, "operations");
    to->items = memory_zeroed((size_t)cJSON_GetArraySize(list) + 1, sizeof(*to->items));
    cJSON_ArrayForEach(one, list)
    {
        to->nr++; /* what it has is released, also of one that is wrong */
        if (tables_layer(r, one, &to->items[to->nr - 1]))
            return -1;
    }
    return 0;
}

static void tables_split(struct tables_reader *r, const cJSON *json)
{
    const cJSON *split = cJSON_GetObjectItemCaseSensitive(json, "split");
    const cJSON *parts = cJSON_GetObjectItemCaseSensitive(split, "parts");
    struct timeline_split *to = &r->to->split;
    int64_t device = json_int(split, "device", -1);

    *to = (struct timeline_split) { .device =
                                        device >= 0 && device < PROF_DEVICES ? (int)device : -1 };
    to->gap_ns = json_int(split, "gap_ns", 0);
    for (int i = 0; i < PART_NR; i++) {
        int64_t ns = json_int(parts, timeline_part_name((enum timeline_part)i), 0);
        to->ns[i] = ns > 0 ? ns : 0;
        to->span += to->ns[i];
    }
}

/* ---- both forms ---- */

static int tables_read(struct tables_reader *r, const cJSON *json)
{
    const cJSON *summary = cJSON_GetObjectItemCaseSensitive(json, "summary");
    const cJSON *own = summary ? summary : json; /* the library's form stands alone */

    if (json_number(json, summary ? "schema_version" : "schema", 0) != 1 ||
        !cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(own, "rows")))
        return error_set(r->err,
                         "%s: it is no trace, and no profile.json or summary of the scopes library "
                         "that this harness knows",
                         r->what);
    tables_meta(r, own);
    if (tables_rows(r, own) || tables_layers(r, json))
        return -1;
    tables_split(r, json);
    return 0;
}

int timeline_tables_parse(const char *text, size_t length, const char *what,
                          struct timeline_tables *tables, struct error *err)
{
    struct tables_reader r = { .to = tables, .what = what, .err = err };
    cJSON *json = json_parse(text, length, what, err);

    *tables = (struct timeline_tables) { .split = { .device = -1 }, .layers = { .track = -1 } };
    prof_trace_init(&tables->texts);
    int rc = json ? tables_read(&r, json) : -1;
    cJSON_Delete(json);
    return rc;
}

void timeline_tables_release(struct timeline_tables *tables)
{
    timeline_layers_release(&tables->layers);
    prof_summary_release(&tables->summary);
    prof_trace_release(&tables->texts);
}
