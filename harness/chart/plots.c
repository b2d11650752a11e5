/* SPDX-License-Identifier: MIT */
#include "chart/plots.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "chart/chart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* <folder>/<name>.json; takes the tree. */
static int plots_write_json(cJSON *json, const char *folder, const char *name, bool indented,
                            struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s.json", folder, name);
    int rc = json_write_file(json, path.data, indented, err);
    strbuf_release(&path);
    cJSON_Delete(json);
    return rc;
}

/* The folder that the preset's figure lies in, created. */
static int plots_make_folder(const struct plots_options *options, const struct preset *preset,
                             struct strbuf *folder, struct error *err)
{
    strbuf_adds(folder, options->folder);
    if (options->flat)
        return 0;
    strbuf_addf(folder, "/%s", plots_folder_of(preset));
    return file_make_directory(folder->data, err);
}

static int plots_paint(struct figure *f, const struct plot_request *request,
                       const struct plots_options *options, unsigned formats, struct error *err)
{
    struct strbuf folder;

    strbuf_init(&folder);
    int rc = plots_make_folder(options, request->chart.preset, &folder, err) ||
                     paint_gnuplot(f, folder.data, formats, err) ||
                     plots_write_json(figure_to_json(f), folder.data, f->id, false, err)
                 ? -1
                 : 0;
    strbuf_release(&folder);
    return rc;
}

/* What was drawn, for the booklet. */
struct drawn {
    struct figure **items;
    size_t nr, capacity;
};

static void plots_draw_one(const struct plot_request *request, const struct plots_options *options,
                           unsigned formats, struct plots_summary *summary, struct drawn *drawn)
{
    struct plot_result *result = array_push(summary);
    struct error err;

    result->preset = request->chart.preset;
    if (request->absence) {
        result->reason = memory_string(request->absence);
    } else {
        struct figure *f = chart_build(&request->chart);
        result->alt = memory_string(f->alt);
        if (f->reason)
            result->reason = memory_string(f->reason);
        else if (plots_paint(f, request, options, formats, &err))
            result->reason = memory_string(err.message);
        if (f->boxes && formats & ~(1u << PICTURE_SVG))
            result->boxes = memory_string(f->boxes);
        if (result->reason || !(formats & 1u << PICTURE_PDF))
            figure_free(f);
        else
            *array_push(drawn) = f;
    }
    summary->drawn += !result->reason;
    summary->absent += result->reason != NULL;
}

/* All PDFs as pages of one, plots.pdf. */
static int plots_draw_booklet(struct drawn *drawn, const char *folder, struct error *err)
{
    int rc = 0;

    if (drawn->nr)
        rc = paint_gnuplot_booklet((const struct figure *const *)drawn->items, drawn->nr, folder,
                                   "plots", err);
    for (size_t i = 0; i < drawn->nr; i++)
        figure_free(drawn->items[i]);
    array_release(drawn);
    return rc;
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

/* Also where it lay when figures had no folders, or was asked for by name. */
static void plots_remove_stale(const struct plots_options *options, const struct preset *preset)
{
    struct strbuf folder;

    strbuf_init(&folder);
    strbuf_addf(&folder, "%s/%s", options->folder, plots_folder_of(preset));
    remove_stale(options->folder, preset->name);
    if (!options->flat)
        remove_stale(folder.data, preset->name);
    strbuf_release(&folder);
}

/* Files of a result by format: "kernels/roofline.png"; flat without the folder. */
static void plots_add_file(struct strbuf *sb, const struct plot_result *r, bool flat, int format)
{
    strbuf_addf(sb, "%s%s%s.%s", flat ? "" : plots_folder_of(r->preset), flat ? "" : "/",
                r->preset->name, picture_format_name((enum picture_format)format));
}

static void list_picture(struct strbuf *sb, const struct plot_result *r,
                         const struct plots_options *options, unsigned formats)
{
    strbuf_addf(sb, "  %s (", r->preset->name);
    const char *comma = "";
    for (int i = 0; i < PICTURE_FORMAT_NR; i++) {
        if (!(formats & 1u << i))
            continue;
        strbuf_adds(sb, comma);
        plots_add_file(sb, r, options->flat, i);
        comma = ", ";
    }
    strbuf_addf(sb, "): %s\n      %s\n", plots_description_of(r->preset), r->alt ? r->alt : "");
    if (r->preset->how)
        strbuf_addf(sb, "      %s\n", r->preset->how);
    if (r->boxes)
        strbuf_addf(sb, "      no font here has these, which are boxes in PNG and PDF: %s\n",
                    r->boxes);
}

static int plots_write_text(const struct plots_summary *summary,
                            const struct plots_options *options, unsigned formats,
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
        if (!absent && summary->drawn && formats & 1u << PICTURE_PDF)
            strbuf_adds(&sb, "  plots.pdf: all of them, a page each\n");
        for (size_t i = 0; i < summary->nr; i++) {
            const struct plot_result *r = &summary->items[i];
            if (!absent && !r->reason)
                list_picture(&sb, r, options, formats);
        }
    }
    plots_add_absences(summary, "  ", &sb);
    strbuf_addf(&path, "%s/summary.txt", options->folder);
    int rc = file_write(path.data, sb.data, sb.length, err);
    strbuf_release(&sb);
    strbuf_release(&path);
    return rc;
}

static cJSON *result_json(const struct plot_result *r, bool flat, unsigned formats)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf name;

    json_add_string(json, "name", r->preset->name);
    json_add_string(json, "title", r->preset->title);
    json_add_string(json, "description", plots_description_of(r->preset));
    json_add_string(json, "type", r->preset->type->name);
    json_add_string(json, "section", r->preset->section);
    json_add_string(json, "how", r->preset->how);
    json_add_string(json, "reason", r->reason);
    if (r->reason)
        return json;
    json_add_string(json, "alt", r->alt);
    json_add_string(json, "boxes", r->boxes);
    cJSON *files = cJSON_AddArrayToObject(json, "files");
    strbuf_init(&name);
    for (int i = 0; i < PICTURE_FORMAT_NR; i++) {
        if (!(formats & 1u << i))
            continue;
        strbuf_clear(&name);
        plots_add_file(&name, r, flat, i);
        cJSON_AddItemToArray(files, cJSON_CreateString(name.data));
    }
    strbuf_release(&name);
    return json;
}

static int plots_write_list(const struct plots_summary *summary,
                            const struct plots_options *options, unsigned formats,
                            struct error *err)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddNumberToObject(json, "schema_version", 1);
    if (summary->drawn && formats & 1u << PICTURE_PDF)
        cJSON_AddStringToObject(json, "booklet", "plots.pdf");
    cJSON *plots = cJSON_AddArrayToObject(json, "plots");
    for (size_t i = 0; i < summary->nr; i++)
        cJSON_AddItemToArray(plots, result_json(&summary->items[i], options->flat, formats));
    return plots_write_json(json, options->folder, "plots", true, err);
}

int plots_draw(const struct plot_request *requests, size_t nr, const struct plots_options *options,
               struct plots_summary *summary, struct error *err)
{
    unsigned formats = options->formats ? options->formats : 1u << PICTURE_PNG | 1u << PICTURE_SVG;
    struct drawn drawn = { 0 };
    char version[128];

    *summary = (struct plots_summary) { 0 };
    if (paint_gnuplot_version(version, sizeof(version), err) ||
        file_make_directory(options->folder, err))
        return -1;
    for (size_t i = 0; i < nr; i++) {
        /* An old picture must not pass for new. */
        plots_remove_stale(options, requests[i].chart.preset);
        plots_draw_one(&requests[i], options, formats, summary, &drawn);
    }
    remove_stale(options->folder, "plots");
    return plots_draw_booklet(&drawn, options->folder, err) ||
                   plots_write_text(summary, options, formats, err) ||
                   plots_write_list(summary, options, formats, err) ||
                   (!options->flat && plots_write_index(summary, options->folder, formats, err))
               ? -1
               : 0;
}

void plots_summary_release(struct plots_summary *summary)
{
    for (size_t i = 0; i < summary->nr; i++) {
        free(summary->items[i].alt);
        free(summary->items[i].boxes);
        free(summary->items[i].reason);
    }
    array_release(summary);
}
