/* SPDX-License-Identifier: MIT */
#include "view/view.h"

#include "base/array.h"
#include "base/memory.h"
#include "query/ref.h"
#include "trend/series.h"
#include "view/earlier_runs.h"
#include "view/history_side.h"
#include "view/records_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct int_set {
    int *items;
    size_t nr, capacity;
};

/* A view on its way: what has been asked for, as indices into view->records. */
struct view_loading {
    struct view *view;
    const struct view_request *request;
    struct history_source source;
    struct store_filter filter;
    struct int_set asked, base, head; /* runs: all, and the sides of the comparison */
    bool two_refs;                    /* the first of two is the base */
    bool split;                       /* the older of two runs is the base */
    struct error *err;
};

static void set_add(struct int_set *set, int run)
{
    for (size_t i = 0; i < set->nr; i++)
        if (set->items[i] == run)
            return;
    *array_push(set) = run;
}

static void view_drop_measurements(struct records *records, const struct view_request *request)
{
    size_t kept = 0;

    for (size_t i = 0; i < records->nr; i++) {
        if (text_filters_take(request->filters, request->nr_filters, records->items[i].m.bench.key))
            records->items[kept++] = records->items[i];
        else
            measurement_release(&records->items[i].m);
    }
    records->nr = kept;
}

/* Takes what a side has; adds its runs to the set. */
static void view_absorb(struct view_loading *l, struct history_side *side, struct int_set *set)
{
    size_t nr = side->records.nr_runs;
    int *places = memory_zeroed(nr + 1, sizeof(*places));

    if (side->runs.nr == 0) /* from files: the store filters by itself */
        view_drop_measurements(&side->records, l->request);
    records_absorb(&l->view->records, &side->records, places);
    for (size_t i = 0; i < nr; i++)
        set_add(set, places[i]);
    for (size_t i = 0; i < side->notes.nr; i++)
        string_list_add(&l->view->notes, side->notes.items[i]);
    free(places);
}

static int view_load_ref(struct view_loading *l, const char *ref, struct int_set *set,
                         char what[256])
{
    struct history_side side;
    int rc = history_side_load(&l->source, ref, NULL, &side, l->err);

    if (rc == 0) {
        snprintf(what, 256, "%s", side.what);
        view_absorb(l, &side, set);
    }
    history_side_release(&side);
    return rc;
}

static int view_load_ids(struct view_loading *l)
{
    struct history_side side = { 0 };
    const struct view_request *r = l->request;

    int rc =
        store_load(l->source.store, r->run_ids, r->nr_run_ids, &l->filter, &side.records, l->err);
    if (rc == 0)
        view_absorb(l, &side, &l->asked);
    history_side_release(&side);
    return rc;
}

static void set_add_all(struct int_set *to, const struct int_set *from)
{
    for (size_t i = 0; i < from->nr; i++)
        set_add(to, from->items[i]);
}

static int view_load_refs(struct view_loading *l)
{
    const struct view_request *r = l->request;
    struct view *view = l->view;

    if (r->nr_run_ids)
        return view_load_ids(l);
    if (r->nr_refs == 0)
        return view_load_ref(l, "latest", &l->asked, view->head_what);
    l->two_refs = r->nr_refs == 2 && !r->baseline;
    for (size_t i = 0; i < r->nr_refs; i++) {
        struct int_set own = { 0 };
        char what[256] = "";
        int rc = view_load_ref(l, r->refs[i], &own, what);
        if (rc == 0 && l->two_refs)
            set_add_all(i ? &l->head : &l->base, &own);
        if (rc == 0 && l->two_refs && i == 0)
            snprintf(view->base_what, sizeof(view->base_what), "%s", what);
        snprintf(view->head_what, sizeof(view->head_what), "%s", what);
        set_add_all(&l->asked, &own);
        array_release(&own);
        if (rc)
            return -1;
    }
    return 0;
}

/* A base is what was measured before: never the runs that are looked at. */
static int view_load_baseline(struct view_loading *l)
{
    struct view *view = l->view;
    struct ref_scope scope = { .exclude = view->records.runs, .nr_exclude = view->records.nr_runs };
    struct history_side side;

    int rc = history_side_load(&l->source, l->request->baseline, &scope, &side, l->err);
    if (rc == 0) {
        snprintf(view->base_what, sizeof(view->base_what), "%s", side.what);
        view_absorb(l, &side, &l->base);
        set_add_all(&l->head, &l->asked);
    } else if (side.nothing) {
        snprintf(view->base_what, sizeof(view->base_what), "%.255s", l->err->message);
        rc = 0;
    }
    history_side_release(&side);
    return rc;
}

/* Two runs that one REF or folder brought: from the older to the newer. */
static void view_split_two(struct view_loading *l)
{
    const struct run *runs = l->view->records.runs;
    int a = l->asked.items[0], b = l->asked.items[1];
    bool turned = runs[a].started_ms > runs[b].started_ms;

    set_add(&l->base, turned ? b : a);
    set_add(&l->head, turned ? a : b);
    l->split = true;
}

static void set_move(struct int_set *set, const int *places)
{
    for (size_t i = 0; i < set->nr; i++)
        set->items[i] = places[set->items[i]];
}

static void view_sort_runs(struct view_loading *l)
{
    struct records *records = &l->view->records;
    int *places = memory_zeroed(records->nr_runs + 1, sizeof(*places));

    records_sort_runs(records, places);
    set_move(&l->asked, places);
    set_move(&l->base, places);
    set_move(&l->head, places);
    free(places);
}

/* Figures of one run show the last one asked for: where it is one of two sides, the newest of it.
 */
static void view_choose_head(struct view_loading *l)
{
    const struct int_set *among = l->two_refs ? &l->head : &l->asked;
    const struct run *runs = l->view->records.runs;

    if (l->request->nr_refs > 1 && !l->two_refs) {
        l->view->head = among->items[among->nr - 1];
        return;
    }
    for (size_t i = 0; i < among->nr; i++)
        if (l->view->head < 0 || runs[among->items[i]].started_ms >= runs[l->view->head].started_ms)
            l->view->head = among->items[i];
}

/* The roofs are those of the head's machine. */
static int view_load_roofs(struct view_loading *l)
{
    struct records *records = &l->view->records;
    const struct machine *machine = &records->runs[l->view->head].machine;
    struct records found = { 0 };

    if (l->source.store &&
        store_load_roofs(l->source.store, machine->id, NULL, NULL, &found, l->err)) {
        records_release(&found);
        return -1;
    }
    const struct metric_context context = metric_context_of(records, l->view->head);
    if (found.nr_roofs || !context.nr_roofs) { /* else: the file's own, of this machine */
        free(records->roofs);
        records->roofs = found.roofs;
        records->nr_roofs = found.nr_roofs;
        records->roofs_capacity = found.roofs_capacity;
        found.roofs = NULL;
    }
    records_release(&found);
    snprintf(records->roofs_of, sizeof(records->roofs_of), "%s", machine->id);
    if (l->request->config)
        l->view->peaks_from = config_apply_peaks(l->request->config, records);
    return 0;
}

static int view_compare(struct view_loading *l)
{
    const struct config *config = l->request->config;
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct view *view = l->view;

    if (l->base.nr == 0 || l->head.nr == 0)
        return 0;
    if (l->request->delta > 0)
        settings.delta = l->request->delta;
    else if (config && config->delta > 0)
        settings.delta = config->delta;
    settings.for_all = l->request->delta > 0;
    records_part_init(&view->base, &view->records, l->base.items, l->base.nr);
    records_part_init(&view->compared_head, &view->records, l->head.items, l->head.nr);
    struct records earlier = { 0 };
    int rc = l->source.store ? earlier_runs_load(l->source.store, &view->base, &view->compared_head,
                                                 &earlier, l->err)
                             : 0;
    if (rc == 0)
        rc = compare_sides_run(
            &(struct compare_sides) { &view->base, &view->compared_head, &earlier }, &settings,
            &view->comparison, l->err);
    records_release(&earlier);
    view->compared = rc == 0;
    if (rc == 0 && l->source.store && l->request->accept)
        rc = l->request->accept(l->source.store, &view->base, &view->compared_head,
                                &view->comparison, &view->accepted, l->err);
    return rc;
}

enum { VIEW_CAUSES = 20 }; /* nobody reads more, and `compare --explain` has all */

static void view_find_causes(struct view_loading *l)
{
    struct view *view = l->view;

    if (view->compared)
        causes_find(l->source.store, &view->comparison,
                    (const struct records *const[]) { &view->base, &view->compared_head },
                    VIEW_CAUSES, &view->causes);
}

/* The newest of the runs that make points. */
static int view_load_newest(struct view_loading *l, const struct records *finished)
{
    int64_t *ids = memory_zeroed(finished->nr_runs + 1, sizeof(*ids));
    size_t nr = 0;

    for (size_t i = 0; i < finished->nr_runs; i++)
        if (series_takes(&finished->runs[i]))
            ids[nr++] = finished->runs[i].id;
    size_t first = nr > l->request->history ? nr - l->request->history : 0;
    int rc =
        store_load(l->source.store, ids + first, nr - first, &l->filter, &l->view->history, l->err);
    free(ids);
    return rc;
}

static int view_load_stored_history(struct view_loading *l, const char *machine_class)
{
    struct records finished = { 0 };

    if (l->request->history == 0)
        return store_series(l->source.store, machine_class, &l->filter, &l->view->history, l->err);
    int rc = store_finished_runs(l->source.store, machine_class, &finished, l->err);
    if (rc == 0)
        rc = view_load_newest(l, &finished);
    records_release(&finished);
    return rc;
}

/* Files are their own history. */
static void view_borrow_history(struct view_loading *l, const char *machine_class)
{
    const struct records *records = &l->view->records;
    struct int_set runs = { 0 };

    for (size_t i = 0; i < records->nr_runs; i++)
        if (strcmp(records->runs[i].machine.class_name, machine_class) == 0)
            set_add(&runs, (int)i);
    if (runs.nr > 1) {
        records_part_init(&l->view->history, records, runs.items, runs.nr);
        l->view->history_is_borrowed = true;
    }
    array_release(&runs);
}

static int view_load_history(struct view_loading *l)
{
    const char *machine_class = l->view->records.runs[l->view->head].machine.class_name;

    if (l->request->without_history)
        return 0;
    if (l->source.store)
        return view_load_stored_history(l, machine_class) ||
                       annotations_load(l->source.store, &l->view->annotations, l->err)
                   ? -1
                   : 0;
    view_borrow_history(l, machine_class);
    return 0;
}

static void view_name_runs(struct view_loading *l)
{
    struct view *view = l->view;
    const struct run **runs = memory_zeroed(l->asked.nr + 1, sizeof(*runs));

    view->runs = l->asked.items;
    view->nr_runs = l->asked.nr;
    for (size_t i = 0; i < view->nr_runs; i++)
        runs[i] = &view->records.runs[view->runs[i]];
    view->run_names = run_labels_create(runs, view->nr_runs, l->request->named_by);
    free(runs);
    l->asked = (struct int_set) { 0 };
}

/* Sets view->series and view->trends, as `harness trend` judges: all series of the history are one
 * family. Nothing where there is no history. */
static void view_find_trends(struct view *view)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = TREND_FDR };
    struct error ignored; /* of settings, and these are good */

    if (view->history.nr_runs == 0)
        return;
    struct view_trends *found = memory_zeroed(1, sizeof(*found));
    view->own_trends = found;
    annotations_apply(&view->annotations, &settings);
    series_list_init(&found->series, &view->history);
    if (trends_find(&found->series, &view->history, &settings, &found->trends, &ignored))
        return;
    view->series = &found->series;
    view->trends = &found->trends;
}

/* For people, where no REF says it. */
static void view_describe_sides(struct view_loading *l)
{
    struct view *view = l->view;
    const char *ref = l->request->baseline ? l->request->baseline
                      : l->two_refs        ? l->request->refs[0]
                                           : NULL;

    for (size_t i = 0; i < view->nr_runs; i++) {
        if (!ref && l->base.nr && view->runs[i] == l->base.items[0])
            ref = view->run_names[i];
        if (view->runs[i] == view->head && (!view->head_what[0] || l->split))
            snprintf(view->head_what, sizeof(view->head_what), "%s", view->run_names[i]);
    }
    bool numbered = ref && strncmp(ref, "run:", 4) == 0;
    snprintf(view->base_label, sizeof(view->base_label), "%s%s", numbered ? "run " : "",
             !ref       ? ""
             : numbered ? ref + 4
                        : ref);
    if (!view->base_what[0])
        snprintf(view->base_what, sizeof(view->base_what), "%s", view->base_label);
}

static int view_load_all(struct view_loading *l)
{
    const struct view_request *request = l->request;

    if (request->profile && !l->source.store && request->nr_refs == 0)
        return 0; /* it needs no run */
    if (view_load_refs(l))
        return -1;
    if (l->asked.nr == 0)
        return error_set(l->err, "there is no run to show");
    if (request->baseline) {
        if (view_load_baseline(l))
            return -1;
    } else if (!l->two_refs && l->asked.nr == 2) {
        view_split_two(l);
    }
    view_sort_runs(l);
    view_choose_head(l);
    if (view_load_roofs(l) || view_compare(l) || view_load_history(l))
        return -1;
    view_find_trends(l->view);
    view_find_causes(l);
    view_name_runs(l);
    view_describe_sides(l);
    return 0;
}

int view_load(struct store *store, const struct view_request *request, struct view *view,
              struct error *err)
{
    struct view_loading l = {
        .view = view,
        .request = request,
        .filter = { .filters = request->filters,
                    .nr_filters = request->nr_filters,
                    .keys = request->keys,
                    .nr_keys = request->nr_keys },
        .err = err,
    };

    *view = (struct view) {
        .head = -1,
        .models = request->models,
        .nr_models = request->nr_models,
        .profile = request->profile,
        .profile_base = request->profile_base,
        .head_too = request->head_too,
    };
    l.source = (struct history_source) { store, request->baselines, &l.filter };
    int rc = view_load_all(&l);
    array_release(&l.asked);
    array_release(&l.base);
    array_release(&l.head);
    return rc;
}
