/* SPDX-License-Identifier: MIT */
/*
 * Many figures at once: what `harness plot` draws into a folder, each section in a folder of its
 * own (plots/kernels/roofline.png). Beside them come
 *
 *     index.html     all of them, by section
 *     summary.txt    a line a picture, and a line for each reason why some are absent
 *     plots.json     the same for programs: {"schema_version":1,"plots":[{name,title,description,
 *                    type,section,how,files,alt,boxes,reason}]}
 *     plots.pdf      where PDF is among the formats: all figures, a page each
 *     <name>.gp      the script of each picture, <name>.json its figure as data
 */
#ifndef HARNESS_CHART_PLOTS_H
#define HARNESS_CHART_PLOTS_H

#include "base/error.h"
#include "chart/base/chart_base.h"
#include "chart/preset.h"
#include "figure/paint_gnuplot.h"

#include <stddef.h>

/* One figure to draw, or why it is absent. */
struct plot_request {
    struct chart chart;  /* with its preset, in any case */
    const char *absence; /* NULL: draw it */
};

struct plots_options {
    const char *folder; /* created if it is not there */
    unsigned formats;   /* bits 1 << enum picture_format; 0: PNG and SVG */
    bool flat;          /* figures that were asked for by name: all in `folder`, no index.html */
};

struct plot_result {
    const struct preset *preset; /* borrowed */
    char *alt;                   /* owned; may be NULL */
    char *boxes;                 /* characters that are boxes in PNG and PDF, see paint_gnuplot();
                                  * NULL: none. Owned */
    char *reason;                /* NULL: drawn. Owned */
};

struct plots_summary {
    struct plot_result *items; /* one a request, in their order */
    size_t nr, capacity;
    size_t drawn, absent;
};

/* The folder of a figure: its chapter. */
const char *plots_folder_of(const struct preset *preset);
const char *plots_description_of(const struct preset *preset);

/* Why figures are absent, a line a reason behind `indent`: "needs a base: comparison, speedup". */
void plots_add_absences(const struct plots_summary *summary, const char *indent,
                        struct strbuf *out);

/* <folder>/index.html, which shows the pictures in their folders; plots_draw() writes it, too. */
int plots_write_index(const struct plots_summary *summary, const char *folder, unsigned formats,
                      struct error *err);

/* Draws. A figure that cannot be drawn, for want of data or because gnuplot refuses it, is listed
 * with its reason and the rest go on; -1 where nothing can be drawn at all: gnuplot is missing, the
 * folder cannot be written. Pictures of an earlier call under the same names are removed, also
 * those of absent figures. The presets must outlive the summary. */
int plots_draw(const struct plot_request *requests, size_t nr, const struct plots_options *options,
               struct plots_summary *summary, struct error *err);
void plots_summary_release(struct plots_summary *summary);

#endif
