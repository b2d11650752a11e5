/* SPDX-License-Identifier: MIT */
/* The pieces that a gnuplot script is made of. Lengths come in the figure's pixels and leave as
 * shares of the page, which is the figure itself or the larger one of a booklet. */
#ifndef HARNESS_FIGURE_GNUPLOT_BASE_H
#define HARNESS_FIGURE_GNUPLOT_BASE_H

#include "base/strbuf.h"
#include "figure/figure.h"

/* Where a figure lies on its page. */
struct gp_page {
    double width, height; /* of the page, pixels */
    double left, top;     /* of the figure on it */
    double scale;         /* of everything in the figure */
};

struct gp_script {
    struct strbuf *out;
    const struct figure *f;
    struct gp_page page;
    int label; /* numbers given out so far */
};

enum { GP_SMALL_SIZE = 12 };

double gp_x(const struct gp_script *s, double x);
double gp_y(const struct gp_script *s, double y);
/* The point size that makes a circle this many pixels wide. */
double gp_point_size(const struct gp_script *s, double pixels);
/* The number of the point type. */
int gp_point_type(enum shape_kind shape, bool hollow);

void gp_colour(struct gp_script *s, const struct style *style);
/* What fills a bar or band, the border of a hollow bar included. */
void gp_fill(struct gp_script *s, const struct style *style);
void gp_line_style(struct gp_script *s, const struct style *style);
/* Type, size, line width and colour. */
void gp_point_style(struct gp_script *s, const struct style *style);
/* A text in single quotes, as `escape` writes it. Where it has some of the figure's `boxes`, it is
 * an expression that has two of them: one is for formats that are drawn with fonts of this machine.
 */
void gp_text(struct gp_script *s, const char *text,
             void (*escape)(struct strbuf *out, const char *text));
/* A text at a place that is written "screen 0.1,0.2" or "first 3,4"; gp_font() must follow. */
void gp_label(struct gp_script *s, const char *text, const char *coordinates, double x, double y,
              enum anchor anchor, double angle);
void gp_font(struct gp_script *s, double size, bool bold, const char *colour);
/* How a line ends: bars across, a filled head, or nothing. `pixels` is the length of the head. */
void gp_heads(struct gp_script *s, enum mark mark, double pixels);

/* Data and texts of all layers of a panel, and the "plot" command for them. */
void gp_panel_layers(struct gp_script *s, size_t panel);

#endif
