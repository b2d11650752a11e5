/* SPDX-License-Identifier: MIT */
/* A trend as a Mermaid chart, which GitHub and GitLab draw inside comments. */
#ifndef HARNESS_TEXT_MERMAID_H
#define HARNESS_TEXT_MERMAID_H

#include "base/strbuf.h"
#include "text/ticks.h"

#include <stddef.h>

enum { MERMAID_POINTS_MIN = 3, MERMAID_POINTS_MAX = 30 };

struct mermaid_trend {
    const char *label;      /* of the y axis, without unit */
    enum quantity quantity; /* of the values, in its base unit */
    const char *base;       /* see unit_for() */
    const double *values;   /* oldest first, all finite; the last is the one in question */
    size_t nr;
    double origin; /* what the last one is held against: the axis begins there, or at the least
                    * value below it; NaN: there is nothing such */
};

/* Appends a whole code block "xychart-beta": a line over the newest MERMAID_POINTS_MAX values and a
 * bar under the last one. The chart has no legend in older versions: say above it what is seen.
 * Fewer than MERMAID_POINTS_MIN values: nothing. */
void mermaid_trend_add(const struct mermaid_trend *trend, struct strbuf *out);

#endif
