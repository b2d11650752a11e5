/* SPDX-License-Identifier: MIT */
/* The same as JSON, and the files of a profile. */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "chart/base/profile_facts.h"
#include "cli/render/profile_counters.h"
#include "cli/render/profile_view.h"
#include "profile/export.h"
#include "terminal/terminal.h"
#include "timeline/timeline_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of single calls. */
static void add_calls_json(const struct prof_row *row, cJSON *json)
{
    json_add_int(json, "calls", (int64_t)row->calls);
    json_add_number(json, "mean_ns", row->mean);
    json_add_number(json, "sd_ns", row->sd);
    json_add_int(json, "min_ns", row->min);
    json_add_int(json, "max_ns", row->max);
    if (row->side == PROF_HOST && row->gpu > 0)
        json_add_int(json, "gpu_ns", row->gpu);
}

/* Of iterations, in the time that the list is by; nothing where they are not known. */
static void add_median_json(const struct profile_view *v, const struct prof_row *row,
                            enum prof_by by, cJSON *json)
{
    const struct typical_row *typical = timeline_typical_row(&v->found.typical, row);
    const struct timeline_middle *m = by == PROF_BY_SELF ? &typical->self : &typical->total;

    if (isnan(m->median))
        return;
    cJSON *iteration = cJSON_AddObjectToObject(json, "iteration");
    json_add_number(iteration, "median_ns", m->median);
    json_add_number(iteration, "mean_ns", m->mean);
    if (isnan(m->low))
        return;
    cJSON *interval = cJSON_AddArrayToObject(iteration, "interval_ns");
    cJSON_AddItemToArray(interval, cJSON_CreateNumber(m->low));
    cJSON_AddItemToArray(interval, cJSON_CreateNumber(m->high));
}

static cJSON *bottlenecks_json(const struct profile_view *v, enum prof_side side, enum prof_by by,
                               size_t top)
{
    struct prof_bottleneck *list = memory_zeroed(top + 1, sizeof(*list));
    size_t nr = timeline_typical_bottlenecks(&v->found.typical, &v->main, side, by, list, top);
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < nr; i++) {
        const struct prof_row *row = list[i].row;
        struct timeline_roof roof = timeline_row_roof(&v->found, &v->roofs, row);
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "operation", row->name);
        json_add_int(json, "self_ns", row->self);
        json_add_int(json, "total_ns", row->total);
        json_add_number(json, "share", list[i].share);
        json_add_number(json, "cumulative", list[i].cumulative);
        add_calls_json(row, json);
        add_median_json(v, row, by, json);
        if (roof.bound != TIMELINE_UNBOUND) {
            cJSON_AddStringToObject(json, "roof", roof.name);
            json_add_number(json, "roof_fraction", roof.fraction);
        }
        cJSON_AddItemToArray(array, json);
    }
    free(list);
    return array;
}

static cJSON *split_json(const struct timeline_split *s)
{
    cJSON *json = cJSON_CreateObject(), *parts = NULL;

    json_add_int(json, "device", s->device);
    json_add_int(json, "span_ns", s->span);
    if (s->device >= 0)
        json_add_int(json, "gap_ns", s->gap_ns);
    parts = cJSON_AddObjectToObject(json, "parts");
    for (int i = 0; i < PART_NR; i++)
        json_add_int(parts, timeline_part_name((enum timeline_part)i), s->ns[i]);
    return json;
}

static cJSON *advice_json(const struct advice_list *list)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < list->nr; i++) {
        const struct advice *a = &list->items[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "rule", a->rule);
        json_add_string(json, "operation", a->operation);
        json_add_number(json, "value", a->value);
        json_add_number(json, "threshold", a->threshold);
        json_add_number(json, "weight", a->weight);
        cJSON_AddStringToObject(json, "text", a->text);
        cJSON_AddItemToArray(array, json);
    }
    return array;
}

static void add_times_json(cJSON *json, const char *name, const int64_t *ns, size_t nr)
{
    cJSON *array = cJSON_AddArrayToObject(json, name);

    for (size_t i = 0; i < nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber((double)ns[i]));
}

/* Where there is a GPU. */
static void add_any_times_json(cJSON *json, const char *name, const int64_t *ns, size_t nr)
{
    bool any = false;

    for (size_t i = 0; i < nr; i++)
        any |= ns[i] != 0;
    if (any)
        add_times_json(json, name, ns, nr);
}

static cJSON *layers_json(const struct timeline_layers *l)
{
    cJSON *json = cJSON_CreateObject(), *array;

    cJSON_AddStringToObject(json, "iteration", l->iteration);
    add_times_json(json, "ns", l->ns, l->nr_iterations);
    add_times_json(json, "rest_ns", l->rest_ns, l->nr_iterations);
    add_any_times_json(json, "rest_launch_ns", l->rest_launch_ns, l->nr_iterations);
    if (l->nr_left_out)
        json_add_int(json, "left_out", (int64_t)l->nr_left_out);
    array = cJSON_AddArrayToObject(json, "operations");
    for (size_t i = 0; i < l->nr; i++) {
        const struct layer_samples *s = &l->items[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "operation", s->name);
        json_add_int(one, "depth", s->depth);
        json_add_int(one, "calls", (int64_t)s->calls);
        json_add_number(one, "flops", s->flops);
        json_add_number(one, "bytes", s->bytes);
        add_times_json(one, "total_ns", s->total_ns, l->nr_iterations);
        add_times_json(one, "self_ns", s->self_ns, l->nr_iterations);
        add_any_times_json(one, "gpu_ns", s->gpu_ns, l->nr_iterations);
        add_any_times_json(one, "launch_ns", s->launch_ns, l->nr_iterations);
        cJSON_AddItemToArray(array, one);
    }
    return json;
}

/* Of each side as many rows as a reader's JSON takes, the longest; rows are sorted so. */
enum { ROWS_MOST = 20000 };

static void keep_longest(const struct prof_summary *all, struct prof_summary *kept)
{
    size_t nr[2] = { 0 };

    *kept = *all;
    kept->rows = memory_zeroed(all->nr_rows + 1, sizeof(*kept->rows));
    kept->nr_rows = 0;
    for (size_t i = 0; i < all->nr_rows; i++)
        if (nr[all->rows[i].side]++ < ROWS_MOST)
            kept->rows[kept->nr_rows++] = all->rows[i];
}

/* The library's own form, as it is. */
static cJSON *summary_json(const struct profile_view *v, struct error *err)
{
    struct prof_summary kept;
    char *text = NULL;
    size_t length = 0;

    keep_longest(&v->summary, &kept);
    FILE *file = open_memstream(&text, &length);
    int rc = file ? prof_write_summary(file, &kept, v->cost.on > 0 ? &v->cost : NULL) : -1;
    if (file && fclose(file))
        rc = -1;
    free(kept.rows);
    cJSON *json = rc ? NULL : json_parse(text, length, "summary", err);
    if (rc)
        error_set(err, "no memory for a summary");
    free(text);
    return json;
}

cJSON *profile_to_json(const struct profile_view *v, size_t top, struct error *err)
{
    static const char *const names[2][2] = { { "by_self", "by_total" },
                                             { "gpu_by_self", "gpu_by_total" } };
    cJSON *summary = summary_json(v, err), *json, *worst;

    if (!summary)
        return NULL;
    size_t shown = (size_t)cJSON_GetArraySize(cJSON_GetObjectItem(summary, "rows"));
    if (shown < v->summary.nr_rows)
        json_add_int(summary, "left_out", (int64_t)(v->summary.nr_rows - shown));
    json = cJSON_CreateObject();
    json_add_int(json, "schema_version", 1);
    cJSON_AddStringToObject(json, "profile", v->title);
    json_add_int(json, "launches", v->launches);
    cJSON_AddItemToObject(json, "summary", summary);
    profile_roofs_to_json(&v->roofs, json);
    worst = cJSON_AddObjectToObject(json, "bottlenecks");
    for (int side = 0; side < 2; side++)
        for (int by = 0; by < 2; by++)
            cJSON_AddItemToObject(worst, names[side][by],
                                  bottlenecks_json(v, (enum prof_side)side, (enum prof_by)by, top));
    cJSON_AddItemToObject(json, "split", split_json(&v->found.split));
    cJSON_AddItemToObject(json, "advice", advice_json(&v->found.advice));
    if (v->found.layers.nr_iterations > 0)
        cJSON_AddItemToObject(json, "layers", layers_json(&v->found.layers));
    if (v->counters)
        cJSON_AddItemToObject(json, "counters", profile_counters_to_json(v->counters));
    return json;
}

static char *profile_path(const char *folder, const char *name)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    return strbuf_detach(&path);
}

/* How much it leaves out; -1: no memory, or what the file says. */
typedef int write_fn(FILE *file, const struct profile_view *v);

static int write_host_stacks(FILE *file, const struct profile_view *v)
{
    return prof_write_folded(file, &v->main, PROF_HOST);
}

static int write_device_stacks(FILE *file, const struct profile_view *v)
{
    return prof_write_folded(file, &v->main, PROF_DEVICE);
}

static int write_readable_trace(FILE *file, const struct profile_view *v)
{
    return timeline_write(file, &v->trace, NULL);
}

/* -1, or what `write` returns. */
static int write_profile_file(write_fn *write, const struct profile_view *v, const char *folder,
                              const char *name, struct error *err)
{
    char *path = profile_path(folder, name);
    struct file_output file;
    int rc = file_begin(&file, path, err), left_out = 0;

    if (rc == 0 && (left_out = write(file.stream, v)) < 0 && !ferror(file.stream)) {
        file_abort(&file); /* what the file itself fails at, file_commit() tells */
        rc = error_set(err, "%s: no memory to write it", path);
    } else if (rc == 0) {
        rc = file_commit(&file, err);
    }
    free(path);
    return rc ? -1 : left_out;
}

int profile_write(const struct profile_view *v, const char *folder, size_t top, struct error *err)
{
    cJSON *json = profile_to_json(v, top, err);

    if (!json)
        return -1;
    char *path = profile_path(folder, "profile.json");
    int rc = json_write_file(json, path, true, err);
    cJSON_Delete(json);
    free(path);
    if (rc || write_profile_file(write_host_stacks, v, folder, "stacks.folded", err))
        return -1;
    return v->summary.calls[PROF_DEVICE]
               ? write_profile_file(write_device_stacks, v, folder, "stacks-gpu.folded", err)
               : 0;
}

int profile_write_trace(const struct profile_view *v, const char *folder, struct error *err)
{
    int left_out = write_profile_file(write_readable_trace, v, folder, "trace.json", err);

    if (left_out > 0)
        terminal_note(
            "%s/trace.json is without %d of the shortest calls and points of counters: "
            "with all it would be larger than what is read\n",
            folder, left_out);
    return left_out < 0 ? -1 : 0;
}
