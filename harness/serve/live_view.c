/* SPDX-License-Identifier: MIT */
#include "serve/live_view.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>

static const struct run_values no_values;

const char *live_view_machine(const struct live_view *live)
{
    const struct view *view = &live->view;

    return view->head < 0 ? NULL : view->records.runs[view->head].machine.class_name;
}

/* The view borrows the history; live_view_drop() takes it back before the view is released. The
 * history has all benchmarks, so figures are told which of them the condition lets through. */
static void live_view_lend(struct live_view *live)
{
    if (!live->history)
        return;
    live->view.history = live->history->runs;
    live->view.history_is_borrowed = true;
    live->view.series = &live->history->series;
    live->view.trends = &live->history->trends;
    live->view.annotations = live->history->annotations;
    live->view.only = live->filtered ? &live->keys : NULL;
}

static void live_view_take_back(struct live_view *live)
{
    if (!live->history)
        return;
    live->view.history = (struct records) { 0 };
    live->view.annotations = (struct annotations) { 0 };
}

/* Names of runs, to choose from: what they measured is loaded when they are chosen. */
static void live_view_list_runs(struct live_view *live)
{
    live->more = memory_zeroed(live->listed.nr_runs + 1, sizeof(*live->more));
    for (size_t i = 0; i < live->listed.nr_runs; i++)
        live->more[i] = (struct page_run) { .run = &live->listed.runs[i], .values = &no_values };
}

static void live_view_note(struct live_view *live, const struct live_view_source *source)
{
    struct string_list *notes = &live->notes;

    if (live_view_machine(live) && !live->history)
        string_list_add(
            notes, source->history_failed
                       ? "there are no trends: a run of the history has too many measurements for "
                         "them, or is damaged, which `harness history verify` tells"
                       : "the trends are still being read; reload in a moment");
    if (live->no_base.length)
        string_list_add(notes, live->no_base.data);
    if (live->gave_up)
        string_list_add(notes, "older runs were not searched: the list goes on with them");
    else if (live->view.head < 0 && !live->view.profile)
        string_list_add(notes, "no finished run fits");
    if (!live->narrowed)
        view_note_unfit_filters(&live->view, source->request->filters, source->request->nr_filters,
                                notes);
}

void live_view_finish(struct live_view *live, const struct live_view_source *source,
                      struct class_history *history)
{
    live->history = history;
    live_view_list_runs(live);
    live_view_note(live, source);
    struct page_options options = {
        .live = true,
        .generator = source->generator,
        .created_ms = source->created_ms,
        .history = source->history,
        .asked = source->asked,
        .repository = source->repository,
        .baseline = live->baseline.length ? NULL : source->request->baseline,
        .more = live->more,
        .nr_more = live->listed.nr_runs,
        .notes = (const char *const *)live->notes.items,
        .nr_notes = live->notes.nr,
    };
    /* Runs of the history are no runs of the page, but for those in the list. */
    page_init(&live->page, &live->view, &options);
    live_view_lend(live);
}

void live_view_keep(void *thing)
{
    struct live_view *live = thing;

    atomic_fetch_add(&live->holders, 1);
}

void live_view_drop(void *thing)
{
    struct live_view *live = thing;

    if (!live || atomic_fetch_sub(&live->holders, 1) > 1)
        return;
    page_release(&live->page);
    live_view_take_back(live);
    view_release(&live->view);
    records_release(&live->listed);
    string_list_release(&live->keys);
    string_list_release(&live->notes);
    strbuf_release(&live->baseline);
    strbuf_release(&live->no_base);
    free(live->more);
    class_history_drop(live->history);
    free(live);
}

/* ---- core ---- */

static void live_view_drop_others(const struct live_view *live, cJSON *trends, const char *list)
{
    cJSON *array = cJSON_GetObjectItemCaseSensitive(trends, list);

    for (cJSON *item = array ? array->child : NULL, *next; item; item = next) {
        next = item->next;
        if (!string_list_has_sorted(&live->keys, json_string(item, "key", "")))
            cJSON_Delete(cJSON_DetachItemViaPointer(array, item));
    }
}

struct cJSON *live_view_core(const struct live_view *live, const struct presets *presets)
{
    struct page_figures figures;

    page_figures_list(&figures, &live->view, presets);
    cJSON *core = page_core(&live->page, &figures);
    page_figures_release(&figures);
    cJSON *trends = cJSON_GetObjectItemCaseSensitive(core, "trends");
    if (live->filtered && cJSON_IsObject(trends)) {
        live_view_drop_others(live, trends, "steps");
        live_view_drop_others(live, trends, "drifts");
        live_view_drop_others(live, trends, "quiet");
        live_view_drop_others(live, trends, "cards");
    }
    cJSON *paging = cJSON_AddObjectToObject(core, "paging");
    cJSON_AddNumberToObject(paging, "limit", (double)live->limit);
    cJSON_AddNumberToObject(paging, "most", SERVE_RUNS_MAX);
    if (live->next)
        json_add_int(paging, "next", live->next);
    else
        cJSON_AddNullToObject(paging, "next");
    json_add_int(core, "newest", live->newest);
    return core;
}
