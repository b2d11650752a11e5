/* SPDX-License-Identifier: MIT */
/* Where the time goes, the longest first: own times of the median iteration with what they add up
 * to, and the same as shares of the whole. One slow iteration heads neither. */
#include "chart/profile/profile_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 20 };
/* What is worth knowing of an operation beside its bar. */
static void profile_bars_row_words(const struct profile_worst *w, size_t i, char *text, size_t size)
{
    const struct prof_row *row = w->list[i].row;
    char self[QUANTITY_TEXT_SIZE], part[QUANTITY_TEXT_SIZE];

    snprintf(text, size, "%s, %s, %zu call%s",
             quantity_text(QUANTITY_TIME, "", profile_worst_ns(w, i), self),
             quantity_text(QUANTITY_SHARE, "", w->list[i].share, part), row->calls,
             row->calls == 1 ? "" : "s");
}

/* The interval of the median, and the mean: where they part, some iterations were slow. */
static void profile_bars_add_spread(struct panel *p, const struct profile_worst *w)
{
    struct layer *intervals = panel_whiskers(p, "95 % interval", 1.4);
    struct layer *means = panel_layer(p, MARK_POINTS, "mean");

    means->style.hollow = true;
    for (size_t i = 0; i < w->nr; i++) {
        const struct timeline_middle *m = &timeline_typical_row(w->typical, w->list[i].row)->self;
        if (isfinite(m->low)) {
            struct datum *d = layer_add(intervals, m->median, (double)i);
            d->low = m->low;
            d->high = m->high;
        }
        if (isfinite(m->mean))
            layer_add(means, m->mean, (double)i);
    }
}

static void profile_bars_add_bars(struct panel *p, const struct profile_worst *w,
                                  enum prof_side side)
{
    struct layer *bars = panel_bars(p, NULL, side == PROF_HOST ? INK_BLUE : INK_VERMILLION);
    struct layer *texts = panel_outside(p);
    char text[2 * QUANTITY_TEXT_SIZE + 32];

    axis_set(&p->x, w->iterations > 1 ? "own time of an iteration" : "own time", QUANTITY_TIME, "",
             AXIS_LINEAR);
    for (size_t i = 0; i < w->nr; i++) {
        profile_bars_row_words(w, i, text, sizeof(text));
        layer_add(bars, profile_worst_ns(w, i), (double)i);
        layer_add_outside(texts, i, text);
    }
    if (w->iterations > 1)
        profile_bars_add_spread(p, w);
}

static void profile_bars_add_cumulative(struct panel *p, const struct profile_worst *w)
{
    struct layer *line = panel_layer(p, MARK_LINE, NULL);
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct layer *texts = panel_outside(p);
    char text[QUANTITY_TEXT_SIZE];

    axis_set(&p->x, "added up", QUANTITY_SHARE, "", AXIS_LINEAR);
    p->x.low = 0;
    p->x.high = 1;
    for (size_t i = 0; i < w->nr; i++) {
        double sum = w->list[i].cumulative;
        layer_add(line, sum, (double)i);
        layer_add(points, sum, (double)i);
        layer_add_outside(texts, i, quantity_text(QUANTITY_SHARE, "", sum, text));
    }
}

static void profile_bars_add_side(struct figure *f, const struct profile_worst *w,
                                  enum prof_side side)
{
    const struct profile_rows rows = profile_worst_rows(w);
    struct panel *bars, *sum;

    if (!w->nr)
        return;
    bars = profile_rows_panel(f, &rows, false);
    figure_set(&bars->title, "own time %s%s", profile_side_name(side),
               w->iterations > 1 ? ", in the median iteration" : ", of all calls");
    profile_bars_add_bars(bars, w, side);
    sum = profile_rows_panel(f, &rows, true);
    figure_set(&sum->title, "of all, with those above");
    profile_bars_add_cumulative(sum, w);
}

static void profile_bars_words(struct figure *f, const struct chart *chart,
                               const struct profile_worst *w, size_t shown)
{
    char words[PROFILE_WORDS_SIZE], self[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE];
    const char *name = w->rows[0].name;
    const struct profile_rows rows = profile_worst_rows(w);

    quantity_text(QUANTITY_SHARE, "", w->list[0].share, share);
    profile_caption(f, chart,
                    "Own time is an operation's without the operations inside it%s. To the right, "
                    "what an operation and those above it come to.%s",
                    w->iterations > 1
                        ? ": on the host the median of the iterations, or the mean where half of "
                          "them do without the operation"
                        : "",
                    profile_rows_words(&rows, words));
    chart_conclude(f, chart, "%s takes %s of the time", name, share);
    figure_set(&f->alt, "Bars of own time for %zu operations; %s took most, %s%s, %s of all.",
               shown, name, quantity_text(QUANTITY_TIME, "", profile_worst_ns(w, 0), self),
               w->iterations > 1 ? " in the median iteration" : "", share);
}

void build_profile_bottlenecks(const struct chart *chart, struct figure *f)
{
    size_t limit = chart_limit(chart->preset, LIMIT);
    struct profile_worst host, device;

    profile_worst_init(&host, chart->profile, PROF_HOST, false, limit);
    profile_worst_init(&device, chart->profile, PROF_DEVICE, false, limit);
    if (!host.nr && !device.nr) {
        chart_absent(f, "no operation took any time");
    } else {
        f->columns = 2;
        profile_bars_add_side(f, &host, PROF_HOST);
        profile_bars_add_side(f, &device, PROF_DEVICE);
        profile_bars_words(f, chart, host.nr ? &host : &device, host.nr + device.nr);
    }
    profile_worst_release(&host);
    profile_worst_release(&device);
}

/* ---- shares ---- */

static void profile_bars_add_shares(struct panel *p, const struct profile_worst *w)
{
    struct layer *bars = panel_bars(p, NULL, INK_BLUE), *texts = panel_outside(p);
    char text[QUANTITY_TEXT_SIZE];

    axis_set(&p->x, "share of the time", QUANTITY_SHARE, "", AXIS_LINEAR);
    p->x.low = 0;
    for (size_t i = 0; i < w->nr; i++) {
        layer_add(bars, w->list[i].share, (double)i);
        layer_add_outside(texts, i, quantity_text(QUANTITY_SHARE, "", w->list[i].share, text));
    }
}

void build_profile_shares(const struct chart *chart, struct figure *f)
{
    enum prof_side side = chart->profile->rows.total[PROF_HOST] ? PROF_HOST : PROF_DEVICE;
    char rest[QUANTITY_TEXT_SIZE], first[QUANTITY_TEXT_SIZE];
    struct profile_worst w;

    profile_worst_init(&w, chart->profile, side, false, chart_limit(chart->preset, 12));
    if (!w.nr) {
        chart_absent(f, "no operation took any time");
    } else {
        const struct profile_rows rows = profile_worst_rows(&w);
        profile_bars_add_shares(profile_rows_panel(f, &rows, false), &w);
        profile_caption(
            f, chart, "Own times as shares of the time of %s, %s; those not shown come to %s.",
            w.iterations > 1 ? "the median iteration" : "all outermost calls",
            profile_side_name(side),
            quantity_text(QUANTITY_SHARE, "", fmax(0, 1 - w.list[w.nr - 1].cumulative), rest));
        figure_set(&f->alt, "Bars of shares of the time for %zu operations; the largest is %s, %s.",
                   w.nr, w.rows[0].name, quantity_text(QUANTITY_SHARE, "", w.list[0].share, first));
    }
    profile_worst_release(&w);
}
