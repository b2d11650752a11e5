/* SPDX-License-Identifier: MIT */
/*
 * Paints a figure by gnuplot. The script is self-contained: data in blocks, every range, tick and
 * place from the figure, nothing left to gnuplot's choice. It draws any of the formats:
 *
 *     gnuplot -e "format='svg'" latency.gp       in the script's folder; without -e a PNG
 *
 * A character that no font here has is a box in PNG and PDF, and itself in SVG, where fonts are
 * those of the viewer.
 *
 * Names from users appear in single quotes or data blocks only, where gnuplot runs nothing.
 */
#ifndef HARNESS_FIGURE_PAINT_GNUPLOT_H
#define HARNESS_FIGURE_PAINT_GNUPLOT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "figure/figure.h"

enum picture_format { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF, PICTURE_FORMAT_NR };

const char *picture_format_name(enum picture_format format);  /* "png" */
int picture_format_find(const char *name, struct error *err); /* -1: names the valid ones */

/* Appends the script of a finished figure that has no reason; its `boxes` say what has no font. */
void paint_gnuplot_script(const struct figure *f, struct strbuf *out);

/* Writes <folder>/<id>.gp and draws <folder>/<id>.<format> for each bit (1 << format) of
 * `formats`. Sets the figure's `boxes`. An SVG gets the figure's title and alt sentence as <title>
 * and <desc>. Errors: gnuplot is missing, too old, says something on its standard error, or takes
 * over a minute. */
int paint_gnuplot(struct figure *f, const char *folder, unsigned formats, struct error *err);

/* The same for a PDF with a page a figure, all of one size, as for slides: <folder>/<name>.gp and
 * <folder>/<name>.pdf. The figures have been painted before, which says what has no font. Figures
 * with a reason make no page; without any other it is an error. */
void paint_gnuplot_booklet_script(const struct figure *const *figures, size_t nr, const char *name,
                                  struct strbuf *out);
int paint_gnuplot_booklet(const struct figure *const *figures, size_t nr, const char *folder,
                          const char *name, struct error *err);

/* "gnuplot 5.4 patchlevel 4", or an error that says how to install it. */
int paint_gnuplot_version(char *version, size_t size, struct error *err);

#endif
