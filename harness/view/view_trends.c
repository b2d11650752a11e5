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

void view_trends_free(struct view_trends *found)
{
    if (!found)
        return;
    trends_release(&found->trends);
    series_list_release(&found->series);
    free(found);
}
