/* SPDX-License-Identifier: MIT */
/* Whole distributions as lines, one a benchmark (and run): ecdf has the share of samples at or
 * below a value, quantiles the value below which a share lies, with room for the tail. */
#include "analysis/density.h"
#include "base/text.h"
#include "output/chart_samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 8, ECDF_POINTS = 160, TAIL_PARTS = 24, AREA_WIDTH = 1060, TICK_APART = 44 };

struct curves {
    struct chart_samples s;
    struct panel *p;
    double low, high; /* values that the axis shows */
    double top;       /* quantiles: the largest probability that any line reaches */
    bool tail;        /* quantiles: probabilities by nines */
};

static const struct chart_item *item_at(const struct curves *c, size_t i)
{
    return &c->s.items.items[i];
}

static void line_label(const struct curves *c, const struct chart_item *item, char *label,
                       size_t size)
{
    char text[QUANTITY_TEXT_SIZE];
    double median = chart_item_median(item);

    if (c->s.rate && !c->s.relative)
        quantity_text(c->s.metric.quantity, c->s.metric.base,
                      chart_samples_quantile(&c->s, item, 0.5), text);
    else
        quantity_text(QUANTITY_TIME, "", median, text);
    snprintf(label, size, "%s  (p50 %s, n %zu)", item->label, text, item->summary->n);
}

static struct layer *add_line(struct curves *c, enum mark mark, size_t i)
{
    char label[320];

    line_label(c, item_at(c, i), label, sizeof(label));
    struct layer *line = panel_layer(c->p, mark, label);
    style_nth(&line->style, i);
    return line;
}

static void finish(struct curves *c, const char *how, const char *what)
{
    const struct chart_item *widest = chart_samples_widest(&c->s);
    size_t nr = c->s.items.nr;
    char spread[TEXT_UNIT_SIZE];
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, how);
    chart_samples_explain(&c->s, &sb);
    chart_caption(c->s.f, &c->s.items, sb.data, "of each kernel those with the widest p5 to p95");
    strbuf_release(&sb);
    figure_set(&c->s.f->alt,
               "%s of the %s of %zu benchmark%s; p5 to p95 is widest for %s, %s of its median.",
               what, c->s.rate ? c->s.metric.label : "latency", nr, nr == 1 ? "" : "s",
               widest->label, text_share(chart_samples_spread(widest), spread));
    chart_subtitle(c->s.f, c->s.chart, &c->s.items);
    figure_finish(c->s.f);
}

/* From 0 at the first sample on; beyond the axis' end the line leaves the frame. */
static void add_steps(struct curves *c, size_t i)
{
    struct ecdf_point points[ECDF_POINTS];
    struct layer *line = add_line(c, MARK_STEPS, i);
    size_t n;
    double *values = chart_samples_sorted(&c->s, item_at(c, i), &n);
    size_t nr = ecdf_fill(points, ECDF_POINTS, values, n, c->p->x.low, c->p->x.high);

    free(values);
    if (!nr)
        return;
    layer_add(line, points[0].x, 0);
    for (size_t k = 0; k < nr; k++)
        layer_add(line, points[k].x, points[k].share);
    layer_add(line, c->p->x.high, points[nr - 1].share);
}

static void draw_ecdf(struct curves *c)
{
    const struct preset *preset = c->s.chart->preset;

    chart_samples_frame(&c->s, &c->low, &c->high);
    c->p = figure_panel(c->s.f);
    chart_samples_axis(&c->s, &c->p->x, preset->x_label, preset->x_scale, c->low, c->high);
    axis_set(&c->p->y, preset->y_label ? preset->y_label : "samples at or below", QUANTITY_SHARE,
             "", AXIS_LINEAR);
    c->p->y.low = 0;
    c->p->y.high = 1.01;
    struct layer *half = panel_layer(c->p, MARK_RULES, NULL);
    half->style = (struct style) { .ink = INK_GREY, .width = 1, .dash = DASH_DOT, .opacity = 1 };
    layer_add(half, NAN, 0.5);
    for (size_t i = 0; i < c->s.items.nr; i++)
        add_steps(c, i);
    finish(c,
           "The share of samples (upright) that took at most so long (across): a steep line is a "
           "steady benchmark, two steep parts are two modes. Dotted: one half, where a line "
           "crosses it is its median. Long tails go on beyond the frame.",
           "Cumulative distributions");
}

/* The largest probability that n samples carry: 1 - p^n >= 0.95. */
static double carried(const struct chart_item *item)
{
    return pow(0.05, 1 / (double)item->summary->n);
}

/* In percent, the axis' unit. Beside many nines the first quarter has no room for its text. */
static void add_probability_ticks(struct curves *c)
{
    static const struct {
        double p;
        const char *text;
    } marks[] = {
        { 0, "min" },          { 0.25, "25 %" },        { 0.5, "50 %" },  { 0.75, "75 %" },
        { 0.9, "90 %" },       { 0.95, "95 %" },        { 0.99, "99 %" }, { 0.999, "99.9 %" },
        { 0.9999, "99.99 %" }, { 0.99999, "99.999 %" },
    };

    double per_nine = AREA_WIDTH / -log10(1 - c->top), taken = -INFINITY;

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && marks[i].p <= c->top; i++) {
        double at = -log10(1 - marks[i].p) * per_nine;
        bool fits = at - taken >= TICK_APART;
        ticks_add(&c->p->x.ticks, marks[i].p * 100, fits ? marks[i].text : "", !fits);
        taken = fits ? at : taken;
    }
}

/* Close together where the line bends: by 1/100 in the body, by parts of a nine in the tail. */
static void add_quantiles(struct curves *c, size_t i)
{
    const struct chart_item *item = item_at(c, i);
    struct layer *line = add_line(c, MARK_LINE, i);
    double end = fmax(carried(item), 0.5);

    for (int k = 0; k < 90 && k / 100.0 < end; k++)
        layer_add(line, k / 100.0, chart_samples_quantile(&c->s, item, k / 100.0));
    for (int k = TAIL_PARTS; 1 - pow(10, -(double)k / TAIL_PARTS) < end; k++) {
        double p = 1 - pow(10, -(double)k / TAIL_PARTS);
        layer_add(line, p, chart_samples_quantile(&c->s, item, p));
    }
    layer_add(line, end, chart_samples_quantile(&c->s, item, end));
}

/* What is shown reaches as far as the samples carry it, and no further. */
static void find_quantile_range(struct curves *c)
{
    c->low = INFINITY;
    c->high = -INFINITY;
    for (size_t i = 0; i < c->s.items.nr; i++) {
        double end = fmax(carried(item_at(c, i)), 0.5);
        double least = chart_samples_quantile(&c->s, item_at(c, i), 0);
        c->top = fmax(c->top, end);
        c->low = fmin(c->low, isfinite(least) ? least : INFINITY);
        c->high = fmax(c->high, chart_samples_quantile(&c->s, item_at(c, i), end));
    }
}

static void draw_quantiles(struct curves *c)
{
    const struct preset *preset = c->s.chart->preset;

    c->tail = preset->x_scale != SCALE_LINEAR;
    find_quantile_range(c);
    c->p = figure_panel(c->s.f);
    axis_set(&c->p->x, preset->x_label ? preset->x_label : "share of samples below", QUANTITY_SHARE,
             "", c->tail ? AXIS_NINES : AXIS_LINEAR);
    c->p->x.low = 0;
    c->p->x.high = c->tail ? 1 - pow(1 - c->top, 1.02) : c->top * 1.02;
    if (c->tail)
        add_probability_ticks(c);
    chart_samples_axis(&c->s, &c->p->y, preset->y_label, preset->y_scale, c->low, c->high);
    for (size_t i = 0; i < c->s.items.nr; i++)
        add_quantiles(c, i);
    finish(c,
           c->tail ? "The value (upright) below which a share of the samples lies (across). Each "
                     "nine takes the same width, so that the tail is seen; a line ends where its "
                     "samples carry no further quantile (95 % confidence)."
                   : "The value (upright) below which a share of the samples lies (across); a line "
                     "ends where its samples carry no further quantile (95 % confidence).",
           "Quantile functions");
}

static struct figure *build(const struct chart *chart, enum scale_choice scale,
                            void (*draw)(struct curves *c))
{
    struct curves c = { .p = NULL };

    if (chart_samples_init(&c.s, chart, scale)) {
        chart_samples_limit(&c.s, chart_limit(chart->preset, LIMIT), chart_samples_spread);
        draw(&c);
    }
    chart_samples_release(&c.s);
    return c.s.f;
}

struct figure *build_ecdf(const struct chart *chart)
{
    return build(chart, chart->preset->x_scale, draw_ecdf);
}

struct figure *build_quantiles(const struct chart *chart)
{
    return build(chart, chart->preset->y_scale, draw_quantiles);
}
