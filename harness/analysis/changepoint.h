/* SPDX-License-Identifier: MIT */
/*
 * Where did a series change? Steps in the level of a series of numbers (nightly medians), each with
 * a p-value that pays for the search, and a verdict on drift.
 *
 * The rule, its sources and its limits stand in changepoint.c; docs/statistics.md tells users.
 */
#ifndef HARNESS_ANALYSIS_CHANGEPOINT_H
#define HARNESS_ANALYSIS_CHANGEPOINT_H

#include "base/error.h"
#include "base/stats.h"

#include <stdbool.h>
#include <stddef.h>

struct changepoint_settings {
    double level;       /* share of unchanged series in which any step is named; (0, 0.5) */
    size_t min_segment; /* points that a level needs at least to count as one */
};

#define CHANGEPOINT_DEFAULTS                                                                       \
    {                                                                                              \
        .level = 0.05, .min_segment = 5                                                            \
    }

/* A step: points [.., index) lie at one level, [index, ..) at the next. */
struct changepoint {
    size_t index;           /* first point of the new level, 0-based */
    size_t low, high;       /* 95 % interval of index, inclusive */
    double before, after;   /* levels (medians of the segments), in the series' unit */
    struct interval change; /* 95 % interval of after - before, in the series' unit */
    size_t named;           /* points that the series had when the step was first named */
    double p; /* chance that an unchanged series as long and as correlated shows a step
               * as clear anywhere, in this night or an earlier one */
};

struct drift {
    bool found;
    double per_point;      /* slope (Theil and Sen), units a point */
    struct interval slope; /* 95 % */
    double total;          /* slope times length */
    double p;
};

/* Two levels that a series goes back and forth between, a few points at a time. Such a switch is no
 * step. */
struct modes {
    double low, high; /* in the series' unit; equal: there are none */
    size_t visits;    /* stretches of points at the one or the other */
    double usual;     /* points of a visit in the mean */
};

/* What may be a step, but is not sure enough to be named: of three points, or one that a slope
 * explains as well. Such a thing is seen in some unchanged series, too, in any night. */
struct watch {
    bool found;
    size_t index;         /* first point of what may be a new level */
    double before, after; /* means, in the series' unit */
    double p;             /* in this night alone */
};

enum { CHANGEPOINT_DETECTABLE_AFTER = 8 };

struct changes {
    struct changepoint *items; /* ascending by index; owned */
    size_t nr, capacity;
    struct drift drift;
    struct modes modes;
    struct watch watch;
    double detectable;  /* a step so large, that many points before the end, would have been named
                         * 4 times in 5; in the series' unit, NaN where the last level is too
                         * short to say */
    double noise;       /* robust sd of the points about their levels (or their drift line) */
    double correlation; /* lag-1 autocorrelation of the same, bias corrected */
    size_t withdrawn;   /* steps that were named in an earlier night and that a slope, a curve,
                         * two modes or wilder noise has explained better since */
    double p;           /* of the clearest step, named or not; 1 where the series is too short */
};

/* Deterministic: no random numbers. Near-linear time in n. Points that are not finite are an error
 * that names the first; a series too short for a step is not: it has none. Release `out`. */
int changes_find(const double *x, size_t n, const struct changepoint_settings *settings,
                 struct changes *out, struct error *err);
void changes_release(struct changes *c);

#endif
