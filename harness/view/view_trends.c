/* SPDX-License-Identifier: MIT */
#include "view/view_trends.h"

#include "base/memory.h"

#include <stdlib.h>

struct view_trends {
    struct series_list series;
    struct trends trends;
};

void view_find_trends(struct view *view)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct error ignored; /* of settings, and these are good */

    if (view->history.nr_runs == 0)
        return;
    struct view_trends *past = memory_zeroed(1, sizeof(*past));
    view->own_trends = past;
    annotations_apply(&view->annotations, &settings);
    series_list_init(&past->series, &view->history);
    if (trends_find(&past->series, &view->history, &settings, &past->trends, &ignored))
        return;
    view->series = &past->series;
    view->trends = &past->trends;
}

void view_trends_free(struct view_trends *past)
{
    if (!past)
        return;
    trends_release(&past->trends);
    series_list_release(&past->series);
    free(past);
}
