/* SPDX-License-Identifier: MIT */
#include "figure/gnuplot_base.h"

#include "figure/fonts.h"
#include "text/escape.h"

#include <math.h>
#include <string.h>

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

double gp_x(const struct gp_script *s, double x)
{
    return (s->page.left + x * s->page.scale) / s->page.width;
}

double gp_y(const struct gp_script *s, double y)
{
    return 1 - (s->page.top + y * s->page.scale) / s->page.height;
}

double gp_point_size(const struct gp_script *s, double pixels)
{
    return pixels * s->page.scale / 6.2;
}

int gp_point_type(enum shape_kind shape, bool hollow)
{
    return hollow ? hollow_points[shape] : filled_points[shape];
}

void gp_colour(struct gp_script *s, const struct style *style)
{
    unsigned see_through = (unsigned)lround((1 - style->opacity) * 255);

    if (see_through)
        strbuf_addf(s->out, " rgb '#%02x%s'", see_through, palette_ink(style->ink) + 1);
    else
        strbuf_addf(s->out, " rgb '%s'", palette_ink(style->ink));
}

void gp_fill(struct gp_script *s, const struct style *style)
{
    if (style->hollow)
        strbuf_addf(s->out, "fs solid 0.25 border rgb '%s' lw %.4g fc", palette_ink(style->ink),
                    1.4 * s->page.scale);
    else
        strbuf_adds(s->out, "fs solid noborder fc");
    gp_colour(s, style);
}

void gp_line_style(struct gp_script *s, const struct style *style)
{
    strbuf_adds(s->out, " lc");
    gp_colour(s, style);
    strbuf_addf(s->out, " lw %.4g dt %s", style->width * s->page.scale, dashes[style->dash]);
}

void gp_point_style(struct gp_script *s, const struct style *style)
{
    strbuf_addf(s->out, " pt %d ps %.3g*point lw %.4g lc",
                gp_point_type(style->shape, style->hollow), gp_point_size(s, style->size),
                (style->shape == SHAPE_CROSS ? 1.6 : 1.4) * s->page.scale);
    gp_colour(s, style);
}

void gp_text(struct gp_script *s, const char *text,
             void (*escape)(struct strbuf *out, const char *text))
{
    struct strbuf boxed;

    strbuf_init(&boxed);
    fonts_box(text, s->f->boxes ? s->f->boxes : "", &boxed);
    if (strcmp(boxed.data, text) == 0) {
        escape(s->out, text);
    } else {
        strbuf_adds(s->out, "(boxes ? ");
        escape(s->out, boxed.data);
        strbuf_adds(s->out, " : ");
        escape(s->out, text);
        strbuf_addc(s->out, ')');
    }
    strbuf_release(&boxed);
}

void gp_label(struct gp_script *s, const char *text, const char *coordinates, double x, double y,
              enum anchor anchor, double angle)
{
    strbuf_addf(s->out, "set label %d ", ++s->label);
    gp_text(s, text, escape_gnuplot);
    strbuf_addf(s->out, " at %s %.12g,%s %.12g %s", coordinates, x, coordinates, y,
                anchors[anchor]);
    if (angle != 0)
        strbuf_addf(s->out, " rotate by %.4g", angle);
}

void gp_font(struct gp_script *s, double size, bool bold, const char *colour)
{
    strbuf_addf(s->out, " font 'DejaVu Sans%s,%.4g' tc rgb '%s' front\n", bold ? ":Bold" : "",
                size * s->page.scale, colour);
}

void gp_heads(struct gp_script *s, enum mark mark, double pixels)
{
    double share = pixels * s->page.scale / s->page.width;

    if (mark == MARK_INTERVALS)
        strbuf_addf(s->out, "heads size screen %.4g,90", share);
    else if (mark == MARK_ARROWS)
        strbuf_addf(s->out, "head filled size screen %.4g,18", share);
    else
        strbuf_adds(s->out, "nohead");
}
