/* SPDX-License-Identifier: MIT */
/*
 * All default figures at once: what `harness plot` draws into a folder. Beside the pictures come
 *
 *     summary.txt    a line a picture, and a line with the reason for each that is absent
 *     plots.json     the same for programs: {"schema_version":1,"plots":[{name,title,description,
 *                    files,alt,reason}]}
 *     <name>.gp      the script of each picture, <name>.json its figure as data
 */
#ifndef HARNESS_OUTPUT_PLOTS_H
#define HARNESS_OUTPUT_PLOTS_H

#include "base/error.h"
#include "core/record.h"
#include "output/chart.h"
#include "output/paint_gnuplot.h"
#include "output/preset.h"

#include <stddef.h>

struct plots_options {
    const char *folder;              /* created if it is not there */
    unsigned formats;                /* bits 1 << enum picture_format; 0: PNG and SVG */
    const struct presets *presets;   /* NULL: those inside the binary */
    const struct string_list *only;  /* names of presets to draw; NULL or empty: all */
    const struct plot_model *models; /* for the architecture figure; may be NULL */
    size_t nr_models;
    const struct comparison *comparison;     /* for figures of changes; may be NULL */
    const char *base_label;                  /* what its base is called: "main"; may be NULL */
    const struct records *history;           /* for trends; NULL: the records themselves */
    const struct trend_acceptance *accepted; /* for trends; nr_accepted, may be 0 */
    size_t nr_accepted;
};

struct plot_result {
    char *name, *title, *description, *alt; /* owned */
    char *reason;                           /* NULL: drawn. Owned */
};

struct plots_summary {
    struct plot_result *items; /* one a preset, in order of name */
    size_t nr, capacity;
    size_t drawn, absent;
};

/* Draws. A figure that cannot be drawn, for want of data or because gnuplot refuses it, is listed
 * with its reason and the rest go on; -1 where nothing can be drawn at all: gnuplot is missing, the
 * folder cannot be written, a preset's name is unknown. */
int plots_draw(const struct records *records, const struct plots_options *options,
               struct plots_summary *summary, struct error *err);
void plots_summary_release(struct plots_summary *summary);

#endif
