/* SPDX-License-Identifier: MIT */
/* What there is to say about runs in a trend figure beside their points: that the surroundings
 * changed (letters), and what somebody wrote (numbers). The caption explains both. */
#ifndef HARNESS_OUTPUT_TREND_NOTES_H
#define HARNESS_OUTPUT_TREND_NOTES_H

#include "base/strbuf.h"
#include "output/chart.h"
#include "output/trend_runs.h"

/* Where the texts of a row above the values stand, the lowest being 0: a datum's dy, pixels. The
 * axis makes room for them. */
double trend_notes_row(int row);
/* Texts stand above `top`; returns how many rows they take. */
int trend_notes_add(const struct trend_runs *runs, const struct chart *chart, struct panel *p,
                    double top);
/* Sentences for the caption, each with a space in front. */
void trend_notes_explain(const struct trend_runs *runs, const struct chart *chart,
                         struct strbuf *out);

#endif
