/* SPDX-License-Identifier: MIT */
#include "base/resource.h"
#include "figure/gnuplot_base.h"
#include "figure/paint_gnuplot.h"
#include "text/escape.h"

#include <math.h>

enum { SLICES = 64 };

/* A straight line through the middle of the sample's box. */
static void gp_add_sample_line(struct gp_script *s, const struct legend_sample *sample)
{
    const struct rect *b = &sample->box;
    double y = gp_y(s, b->y + b->height / 2);

    strbuf_addf(s->out, "set arrow from screen %.9g,%.9g to screen %.9g,%.9g ", gp_x(s, b->x), y,
                gp_x(s, b->x + b->width), y);
    gp_heads(s, sample->layer->mark, sample->layer->mark == MARK_ARROWS ? 9.6 : 4.8);
    gp_line_style(s, &sample->layer->style);
    strbuf_addc(s->out, '\n');
}

static void gp_add_rectangle(struct gp_script *s, const struct rect *b, const char *fill)
{
    strbuf_addf(s->out, "set object rectangle from screen %.9g,%.9g to screen %.9g,%.9g %s",
                gp_x(s, b->x), gp_y(s, b->y + b->height), gp_x(s, b->x + b->width), gp_y(s, b->y),
                fill);
}

static void gp_add_sample_box(struct gp_script *s, const struct legend_sample *sample)
{
    gp_add_rectangle(s, &sample->box, "");
    gp_fill(s, &sample->layer->style);
    strbuf_addc(s->out, '\n');
}

static void gp_add_sample_point(struct gp_script *s, const struct legend_sample *sample)
{
    const struct rect *b = &sample->box;

    strbuf_addf(s->out, "set label %d '' at screen %.9g,%.9g point", ++s->label,
                gp_x(s, b->x + b->width / 2), gp_y(s, b->y + b->height / 2));
    gp_point_style(s, &sample->layer->style);
    strbuf_adds(s->out, " front\n");
}

static void gp_add_sample(struct gp_script *s, const struct legend_sample *sample)
{
    switch (sample->layer->mark) {
    case MARK_BARS:
    case MARK_BOXES:
    case MARK_BAND:
        gp_add_sample_box(s, sample);
        break;
    case MARK_POINTS:
        gp_add_sample_point(s, sample);
        break;
    case MARK_INTERVALS:
    case MARK_ARROWS:
    case MARK_LINE:
    case MARK_STEPS:
    case MARK_SEGMENTS:
    case MARK_RULES:
        gp_add_sample_line(s, sample);
        break;
    default:
        break;
    }
}

static void gp_add_bar_tick(struct gp_script *s, const struct scale_bar *bar, const struct tick *t)
{
    double x = bar->box.x + bar->box.width, y = bar->box.y + (1 - t->at) * bar->box.height;

    strbuf_addf(s->out, "set arrow from screen %.9g,%.9g to screen %.9g,%.9g nohead lc rgb '%s'\n",
                gp_x(s, x), gp_y(s, y), gp_x(s, x + (t->minor ? 2 : 4)), gp_y(s, y),
                palette_ink(INK_GREY));
    if (!t->text[0])
        return;
    gp_label(s, t->text, "screen", gp_x(s, x + 7), gp_y(s, y), ANCHOR_LEFT, 0);
    gp_font(s, GP_SMALL_SIZE, false, palette_ink(INK_DARK));
}

/* Each slice reaches to the top, and the next covers it: no seams. */
static void gp_add_scale_bar(struct gp_script *s)
{
    const struct scale_bar *bar = &s->f->bar;
    char colour[COLOUR_SIZE];

    if (!bar->label)
        return;
    for (int i = 0; i < SLICES; i++) {
        struct rect slice = bar->box;
        slice.height *= 1 - (double)i / SLICES;
        gp_add_rectangle(s, &slice, "fs solid noborder fc rgb");
        strbuf_addf(s->out, " '%s'\n", palette_scale((i + 0.5) / SLICES, colour));
    }
    for (size_t i = 0; i < bar->ticks.nr; i++)
        gp_add_bar_tick(s, bar, &bar->ticks.items[i]);
}

/* A booklet's page: 16 to 9, as slides are. */
enum { PAGE_WIDTH = 1280, PAGE_HEIGHT = 720 };

static void gp_add_axis(struct gp_script *s, const struct axis *axis, char name)
{
    /* A range with 0 in it is refused while the axis of the panel before is still logarithmic. */
    strbuf_addf(s->out, "unset logscale %c\nunset nonlinear %c\n", name, name);
    /* gnuplot drops a tick that stands at the very end of a logarithmic axis. */
    double pad = axis->scale == AXIS_LOG ? 1e-9 : 0;
    double low = axis->low * (1 - pad), high = axis->high * (1 + pad);
    strbuf_addf(s->out, "set %crange [%.12g:%.12g]\n", name, axis->reversed ? high : low,
                axis->reversed ? low : high);
    if (axis->scale == AXIS_LOG)
        strbuf_addf(s->out, "set logscale %c\n", name);
    if (axis->scale == AXIS_NINES)
        strbuf_addf(s->out,
                    "set nonlinear %c via -log10(1 - %.9g*%c) inverse (1 - 10**(-%c))/%.9g\n", name,
                    axis->factor, name, name, axis->factor);
    strbuf_addf(s->out, "set %ctics ", name);
    if (axis->tick_angle > 0)
        strbuf_addf(s->out, "rotate by %g right ", axis->tick_angle);
    strbuf_adds(s->out, axis->scale == AXIS_CATEGORY || axis->bare ? "scale 0 (" : "scale 0.8 (");
    for (size_t i = 0; i < axis->ticks.nr; i++) {
        const struct tick *t = &axis->ticks.items[i];
        strbuf_adds(s->out, i ? ", " : "");
        gp_text(s, t->text, escape_gnuplot_tick);
        strbuf_addf(s->out, " %.12g %d", t->at, t->minor);
    }
    strbuf_adds(s->out, ")\n");
}

static void gp_add_frame(struct gp_script *s, const struct panel *p)
{
    const struct rect *a = &p->area;

    strbuf_addf(s->out, "set lmargin at screen %.9g\nset rmargin at screen %.9g\n", gp_x(s, a->x),
                gp_x(s, a->x + a->width));
    strbuf_addf(s->out, "set tmargin at screen %.9g\nset bmargin at screen %.9g\n", gp_y(s, a->y),
                gp_y(s, a->y + a->height));
    strbuf_addf(s->out, "set border %d lc rgb '#8a8a8a' lw 1\nunset grid\n",
                (p->x.bare ? 0 : 1) | (p->y.bare ? 0 : 2));
    const char *x = p->x.scale == AXIS_CATEGORY || p->x.bare ? "" : " xtics";
    const char *y = p->y.scale == AXIS_CATEGORY || p->y.bare ? "" : " ytics";
    if (*x || *y)
        strbuf_addf(s->out, "set grid%s%s back lt 1 lc rgb '#e2e2e2' lw 0.7\n", x, y);
    gp_add_axis(s, &p->x, 'x');
    gp_add_axis(s, &p->y, 'y');
}

static void gp_add_figure(struct gp_script *s)
{
    strbuf_adds(s->out, "\nset multiplot\n");
    for (size_t i = 0; i < s->f->nr_texts; i++) {
        const struct placed_text *t = &s->f->texts[i];
        gp_label(s, t->text, "screen", gp_x(s, t->x), gp_y(s, t->y), t->anchor, t->angle);
        gp_font(s, t->size, t->bold, palette_ink(t->ink));
    }
    for (size_t i = 0; i < s->f->nr_samples; i++)
        gp_add_sample(s, &s->f->samples[i]);
    gp_add_scale_bar(s);
    for (size_t i = 0; i < s->f->nr_panels; i++) {
        gp_add_frame(s, s->f->panels[i]);
        gp_panel_layers(s, i);
    }
    strbuf_adds(s->out, "unset multiplot\n");
}

static void gp_add_head(struct strbuf *out, const char *name, double width, double height)
{
    const struct resource *style = resource_find("gnuplot/style.gp");

    strbuf_addf(out, "# gnuplot -e \"format='png'\" %s.gp      (or svg, pdf)\n", name);
    strbuf_addf(out, "name = '%s'\nwidth = %g\nheight = %g\n\n", name, width, height);
    strbuf_adds(out, style ? style->data : "");
}

void paint_gnuplot_script(const struct figure *f, struct strbuf *out)
{
    struct gp_script s = { .out = out, .f = f, .page = { f->width, f->height, 0, 0, 1 } };

    gp_add_head(out, f->id, f->width, f->height);
    gp_add_figure(&s);
    strbuf_adds(out, "unset output\n");
}

/* As large as the page takes it, in the middle. */
static struct gp_page gp_page_of(const struct figure *f)
{
    double scale = fmin(PAGE_WIDTH / f->width, PAGE_HEIGHT / f->height);

    return (struct gp_page) { PAGE_WIDTH, PAGE_HEIGHT, (PAGE_WIDTH - f->width * scale) / 2,
                              (PAGE_HEIGHT - f->height * scale) / 2, scale };
}

void paint_gnuplot_booklet_script(const struct figure *const *figures, size_t nr, const char *name,
                                  struct strbuf *out)
{
    gp_add_head(out, name, PAGE_WIDTH, PAGE_HEIGHT);
    for (size_t i = 0; i < nr; i++) {
        if (figures[i]->reason)
            continue;
        struct gp_script s = { .out = out, .f = figures[i], .page = gp_page_of(figures[i]) };
        strbuf_addf(out, "\nset tics font 'DejaVu Sans,%.4g'\n", GP_SMALL_SIZE * s.page.scale);
        gp_add_figure(&s);
    }
    strbuf_adds(out, "unset output\n");
}
