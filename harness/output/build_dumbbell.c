/* SPDX-License-Identifier: MIT */
/* Change of each benchmark against the base: a hollow circle at 0 %, a line to the head's mark, a
 * bar for the interval. The worst is at the top. */
#include "analysis/label.h"
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 28, ROW_HEIGHT = 27 };

struct dumbbell {
    const struct chart *chart;
    const struct comparison *c;
    const struct metric *metric;     /* the first of the comparison's */
    const struct compare_row **rows; /* with a change, worst first */
    size_t nr, all;
    char **labels;
    double reach; /* half the width of the axis, a fraction */
    struct figure *f;
    struct panel *p;
};

/* Positive is worse, whatever the metric's direction. */
static double badness(const struct compare_row *row)
{
    return row->worse ? fabs(row->change) : -fabs(row->change);
}

static bool decided(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
}

static int worst_first(const void *a, const void *b)
{
    double x = badness(*(const struct compare_row *const *)a);
    double y = badness(*(const struct compare_row *const *)b);

    if (x != y)
        return x < y ? 1 : -1;
    return strcmp((*(const struct compare_row *const *)a)->item->bench->key,
                  (*(const struct compare_row *const *)b)->item->bench->key);
}

/* What is dropped first where there is no room: undecided before decided, small before large. */
static double importance(const struct compare_row *row)
{
    return fabs(row->change) + (decided(row) ? 1000 : 0);
}

static void collect(struct dumbbell *d)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];

    d->metric = comparison_metrics(d->c, metrics) > 0 ? metrics[0] : NULL;
    d->rows = memory_zeroed(d->c->nr + 1, sizeof(*d->rows));
    for (size_t i = 0; i < d->c->nr; i++) {
        const struct compare_row *row = &d->c->rows[i];
        if (isfinite(row->change) && row->item->metric == d->metric &&
            preset_takes(d->chart->preset, row->item->bench->key))
            d->rows[d->nr++] = row;
    }
    d->all = d->nr;
    size_t limit = chart_limit(d->chart->preset, LIMIT);
    while (d->nr > limit) {
        size_t least = 0;
        for (size_t i = 1; i < d->nr; i++)
            if (importance(d->rows[i]) < importance(d->rows[least]))
                least = i;
        d->nr--;
        memmove(&d->rows[least], &d->rows[least + 1], (d->nr - least) * sizeof(*d->rows));
    }
    qsort(d->rows, d->nr, sizeof(*d->rows), worst_first);
}

static void name_rows(struct dumbbell *d)
{
    const struct benchmark_name **names = memory_zeroed(d->nr + 1, sizeof(*names));

    for (size_t i = 0; i < d->nr; i++)
        names[i] = d->rows[i]->item->bench;
    d->labels = labels_create(names, d->nr);
    axis_names(&d->p->y, (const char *const *)d->labels, d->nr, true);
    free(names);
}

/* The axis holds all changes and most intervals; a wild interval does not squeeze the rest. */
static void find_reach(struct dumbbell *d)
{
    double change = 2 * d->c->settings.delta, interval = 0;

    for (size_t i = 0; i < d->nr; i++) {
        change = fmax(change, fabs(d->rows[i]->change));
        if (isfinite(d->rows[i]->interval.low))
            interval = fmax(interval,
                            fmax(fabs(d->rows[i]->interval.low), fabs(d->rows[i]->interval.high)));
    }
    d->reach = 1.08 * fmax(change, fmin(interval, 2 * change));
}

static double clamp(const struct dumbbell *d, double x)
{
    return fmax(-d->reach, fmin(d->reach, x));
}

static void add_floor(struct dumbbell *d)
{
    char label[64];

    snprintf(label, sizeof(label), "±%.3g %% does not matter", d->c->settings.delta * 100);
    struct layer *rules = panel_layer(d->p, MARK_RULES, label);
    rules->style = (struct style) { .ink = INK_GREY, .width = 1, .dash = DASH_SHORT, .opacity = 1 };
    layer_add(rules, -d->c->settings.delta, NAN);
    layer_add(rules, d->c->settings.delta, NAN);
    struct layer *zero = panel_layer(d->p, MARK_RULES, NULL);
    zero->style = (struct style) { .ink = INK_GREY, .width = 1, .opacity = 1 };
    layer_add(zero, 0, NAN);
}

static void add_lines(struct dumbbell *d)
{
    struct layer *links = panel_layer(d->p, MARK_SEGMENTS, NULL);
    struct layer *intervals = panel_layer(d->p, MARK_INTERVALS, "90 % interval");
    struct layer *base = panel_layer(d->p, MARK_POINTS, "base");

    links->across = intervals->across = true;
    links->style.ink = INK_LIGHT;
    links->style.width = 5;
    intervals->style.width = 1.4;
    base->style.ink = INK_GREY;
    base->style.hollow = true;
    for (size_t i = 0; i < d->nr; i++) {
        const struct compare_row *row = d->rows[i];
        layer_add_interval(links, (double)i, 0, clamp(d, row->change));
        if (isfinite(row->interval.low))
            layer_add_interval(intervals, (double)i, clamp(d, row->interval.low),
                               clamp(d, row->interval.high));
        layer_add(base, 0, (double)i);
    }
}

/* Colour, shape and the word at the right say the same. */
static void add_heads(struct dumbbell *d)
{
    struct layer *worse = panel_layer(d->p, MARK_POINTS, "worse");
    struct layer *better = panel_layer(d->p, MARK_POINTS, "better");
    struct layer *open = panel_layer(d->p, MARK_POINTS, "same or undecided");
    struct layer *texts = panel_layer(d->p, MARK_TEXT, NULL);

    worse->style =
        (struct style) { INK_VERMILLION, SHAPE_TRIANGLE_UP, DASH_SOLID, false, 1, 12, 1 };
    better->style = (struct style) { INK_BLUE, SHAPE_TRIANGLE_DOWN, DASH_SOLID, false, 1, 12, 1 };
    open->style = (struct style) { INK_GREY, SHAPE_CIRCLE, DASH_SOLID, false, 1, 9, 1 };
    texts->outside = true;
    for (size_t i = 0; i < d->nr; i++) {
        const struct compare_row *row = d->rows[i];
        struct layer *layer = row->verdict == VERDICT_REGRESSED  ? worse
                              : row->verdict == VERDICT_IMPROVED ? better
                                                                 : open;
        char change[QUANTITY_TEXT_SIZE], text[96];
        layer_add(layer, clamp(d, row->change), (double)i);
        quantity_text(QUANTITY_PERCENT, "", row->change, change);
        snprintf(text, sizeof(text), "%s  %s", change, verdict_name(row->verdict));
        layer_add_text(texts, 0, (double)i, ANCHOR_LEFT, text);
    }
}

static void add_without_change(const struct dumbbell *d, struct strbuf *sb)
{
    static const enum verdict verdicts[] = { VERDICT_BROKEN, VERDICT_FAILING, VERDICT_FIXED,
                                             VERDICT_NEW, VERDICT_MISSING };
    const char *before = " Without a change, so not shown: ";

    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        if (!d->c->count[verdicts[i]])
            continue;
        strbuf_addf(sb, "%s%zu %s", before, d->c->count[verdicts[i]], verdict_name(verdicts[i]));
        before = ", ";
    }
    if (*before == ',')
        strbuf_addc(sb, '.');
}

static void add_words(struct dumbbell *d)
{
    struct strbuf sb;
    const struct comparison *c = d->c;

    strbuf_init(&sb);
    comparison_summary(c, &sb);
    const struct run *run = &d->chart->records->runs[d->chart->run];
    const char *base = d->chart->base_label ? d->chart->base_label : "";
    figure_set(&d->f->subtitle, "%s%s%s%s%.9s%s  ·  %s", sb.data, *base ? "  ·  base " : "", base,
               run->build.commit[0] ? "  ·  head " : "", run->build.commit,
               run->build.dirty ? " (dirty)" : "", run->machine.cpu);
    strbuf_clear(&sb);
    strbuf_addf(&sb,
                "Change of %s against the base; a triangle is a decision that holds with a false "
                "discovery rate of %.3g %% over the family of %zu. An interval that reaches the "
                "frame goes on.",
                d->rows[0]->item->metric->label, c->settings.q * 100, c->family);
    if (d->all > d->nr)
        strbuf_addf(&sb, " Showing %zu of %zu: decided ones and the largest changes.", d->nr,
                    d->all);
    add_without_change(d, &sb);
    figure_set(&d->f->caption, "%s", sb.data);
    strbuf_release(&sb);
    figure_set(&d->f->alt,
               "Changes of %zu benchmarks: %zu regressed, %zu improved; from %+.1f %% (%s) to "
               "%+.1f %% (%s).",
               d->all, c->count[VERDICT_REGRESSED], c->count[VERDICT_IMPROVED],
               d->rows[0]->change * 100, d->labels[0], d->rows[d->nr - 1]->change * 100,
               d->labels[d->nr - 1]);
}

static void draw(struct dumbbell *d)
{
    d->p = figure_panel(d->f);
    name_rows(d);
    d->p->y.bare = true;
    find_reach(d);
    axis_set(&d->p->x, "change", QUANTITY_PERCENT, "", AXIS_LINEAR);
    d->p->x.low = -d->reach;
    d->p->x.high = d->reach;
    d->p->plot_height = ROW_HEIGHT * (double)d->nr + 12;
    add_floor(d);
    add_lines(d);
    add_heads(d);
    add_words(d);
    if (d->c->shifted)
        figure_set(&d->f->banner,
                   "▲ All benchmarks moved together by %+.1f %%: suspect the machine before the "
                   "code.",
                   d->c->common_shift * 100);
    figure_finish(d->f);
    labels_free(d->labels, d->nr);
}

struct figure *build_dumbbell(const struct chart *chart)
{
    struct dumbbell d = { .chart = chart, .c = chart->comparison, .f = chart_figure(chart) };

    if (!d.c || chart->run < 0)
        return chart_absent(d.f, "there is no base to compare with; name one, or save a baseline");
    collect(&d);
    if (d.nr)
        draw(&d);
    else
        chart_absent(d.f, "no benchmark has a time on both sides");
    free(d.rows);
    return d.f;
}
