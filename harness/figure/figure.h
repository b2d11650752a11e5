/* SPDX-License-Identifier: MIT */
/*
 * A figure as data: marks, ranges, ticks, texts and their places, all computed here in C, so that
 * every painter (gnuplot, the page) shows the same. A painter only draws.
 *
 *     struct figure *f = figure_create("latency", "Latency");
 *     struct panel *p = figure_panel(f);
 *     axis_set(&p->x, "time", QUANTITY_TIME, "", AXIS_LINEAR);
 *     struct layer *s = panel_layer(p, MARK_BARS, "p50");
 *     layer_add(s, 3.2e6, 0);
 *     figure_finish(f);            ranges, ticks, margins, label places
 *     ... figure_to_json(f), paint_gnuplot(f) ...
 *     figure_free(f);
 *
 * Data are in base units (ns, FLOP/s, a fraction); figure_finish() divides them by the unit that
 * it picks for a linear axis and puts that unit into the axis label. Pixels count from the top
 * left; text sizes are pixels of the same scale.
 *
 * Pointers from figure_panel() and panel_layer() stay valid while the figure lives.
 */
#ifndef HARNESS_FIGURE_FIGURE_H
#define HARNESS_FIGURE_FIGURE_H

#include "text/palette.h"
#include "text/ticks.h"

#include <stdbool.h>
#include <stddef.h>

/* How many names of places an axis has at most. */
enum { AXIS_PLACES_MOST = 500 };

enum axis_scale {
    AXIS_LINEAR,
    AXIS_LOG,
    AXIS_CATEGORY,
    AXIS_NINES, /* shares in [0, 1), at -log10(1 - share): 0.9, 0.99, 0.999 stand one step apart */
};

struct axis {
    char *label; /* without unit until figure_finish() adds it; NULL draws none. Owned */
    enum axis_scale scale;
    enum quantity quantity;
    char base[24];       /* unit of rates and plain numbers */
    double low, high;    /* NaN: from the data */
    struct ticks ticks;  /* set by ticks_names() for categories, else by figure_finish(); a plain
                          * axis whose ticks are given before gets no larger unit */
    struct ticks places; /* of an axis of numbers whose ticks are names: the names along all of it,
                          * of which a part of it takes its ticks */
    int64_t since_ms;    /* where the days begin that are its numbers, UTC, ms; 0: they are none */
    double factor;       /* data have been divided by this */
    double tick_angle;   /* of the tick texts of an x axis, degrees; they end at their tick */
    bool reversed;       /* low is at the top or right */
    bool bare;           /* neither line nor grid; the ticks' texts only */
    bool tight;          /* the range is that of the data, not widened to a tick */
    bool whole;          /* counts something: no ticks between whole numbers */
};

enum mark {
    MARK_LINE,      /* x, y; a NaN breaks the line */
    MARK_STEPS,     /* x, y */
    MARK_POINTS,    /* x, y */
    MARK_BARS,      /* from `low` (NaN: 0) to y, or to x if across. Never along a logarithmic axis,
                     * where a length means nothing: panel_amounts() */
    MARK_INTERVALS, /* low to high at x, or at y if across; with end strokes */
    MARK_SEGMENTS,  /* the same without end strokes */
    MARK_BAND,      /* low to high over x, or over y if across (a violin); a NaN breaks it, an
                     * infinite end is that of the axis */
    MARK_CELLS,     /* unit squares at x, y coloured by `share`; text inside */
    MARK_ARROWS,    /* low to high at x, or at y if across; head at high */
    MARK_TEXT,      /* text at x, y */
    MARK_RULES,     /* a whole line at x (y is NaN) or at y (x is NaN) */
    MARK_BOXES,     /* from `low` to y, or to x if across: a range, painted like a bar */
    MARK_NR,
};

/* What a mark stands for: places in the lists of its figure, from 1; 0: as its row, else nothing.
 */
struct about {
    int benchmark, run;
};

enum anchor { ANCHOR_LEFT, ANCHOR_CENTRE, ANCHOR_RIGHT }; /* the side that stands at x */

struct datum {
    double x, y, low, high; /* NaN where they mean nothing */
    double share;           /* [0, 1] on the colour scale; NaN: no value, and the style's ink */
    double size;            /* of a point, pixels across; NaN: the style's */
    char *text; /* NULL or owned. Of what is drawn as far as the frame alone: its numbers
                 * in words, which a reader is told instead of the frame's */
    enum anchor anchor;
    double dx, dy; /* pixels, right and down, for text */
    double angle;  /* of text, degrees counter-clockwise */
    struct about about;
};

struct style {
    enum ink ink;
    enum shape_kind shape;
    enum dash dash;
    bool hollow;
    double width;   /* of lines, pixels */
    double size;    /* of points, pixels across */
    double opacity; /* of bars, bands and points */
    bool bold;      /* of texts */
};

struct layer {
    enum mark mark;
    char *label; /* in the legend; NULL: not there. Series of one label share an entry. Owned */
    struct style style;
    bool across;  /* bars and intervals run along x */
    bool place;   /* text: figure_finish() finds free places near the points */
    bool follow;  /* text: turned to run along the line from (x, y) to (low, high) */
    bool outside; /* text: stands to the right of the plot area, in its own margin; x is ignored */
    const char *unit; /* texts that say a number: the unit of it, which is their `low`; NULL: they
                       * say none. Static */
    double thickness; /* of bars, in units of the category axis; 0 means 0.62 */
    double shift; /* of upright whiskers, to the right, in pixels: beside their data, so that those
                   * of several series at one x are told apart */
    struct datum *items;
    size_t nr, capacity;
    const struct figure *figure; /* that it is in; what layer_add() makes is about what that is */
};

struct rect {
    double x, y, width, height;
};

struct panel {
    char *title; /* NULL or owned */
    struct axis x, y;
    struct layer **layers;
    size_t nr, capacity;
    struct figure *figure;
    struct about *rows; /* what each row of the y axis stands for: marks that do not say it
                         * themselves are about that; nr_rows, from panel_row_is_about() */
    size_t nr_rows;
    double plot_height; /* wanted height of the plot area, pixels */
    bool joined;        /* continues the rows of the panel to its left: it has no names of its own,
                         * and their plot areas get one width */
    struct rect area;   /* the plot area, from figure_finish() */
};

enum text_role {
    TEXT_TITLE,
    TEXT_SUBTITLE,
    TEXT_BANNER,
    TEXT_PANEL,
    TEXT_AXIS,
    TEXT_LEGEND,
    TEXT_CAPTION
};

/* A text outside the plot areas. */
struct placed_text {
    double x, y; /* y is the middle of the line */
    double size, angle;
    bool bold;
    enum ink ink;
    enum anchor anchor;
    enum text_role role;
    char *text; /* owned */
};

/* The sample in front of a legend text: draw the layer's mark in this box. */
struct legend_sample {
    struct rect box;
    const struct layer *layer;
};

/* The colour scale of points and cells that have a share: a strip beside the plot areas. */
struct scale_bar {
    char *label;            /* with its unit; NULL: no bar. Owned */
    enum quantity quantity; /* how its ticks are written */
    char base[24];
    double low, high; /* values at share 0 and 1, base units */
    bool log;
    struct rect box;    /* from figure_finish() */
    struct ticks ticks; /* `at` is a share; from figure_finish() */
};

/* Names that occur in a figure, each once; `slots` finds them by hashing. */
struct figure_names {
    char **items;
    size_t nr, capacity;
    size_t *slots, nr_slots; /* index + 1; 0: free */
};

struct figure {
    char *id; /* also the file name: letters, digits, '-', '_' */
    char *title, *subtitle;
    char *caption; /* how to read it, and what is not shown */
    char *alt;     /* one sentence with the main numbers, for those who cannot see it */
    char *banner;  /* an error to explain, drawn in the plot's head; NULL if none */
    char *reason;  /* why it cannot be drawn; then nothing else counts */
    char *boxes;   /* characters that no font here has, from paint_gnuplot(); NULL: none */
    struct panel **panels;
    size_t nr_panels, panels_capacity;
    int columns; /* panels side by side */
    bool no_legend;
    bool
        aligned; /* panels under each other have one x axis: their plot areas begin and end alike */
    const char *view; /* how the page lets it be explored: "flame", "timeline", "table"; NULL: as
                       * any figure. Static */
    double width, height; /* pixels; height is the result of figure_finish() */
    struct placed_text *texts;
    size_t nr_texts, texts_capacity;
    struct legend_sample *samples;
    size_t nr_samples, samples_capacity;
    struct scale_bar bar; /* from figure_scale_bar(); without a label there is none */
    struct figure_names benchmarks, runs; /* keys and uuids that marks are about */
    struct about about;                   /* what is added now is about this */
};

struct figure *figure_create(const char *id, const char *title);
void figure_free(struct figure *f);
/* Replaces one of the figure's or a panel's own strings by a formatted one. */
void figure_set(char **member, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct panel *figure_panel(struct figure *f);

/* What marks stand for, so that whoever draws them can name, light and leave out those of one
 * benchmark. All data that are added from here on are about this benchmark of this run, until the
 * next call; NULL for what is of several, or of none. */
void figure_about(struct figure *f, const char *key, const char *uuid);
/* The same for what stands in a row of a panel, whenever that is added. */
void panel_row_is_about(struct panel *p, size_t row, const char *key, const char *uuid);
/* Drops the keys and uuids that nothing is about any more, where data were taken out. */
void figure_forget_names(struct figure *f);
void figure_names_release(struct figure_names *names);

void axis_set(struct axis *axis, const char *label, enum quantity quantity, const char *base,
              enum axis_scale scale);
/* A category axis with these names at 0, 1, ...; the first at the top or left. */
void axis_names(struct axis *axis, const char *const *names, size_t nr, bool reversed);

/* `label` may be NULL. The style starts as: dark ink, circle of 8, line of 2, solid, opaque. */
struct layer *panel_layer(struct panel *p, enum mark mark, const char *label);
/* A datum with all else NaN or empty. Valid until the next call. */
struct datum *layer_add(struct layer *s, double x, double y);
struct datum *layer_add_interval(struct layer *s, double at, double low, double high);
struct datum *layer_add_text(struct layer *s, double x, double y, enum anchor anchor,
                             const char *text);
/* A panel with a row a name from the top down, `row` pixels each and `room` more. */
struct panel *figure_rows(struct figure *f, const char *const *names, size_t nr, double row,
                          double room);
/* The same as a table: `head` above the names, a grey ground under every second row, and x from 0
 * to 1 for the places of texts; heads stand at y -1. */
struct panel *figure_table(struct figure *f, const char *head, const char *const *names, size_t nr,
                           double row);
/* Layers by what is mostly chosen of their style: lines, rules or segments; points. */
struct layer *panel_stroke(struct panel *p, enum mark mark, const char *label, enum ink ink,
                           enum dash dash, double width);
struct layer *panel_points(struct panel *p, const char *label, enum ink ink, enum shape_kind shape,
                           double size);
/* Dark intervals across. */
struct layer *panel_whiskers(struct panel *p, const char *label, double width);
struct layer *panel_texts(struct panel *p, enum ink ink, bool bold);
/* What stands in rows: bars along x in one ink, and texts in a column right of the plot area. */
struct layer *panel_bars(struct panel *p, const char *label, enum ink ink);
/* How much each row has, a datum (amount, row): bars from zero, or where the x axis, which must be
 * set before, is logarithmic, dots on a line across. */
struct layer *panel_amounts(struct panel *p, const char *label, enum ink ink);
struct layer *panel_outside(struct panel *p);
void layer_add_outside(struct layer *s, size_t row, const char *text);
/* Colour, shape and dash of the n-th of several alike. */
void style_nth(struct style *style, size_t n);

/* Says what the colours of the data mean: values at share 0 and 1, in base units. */
void figure_scale_bar(struct figure *f, const char *label, enum quantity quantity, const char *base,
                      double low, double high, bool log);

/* What a figure can show: numbers up to FIGURE_MOST, 0, and on a logarithmic axis none below
 * 1 / FIGURE_MOST. More is no time, rate or size of anything, and leaves nothing of the others.
 * figure_finish() leaves out marks beyond, and its caption counts them. */
#define FIGURE_MOST 1e24

/* Ranges, units, ticks, margins, wrapped texts, label places. Call once, after all data. A figure
 * with a reason, or whose data hold no finite number, gets a reason instead. */
void figure_finish(struct figure *f);

/* Where a value lies in pixels of the figure, after figure_finish(). */
double panel_x(const struct panel *p, double x);
double panel_y(const struct panel *p, double y);

/* The whole as JSON: {"schema_version":1, id, title, subtitle, caption, alt, banner, reason,
 * legend, width, height, columns, view, "panels":[{title, area, "x":{label, scale, low, high,
 * reversed, ticks, places, since_ms}, "y":..., "layers":[{mark, label, style, across, x, y, low,
 * high, text,
 * ...}]}], "benchmarks": keys, "runs": uuids}. "benchmark" and "run" of a layer, and of a panel's
 * "rows", say by their places in these what each datum or row is about, in one number where all are
 * about the same. Absent is absent; a figure with a reason has no panels. Numbers are rounded to 7
 * digits, so that builds agree; along an axis that is narrow beside them to as many as it needs. */
struct cJSON *figure_to_json(const struct figure *f);

const char *mark_name(enum mark mark);

#endif
