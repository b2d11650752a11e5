/* SPDX-License-Identifier: MIT */
#include "output/paint_gnuplot.h"

#include "base/resource.h"
#include "output/escape.h"
#include "output/figure_axis.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL_SIZE = 12 };

/* gnuplot's point types, filled and hollow. */
static const int filled_points[SHAPE_NR] = {
    [SHAPE_CIRCLE] = 7,   [SHAPE_SQUARE] = 5,         [SHAPE_TRIANGLE_UP] = 9,
    [SHAPE_DIAMOND] = 13, [SHAPE_TRIANGLE_DOWN] = 11, [SHAPE_CROSS] = 2,
};
static const int hollow_points[SHAPE_NR] = {
    [SHAPE_CIRCLE] = 6,   [SHAPE_SQUARE] = 4,         [SHAPE_TRIANGLE_UP] = 8,
    [SHAPE_DIAMOND] = 12, [SHAPE_TRIANGLE_DOWN] = 10, [SHAPE_CROSS] = 2,
};
static const char *const dashes[DASH_NR] = {
    [DASH_SOLID] = "1",
    [DASH_LONG] = "(12,6)",
    [DASH_SHORT] = "(6,5)",
    [DASH_DOT] = "(2,4)",
};
static const char *const anchors[] = {
    [ANCHOR_LEFT] = "left",
    [ANCHOR_CENTRE] = "center",
    [ANCHOR_RIGHT] = "right",
};

struct script {
    struct strbuf *out;
    const struct figure *f;
    int label; /* numbers given out so far */
};

static double screen_x(const struct script *s, double x)
{
    return x / s->f->width;
}

static double screen_y(const struct script *s, double y)
{
    return 1 - y / s->f->height;
}

/* The point size that makes a circle this many pixels wide. */
static double point_size(double pixels)
{
    return pixels / 6.2;
}

static void add_colour(struct script *s, const struct style *style)
{
    unsigned see_through = (unsigned)lround((1 - style->opacity) * 255);

    if (see_through)
        strbuf_addf(s->out, " rgb '#%02x%s'", see_through, palette_ink(style->ink) + 1);
    else
        strbuf_addf(s->out, " rgb '%s'", palette_ink(style->ink));
}

static void add_line_style(struct script *s, const struct style *style)
{
    strbuf_adds(s->out, " lc");
    add_colour(s, style);
    strbuf_addf(s->out, " lw %g dt %s", style->width, dashes[style->dash]);
}

static void add_point_style(struct script *s, const struct style *style)
{
    const int *types = style->hollow ? hollow_points : filled_points;

    strbuf_addf(s->out, " pt %d ps %.3g lw %g lc", types[style->shape], point_size(style->size),
                style->shape == SHAPE_CROSS ? 1.6 : 1.4);
    add_colour(s, style);
}

/* A text at a place that is written "screen 0.1,0.2" or "first 3,4". */
static void add_label(struct script *s, const char *text, const char *coordinates, double x,
                      double y, enum anchor anchor, double angle)
{
    strbuf_addf(s->out, "set label %d ", ++s->label);
    escape_gnuplot(s->out, text);
    strbuf_addf(s->out, " at %s %.9g,%s %.9g %s", coordinates, x, coordinates, y, anchors[anchor]);
    if (angle != 0)
        strbuf_addf(s->out, " rotate by %.4g", angle);
}

static void add_font(struct script *s, double size, bool bold, const char *colour)
{
    strbuf_addf(s->out, " font 'DejaVu Sans%s,%g' tc rgb '%s' front\n", bold ? ":Bold" : "", size,
                colour);
}

static void add_outer_texts(struct script *s)
{
    for (size_t i = 0; i < s->f->nr_texts; i++) {
        const struct placed_text *t = &s->f->texts[i];
        add_label(s, t->text, "screen", screen_x(s, t->x), screen_y(s, t->y), t->anchor, t->angle);
        add_font(s, t->size, t->bold, palette_ink(t->ink));
    }
}

/* A straight line between two screen points; `kind` says what its ends look like. */
static void add_sample_line(struct script *s, const struct legend_sample *sample, const char *kind)
{
    const struct rect *b = &sample->box;
    double y = screen_y(s, b->y + b->height / 2);

    strbuf_addf(s->out, "set arrow from screen %.9g,%.9g to screen %.9g,%.9g %s", screen_x(s, b->x),
                y, screen_x(s, b->x + b->width), y, kind);
    add_line_style(s, &sample->layer->style);
    strbuf_addc(s->out, '\n');
}

static void add_sample_box(struct script *s, const struct legend_sample *sample)
{
    const struct rect *b = &sample->box;

    strbuf_addf(s->out, "set object rectangle from screen %.9g,%.9g to screen %.9g,%.9g",
                screen_x(s, b->x), screen_y(s, b->y + b->height), screen_x(s, b->x + b->width),
                screen_y(s, b->y));
    strbuf_adds(s->out, " fs solid noborder fc");
    add_colour(s, &sample->layer->style);
    strbuf_addc(s->out, '\n');
}

static void add_sample_point(struct script *s, const struct legend_sample *sample)
{
    const struct rect *b = &sample->box;

    strbuf_addf(s->out, "set label %d '' at screen %.9g,%.9g point", ++s->label,
                screen_x(s, b->x + b->width / 2), screen_y(s, b->y + b->height / 2));
    add_point_style(s, &sample->layer->style);
    strbuf_adds(s->out, " front\n");
}

static void add_sample(struct script *s, const struct legend_sample *sample)
{
    switch (sample->layer->mark) {
    case MARK_BARS:
    case MARK_BAND:
        add_sample_box(s, sample);
        break;
    case MARK_POINTS:
        add_sample_point(s, sample);
        break;
    case MARK_INTERVALS:
        add_sample_line(s, sample, "heads size screen 0.004,90");
        break;
    case MARK_ARROWS:
        add_sample_line(s, sample, "head filled size screen 0.008,18");
        break;
    case MARK_LINE:
    case MARK_STEPS:
    case MARK_SEGMENTS:
    case MARK_RULES:
        add_sample_line(s, sample, "nohead");
        break;
    default:
        break;
    }
}

/* Axes. */

static void add_ticks(struct script *s, const struct axis *axis, char name)
{
    strbuf_addf(s->out, "set %ctics ", name);
    if (axis->tick_angle > 0)
        strbuf_addf(s->out, "rotate by %g right ", axis->tick_angle);
    strbuf_adds(s->out, axis->scale == AXIS_CATEGORY || axis->bare ? "scale 0 (" : "scale 0.8 (");
    for (size_t i = 0; i < axis->ticks.nr; i++) {
        const struct tick *t = &axis->ticks.items[i];
        strbuf_adds(s->out, i ? ", " : "");
        escape_gnuplot_tick(s->out, t->text);
        strbuf_addf(s->out, " %.9g %d", t->at, t->minor);
    }
    strbuf_adds(s->out, ")\n");
}

static void add_axis(struct script *s, const struct axis *axis, char name)
{
    strbuf_addf(s->out, "set %crange [%.9g:%.9g]\n", name, axis->reversed ? axis->high : axis->low,
                axis->reversed ? axis->low : axis->high);
    strbuf_addf(s->out, "%sset logscale %c\n", axis->scale == AXIS_LOG ? "" : "un", name);
    add_ticks(s, axis, name);
}

static void add_frame(struct script *s, const struct panel *p)
{
    const struct rect *a = &p->area;

    strbuf_addf(s->out, "set lmargin at screen %.9g\nset rmargin at screen %.9g\n",
                screen_x(s, a->x), screen_x(s, a->x + a->width));
    strbuf_addf(s->out, "set tmargin at screen %.9g\nset bmargin at screen %.9g\n",
                screen_y(s, a->y), screen_y(s, a->y + a->height));
    strbuf_addf(s->out, "set border %d lc rgb '#8a8a8a' lw 1\nunset grid\n",
                (p->x.bare ? 0 : 1) | (p->y.bare ? 0 : 2));
    const char *x = p->x.scale == AXIS_CATEGORY || p->x.bare ? "" : " xtics";
    const char *y = p->y.scale == AXIS_CATEGORY || p->y.bare ? "" : " ytics";
    if (*x || *y)
        strbuf_addf(s->out, "set grid%s%s back lt 1 lc rgb '#e2e2e2' lw 0.7\n", x, y);
    add_axis(s, &p->x, 'x');
    add_axis(s, &p->y, 'y');
}

/* Data. */

static void add_row(struct script *s, const double *values, int nr)
{
    for (int i = 0; i < nr; i++)
        strbuf_addf(s->out, "%s%.9g", i ? "\t" : "", values[i]);
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
static void bar_row(const struct panel *p, const struct layer *l, const struct datum *d,
                    double *row)
{
    const struct axis *along = l->across ? &p->x : &p->y;
    double half = (l->thickness > 0 ? l->thickness : 0.62) / 2;
    double from = isfinite(d->low) ? d->low : along->scale == AXIS_LOG ? along->low : 0;

    row[0] = d->x;
    row[1] = d->y;
    row[2] = l->across ? from : d->x - half;
    row[3] = l->across ? d->x : d->x + half;
    row[4] = l->across ? d->y - half : from;
    row[5] = l->across ? d->y + half : d->y;
}

static void cell_row(const struct datum *d, double *row)
{
    char colour[COLOUR_SIZE];
    const double limits[6] = { d->x, d->y, d->x - 0.5, d->x + 0.5, d->y - 0.5, d->y + 0.5 };

    for (int i = 0; i < 6; i++)
        row[i] = limits[i];
    row[6] = (double)strtol(palette_scale(d->share, colour) + 1, NULL, 16);
}

/* Start and extent: what "vectors" takes. */
static void vector_row(const struct layer *l, const struct datum *d, double *row)
{
    row[0] = l->across ? d->low : d->x;
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

/* The numbers of one datum; returns how many. */
static int data_row(const struct panel *p, const struct layer *l, const struct datum *d,
                    double row[8])
{
    switch (l->mark) {
    case MARK_BARS:
        bar_row(p, l, d, row);
        return 6;
    case MARK_CELLS:
        cell_row(d, row);
        return 7;
    case MARK_INTERVALS:
    case MARK_SEGMENTS:
    case MARK_ARROWS:
        vector_row(l, d, row);
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
        row[0] = d->x;
        row[1] = d->y;
        return 2;
    }
}

static void add_data(struct script *s, const struct panel *p, const struct layer *l, size_t panel,
                     size_t layer)
{
    double row[8];

    strbuf_addf(s->out, "$data_%zu_%zu << EOD\n", panel, layer);
    for (size_t i = 0; i < l->nr; i++) {
        int nr = data_row(p, l, &l->items[i], row);
        if (finite_all(row, nr))
            add_row(s, row, nr);
        else if (l->mark == MARK_LINE || l->mark == MARK_BAND || l->mark == MARK_STEPS)
            strbuf_addc(s->out, '\n'); /* breaks the line */
    }
    strbuf_adds(s->out, "EOD\n");
}

/* Cells carry their text inside, in black or white. */
static void add_layer_texts(struct script *s, const struct layer *l)
{
    char colour[COLOUR_SIZE];

    for (size_t i = 0; i < l->nr; i++) {
        const struct datum *d = &l->items[i];
        bool cell = l->mark == MARK_CELLS;
        if (!d->text || !*d->text || !isfinite(d->x + d->y) || (!cell && l->mark != MARK_TEXT))
            continue;
        add_label(s, d->text, "first", d->x, d->y, cell ? ANCHOR_CENTRE : d->anchor, d->angle);
        if (d->dx != 0 || d->dy != 0)
            strbuf_addf(s->out, " offset screen %.6g,%.6g", d->dx / s->f->width,
                        -d->dy / s->f->height);
        add_font(s, SMALL_SIZE, false,
                 cell ? palette_text_on(palette_scale(d->share, colour))
                      : palette_ink(l->style.ink));
    }
}

static void add_plot_line(struct script *s, const struct layer *l)
{
    static const char *const how[MARK_NR] = {
        [MARK_LINE] = "with lines",
        [MARK_STEPS] = "with steps",
        [MARK_INTERVALS] = "with vectors heads size screen 0.0035,90",
        [MARK_SEGMENTS] = "with vectors nohead",
        [MARK_ARROWS] = "with vectors head filled size screen 0.008,18",
        [MARK_RULES] = "with vectors nohead",
    };

    strbuf_adds(s->out, how[l->mark]);
    add_line_style(s, &l->style);
}

/* Hollow points get a white inside, so that lines do not shine through. */
static void add_plot_points(struct script *s, const struct layer *l)
{
    struct style white = l->style;

    if (l->style.hollow) {
        strbuf_addf(s->out, "with points pt %d ps %.3g lc rgb 'white', '' ",
                    filled_points[white.shape], point_size(white.size));
    }
    strbuf_adds(s->out, "with points");
    add_point_style(s, &l->style);
}

static void add_plot(struct script *s, const struct layer *l)
{
    switch (l->mark) {
    case MARK_POINTS:
        add_plot_points(s, l);
        break;
    case MARK_BARS:
        strbuf_adds(s->out, "with boxxyerror fs solid noborder fc");
        add_colour(s, &l->style);
        break;
    case MARK_CELLS:
        strbuf_adds(s->out,
                    "using 1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc rgb variable");
        break;
    case MARK_BAND:
        strbuf_adds(s->out, "with filledcurves fc");
        add_colour(s, &l->style);
        break;
    default:
        add_plot_line(s, l);
        break;
    }
}

static void add_panel(struct script *s, size_t index)
{
    const struct panel *p = s->f->panels[index];

    add_frame(s, p);
    for (size_t i = 0; i < p->nr; i++) {
        add_layer_texts(s, p->layers[i]);
        if (p->layers[i]->mark != MARK_TEXT)
            add_data(s, p, p->layers[i], index, i);
    }
    strbuf_adds(s->out, "plot NaN notitle");
    for (size_t i = 0; i < p->nr; i++) {
        if (p->layers[i]->mark == MARK_TEXT || p->layers[i]->nr == 0)
            continue;
        strbuf_addf(s->out, ", \\\n    $data_%zu_%zu ", index, i);
        add_plot(s, p->layers[i]);
    }
    strbuf_adds(s->out, "\nunset label\nunset arrow\nunset object\n");
}

void paint_gnuplot_script(const struct figure *f, struct strbuf *out)
{
    struct script s = { .out = out, .f = f };
    const struct resource *style = resource_find("gnuplot/style.gp");

    strbuf_addf(out, "# gnuplot -e \"format='png'\" %s.gp      (or svg, pdf)\n", f->id);
    strbuf_addf(out, "name = '%s'\nwidth = %g\nheight = %g\n\n", f->id, f->width, f->height);
    strbuf_adds(out, style ? style->data : "");
    strbuf_adds(out, "\nset multiplot\n");
    add_outer_texts(&s);
    for (size_t i = 0; i < f->nr_samples; i++)
        add_sample(&s, &f->samples[i]);
    for (size_t i = 0; i < f->nr_panels; i++)
        add_panel(&s, i);
    strbuf_adds(out, "unset multiplot\nunset output\n");
}
