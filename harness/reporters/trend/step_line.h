/* SPDX-License-Identifier: MIT */
/*
 * A series with its change as a small picture: points and levels as heights, words for both levels
 * and for the ends. What draws it (plots/web/src/step_figure.js) only puts it in its place.
 */
#ifndef HARNESS_REPORTERS_TREND_STEP_LINE_H
#define HARNESS_REPORTERS_TREND_STEP_LINE_H

#include "chart/base/chart_base.h"

#include <cjson/cJSON.h>
#include <stdint.h>

struct step_line {
    const double *values; /* oldest first, > 0; of the metric times `factor`, as the levels are */
    size_t nr;            /* > 0 */
    size_t from, at, to;  /* points [from, at) are at the level before, [at, to) after; at = 0: no
                           * step, the level goes from the one to the other */
    double before, after;
    double factor; /* from both to base units */
    const struct chart_metric *metric;
    const char *first, *middle, *last; /* what stands below; NULL: nothing */
    bool apart;                        /* points are no series: no line joins them */
};

enum { STEP_LINE_HEIGHT = 1000 };

/* { points, from, at, to, before, after, before_text, after_text, first, middle, last, apart };
 * heights are whole numbers from 0 to STEP_LINE_HEIGHT, on a logarithmic scale. */
cJSON *step_line_json(const struct step_line *line);
/* "2026-11-21" */
char *step_line_day(int64_t ms, char text[TEXT_UNIT_SIZE]);

#endif
