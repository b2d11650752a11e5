/* SPDX-License-Identifier: MIT */
#include "serve/scene.h"

#include "base/array.h"
#include "base/json.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

/* Runs that one request looks through, and how long it does. */
enum { SEARCH_MOST = 400, SEARCH_MS = 100 };

static const struct run_values no_values;

/* What is known on the way. */
struct loading {
    struct store *store;
    const struct scene_source *source;
    const struct wanted *wanted;
    struct scene *scene;
    struct query query;
    struct query_found found;
    int64_t runs[WANTED_RUNS_MAX + 1]; /* looked at */
    size_t nr_runs;
    struct failure *failure;
};

static int fail(struct loading *l, unsigned status)
{
    l->failure->status = status;
    return -1;
}

static int read_condition(struct loading *l)
{
    struct failure *f = l->failure;

    if (query_parse(&l->query, l->wanted->where, &f->at, &f->err))
        return fail(l, MHD_HTTP_BAD_REQUEST);
    if (query_check(&l->query, l->store, &f->at, &f->err))
        return fail(l, MHD_HTTP_BAD_REQUEST);
    f->at = 0;
    return 0;
}

/* The list of runs, and among them those to look at. */
static int choose_runs(struct loading *l)
{
    struct query_page page = { l->wanted->from, l->wanted->limit, SEARCH_MOST, SEARCH_MS };
    struct failure *f = l->failure;

    if (query_runs(l->store, &l->query, &page, &l->found, &f->err) ||
        query_load_runs(l->store, l->found.ids, l->found.nr, &l->scene->listed, &f->err))
        return fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR);
    l->scene->next = l->found.next;
    l->scene->gave_up = l->found.gave_up;
    l->scene->limit = l->wanted->limit;
    for (size_t i = 0; i < l->wanted->nr_runs; i++)
        l->runs[l->nr_runs++] = l->wanted->runs[i];
    if (l->nr_runs == 0 && l->found.nr > 0)
        l->runs[l->nr_runs++] = l->found.ids[0];
    return 0;
}

static bool is_wanted(const struct view_request *request, const char *key)
{
    for (size_t i = 0; i < request->nr_filters; i++)
        if (text_filter_matches(request->filters[i], key))
            return true;
    return request->nr_filters == 0;
}

/* Benchmarks that fit in one of the runs looked at. */
static int choose_benchmarks(struct loading *l)
{
    struct scene *scene = l->scene;
    struct string_list keys = { 0 };
    int64_t ids[WANTED_RUNS_MAX + 2];
    size_t nr = 0;

    scene->filtered =
        l->query.of_benchmarks || l->query.of_outcomes || l->source->request->nr_filters > 0;
    if (!scene->filtered)
        return 0;
    while (nr < l->nr_runs) {
        ids[nr] = l->runs[nr];
        nr++;
    }
    if (l->wanted->base > 0)
        ids[nr++] = l->wanted->base;
    int rc = query_keys(l->store, &l->query, ids, nr, &keys, &l->failure->err);
    for (size_t i = 0; rc == 0 && i < keys.nr; i++)
        if (is_wanted(l->source->request, keys.items[i]))
            string_list_add(&scene->keys, keys.items[i]);
    string_list_release(&keys);
    return rc ? fail(l, MHD_HTTP_INTERNAL_SERVER_ERROR) : 0;
}

static const char *base_of(struct loading *l)
{
    if (l->wanted->base < 0)
        return NULL;
    if (l->wanted->base == 0)
        return l->source->request->baseline;
    strbuf_addf(&l->scene->baseline, "run:%" PRId64, l->wanted->base);
    return l->scene->baseline.data;
}

static void fill_request(struct loading *l, struct view_request *request)
{
    static const char *const nothing[] = { "" }; /* an empty list would let all through */
    struct scene *scene = l->scene;

    *request = *l->source->request;
    request->run_ids = l->runs;
    request->nr_run_ids = l->nr_runs;
    request->baseline = base_of(l);
    request->without_history = true;
    request->head_too = true;
    if (!scene->filtered)
        return;
    request->filters = NULL;
    request->nr_filters = 0;
    request->keys = scene->keys.nr ? (const char *const *)scene->keys.items : nothing;
    request->nr_keys = scene->keys.nr ? scene->keys.nr : 1;
}

/* Without the base that the server was given: it has gone since. The runs are there to be seen. */
static int load_without_base(struct loading *l, struct view_request *request)
{
    struct error *err = &l->failure->err;
    struct scene *scene = l->scene;

    strbuf_addf(&scene->no_base, "nothing is compared: %s", err->message);
    request->baseline = NULL;
    view_release(&scene->view);
    return view_load(l->store, request, &scene->view, err);
}

static int load_view(struct loading *l)
{
    struct view_request request;

    if (l->nr_runs == 0) { /* nothing fits: a page with nothing on it */
        l->scene->view.head = -1;
        return 0;
    }
    fill_request(l, &request);
    int rc = view_load(l->store, &request, &l->scene->view, &l->failure->err);
    if (rc && l->wanted->base == 0 && request.baseline)
        rc = load_without_base(l, &request);
    return rc ? fail(l, MHD_HTTP_NOT_FOUND) : 0; /* a run that is not there, or a base */
}

struct scene *scene_load(struct store *store, const struct scene_source *source,
                         const struct wanted *wanted, struct failure *failure)
{
    struct loading l = { .store = store, .source = source, .wanted = wanted, .failure = failure };

    l.scene = memory_zeroed(1, sizeof(*l.scene));
    atomic_init(&l.scene->holders, 1);
    l.scene->view.head = -1;
    strbuf_init(&l.scene->baseline);
    strbuf_init(&l.scene->no_base);
    *failure = (struct failure) { 0 };
    if (read_condition(&l) || choose_runs(&l) || choose_benchmarks(&l) || load_view(&l)) {
        scene_drop(l.scene);
        l.scene = NULL;
    }
    query_release(&l.query);
    query_found_release(&l.found);
    return l.scene;
}

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
}

static void take_back_past(struct scene *scene)
{
    if (!scene->past)
        return;
    scene->view.history = (struct records) { 0 };
    scene->view.accepted = (struct accepted_steps) { 0 };
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
        scene->notes[notes++] = "the trends are still being read; reload in a moment";
    if (scene->no_base.length)
        scene->notes[notes++] = scene->no_base.data;
    if (scene->gave_up)
        scene->notes[notes++] = "older runs were not searched: the list goes on with them";
    else if (scene->view.head < 0)
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
    return core;
}
