/* SPDX-License-Identifier: MIT */
/* https://mermaid.js.org/syntax/xyChart.html; its numbers know no exponent. */
#include "text/mermaid.h"

#include "text/escape.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { CLOSE = 20 }; /* runs beyond which their names are next to each other */

/* The range is explicit: left to itself the chart begins at its smallest value. */
struct scale {
    double factor, low, high;
    int decimals;
};

static struct scale mermaid_scale_of(const struct mermaid_trend *trend, double factor)
{
    struct scale s = { .factor = factor, .low = INFINITY, .high = -INFINITY };

    for (size_t i = 0; i < trend->nr; i++) {
        s.low = fmin(s.low, trend->values[i] / factor);
        s.high = fmax(s.high, trend->values[i] / factor);
    }
    if (isfinite(trend->origin)) {
        s.low = fmin(s.low, trend->origin / factor);
        s.high = fmax(s.high, trend->origin / factor);
    }
    double room = fmax(s.high - s.low, 0.1 * fabs(s.high)) * 0.1, begin = s.low;
    s.low -= s.low < 0 || s.low > room ? room : s.low; /* 0 is an end where nothing is below it */
    s.high += room;
    ticks_widen(&s.low, &s.high, 5);
    if (isfinite(trend->origin))
        s.low = begin; /* a bar is as long as the change */
    if (!(s.high > s.low))
        s.high = s.low + 1;
    s.decimals = (int)fmin(fmax(3 - floor(log10(s.high - s.low)), 0), 9);
    return s;
}

/* Without the zeros at its end: comments are read as mails, too. */
static void mermaid_add_number(struct strbuf *out, double value, int decimals)
{
    strbuf_addf(out, "%.*f", decimals, value);
    while (decimals > 0 && strchr("0.", out->data[out->length - 1])) {
        bool point = out->data[out->length - 1] == '.';
        out->data[--out->length] = '\0';
        if (point)
            return;
    }
}

static void mermaid_add_values(struct strbuf *out, const char *mark,
                               const struct mermaid_trend *trend, const struct scale *scale,
                               bool last_alone)
{
    strbuf_addf(out, "    %s [", mark);
    for (size_t i = 0; i < trend->nr; i++) {
        bool shown = !last_alone || i + 1 == trend->nr;
        strbuf_adds(out, i ? ", " : "");
        /* a list has no gaps; a bar that ends where the axis begins is next to nothing */
        mermaid_add_number(out, shown ? trend->values[i] / scale->factor : scale->low,
                           scale->decimals);
    }
    strbuf_adds(out, "]\n");
}

/* The unit of a number that a program prints is any line of text. */
static void mermaid_add_y_axis(struct strbuf *out, const char *label, const char *unit)
{
    strbuf_adds(out, "    y-axis \"");
    escape_mermaid(out, label);
    if (*unit) {
        strbuf_adds(out, " (");
        escape_mermaid(out, unit);
        strbuf_addc(out, ')');
    }
    strbuf_adds(out, "\" ");
}

void mermaid_trend_add(const struct mermaid_trend *whole, struct strbuf *out)
{
    struct mermaid_trend trend = *whole;

    if (trend.nr < MERMAID_POINTS_MIN)
        return;
    if (trend.nr > MERMAID_POINTS_MAX) {
        trend.values += trend.nr - MERMAID_POINTS_MAX;
        trend.nr = MERMAID_POINTS_MAX;
    }
    struct unit unit = unit_for(trend.quantity, trend.base, trend.values[trend.nr - 1]);
    struct scale scale = mermaid_scale_of(&trend, unit.factor);
    strbuf_adds(out, "```mermaid\nxychart-beta\n");
    /* Names, not a range: that would have ticks between the runs. Where they are many, the last one
     * needs the room of its neighbour's, too. */
    strbuf_adds(out, "    x-axis \"runs, oldest first\" [");
    for (size_t i = 1; i < trend.nr; i++)
        if (i + 1 == trend.nr && trend.nr > CLOSE)
            strbuf_adds(out, "\" \", ");
        else
            strbuf_addf(out, "%zu, ", i);
    strbuf_adds(out, "head]\n");
    mermaid_add_y_axis(out, trend.label, unit.name);
    mermaid_add_number(out, scale.low, scale.decimals);
    strbuf_adds(out, " --> ");
    mermaid_add_number(out, scale.high, scale.decimals);
    strbuf_addc(out, '\n');
    mermaid_add_values(out, "bar", &trend, &scale, true);
    mermaid_add_values(out, "line", &trend, &scale, false);
    strbuf_adds(out, "```\n");
}
