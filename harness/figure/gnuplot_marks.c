/* SPDX-License-Identifier: MIT */
/* Layers as gnuplot data blocks and plot clauses. */
#include "figure/figure_axis.h"
#include "figure/gnuplot_base.h"
#include "text/escape.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_MAX = 8 };

static void gp_add_row(struct gp_script *s, const double *values, int nr)
{
    for (int i = 0; i < nr; i++)
        strbuf_addf(s->out, "%s%.12g", i ? "\t" : "", values[i]);
    strbuf_addc(s->out, '\n');
}

static bool finite_all(const double *values, int nr)
{
    for (int i = 0; i < nr; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* A rectangle as centre, x limits, y limits: what "boxxyerror" takes. */
static void gp_bar_row(const struct layer *l, const struct datum *d, double *row)
{
    double half = (l->thickness > 0 ? l->thickness : 0.62) / 2;
    double from = isfinite(d->low) ? d->low : 0;

    row[0] = d->x;
    row[1] = d->y;
    row[2] = l->across ? from : d->x - half;
    row[3] = l->across ? d->x : d->x + half;
    row[4] = l->across ? d->y - half : from;
    row[5] = l->across ? d->y + half : d->y;
}

static double colour_number(const char *colour)
{
    return (double)strtol(colour + 1, NULL, 16);
}

static void cell_row(const struct datum *d, double *row)
{
    char colour[COLOUR_SIZE];
    const double limits[6] = { d->x, d->y, d->x - 0.5, d->x + 0.5, d->y - 0.5, d->y + 0.5 };

    for (int i = 0; i < 6; i++)
        row[i] = limits[i];
    row[6] = colour_number(palette_scale(d->share, colour));
}

static double gp_shifted(const struct panel *p, const struct layer *l, double x)
{
    return l->shift == 0 ? x : axis_value(&p->x, axis_share(&p->x, x) + l->shift / p->area.width);
}

/* Start and extent: what "vectors" takes. */
static void vector_row(const struct panel *p, const struct layer *l, const struct datum *d,
                       double *row)
{
    row[0] = l->across ? d->low : gp_shifted(p, l, d->x);
    row[1] = l->across ? d->y : d->low;
    row[2] = l->across ? d->high - d->low : 0;
    row[3] = l->across ? 0 : d->high - d->low;
}

static void rule_row(const struct panel *p, const struct datum *d, double *row)
{
    bool upright = isfinite(d->x);

    row[0] = upright ? d->x : p->x.low;
    row[1] = upright ? p->y.low : d->y;
    row[2] = upright ? 0 : p->x.high - p->x.low;
    row[3] = upright ? p->y.high - p->y.low : 0;
}

/* Place, size and colour. */
static void point_row(const struct gp_script *s, const struct layer *l, const struct datum *d,
                      double *row)
{
    char colour[COLOUR_SIZE];

    row[0] = d->x;
    row[1] = d->y;
    row[2] = gp_point_size(s, isfinite(d->size) ? d->size : l->style.size);
    row[3] = colour_number(isfinite(d->share) ? palette_scale(d->share, colour)
                                              : palette_ink(l->style.ink)) +
             ldexp(round((1 - l->style.opacity) * 255), 24); /* how far one sees through */
}

/* Points with a size or colour of their own. */
static bool gp_varies(const struct layer *l)
{
    for (size_t i = 0; i < l->nr; i++)
        if (l->mark == MARK_POINTS && (isfinite(l->items[i].size) || isfinite(l->items[i].share)))
            return true;
    return false;
}

/* The numbers of one datum; returns how many. */
static int data_row(const struct gp_script *s, const struct panel *p, const struct layer *l,
                    const struct datum *d, double row[ROW_MAX])
{
    switch (l->mark) {
    case MARK_BARS:
    case MARK_BOXES:
        gp_bar_row(l, d, row);
        return 6;
    case MARK_CELLS:
        cell_row(d, row);
        return 7;
    case MARK_INTERVALS:
    case MARK_SEGMENTS:
    case MARK_ARROWS:
        vector_row(p, l, d, row);
        return 4;
    case MARK_RULES:
        rule_row(p, d, row);
        return 4;
    case MARK_BAND:
        row[0] = d->x;
        row[1] = d->low;
        row[2] = d->high;
        return 3;
    default:
        point_row(s, l, d, row);
        return gp_varies(l) ? 4 : 2;
    }
}

static bool gp_is_whole(const struct datum *d)
{
    return isfinite(d->y + d->low + d->high);
}

/* A band across is an outline: down one side and up the other, a polygon for each piece. */
static void gp_add_outline(struct gp_script *s, const struct layer *l)
{
    for (size_t from = 0, to; from < l->nr; from = to + 1) {
        for (to = from; to < l->nr && gp_is_whole(&l->items[to]); to++)
            gp_add_row(s, (double[]) { l->items[to].low, l->items[to].y }, 2);
        for (size_t i = to; i > from; i--)
            gp_add_row(s, (double[]) { l->items[i - 1].high, l->items[i - 1].y }, 2);
        strbuf_addc(s->out, '\n');
    }
}

static void gp_add_rows(struct gp_script *s, const struct panel *p, const struct layer *l)
{
    double row[ROW_MAX];

    for (size_t i = 0; i < l->nr; i++) {
        int nr = data_row(s, p, l, &l->items[i], row);
        if (finite_all(row, nr))
            gp_add_row(s, row, nr);
        else if (l->mark == MARK_LINE || l->mark == MARK_BAND || l->mark == MARK_STEPS)
            strbuf_addc(s->out, '\n'); /* breaks the line */
    }
}

static void gp_add_data(struct gp_script *s, const struct panel *p, size_t panel, size_t layer)
{
    const struct layer *l = p->layers[layer];

    strbuf_addf(s->out, "$data_%zu_%zu << EOD\n", panel, layer);
    if (l->mark == MARK_BAND && l->across)
        gp_add_outline(s, l);
    else
        gp_add_rows(s, p, l);
    strbuf_adds(s->out, "EOD\n");
}

/* Cells carry their text inside, in black or white. */
static void gp_add_layer_texts(struct gp_script *s, const struct layer *l)
{
    char colour[COLOUR_SIZE];

    for (size_t i = 0; i < l->nr; i++) {
        const struct datum *d = &l->items[i];
        bool cell = l->mark == MARK_CELLS;
        if (!d->text || !*d->text || !isfinite(d->x + d->y) || (!cell && l->mark != MARK_TEXT))
            continue;
        gp_label(s, d->text, "first", d->x, d->y, cell ? ANCHOR_CENTRE : d->anchor, d->angle);
        if (d->dx != 0 || d->dy != 0)
            strbuf_addf(s->out, " offset screen %.6g,%.6g", d->dx * s->page.scale / s->page.width,
                        -d->dy * s->page.scale / s->page.height);
        gp_font(s, GP_SMALL_SIZE, l->style.bold,
                cell ? palette_text_on(palette_scale(d->share, colour))
                     : palette_ink(l->style.ink));
    }
}

static void gp_add_plot_line(struct gp_script *s, const struct layer *l)
{
    if (l->mark == MARK_LINE) {
        strbuf_adds(s->out, "with lines");
    } else if (l->mark == MARK_STEPS) {
        strbuf_adds(s->out, "with steps");
    } else {
        strbuf_adds(s->out, "with vectors ");
        gp_heads(s, l->mark, l->mark == MARK_ARROWS ? 9.6 : 4.2);
    }
    gp_line_style(s, &l->style);
}

/* Bright colours of the scale need an outline against the white ground. */
static void gp_add_varied_points(struct gp_script *s, const struct layer *l)
{
    strbuf_addf(s->out, "using 1:2:($3*point):4 with points pt %d ps variable lc rgb variable, '' ",
                gp_point_type(l->style.shape, false));
    strbuf_addf(s->out, "using 1:2:($3*point) with points pt %d ps variable lw %.4g lc rgb '%s'",
                gp_point_type(l->style.shape, true), 0.8 * s->page.scale, palette_ink(INK_DARK));
}

/* Hollow points get a white inside, so that lines do not shine through. */
static void gp_add_plot_points(struct gp_script *s, const struct layer *l)
{
    if (l->style.hollow)
        strbuf_addf(s->out, "with points pt %d ps %.3g*point lc rgb 'white', '' ",
                    gp_point_type(l->style.shape, false), gp_point_size(s, l->style.size));
    strbuf_adds(s->out, "with points");
    gp_point_style(s, &l->style);
}

static void gp_add_hollow_varied_points(struct gp_script *s, const struct layer *l)
{
    strbuf_addf(s->out, "using 1:2:($3*point) with points pt %d ps variable lc rgb 'white', '' ",
                gp_point_type(l->style.shape, false));
    strbuf_addf(s->out,
                "using 1:2:($3*point):4 with points pt %d ps variable lw %.4g lc rgb variable",
                gp_point_type(l->style.shape, true), 1.4 * s->page.scale);
}

static void gp_add_plot(struct gp_script *s, const struct layer *l)
{
    switch (l->mark) {
    case MARK_POINTS:
        if (!gp_varies(l))
            gp_add_plot_points(s, l);
        else if (l->style.hollow)
            gp_add_hollow_varied_points(s, l);
        else
            gp_add_varied_points(s, l);
        break;
    case MARK_BARS:
    case MARK_BOXES:
        strbuf_adds(s->out, "with boxxyerror ");
        gp_fill(s, &l->style);
        break;
    case MARK_CELLS:
        strbuf_adds(s->out,
                    "using 1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc rgb variable");
        break;
    case MARK_BAND:
        strbuf_adds(s->out, l->across ? "with filledcurves closed fc" : "with filledcurves fc");
        gp_colour(s, &l->style);
        break;
    default:
        gp_add_plot_line(s, l);
        break;
    }
}

void gp_panel_layers(struct gp_script *s, size_t panel)
{
    const struct panel *p = s->f->panels[panel];

    for (size_t i = 0; i < p->nr; i++) {
        gp_add_layer_texts(s, p->layers[i]);
        if (p->layers[i]->mark != MARK_TEXT)
            gp_add_data(s, p, panel, i);
    }
    strbuf_adds(s->out, "plot NaN notitle");
    for (size_t i = 0; i < p->nr; i++) {
        if (p->layers[i]->mark == MARK_TEXT || p->layers[i]->nr == 0)
            continue;
        strbuf_addf(s->out, ", \\\n    $data_%zu_%zu ", panel, i);
        gp_add_plot(s, p->layers[i]);
    }
    strbuf_adds(s->out, "\nunset label\nunset arrow\nunset object\n");
}
