/* SPDX-License-Identifier: MIT */
/* What the files of the speed-up figure share. */
#ifndef HARNESS_OUTPUT_SPEEDUP_PARTS_H
#define HARNESS_OUTPUT_SPEEDUP_PARTS_H

#include "output/chart.h"

enum { SPEEDUP_LIMIT = 28 };

struct ratio {
    const char *label;
    double value, low, high; /* the interval; NaN where there is none */
    size_t kind;             /* verdict or series */
    const char *word, *base; /* base: what the row is held against, NULL where all have one */
};

struct speedup {
    const struct chart *chart;
    struct ratio *items;
    size_t nr, capacity;
    double reach[2]; /* low and high end of the axis */
    struct figure *f;
    struct panel *p;
};

/* head / base of a metric as times as fast. */
double speedup_ratio(const struct metric *metric, double ratio);

/* The axis holds 1 and `least` to both sides, all ratios and most intervals: a wild one does not
 * squeeze the rest. */
void speedup_find_reach(struct speedup *s, double least);
void speedup_add_panel(struct speedup *s, const char *base);
void speedup_add_bar(const struct speedup *s, struct layer *bars, size_t i);
void speedup_add_intervals(struct speedup *s, const char *label);
/* Colour, mark and word say the same. */
void speedup_add_texts(struct speedup *s);
void speedup_add_alt(struct speedup *s, const char *base);

/* The benchmarks of a run that are alike but for the preset's group, against the vendor's. */
void speedup_build_pairs(struct speedup *s);

#endif
