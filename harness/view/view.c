/* SPDX-License-Identifier: MIT */
#include "view/view.h"

#include "base/options.h"
#include "base/strbuf.h"
#include "core/names.h"
#include "view/records_files.h"

#include <stdlib.h>

static void trends_free(struct view_trends *found)
{
    if (!found)
        return;
    trends_release(&found->trends);
    series_list_release(&found->series);
    free(found);
}

void view_release(struct view *view)
{
    trends_free(view->own_trends);
    if (view->compared)
        comparison_release(&view->comparison);
    store_acceptances_release(&view->accepted);
    explanations_release(&view->causes);
    records_part_release(&view->base);
    records_part_release(&view->compared_head);
    if (view->history_is_borrowed)
        records_part_release(&view->history);
    else
        records_release(&view->history);
    run_labels_free(view->run_names, view->nr_runs);
    free(view->runs);
    records_release(&view->records);
    annotations_release(&view->annotations);
    string_list_release(&view->notes);
    *view = (struct view) { .head = -1 };
}

static const char *key_of_record(const void *records, size_t i)
{
    const struct records *r = records;

    return r->items[i].m.bench.key;
}

static bool fits_any_record(const struct records *records, const char *filter)
{
    return name_filter_fits_any(filter, key_of_record, records, records->nr);
}

void view_note_unfit_filters(const struct view *view, const char *const *filters, size_t nr,
                             struct string_list *notes)
{
    struct strbuf note;

    strbuf_init(&note);
    for (size_t i = 0; view->head >= 0 && i < nr; i++) {
        if (*filters[i] == '!' || fits_any_record(&view->records, filters[i]) ||
            fits_any_record(&view->history, filters[i]))
            continue;
        strbuf_clear(&note);
        strbuf_addf(&note, "nothing that is shown fits the filter \"%s\"", filters[i]);
        string_list_add(notes, note.data);
    }
    strbuf_release(&note);
}

static int view_newest_of_history(const struct view *view)
{
    return view->history.nr ? run_newest(&view->history) : (int)view->history.nr_runs - 1;
}

static const struct run *view_base_run(const struct view *view)
{
    int run = view->compared ? run_newest(&view->base) : -1;

    return run < 0 ? NULL : &view->base.runs[run];
}

void view_overview(const struct view *view, struct overview *out)
{
    const struct overview_input input = {
        .records = &view->records,
        .run = view->head,
        .head = view->compared ? &view->compared_head : NULL,
        .comparison = view->compared ? &view->comparison : NULL,
        .base = view_base_run(view),
        .base_label = view->base_label,
        .trends = view->trends,
        .models = view->models,
        .nr_models = view->nr_models,
    };

    overview_make(&input, out);
}

unsigned view_modes(const struct view *view)
{
    unsigned modes = 0;

    if (view->head >= 0 && (view->nr_runs == 1 || view->head_too))
        modes |= PLOT_SINGLE;
    if (view->nr_runs > 1)
        modes |= PLOT_MULTI;
    if (view->compared)
        modes |= PLOT_COMPARE;
    if (view->history.nr > 0 || view->series)
        modes |= PLOT_TREND;
    if (view->profile)
        modes |= PLOT_PROFILE;
    return modes;
}

const char *view_absence(const struct view *view, const struct preset *preset)
{
    if (preset->modes & view_modes(view))
        return NULL;
    if (preset->modes == PLOT_PROFILE)
        return "needs a profile: --profile FOLDER";
    if (view->head < 0)
        return "there is no run";
    if (preset->modes & PLOT_COMPARE)
        return view->base_what[0] ? view->base_what : "needs a base: --baseline REF, or two runs";
    if (preset->modes & PLOT_TREND)
        return "needs a history: two or more finished runs of this machine class";
    if (preset->modes & PLOT_SINGLE)
        return "shows one run, and several were asked for";
    return "shows several runs beside each other: name two or more";
}

/* Of the modes that a preset can do, one is drawn: several runs where there are several. */
static bool shows_several(const struct view *view, const struct preset *preset)
{
    return preset->modes & PLOT_MULTI && view->nr_runs > 1;
}

static bool shows_history(const struct view *view, const struct preset *preset)
{
    return preset->modes & PLOT_TREND && view_modes(view) & PLOT_TREND &&
           !shows_several(view, preset);
}

void view_chart(const struct view *view, const struct preset *preset, struct chart *chart)
{
    *chart = (struct chart) {
        .preset = preset,
        .records = &view->records,
        .comparison = view->compared ? &view->comparison : NULL,
        .compared_head = view->compared ? &view->compared_head : NULL,
        .base_label = view->compared ? view->base_label : NULL,
        .accepted = view->annotations.acceptances.items,
        .nr_accepted = view->annotations.acceptances.nr,
        .annotations = view->annotations.annotations,
        .nr_annotations = view->annotations.nr_annotations,
        .past = view->trends,
        .base_run = view_base_run(view),
        .models = view->models,
        .nr_models = view->nr_models,
        .run = view->head,
        .peaks_from = view->peaks_from,
        .profile = view->profile,
        .profile_base = view->profile_base,
    };
    if (shows_history(view, preset)) {
        chart->records = &view->history;
        chart->run = view_newest_of_history(view);
        chart->series = view->series;
        chart->trends = view->trends;
        chart->only = view->only;
    } else if (shows_several(view, preset)) {
        chart->runs = view->runs;
        chart->nr_runs = view->nr_runs;
        chart->run_names = (const char *const *)view->run_names;
    }
}
