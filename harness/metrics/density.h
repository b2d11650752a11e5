/* SPDX-License-Identifier: MIT */
/*
 * The shape of a distribution of samples, for violins and cumulative curves.
 *
 * Kernel density, Gaussian. The bandwidth is the two-stage direct plug-in of Sheather and Jones (J.
 * R. Statist. Soc. B 53, 1991; in the form of Wand and Jones, Kernel Smoothing, 1995, section
 * 3.6.1) on binned counts: unlike a rule of thumb for one hump it does not melt two modes into one.
 * Its scale is the lesser of the standard deviation and IQR / 1.349, so that tails do not blur the
 * body. It is never finer than the steps of the clock, or each tick would look like a mode.
 *
 * Times have a hard floor: what the kernel puts below the fastest sample is folded back
 * (Silverman, Density Estimation, 1986, section 2.10).
 */
#ifndef HARNESS_METRICS_DENSITY_H
#define HARNESS_METRICS_DENSITY_H

#include <stdbool.h>
#include <stddef.h>

enum { DENSITY_POINTS = 96 };

/* Points on an even grid from the fastest sample of the part on, and, so that a narrow body beside
 * a long tail has a shape, as many again at quantiles; ascending. */
struct density {
    double at[DENSITY_POINTS];
    double value[DENSITY_POINTS]; /* of all n samples: per unit of `at` */
    size_t nr;
    double highest; /* the largest value */
    double bandwidth;
};

/* Of the samples within [low, high], which need not be all. `sorted` is ascending and finite. False
 * where there is no shape: fewer than two samples in that part, or all alike. */
bool density_fill(struct density *d, const double *sorted, size_t n, double low, double high);

struct ecdf_point {
    double x, share; /* of the samples at or below x */
};

/* At most `most` (3 or more) points of the empirical distribution function within [low, high], the
 * first and last sample there among them; drawn as steps they are off by less than 2 / (most - 2)
 * of the share, or of the part's width. The share is of all n samples. Returns how many. */
size_t ecdf_fill(struct ecdf_point *points, size_t most, const double *sorted, size_t n, double low,
                 double high);

#endif
