/* SPDX-License-Identifier: MIT */
/* The calls of each operation as boxes: their times, or the rates of those whose work is known. A
 * row is an operation that does its work itself; what mainly holds others has their time. */
#include "base/stats.h"
#include "output/profile_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 24, BOX_MIN = 5, STRIP_MAX = 20 };

/* What a slice counts for: ns, FLOP/s or B/s; NaN: nothing. */
typedef double value_fn(const struct prof_slice *slice);

/* Time between marks of the GPU where the scope has them: the host may be long gone. */
static double slice_time(const struct prof_slice *s)
{
    return (double)(s->gpu > 0 ? s->gpu : s->duration);
}

static double slice_flops(const struct prof_slice *s)
{
    return s->flops > 0 && slice_time(s) > 0 ? s->flops / slice_time(s) * 1e9 : NAN;
}

static double slice_bytes(const struct prof_slice *s)
{
    return s->bytes > 0 && slice_time(s) > 0 ? (double)s->bytes / slice_time(s) * 1e9 : NAN;
}

struct boxes {
    const struct profile_data *data;
    value_fn *value;
    const struct prof_row **rows;
    size_t nr, of;
};

/* Sorted values of the calls of a row; the caller frees them. */
static double *values_of(const struct boxes *b, const struct prof_row *row, size_t *nr)
{
    double *values = memory_zeroed(row->calls + 1, sizeof(*values));

    *nr = 0;
    for (size_t i = 0; i < b->data->main.nr_slices; i++) {
        const struct prof_slice *s = &b->data->main.slices[i];
        enum prof_side side = profile_on_device(&b->data->main, s) ? PROF_DEVICE : PROF_HOST;
        double value = b->value(s);
        bool counts = !(s->flags & PROF_INSTANT_POINT) && !profile_is_call(s) && isfinite(value);
        if (counts && s->name == row->name && side == row->side && *nr < row->calls)
            values[(*nr)++] = value;
    }
    stats_sort(values, *nr);
    return values;
}

static bool does_itself(const struct prof_row *row)
{
    return row->self > 0 && 2 * row->self >= row->total;
}

/* Rows of a side that have a value, by self time. */
static void find_rows(struct boxes *b, enum prof_side side, size_t limit)
{
    b->rows = memory_zeroed(b->data->rows.nr_rows + 1, sizeof(struct prof_row *));
    for (size_t i = 0; i < b->data->rows.nr_rows; i++) {
        const struct prof_row *row = &b->data->rows.rows[i];
        size_t nr;
        if (row->side != side || !does_itself(row))
            continue;
        free(values_of(b, row, &nr));
        b->of += nr > 0;
        if (nr > 0 && b->nr < limit)
            b->rows[b->nr++] = row;
    }
}

struct box_layers {
    struct layer *whiskers, *boxes, *medians, *calls, *texts;
};

static void make_layers(struct panel *p, struct box_layers *l)
{
    l->whiskers = panel_layer(p, MARK_INTERVALS, "p5 to p95");
    l->whiskers->across = true;
    l->whiskers->style.width = 1.4;
    l->boxes = profile_bars(p, "p25 to p75", INK_BLUE);
    l->boxes->style.opacity = 0.6;
    l->medians = panel_layer(p, MARK_SEGMENTS, "median");
    l->medians->style.width = 2.4;
    l->calls = panel_layer(p, MARK_POINTS, "a call");
    l->calls->style.size = 5;
    l->calls->style.hollow = true;
    l->texts = profile_outside(p);
}

/* Few calls are drawn one by one: quartiles of them would be a guess. */
static void add_box(const struct box_layers *l, const double *values, size_t nr, size_t row)
{
    double median = stats_quantile(values, nr, 0.5), y = (double)row;

    layer_add_interval(l->medians, median, y - 0.34, y + 0.34);
    for (size_t i = 0; nr < BOX_MIN && i < nr; i++)
        layer_add(l->calls, values[i], y);
    if (nr < BOX_MIN)
        return;
    layer_add(l->boxes, stats_quantile(values, nr, 0.75), y)->low =
        stats_quantile(values, nr, 0.25);
    if (nr >= STRIP_MAX)
        layer_add_interval(l->whiskers, y, stats_quantile(values, nr, 0.05),
                           stats_quantile(values, nr, 0.95));
    else
        layer_add_interval(l->whiskers, y, values[0], values[nr - 1]);
}

/* Where a value would be lost beside another that is 50 times as large. */
static enum axis_scale scale_of(const struct boxes *b, const struct preset *preset)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < b->nr; i++) {
        size_t nr;
        double *values = values_of(b, b->rows[i], &nr);
        least = fmin(least, stats_quantile(values, nr, 0.05));
        most = fmax(most, stats_quantile(values, nr, 0.95));
        free(values);
    }
    return chart_scale(preset, least, most);
}

static struct panel *rows_panel(const struct boxes *b, struct figure *f)
{
    struct prof_row *rows = memory_zeroed(b->nr + 1, sizeof(*rows));

    for (size_t i = 0; i < b->nr; i++)
        rows[i] = *b->rows[i];
    struct panel *p = profile_rows_panel(f, &(struct profile_rows) { rows, b->nr, b->of }, false);
    free(rows);
    return p;
}

static void add_panel(const struct boxes *b, struct figure *f, const struct preset *preset,
                      const char *label, enum quantity quantity, const char *base)
{
    struct panel *p = rows_panel(b, f);
    struct box_layers l;
    char text[QUANTITY_TEXT_SIZE + 24], median[QUANTITY_TEXT_SIZE];

    axis_set(&p->x, label, quantity, base, scale_of(b, preset));
    make_layers(p, &l);
    for (size_t i = 0; i < b->nr; i++) {
        size_t nr;
        double *values = values_of(b, b->rows[i], &nr);
        add_box(&l, values, nr, i);
        snprintf(text, sizeof(text), "%s, n %zu",
                 quantity_text(quantity, base, stats_quantile(values, nr, 0.5), median), nr);
        layer_add_text(l.texts, 0, (double)i, ANCHOR_LEFT, text);
        free(values);
    }
}

static const struct variety {
    value_fn *value;
    const char *title, *label, *base;
    enum quantity quantity;
} varieties[] = {
    { slice_time, "time of a call", "time of a call", "", QUANTITY_TIME },
    { slice_flops, "computing", "rate", "FLOP/s", QUANTITY_RATE },
    { slice_bytes, "moving bytes", "rate", "B/s", QUANTITY_RATE },
};

/* A panel for each side that has rows; returns how many rows. */
static size_t add_variety(struct figure *f, const struct chart *chart, const struct variety *v)
{
    size_t all = 0;

    for (int side = PROF_HOST; side <= PROF_DEVICE; side++) {
        struct boxes b = { .data = chart->profile, .value = v->value };
        find_rows(&b, (enum prof_side)side, chart_limit(chart->preset, LIMIT));
        if (b.nr) {
            add_panel(&b, f, chart->preset, v->label, v->quantity, v->base);
            figure_set(&f->panels[f->nr_panels - 1]->title, "%s %s", v->title,
                       profile_side_name((enum prof_side)side));
        }
        all += b.nr;
        free(b.rows);
    }
    return all;
}

static const char how_boxes[] =
    "Whiskers p5 to p95 (all calls where there are fewer than 20), box p25 to p75, stroke the "
    "median; fewer than five calls are points. Operations that do most of their work themselves, "
    "by self time.";

struct figure *build_profile_times(const struct chart *chart)
{
    struct figure *f = profile_figure(chart);

    if (f->reason)
        return f;
    size_t nr = add_variety(f, chart, &varieties[0]);
    if (!nr)
        return chart_absent(f, "no operation took any time of its own");
    profile_caption(f, chart, "%s Scopes with marks on the GPU count the time between these.",
                    how_boxes);
    figure_set(&f->alt, "Boxes of the time of a call for %zu operations.", nr);
    figure_finish(f);
    return f;
}

struct figure *build_profile_rates(const struct chart *chart)
{
    struct figure *f = profile_figure(chart);

    if (f->reason)
        return f;
    size_t nr = add_variety(f, chart, &varieties[1]) + add_variety(f, chart, &varieties[2]);
    if (!nr)
        return chart_absent(f,
                            "no scope says how many operations or bytes it is worth "
                            "(.flops, .bytes)");
    profile_caption(f, chart,
                    "%s Rates are the work that a scope says it does over the time of the call.",
                    how_boxes);
    figure_set(&f->alt, "Boxes of computing and memory rates for operations, %zu rows.", nr);
    figure_finish(f);
    return f;
}
