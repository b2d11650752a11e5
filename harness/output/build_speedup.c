/* SPDX-License-Identifier: MIT */
/*
 * How many times as fast: bars from 1× on a logarithmic axis, so that twice as fast and half as
 * fast are as long. Above 1 is better, whatever the metric. Head against base, each with its
 * verdict; or with "group" the benchmarks of a run that are alike but for that field, against the
 * vendor's.
 */
#include "base/memory.h"
#include "output/chart_grid.h"
#include "output/compare_rows.h"
#include "output/speedup_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_HEIGHT = 27, TICKS_MOST = 9 };

void speedup_find_reach(struct speedup *s, double least)
{
    double ends[2] = { -log(least), log(least) }, wild[2] = { 0, 0 };

    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        ends[0] = fmin(ends[0], log(r->value));
        ends[1] = fmax(ends[1], log(r->value));
        if (r->low > 0 && isfinite(r->high)) {
            wild[0] = fmin(wild[0], log(r->low));
            wild[1] = fmax(wild[1], log(r->high));
        }
    }
    double room = 0.25 * (ends[1] - ends[0]), pad = 0.04 * (ends[1] - ends[0]);
    s->reach[0] = exp(fmin(ends[0], fmax(wild[0], ends[0] - room)) - pad);
    s->reach[1] = exp(fmax(ends[1], fmin(wild[1], ends[1] + room)) + pad);
}

static double clamp(const struct speedup *s, double x)
{
    return fmax(s->reach[0], fmin(s->reach[1], x));
}

void speedup_add_panel(struct speedup *s, const char *base)
{
    const char **names = memory_zeroed(s->nr + 1, sizeof(*names));
    char label[128];

    s->p = figure_panel(s->f);
    for (size_t i = 0; i < s->nr; i++)
        names[i] = s->items[i].label;
    axis_names(&s->p->y, names, s->nr, true);
    free(names);
    s->p->y.bare = true;
    s->p->plot_height = ROW_HEIGHT * (double)s->nr + 12;
    axis_set(&s->p->x, "speed-up, times as fast", QUANTITY_PLAIN, "", AXIS_LOG);
    s->p->x.low = s->reach[0];
    s->p->x.high = s->reach[1];
    ticks_ratio(&s->p->x.ticks, s->reach[0], s->reach[1], TICKS_MOST);
    snprintf(label, sizeof(label), "1×: as fast as %s", base);
    struct layer *one = panel_layer(s->p, MARK_RULES, label);
    one->style = (struct style) { .ink = INK_DARK, .width = 1.4, .opacity = 1 };
    layer_add(one, 1, NAN);
}

void speedup_add_bar(const struct speedup *s, struct layer *bars, size_t i)
{
    layer_add(bars, clamp(s, s->items[i].value), (double)i)->low = 1;
}

/* As far as the frame goes; what is cut off is said in words. */
static void add_interval(const struct speedup *s, struct layer *intervals, size_t i)
{
    const struct ratio *r = &s->items[i];
    double low = clamp(s, r->low), high = clamp(s, r->high);
    char from[QUANTITY_TEXT_SIZE], to[QUANTITY_TEXT_SIZE];

    struct datum *d = layer_add_interval(intervals, (double)i, low, high);
    if (low != r->low || high != r->high)
        figure_set(&d->text, "%s to %s", ratio_text(r->low, from), ratio_text(r->high, to));
}

void speedup_add_intervals(struct speedup *s, const char *label)
{
    struct layer *intervals = panel_layer(s->p, MARK_INTERVALS, label);

    intervals->across = true;
    intervals->style.width = 1.4;
    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        if (!isnan(r->low) && !isnan(r->high))
            add_interval(s, intervals, i);
    }
}

void speedup_add_texts(struct speedup *s)
{
    struct layer *texts = panel_layer(s->p, MARK_TEXT, NULL);

    texts->outside = true;
    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        char text[QUANTITY_TEXT_SIZE + 96], times[QUANTITY_TEXT_SIZE];
        ratio_text(r->value, times);
        snprintf(text, sizeof(text), "%s%s%.40s  %s", times, r->base ? " " : "",
                 r->base ? r->base : "", r->word);
        layer_add_text(texts, 0, (double)i, ANCHOR_LEFT, text);
    }
}

void speedup_add_alt(struct speedup *s, const char *base)
{
    struct ratio least = { .label = "", .value = INFINITY }, most = { .label = "" };

    for (size_t i = 0; i < s->nr; i++) {
        least = s->items[i].value < least.value ? s->items[i] : least;
        most = s->items[i].value > most.value ? s->items[i] : most;
    }
    figure_set(&s->f->alt, "Speed-up of %zu benchmark%s against %s, from %.3g× (%s) to %.3g× (%s).",
               s->nr, s->nr == 1 ? "" : "s", base, least.value, least.label, most.value,
               most.label);
}

double speedup_ratio(const struct metric *metric, double ratio)
{
    if (metric->direction == LOWER_IS_BETTER)
        return ratio > 0 ? 1 / ratio : INFINITY;
    return ratio;
}

static void collect_changes(struct speedup *s, const struct compare_rows *rows)
{
    for (size_t i = 0; i < rows->nr; i++) {
        const struct compare_row *row = rows->items[i];
        double one = speedup_ratio(rows->metric, 1 + row->interval.low);
        double other = speedup_ratio(rows->metric, 1 + row->interval.high);
        bool known = isfinite(row->interval.low);
        *array_push(s) = (struct ratio) {
            .label = rows->labels[i],
            .value = speedup_ratio(rows->metric, 1 + row->change),
            .low = known ? fmin(one, other) : NAN,
            .high = known ? fmax(one, other) : NAN,
            .kind = (size_t)row->verdict,
            .word = verdict_name(row->verdict),
        };
    }
}

static void add_verdicts(struct speedup *s)
{
    struct layer *bars[INK_NR] = { NULL };
    struct verdict_points points;

    for (size_t i = 0; i < s->nr; i++) {
        enum ink ink = verdict_ink((enum verdict)s->items[i].kind);
        if (!bars[ink]) {
            bars[ink] = panel_layer(s->p, MARK_BARS, NULL);
            bars[ink]->across = true;
            bars[ink]->style.ink = ink;
            bars[ink]->style.opacity = 0.45;
        }
        speedup_add_bar(s, bars[ink], i);
    }
    speedup_add_intervals(s, "90 % interval");
    verdict_points_init(&points, s->p);
    for (size_t i = 0; i < s->nr; i++)
        layer_add(verdict_points_of(&points, (enum verdict)s->items[i].kind),
                  clamp(s, s->items[i].value), (double)i);
}

static void draw_changes(struct speedup *s, const struct compare_rows *rows)
{
    static const char base[] = "the base";
    struct strbuf sb;

    collect_changes(s, rows);
    speedup_find_reach(s, 1 + 2 * rows->comparison->settings.delta);
    speedup_add_panel(s, base);
    add_verdicts(s);
    speedup_add_texts(s);
    compare_rows_subtitle(rows, s->f, s->chart);
    compare_rows_banner(rows, s->f);
    strbuf_init(&sb);
    strbuf_addf(&sb,
                "How many times as fast the head is, by %s: right of 1× is faster. Triangle up: "
                "decided to be worse; down: decided to be better. Ends of bars compare by "
                "ratio. An interval that reaches the frame goes on.",
                rows->metric->label);
    compare_rows_caption(rows, false, &sb);
    figure_set(&s->f->caption, "%s", sb.data);
    strbuf_release(&sb);
    speedup_add_alt(s, base);
    figure_finish(s->f);
}

static void build_changes(struct speedup *s)
{
    struct compare_rows rows;

    compare_rows_init(&rows, s->chart, chart_limit(s->chart->preset, SPEEDUP_LIMIT), false);
    if (compare_rows_any(&rows, s->f))
        draw_changes(s, &rows);
    compare_rows_release(&rows);
}

int check_speedup(const struct preset *preset, struct error *err)
{
    const struct metric *metric;

    if (!preset->group)
        return 0;
    if (chart_grid_check(preset->group, err))
        return -1;
    metric = metric_find(preset->y ? preset->y : "p50", err);
    if (metric && metric->direction == NO_DIRECTION)
        return error_set(err, "\"y\": %s is neither better high nor better low", metric->id);
    return metric ? 0 : -1;
}

struct figure *build_speedup(const struct chart *chart)
{
    struct speedup s = { .chart = chart, .f = chart_figure(chart) };

    if (chart->preset->group)
        speedup_build_pairs(&s);
    else if (!chart->comparison || chart->run < 0)
        chart_absent(s.f, "there is no base to compare with; name one, or save a baseline");
    else
        build_changes(&s);
    array_release(&s);
    return s.f;
}
