/* SPDX-License-Identifier: MIT */
/* Where the time goes, the longest first: self times with what they add up to, and the same as
 * shares of the whole. */
#include "chart/profile/profile_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 20 };

/* What is worth knowing of an operation beside its bar. */
static void profile_bars_row_words(const struct prof_row *row, double share, char *text,
                                   size_t size)
{
    char self[QUANTITY_TEXT_SIZE], part[QUANTITY_TEXT_SIZE];

    snprintf(
        text, size, "%s, %s, %zu call%s", quantity_text(QUANTITY_TIME, "", (double)row->self, self),
        quantity_text(QUANTITY_SHARE, "", share, part), row->calls, row->calls == 1 ? "" : "s");
}

static void profile_bars_add_bars(struct panel *p, const struct profile_rows *rows,
                                  const struct prof_bottleneck *list, enum prof_side side)
{
    struct layer *bars = panel_bars(p, NULL, side == PROF_HOST ? INK_BLUE : INK_VERMILLION);
    struct layer *texts = panel_outside(p);
    char text[2 * QUANTITY_TEXT_SIZE + 32];

    axis_set(&p->x, "self time", QUANTITY_TIME, "", AXIS_LINEAR);
    for (size_t i = 0; i < rows->nr; i++) {
        profile_bars_row_words(list[i].row, list[i].share, text, sizeof(text));
        layer_add(bars, (double)list[i].row->self, (double)i);
        layer_add_outside(texts, i, text);
    }
}

static void profile_bars_add_cumulative(struct panel *p, const struct profile_rows *rows,
                                        const struct prof_bottleneck *list)
{
    struct layer *line = panel_layer(p, MARK_LINE, NULL);
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct layer *texts = panel_outside(p);
    char text[QUANTITY_TEXT_SIZE];

    axis_set(&p->x, "added up", QUANTITY_SHARE, "", AXIS_LINEAR);
    p->x.low = 0;
    p->x.high = 1;
    for (size_t i = 0; i < rows->nr; i++) {
        layer_add(line, list[i].cumulative, (double)i);
        layer_add(points, list[i].cumulative, (double)i);
        layer_add_outside(texts, i, quantity_text(QUANTITY_SHARE, "", list[i].cumulative, text));
    }
}

/* The rows of prof_bottlenecks() by self time are those of the summary. */
static void profile_bars_add_side(struct figure *f, const struct profile_data *data,
                                  enum prof_side side, const struct profile_rows *rows)
{
    struct prof_bottleneck *list = memory_zeroed(rows->nr + 1, sizeof(*list));
    struct panel *bars, *sum;

    if (rows->nr && prof_bottlenecks(&data->main, &data->rows, side, PROF_BY_SELF, list,
                                     rows->nr) == (int)rows->nr) {
        bars = profile_rows_panel(f, rows, false);
        figure_set(&bars->title, "self time %s", profile_side_name(side));
        profile_bars_add_bars(bars, rows, list, side);
        sum = profile_rows_panel(f, rows, true);
        figure_set(&sum->title, "of all, with those above");
        profile_bars_add_cumulative(sum, rows, list);
    }
    free(list);
}

void build_profile_bottlenecks(const struct chart *chart, struct figure *f)
{
    char words[PROFILE_WORDS_SIZE], self[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE];

    size_t limit = chart_limit(chart->preset, LIMIT);
    struct profile_rows host = profile_long_rows(chart->profile, PROF_HOST, limit);
    struct profile_rows device = profile_long_rows(chart->profile, PROF_DEVICE, limit);
    if (!host.nr && !device.nr) {
        chart_absent(f, "no operation took any time");
        return;
    }
    f->columns = 2;
    profile_bars_add_side(f, chart->profile, PROF_HOST, &host);
    profile_bars_add_side(f, chart->profile, PROF_DEVICE, &device);
    const struct prof_row *worst = host.nr ? &host.items[0] : &device.items[0];
    profile_caption(f, chart,
                    "Self time is an operation's own, without the operations inside it. To the "
                    "right, what an operation and those above it come to.%s",
                    profile_rows_words(host.nr ? &host : &device, words));
    chart_conclude(f, chart, "%s takes %s of the time", worst->name,
                   quantity_text(QUANTITY_SHARE, "",
                                 (double)worst->self /
                                     fmax(1, (double)chart->profile->rows.total[worst->side]),
                                 share));
    figure_set(&f->alt, "Bars of self time for %zu operations; %s took most, %s, %s of all.",
               host.nr + device.nr, worst->name,
               quantity_text(QUANTITY_TIME, "", (double)worst->self, self),
               quantity_text(QUANTITY_SHARE, "",
                             (double)worst->self /
                                 fmax(1, (double)chart->profile->rows.total[worst->side]),
                             share));
}

/* ---- shares ---- */

static void profile_bars_add_shares(struct panel *p, const struct profile_rows *rows, double whole)
{
    struct layer *bars = panel_bars(p, NULL, INK_BLUE), *texts = panel_outside(p);
    char text[QUANTITY_TEXT_SIZE];

    axis_set(&p->x, "share of the time", QUANTITY_SHARE, "", AXIS_LINEAR);
    p->x.low = 0;
    for (size_t i = 0; i < rows->nr; i++) {
        double share = (double)rows->items[i].self / whole;
        layer_add(bars, share, (double)i);
        layer_add_outside(texts, i, quantity_text(QUANTITY_SHARE, "", share, text));
    }
}

/* What the rows that are not shown come to. */
static double left_out(const struct profile_rows *rows, double whole)
{
    double shown = 0;

    for (size_t i = 0; i < rows->nr; i++)
        shown += (double)rows->items[i].self;
    return (whole - shown) / whole;
}

void build_profile_shares(const struct chart *chart, struct figure *f)
{
    char rest[QUANTITY_TEXT_SIZE], first[QUANTITY_TEXT_SIZE];

    enum prof_side side = chart->profile->rows.total[PROF_HOST] ? PROF_HOST : PROF_DEVICE;
    struct profile_rows rows =
        profile_long_rows(chart->profile, side, chart_limit(chart->preset, 12));
    double whole = (double)chart->profile->rows.total[side];
    if (!rows.nr) {
        chart_absent(f, "no operation took any time");
        return;
    }
    profile_bars_add_shares(profile_rows_panel(f, &rows, false), &rows, whole);
    profile_caption(f, chart,
                    "Self times as shares of the time of all outermost calls, %s; those not shown "
                    "come to %s.",
                    profile_side_name(side),
                    quantity_text(QUANTITY_SHARE, "", left_out(&rows, whole), rest));
    figure_set(&f->alt, "Bars of shares of the time for %zu operations; the largest is %s, %s.",
               rows.nr, rows.items[0].name,
               quantity_text(QUANTITY_SHARE, "", (double)rows.items[0].self / whole, first));
}
