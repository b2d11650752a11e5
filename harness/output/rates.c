/* SPDX-License-Identifier: MIT */
#include "output/rates.h"

#include <math.h>
#include <stdio.h>

const char *rate_text(const struct summary *summary, const struct metric_context *context,
                      char text[QUANTITY_TEXT_SIZE])
{
    static const struct {
        const char *metric, *base;
        double factor;
    } rows[] = { { "tokens", " tokens/s", 1 }, { "gflops", "FLOP/s", 1e9 }, { "gbs", "B/s", 1e9 } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double value = metric_get(rows[i].metric, summary, context).value * rows[i].factor;
        if (isfinite(value) && value > 0)
            return quantity_text(QUANTITY_RATE, rows[i].base, value, text);
    }
    text[0] = '\0';
    return text;
}
