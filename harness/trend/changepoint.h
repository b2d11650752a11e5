/* SPDX-License-Identifier: MIT */
/*
 * Where did a series change? Steps in the level of a series of numbers (nightly medians), each with
 * a p-value that pays for the search, and a verdict on drift.
 *
 * The rule, its sources and its limits stand in changepoint.c; docs/statistics/series.md tells
 * users.
 */
#ifndef HARNESS_TREND_CHANGEPOINT_H
#define HARNESS_TREND_CHANGEPOINT_H

#include "base/error.h"
#include "stats/stats.h"

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
    size_t id;              /* of the looks at it, see struct step_look */
    size_t named;           /* points that the series had when the step was first named */
    double p; /* chance that an unchanged series as long and as correlated shows a step
               * as clear anywhere, in this night or an earlier one */
};

struct drift {
    bool found;
    double per_point;      /* slope (Theil and Sen), units a point */
    struct interval slope; /* 95 % */
    double total;          /* from the first point to the last, along the line */
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

/* Why a step that was named is no longer. */
enum step_end {
    STEP_EXPLAINED, /* a slope, a curve or wilder noise explains the later points better */
    STEP_OVERTAKEN, /* a later step does, now that its own level is complete */
    STEP_MODES,     /* a switch between two modes that come back */
    STEP_BRIEF,     /* the newest points are as before it, too soon after for two steps */
};

/* A step that was named in an earlier night and does not stand. */
struct withdrawn_step {
    size_t id;            /* as of struct changepoint */
    size_t start, index;  /* first point of the level before it, and of what was its own */
    size_t named, gone;   /* points that the series had when it was first named, and withdrawn */
    double before, after; /* levels at the end, in the series' unit */
    enum step_end why;
};

/* What a night said of a step: that it is named, that it is clearer than before, or that it is
 * withdrawn. A step that is withdrawn and named again at the same place is one. */
struct step_look {
    size_t points; /* that were known */
    size_t id;
    double p; /* the smallest so far; 1: withdrawn */
};

struct withdrawn_steps { /* in the order in which they were withdrawn */
    struct withdrawn_step *items;
    size_t nr, capacity;
};

struct step_looks { /* in the order of the nights */
    struct step_look *items;
    size_t nr, capacity;
};

enum { CHANGEPOINT_DETECTABLE_AFTER = 8 };

struct changes {
    struct changepoint *items; /* ascending by index; owned */
    size_t nr, capacity;
    struct drift drift;
    struct modes modes;
    struct watch watch;
    double detectable;  /* a step so large, that many points before the end, would have been named
                         * 4 times in 5; in the series' unit, NaN where nobody can say: the last
                         * level is too short, or the noise too wild, or beside modes or a drift */
    double noise;       /* robust sd of the points about their levels (or their drift line) */
    double correlation; /* lag-1 autocorrelation of the same, bias corrected */
    struct withdrawn_steps withdrawn; /* owned */
    struct step_looks looks;          /* owned */
    double p; /* of the clearest step, named or not; 1 where the series is too short */
};

/* Deterministic: no random numbers. The time is near-linear in n where ranks see little: a night in
 * which they see something asks the noise of all points before it, which is rare in white noise and
 * frequent in correlated noise. Points that are not finite are an error that names the first; a
 * series too short for a step is not: it has none. Release `out`. */
int changes_find(const double *x, size_t n, const struct changepoint_settings *settings,
                 struct changes *out, struct error *err);
void changes_release(struct changes *c);

/* The size of a step, that many points before the end of a series, whose p would be under
 * the level 4 times in 5; c->detectable is such for the level of the search. `c` is of
 * x[0..n).
 */
double changes_detectable(const double *x, size_t n, const struct changes *c, double level);

/* Is its place, or its size, hardly known? The one may lie in most of n points, the other be 0. The
 * noise of later points may leave a step so that was clear when it was named. */
bool changepoint_place_is_open(const struct changepoint *step, size_t n);
bool changepoint_size_is_open(const struct changepoint *step);

/* As it is told: "the next step explains the points better". */
const char *step_end_words(enum step_end why);

#endif
