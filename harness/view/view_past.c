/* SPDX-License-Identifier: MIT */
#include "view/view_past.h"

#include "base/memory.h"

#include <stdlib.h>

struct view_past {
    struct series_list series;
    struct trends trends;
};

void view_find_past(struct view *view)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct error ignored; /* of settings, and these are good */

    if (view->history.nr_runs == 0)
        return;
    struct view_past *past = memory_zeroed(1, sizeof(*past));
    view->own_past = past;
    annotations_apply(&view->annotations, &settings);
    series_list_init(&past->series, &view->history);
    if (trends_find(&past->series, &view->history, &settings, &past->trends, &ignored))
        return;
    view->series = &past->series;
    view->trends = &past->trends;
}

void view_past_free(struct view_past *past)
{
    if (!past)
        return;
    trends_release(&past->trends);
    series_list_release(&past->series);
    free(past);
}
