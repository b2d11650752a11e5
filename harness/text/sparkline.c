/* SPDX-License-Identifier: MIT */
#include "text/sparkline.h"

#include <math.h>
#include <stdbool.h>

enum { HEIGHTS = 8 };

static bool sparkline_is_drawn(double value)
{
    return isfinite(value) && value > 0;
}

void sparkline_add(struct strbuf *out, const double *values, size_t nr, double least)
{
    static const char *const blocks[HEIGHTS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < nr; i++)
        if (sparkline_is_drawn(values[i])) {
            low = fmin(low, log(values[i]));
            high = fmax(high, log(values[i]));
        }
    double spare = log1p(least) - (high - low);
    if (spare > 0) {
        low -= spare / 2;
        high += spare / 2;
    }
    for (size_t i = 0; i < nr; i++) {
        if (!sparkline_is_drawn(values[i])) {
            strbuf_adds(out, "·");
            continue;
        }
        double share = high > low ? (log(values[i]) - low) / (high - low) : 0.5;
        double height = fmin(floor(share * HEIGHTS), HEIGHTS - 1);
        strbuf_adds(out, blocks[(int)fmax(height, 0)]);
    }
}
