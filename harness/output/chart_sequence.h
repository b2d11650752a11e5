/* SPDX-License-Identifier: MIT */
/* The samples of a benchmark in the order measured, launch after launch. */
#ifndef HARNESS_OUTPUT_CHART_SEQUENCE_H
#define HARNESS_OUTPUT_CHART_SEQUENCE_H

#include "output/chart_samples.h"

struct sequence {
    const struct chart_item *item;
    double *values; /* as the chart draws them; NaN for the rate of 0 ns. Owned */
    size_t n;
    size_t *starts; /* first value of each launch, then n; owned */
    size_t nr_launches;
    /* How much there is to see: how far medians of stretches lie apart (drift, modes in time,
     * launches that differ), and a part of how long the tail is; both relative to the median. */
    double interest;
};

/* Keeps the items whose samples have an order. Where none is left the figure says why; false. */
bool sequence_keep_ordered(struct chart_samples *s);

/* Launches that are not OK or have no samples are not there. */
void sequence_init(struct sequence *sequence, const struct chart_samples *s,
                   const struct chart_item *item);
void sequence_release(struct sequence *sequence);

/* A quantile of the values in [begin, end); NaN where there is none. */
double sequence_quantile(const struct sequence *sequence, size_t begin, size_t end, double p);

enum { SEQUENCE_NAME_SIZE = 32 };
/* The name of a launch above its part of a plot this wide, in pixels: "launch 2" where the launches
 * have room for that, else "2" after "launch 1"; "" for one that is too narrow for its number. */
void sequence_launch_name(const struct sequence *sequence, double width, size_t k,
                          char name[SEQUENCE_NAME_SIZE]);

#endif
