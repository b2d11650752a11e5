/* SPDX-License-Identifier: MIT */
#include "cli/render/profile_diff.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/render/profile_import.h"
#include "gputrace/kernel_name.h"
#include "terminal/terminal.h"
#include "text/table.h"
#include "timeline/timeline_diff.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const struct table_column columns[] = {
    { "operation", TABLE_LEFT, TABLE_NAME, 0 },
    { "calls", TABLE_RIGHT, TABLE_FIRM, 4 },
    { "self before", TABLE_RIGHT, TABLE_FIRM, 2 },
    { "self after", TABLE_RIGHT, TABLE_FIRM, 1 },
    { "change", TABLE_RIGHT, TABLE_FIRM, 0 },
    { "95 % interval", TABLE_LEFT, TABLE_FIRM, 2 },
    { "relative", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "share of change", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "mean change", TABLE_RIGHT, TABLE_FIRM, 6 },
};

static void add_diff_calls(const struct diff_row *row, struct table *t)
{
    if (row->calls[0] == row->calls[1])
        table_cell(t, TABLE_PLAIN, "%.4g", row->calls[0]);
    else
        table_cell(t, TABLE_PLAIN, "%.4g > %.4g", row->calls[0], row->calls[1]);
}

static const char *signed_time(double ns, char text[PROF_TEXT_SIZE + 1])
{
    text[0] = ns < 0 ? '-' : '+';
    prof_time_text(fabs(ns), text + 1);
    return text;
}

/* Medians where they are known, and how far the means moved beside them. */
static void add_diff_row(const struct diff_row *row, struct table *t)
{
    char time[PROF_TEXT_SIZE + 1], other[PROF_TEXT_SIZE + 1], name[KERNEL_NAME_SIZE];
    bool by_median = isfinite(row->median[0]);
    const double *pair = by_median ? row->median : row->self;

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s",
               row->side == PROF_DEVICE ? kernel_name_short(row->name, name) : row->name);
    add_diff_calls(row, t);
    table_cell(t, TABLE_PLAIN, "%s", prof_time_text(pair[0], time));
    table_cell(t, TABLE_PLAIN, "%s", prof_time_text(pair[1], time));
    table_cell(t, TABLE_PLAIN, "%s", signed_time(row->change, time));
    if (isfinite(row->change_of[0]))
        table_cell(t, TABLE_PLAIN, "%s to %s", signed_time(row->change_of[0], time),
                   signed_time(row->change_of[1], other));
    else
        table_empty(t);
    if (pair[0] > 0)
        table_cell(t, TABLE_PLAIN, "%+.1f %%", 100 * row->change / pair[0]);
    else
        table_cell(t, TABLE_PLAIN, "new");
    table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * row->share);
    if (by_median)
        table_cell(t, TABLE_PLAIN, "%s", signed_time(row->self[1] - row->self[0], time));
    else
        table_empty(t);
}

static void print_diff_side(const struct timeline_diff *diff, enum prof_side side, size_t top,
                            struct strbuf *out)
{
    bool by_median = side == PROF_HOST && isfinite(diff->iteration[0]);
    const double *total = by_median ? diff->iteration : diff->total[side];
    char before[PROF_TEXT_SIZE], after[PROF_TEXT_SIZE];
    struct table t;
    size_t shown = 0;

    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < diff->nr_rows && shown < top; i++) {
        if (diff->rows[i].side != side)
            continue;
        add_diff_row(&diff->rows[i], &t);
        shown++;
    }
    if (shown > 0) {
        strbuf_addf(out, "\n%s: %s > %s an iteration%s\n", side == PROF_HOST ? "host" : "GPUs",
                    prof_time_text(total[0], before), prof_time_text(total[1], after),
                    by_median ? ", medians" : "");
        table_text(&t, terminal_width(), terminal_colour(), out);
    }
    table_release(&t);
}

static void print_diff(const struct timeline_diff *diff, const char *const names[2], size_t top,
                       struct strbuf *out)
{
    strbuf_addf(out, "before %s (%.0f iterations), after %s (%.0f)\n", names[0],
                diff->iterations[0], names[1], diff->iterations[1]);
    print_diff_side(diff, PROF_HOST, top, out);
    print_diff_side(diff, PROF_DEVICE, top, out);
    strbuf_adds(out,
                "\nOne profile a side tells where, not whether: for that, compare launches "
                "(harness compare).\n");
}

static void add_diff_pair(cJSON *json, const char *name, const double pair[2])
{
    cJSON *array = cJSON_AddArrayToObject(json, name);

    cJSON_AddItemToArray(array, cJSON_CreateNumber(pair[0]));
    cJSON_AddItemToArray(array, cJSON_CreateNumber(pair[1]));
}

static cJSON *diff_row_json(const struct diff_row *row)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "operation", row->name);
    cJSON_AddStringToObject(json, "side", row->side == PROF_HOST ? "host" : "device");
    add_diff_pair(json, "calls", row->calls);
    add_diff_pair(json, "self_ns", row->self);
    add_diff_pair(json, "total_ns", row->total);
    if (isfinite(row->median[0]))
        add_diff_pair(json, "median_ns", row->median);
    json_add_number(json, "change_ns", row->change);
    if (isfinite(row->change_of[0]))
        add_diff_pair(json, "change_interval_ns", row->change_of);
    json_add_number(json, "share", row->share);
    return json;
}

static cJSON *diff_to_json(const struct timeline_diff *diff, const char *const names[2])
{
    cJSON *json = cJSON_CreateObject(), *array;

    json_add_int(json, "schema_version", 1);
    json_add_string(json, "before", names[0]);
    json_add_string(json, "after", names[1]);
    add_diff_pair(json, "iterations", diff->iterations);
    add_diff_pair(json, "host_ns", diff->total[PROF_HOST]);
    add_diff_pair(json, "device_ns", diff->total[PROF_DEVICE]);
    array = cJSON_AddArrayToObject(json, "operations");
    for (size_t i = 0; i < diff->nr_rows; i++)
        cJSON_AddItemToArray(array, diff_row_json(&diff->rows[i]));
    return json;
}

static int write_diff_folded(const struct timeline_diff *diff, enum prof_side side,
                             const char *folder, const char *name, struct error *err)
{
    struct strbuf path, text;

    strbuf_init(&path);
    strbuf_init(&text);
    strbuf_addf(&path, "%s/%s", folder, name);
    timeline_diff_folded(diff, side, &text);
    int rc = file_write(path.data, text.data, text.length, err);
    strbuf_release(&text);
    strbuf_release(&path);
    return rc;
}

static int write_diff_files(const struct timeline_diff *diff, const char *const names[2],
                            const char *folder, struct error *err)
{
    struct strbuf path;
    cJSON *json = diff_to_json(diff, names);

    strbuf_init(&path);
    strbuf_addf(&path, "%s/diff.json", folder);
    int rc = json_write_file(json, path.data, true, err);
    cJSON_Delete(json);
    strbuf_release(&path);
    if (rc == 0)
        rc = write_diff_folded(diff, PROF_HOST, folder, "diff.folded", err);
    if (rc == 0 && diff->nr_frames[PROF_DEVICE] > 0)
        rc = write_diff_folded(diff, PROF_DEVICE, folder, "diff-gpu.folded", err);
    return rc;
}

static int tell_diff(const struct profile_output *o, const struct timeline_diff *diff,
                     const char *const names[2], struct error *err)
{
    struct strbuf folder, text;

    strbuf_init(&folder);
    int rc = profile_folder(o, "diff", &folder, err);
    if (rc == 0)
        rc = write_diff_files(diff, names, folder.data, err);
    if (rc == 0 && o->json) {
        rc = output_json(diff_to_json(diff, names), NULL, err);
    } else if (rc == 0) {
        strbuf_init(&text);
        print_diff(diff, names, o->top, &text);
        strbuf_addf(&text, "in %s: diff.json; diff.folded for differential flame graphs\n",
                    folder.data);
        rc = profile_say(&text, err);
    }
    strbuf_release(&folder);
    return rc;
}

int profile_diff(const struct profile_output *o, const char *const names[2], struct error *err)
{
    struct prof_trace traces[2];
    struct timeline_diff diff;
    int rc = 0;

    for (int i = 0; i < 2; i++)
        prof_trace_init(&traces[i]);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = profile_import(names[i], &traces[i], err);
    if (rc == 0)
        rc = timeline_diff(&traces[0], &traces[1], NULL, &diff, err);
    for (int i = 0; i < 2; i++)
        prof_trace_release(&traces[i]);
    if (rc)
        return -1;
    rc = tell_diff(o, &diff, names, err);
    timeline_diff_release(&diff);
    return rc;
}
