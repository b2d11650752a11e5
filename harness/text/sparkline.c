/* SPDX-License-Identifier: MIT */
#include "text/sparkline.h"

#include <math.h>
#include <stdbool.h>

enum { HEIGHTS = 8, MIDDLE = 3 }; /* the base's */

static bool sparkline_is_drawn(double value)
{
    return isfinite(value) && value > 0;
}

void sparkline_add(struct strbuf *out, const double *values, size_t nr, double base, double least)
{
    static const char *const blocks[HEIGHTS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    double reach = log1p(least);

    for (size_t i = 0; i < nr && sparkline_is_drawn(base); i++)
        if (sparkline_is_drawn(values[i]))
            reach = fmax(reach, fabs(log(values[i] / base)));
    for (size_t i = 0; i < nr; i++) {
        if (!sparkline_is_drawn(values[i]) || !sparkline_is_drawn(base)) {
            strbuf_adds(out, "·");
            continue;
        }
        double above = reach > 0 ? log(values[i] / base) / reach : 0;
        double height = MIDDLE + round(above * (above > 0 ? HEIGHTS - 1 - MIDDLE : MIDDLE));
        strbuf_adds(out, blocks[(int)fmin(fmax(height, 0), HEIGHTS - 1)]);
    }
}
