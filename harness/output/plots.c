/* SPDX-License-Identifier: MIT */
#include "output/plots.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const struct plots_options *options, const char *name)
{
    if (!options->only || options->only->nr == 0)
        return true;
    for (size_t i = 0; i < options->only->nr; i++)
        if (strcmp(options->only->items[i], name) == 0)
            return true;
    return false;
}

static int check_names(const struct plots_options *options, const struct presets *presets,
                       struct error *err)
{
    for (size_t i = 0; options->only && i < options->only->nr; i++)
        if (!presets_find(presets, options->only->items[i], err))
            return -1;
    return 0;
}

static int write_json(const struct figure *f, const char *folder, struct error *err)
{
    cJSON *json = figure_to_json(f);
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s.json", folder, f->id);
    int rc = json_write_file(json, path.data, false, err);
    strbuf_release(&path);
    cJSON_Delete(json);
    return rc;
}

/* Trends look at the history, all else at the records of the newest run. */
static struct figure *build(const struct records *records, const struct plots_options *options,
                            const struct preset *preset)
{
    struct chart chart = {
        .preset = preset,
        .records = records,
        .comparison = options->comparison,
        .base_label = options->base_label,
        .accepted = options->accepted,
        .nr_accepted = options->nr_accepted,
        .models = options->models,
        .nr_models = options->nr_models,
    };

    if (preset->modes & PLOT_TREND && options->history)
        chart.records = options->history;
    chart.run = run_newest(chart.records);
    return chart_build(&chart);
}

static void draw_one(const struct records *records, const struct plots_options *options,
                     unsigned formats, const struct preset *preset, struct plots_summary *summary)
{
    struct figure *f = build(records, options, preset);
    struct plot_result *result = array_push(summary);
    struct error err;

    result->name = memory_string(preset->name);
    result->title = memory_string(preset->title);
    result->description = memory_string(preset->description ? preset->description : preset->title);
    result->alt = memory_string(f->alt);
    if (f->reason)
        result->reason = memory_string(f->reason);
    else if (paint_gnuplot(f, options->folder, formats, &err) ||
             write_json(f, options->folder, &err))
        result->reason = memory_string(err.message);
    summary->drawn += !result->reason;
    summary->absent += result->reason != NULL;
    figure_free(f);
}

static void remove_stale(const char *folder, const char *name)
{
    static const char *const endings[] = { "gp", "json", "png", "svg", "pdf" };
    struct strbuf path;

    strbuf_init(&path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s.%s", folder, name, endings[i]);
        remove(path.data);
    }
    strbuf_release(&path);
}

static void list_files(struct strbuf *sb, const char *name, unsigned formats)
{
    const char *comma = "";

    for (int i = 0; i < PICTURE_FORMAT_NR; i++) {
        if (!(formats & 1u << i))
            continue;
        strbuf_addf(sb, "%s%s.%s", comma, name, picture_format_name((enum picture_format)i));
        comma = ", ";
    }
}

static int write_text(const struct plots_summary *summary, const char *folder, unsigned formats,
                      struct error *err)
{
    struct strbuf sb, path;

    strbuf_init(&sb);
    strbuf_init(&path);
    strbuf_addf(&sb, "%zu figure%s drawn, %zu absent\n", summary->drawn,
                summary->drawn == 1 ? "" : "s", summary->absent);
    for (int absent = 0; absent < 2; absent++) {
        if (absent ? summary->absent : summary->drawn)
            strbuf_adds(&sb, absent ? "\nAbsent, and why:\n" : "\n");
        for (size_t i = 0; i < summary->nr; i++) {
            const struct plot_result *r = &summary->items[i];
            if (absent && r->reason) {
                strbuf_addf(&sb, "  %s: %s\n", r->name, r->reason);
            } else if (!absent && !r->reason) {
                strbuf_addf(&sb, "  %s (", r->name);
                list_files(&sb, r->name, formats);
                strbuf_addf(&sb, "): %s\n      %s\n", r->description, r->alt ? r->alt : "");
            }
        }
    }
    strbuf_addf(&path, "%s/summary.txt", folder);
    int rc = file_write(path.data, sb.data, sb.length, err);
    strbuf_release(&sb);
    strbuf_release(&path);
    return rc;
}

static cJSON *result_json(const struct plot_result *r, unsigned formats)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf name;

    json_add_string(json, "name", r->name);
    json_add_string(json, "title", r->title);
    json_add_string(json, "description", r->description);
    json_add_string(json, "reason", r->reason);
    if (r->reason)
        return json;
    json_add_string(json, "alt", r->alt);
    cJSON *files = cJSON_AddArrayToObject(json, "files");
    strbuf_init(&name);
    for (int i = 0; i < PICTURE_FORMAT_NR; i++) {
        if (!(formats & 1u << i))
            continue;
        strbuf_clear(&name);
        strbuf_addf(&name, "%s.%s", r->name, picture_format_name((enum picture_format)i));
        cJSON_AddItemToArray(files, cJSON_CreateString(name.data));
    }
    strbuf_release(&name);
    return json;
}

static int write_list(const struct plots_summary *summary, const char *folder, unsigned formats,
                      struct error *err)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf path;

    cJSON_AddNumberToObject(json, "schema_version", 1);
    cJSON *plots = cJSON_AddArrayToObject(json, "plots");
    for (size_t i = 0; i < summary->nr; i++)
        cJSON_AddItemToArray(plots, result_json(&summary->items[i], formats));
    strbuf_init(&path);
    strbuf_addf(&path, "%s/plots.json", folder);
    int rc = json_write_file(json, path.data, true, err);
    strbuf_release(&path);
    cJSON_Delete(json);
    return rc;
}

int plots_draw(const struct records *records, const struct plots_options *options,
               struct plots_summary *summary, struct error *err)
{
    unsigned formats = options->formats ? options->formats : 1u << PICTURE_PNG | 1u << PICTURE_SVG;
    struct presets embedded = { 0 };
    const struct presets *presets = options->presets ? options->presets : &embedded;
    char version[128];
    int rc = -1;

    *summary = (struct plots_summary) { 0 };
    if ((!options->presets && presets_load_embedded(&embedded, err)) ||
        check_names(options, presets, err) ||
        paint_gnuplot_version(version, sizeof(version), err) ||
        file_make_directory(options->folder, err))
        goto out;
    for (size_t i = 0; i < presets->nr; i++) {
        const struct preset *preset = &presets->items[i];
        if (!is_wanted(options, preset->name))
            continue;
        remove_stale(options->folder, preset->name); /* an old picture must not pass for new */
        draw_one(records, options, formats, preset, summary);
    }
    rc = write_text(summary, options->folder, formats, err) ||
                 write_list(summary, options->folder, formats, err)
             ? -1
             : 0;
out:
    presets_release(&embedded);
    return rc;
}

void plots_summary_release(struct plots_summary *summary)
{
    for (size_t i = 0; i < summary->nr; i++) {
        struct plot_result *r = &summary->items[i];
        free(r->name);
        free(r->title);
        free(r->description);
        free(r->alt);
        free(r->reason);
    }
    array_release(summary);
}
