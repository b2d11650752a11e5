/* SPDX-License-Identifier: MIT */
#include "output/escape.h"
#include "output/gnuplot_parts.h"

enum { SLICES = 64 };

/* A straight line through the middle of the sample's box. */
static void add_sample_line(struct gp_script *s, const struct legend_sample *sample)
{
    const struct rect *b = &sample->box;
    double y = gp_y(s, b->y + b->height / 2);

    strbuf_addf(s->out, "set arrow from screen %.9g,%.9g to screen %.9g,%.9g ", gp_x(s, b->x), y,
                gp_x(s, b->x + b->width), y);
    gp_heads(s, sample->layer->mark, sample->layer->mark == MARK_ARROWS ? 9.6 : 4.8);
    gp_line_style(s, &sample->layer->style);
    strbuf_addc(s->out, '\n');
}

static void add_rectangle(struct gp_script *s, const struct rect *b, const char *fill)
{
    strbuf_addf(s->out, "set object rectangle from screen %.9g,%.9g to screen %.9g,%.9g %s",
                gp_x(s, b->x), gp_y(s, b->y + b->height), gp_x(s, b->x + b->width), gp_y(s, b->y),
                fill);
}

static void add_sample_box(struct gp_script *s, const struct legend_sample *sample)
{
    add_rectangle(s, &sample->box, "");
    gp_fill(s, &sample->layer->style);
    strbuf_addc(s->out, '\n');
}

static void add_sample_point(struct gp_script *s, const struct legend_sample *sample)
{
    const struct rect *b = &sample->box;

    strbuf_addf(s->out, "set label %d '' at screen %.9g,%.9g point", ++s->label,
                gp_x(s, b->x + b->width / 2), gp_y(s, b->y + b->height / 2));
    gp_point_style(s, &sample->layer->style);
    strbuf_adds(s->out, " front\n");
}

static void add_sample(struct gp_script *s, const struct legend_sample *sample)
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
    case MARK_ARROWS:
    case MARK_LINE:
    case MARK_STEPS:
    case MARK_SEGMENTS:
    case MARK_RULES:
        add_sample_line(s, sample);
        break;
    default:
        break;
    }
}

static void add_bar_tick(struct gp_script *s, const struct scale_bar *bar, const struct tick *t)
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
static void add_scale_bar(struct gp_script *s)
{
    const struct scale_bar *bar = &s->f->bar;
    char colour[COLOUR_SIZE];

    if (!bar->label)
        return;
    for (int i = 0; i < SLICES; i++) {
        struct rect slice = bar->box;
        slice.height *= 1 - (double)i / SLICES;
        add_rectangle(s, &slice, "fs solid noborder fc rgb");
        strbuf_addf(s->out, " '%s'\n", palette_scale((i + 0.5) / SLICES, colour));
    }
    for (size_t i = 0; i < bar->ticks.nr; i++)
        add_bar_tick(s, bar, &bar->ticks.items[i]);
}

void gp_legend(struct gp_script *s)
{
    for (size_t i = 0; i < s->f->nr_samples; i++)
        add_sample(s, &s->f->samples[i]);
    add_scale_bar(s);
}
