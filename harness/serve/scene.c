/* SPDX-License-Identifier: MIT */
#include "serve/scene.h"

#include "base/array.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static const struct run_values no_values;

const char *scene_machine(const struct scene *scene)
{
    const struct view *view = &scene->view;

    return view->head < 0 ? NULL : view->records.runs[view->head].machine.class_name;
}

/* The view borrows the past; scene_drop() takes it back before the view is released. */
static void lend_past(struct scene *scene)
{
    if (!scene->past)
        return;
    scene->view.history = scene->past->runs;
    scene->view.history_is_borrowed = true;
    scene->view.series = &scene->past->series;
    scene->view.trends = &scene->past->trends;
    scene->view.accepted = scene->past->accepted;
    scene->view.remarks = scene->past->remarks;
}

static void take_back_past(struct scene *scene)
{
    if (!scene->past)
        return;
    scene->view.history = (struct records) { 0 };
    scene->view.accepted = (struct accepted_steps) { 0 };
    scene->view.remarks = (struct remarks) { 0 };
}

/* Names of runs, to choose from: what they measured is loaded when they are chosen. */
static void list_runs(struct scene *scene)
{
    scene->more = memory_zeroed(scene->listed.nr_runs + 1, sizeof(*scene->more));
    for (size_t i = 0; i < scene->listed.nr_runs; i++)
        scene->more[i] = (struct page_run) { .run = &scene->listed.runs[i], .values = &no_values };
}

void scene_finish(struct scene *scene, const struct scene_source *source, struct past *past)
{
    size_t notes = 0;

    scene->past = past;
    list_runs(scene);
    if (scene_machine(scene) && !past)
        scene->notes[notes++] =
            source->past_failed
                ? "there are no trends: a run of the history cannot be read; `harness history "
                  "verify` says which"
                : "the trends are still being read; reload in a moment";
    if (scene->no_base.length)
        scene->notes[notes++] = scene->no_base.data;
    if (scene->gave_up)
        scene->notes[notes++] = "older runs were not searched: the list goes on with them";
    else if (scene->view.head < 0 && !scene->view.profile)
        scene->notes[notes++] = "no finished run fits";
    struct page_options options = {
        .live = true,
        .generator = source->generator,
        .created_ms = source->created_ms,
        .history = source->history,
        .baseline = scene->baseline.length ? NULL : source->request->baseline,
        .more = scene->more,
        .nr_more = scene->listed.nr_runs,
        .trends = past ? &past->trends : NULL,
        .notes = scene->notes,
        .nr_notes = notes,
    };
    /* Runs of the past are no runs of the page, but for those in the list. */
    page_init(&scene->page, &scene->view, &options);
    lend_past(scene);
}

void scene_keep(void *thing)
{
    struct scene *scene = thing;

    atomic_fetch_add(&scene->holders, 1);
}

void scene_drop(void *thing)
{
    struct scene *scene = thing;

    if (!scene || atomic_fetch_sub(&scene->holders, 1) > 1)
        return;
    page_release(&scene->page);
    take_back_past(scene);
    view_release(&scene->view);
    records_release(&scene->listed);
    string_list_release(&scene->keys);
    strbuf_release(&scene->baseline);
    strbuf_release(&scene->no_base);
    free(scene->more);
    past_drop(scene->past);
    free(scene);
}

/* ---- figures ---- */

/* A key as a glob that fits it alone. */
static void add_glob(struct string_list *globs, const char *key)
{
    struct strbuf glob;

    strbuf_init(&glob);
    for (; *key; key++) {
        if (strchr("*?[\\", *key))
            strbuf_addc(&glob, '\\');
        strbuf_addc(&glob, *key);
    }
    string_list_add(globs, glob.data);
    strbuf_release(&glob);
}

static bool has_key(const struct string_list *keys, const char *key)
{
    for (size_t i = 0; i < keys->nr; i++)
        if (strcmp(keys->items[i], key) == 0)
            return true;
    return false;
}

/* The past has all benchmarks, so its figures get a filter of those that the condition lets
 * through. */
static void narrow(const struct scene *scene, const struct preset *preset, struct preset *out)
{
    const struct series_list *series = &scene->past->series;
    struct string_list filter = { 0 };

    for (size_t i = 0; i < series->nr; i++) {
        const char *key = series->items[i].bench->key;
        if (preset_takes(preset, key) && has_key(&scene->keys, key))
            add_glob(&filter, key);
    }
    if (filter.nr == 0)
        string_list_add(&filter, " "); /* fits none; an empty one would fit all */
    *out = *preset;
    out->filter = filter;
}

struct figure *scene_figure(const struct scene *scene, const struct preset *preset)
{
    struct preset narrowed;

    if (!scene->filtered || !scene->past || !(preset->modes & PLOT_TREND))
        return page_figure(&scene->view, preset, PAGE_POINTS);
    narrow(scene, preset, &narrowed);
    struct figure *f = page_figure(&scene->view, &narrowed, PAGE_POINTS);
    string_list_release(&narrowed.filter);
    return f;
}

/* ---- core ---- */

static void drop_others(const struct scene *scene, cJSON *trends, const char *list)
{
    cJSON *array = cJSON_GetObjectItemCaseSensitive(trends, list);

    for (cJSON *item = array ? array->child : NULL, *next; item; item = next) {
        next = item->next;
        if (!has_key(&scene->keys, json_string(item, "key", "")))
            cJSON_Delete(cJSON_DetachItemViaPointer(array, item));
    }
}

struct cJSON *scene_core(const struct scene *scene, const struct presets *presets)
{
    struct page_figures figures;

    page_figures_list(&figures, &scene->view, presets);
    cJSON *core = page_core(&scene->page, &figures);
    page_figures_release(&figures);
    cJSON *trends = cJSON_GetObjectItemCaseSensitive(core, "trends");
    if (scene->filtered && cJSON_IsObject(trends)) {
        drop_others(scene, trends, "steps");
        drop_others(scene, trends, "drifts");
        drop_others(scene, trends, "quiet");
    }
    cJSON *paging = cJSON_AddObjectToObject(core, "paging");
    cJSON_AddNumberToObject(paging, "limit", (double)scene->limit);
    if (scene->next)
        json_add_int(paging, "next", scene->next);
    else
        cJSON_AddNullToObject(paging, "next");
    json_add_int(core, "newest", scene->newest);
    return core;
}
