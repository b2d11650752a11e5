/* SPDX-License-Identifier: MIT */
/* What the files of the search for change points share; changepoint.h is for everyone else. */
#ifndef HARNESS_TREND_CHANGEPOINT_PARTS_H
#define HARNESS_TREND_CHANGEPOINT_PARTS_H

#include "trend/changepoint.h"

/* The clearest split of a piece by ranks. */
struct scan {
    size_t index; /* first point of the right side, from the start of the piece; 0: none allowed */
    double z;     /* standardised Mann-Whitney statistic there, never negative */
    double p;     /* of the largest z of a piece as long in which nothing changed */
};

/* Positions 0..n-1 by ascending value; free() it. */
size_t *scan_order(const double *x, size_t n);
/* Splits x[0..m) at every place that leaves `least` points on both sides. `order` holds the
 * positions by ascending value, `ranks` has room for m numbers. */
struct scan scan_ranks(const double *x, const size_t *order, size_t m, size_t least, double *ranks);

/* Where a series of n points is cut, ascending; nr cuts make nr + 1 segments. */
struct cut {
    size_t index;
    double p;
    size_t named; /* points that were known when it was first named */
    size_t id;    /* see struct step_look */
    bool up;      /* when it was named */
    bool gone;    /* withdrawn, and still a border: of the search alone */
};
struct cut_list {
    struct cut *items;
    size_t nr, capacity;
};

static inline size_t segment_start(const struct cut_list *cuts, size_t i)
{
    return i ? cuts->items[i - 1].index : 0;
}

static inline size_t segment_end(const struct cut_list *cuts, size_t i, size_t n)
{
    return i < cuts->nr ? cuts->items[i].index : n;
}

/* Median of a segment. */
double segment_level(const double *x, size_t n, const struct cut_list *cuts, size_t i);

/* Columns of a regression with AR(1) errors: a constant, curves or a step, and the data last. */
enum { FIT_TERMS = 8, FIT_COLUMNS = FIT_TERMS + 2 };

/* A model at its best correlations. */
struct fit {
    double cost;        /* -2 log likelihood; where AR(2) is needed, it pays log m */
    double correlation; /* of neighbouring errors */
};

/* The correlations that are tried, and what the determinants of the errors of m points add. */
enum { FIT_FIRSTS = 33, FIT_SECONDS = 8 };
struct fit_grid {
    size_t points;
    double r[FIT_FIRSTS];
    double determinant[FIT_SECONDS][FIT_FIRSTS];
};
void fit_grid_init(struct fit_grid *g, size_t m);

/* best[k]: the model with the first k of nr columns, from <= k < nr. columns[0..nr) hold
 * grid->points numbers each, all about 1 in size, the data last. */
void fit_models(const struct fit_grid *grid, const double *const *columns, size_t nr, size_t from,
                struct fit *best);
/* Improves best[0..nr) where errors that are an AR(1) series plus white noise fit better. */
void fit_long_memory(const double *const *columns, size_t nr, size_t m, struct fit *best);

/* What explains y[0..m), values in [-1, 1], without a step, the best place of which is
 * `split`: curves, and gradual changes near it. Both get a handicap, so that their costs are for
 * comparing with a step's. `room` has FIT_TERMS + 1 times m numbers. */
double curve_cost(const struct fit_grid *grid, const double *y, size_t split, double *room);
/* Stops at the first that costs less than `enough`. */
double gradual_cost(const struct fit_grid *grid, const double *y, size_t split, double enough,
                    double *room);
/* Shorter pieces cannot tell a step on a line from a line. */
enum { GRADUAL_LEAST = 64 };

/* Whether a piece holds one step. */
struct step {
    size_t index;     /* of the best split by least squares of the tamed data; 0: none allowed */
    double advantage; /* of a step over the best explanation without one, in -2 log likelihood */
    double p;         /* chance of such an advantage where nothing changed */
    bool enough;      /* is it what `limit` asks for? */
};

/* Where step_judge() looks: the best split near a guess, or elsewhere; 0: none is allowed. */
size_t step_place(const double *x, size_t m, size_t guess, size_t least);
/* Stops as soon as p is above `limit`: it is then a lower bound of itself. A limit above 1 asks for
 * less advantage still. */
struct step step_judge(const double *x, size_t m, size_t guess, size_t least, double limit);
/* Copies x to `out`, far points pulled in to twice the 90 % quantile of the distances to the
 * medians of their segments. */
void tame(const double *x, size_t m, const struct cut_list *cuts, double *out);
/* Best split by least squares, `least` points on both sides; 0 if there is no room. */
size_t split_best(const double *x, size_t m, size_t least);

/* The chance that the noise of the first n points, as large and as correlated as it is about the
 * levels between the cuts and the step at `at`, shows such a step in this night or an earlier
 * one. `at` lies behind all cuts. */
double noise_p(const double *x, size_t n, const struct cut_list *cuts, size_t at);
/* Lag-1 autocorrelation of n residuals, corrected for the bias that each fitted level adds
 * (Marriott and Pope 1954: about -(1 + 3 rho) / n, more with more levels). */
double unbiased_correlation(double seen, size_t n, size_t levels);
/* p of one night as that of all nights so far, of n points. What nights cost at the usual level
 * noise_p() has paid; far below it they say the less, the fewer points there are to tell what
 * correlates them: fitted to AR(1) series with correlations up to 0.5 (test_p_is_honest in
 * statistics_changes.c). And the inverse. */
double p_of_nights(double p, size_t n);
double p_of_one_night(double p, size_t n);
/* Size of a step CHANGEPOINT_DETECTABLE_AFTER points before the end that is found 4 times in 5; NaN
 * where the last level is too short. */
double noise_detectable(const double *x, size_t n, const struct cut_list *cuts, double level);
/* What the last level may be changing to. */
struct watch watch_find(const double *x, size_t n, const struct cut_list *cuts, double level);

/* Share of the level that the test by ranks may spend on a whole series. */
double search_whole_share(size_t n, const struct changepoint_settings *settings);
/* What the search found besides steps. */
struct search_result {
    double clearest;    /* smallest p of all, named or not */
    struct modes modes; /* the widest that were joined */
};

/* ---- what one night shows (changepoint_judge.c) ---- */

/* Windows end at the night's point: all points since the last step, which may spend most of the
 * level and shows a lone step best, and shorter ones, each by the square root of two. Long ones
 * change little from night to night: they are looked at in every 64th part of their length, so
 * that all looks by ranks take near-linear time. */
enum { WINDOWS_MAX = 40, WINDOW_LOOKS = 64 };

struct window {
    size_t length;
    double ranks_share, model_share;
    struct scan scan;
};

/* The newest points, `most` of them or all there are, ascending by value and equal ones by place:
 * as of the last night in which somebody asked. */
struct newest {
    size_t most, night;
    size_t *items, nr; /* owned */
};

struct windows {
    const double *x;
    size_t night; /* points that are known */
    const struct changepoint_settings *settings;
    const struct cut_list *cuts;
    struct window items[WINDOWS_MAX]; /* whose ranks say that something changed */
    size_t nr;
    struct newest newest[WINDOWS_MAX]; /* each has twice the points of that before */
    size_t *order;                     /* scratch, and the next */
    double *ranks;
    size_t noise_at; /* the last place in this night that the noise of all explains; 0: none */
    bool last_look;  /* of all nights at some window: its p may be told, whatever it is */
    double clearest; /* smallest p of the last looks that were not named */
};

/* Room for n points; `x` and `night` are for the caller to set. Borrows the rest. */
void windows_init(struct windows *ws, size_t n, const struct changepoint_settings *settings,
                  const struct cut_list *cuts);
void windows_release(struct windows *ws);
/* The first point since the last cut. */
size_t windows_level_start(const struct windows *ws);
/* The nights begin anew, in other points maybe. */
void windows_restart(struct windows *ws);
/* The point of the night is the next one of n in all. */
void windows_begin_night(struct windows *ws, size_t n);
/* Positions of the newest `length` points, among them, ascending by value; until one asks again. */
const size_t *windows_order(struct windows *ws, size_t length);
/* The shortest list that has so many: the first, or fewer than twice as many. Who went through all
 * points for each window would take n^2. */
const struct newest *windows_newest(struct windows *ws, size_t length);
/* The night's clearest step; false: there is none. */
bool windows_step(struct windows *ws, struct cut *cut);

/* The memory of the nights (changepoint_log.c). */
struct search_log {
    size_t since; /* points of the first night that is told of: those before were told otherwise */
    size_t next;  /* id */
    struct withdrawn_steps gone;
    struct step_looks looks;
};

/* A new step of so many points, named: one that was withdrawn no further off than `least` points is
 * the same. */
void log_name(struct search_log *p, struct cut *cut, size_t points, bool up, size_t least);
/* The night `since` has come: what stands is told. */
void log_begin(struct search_log *p, struct cut_list *cuts, size_t least);
/* It is clearer than it was. */
void log_look(struct search_log *p, const struct cut *cut, size_t points);
/* Cut i of a series of which so many points are known is withdrawn. */
void log_withdraw(struct search_log *p, const double *x, size_t points, const struct cut_list *cuts,
                  size_t i, enum step_end why);

/* The steps of a series, ascending; `log` is that of an empty struct, its lists are for the
 * caller to release. */
void cuts_find(const double *x, size_t n, const struct changepoint_settings *settings,
               struct cut_list *out, struct search_result *verdict, struct search_log *log);

/* The modes that the step at cut i is a switch between, if there are such. `longer`: a visit that
 * meets at the step lasts longer than chance makes one of so many, so that it is a step all the
 * same. */
struct modes modes_at(const double *x, size_t n, const struct cut_list *cuts, size_t i,
                      double level, bool *longer);
/* The modes of the series as a whole. */
struct modes modes_of(const double *x, size_t n);
/* The visits to two modes as the nights bring them. */
struct visits_seen {
    struct modes modes;
    int previous, place; /* the mode of the last point, and of the visit: 1, 2; 0: neither */
    size_t from, to;     /* of the visit that goes on */
    size_t complete;     /* visits before it */
    double points;       /* of those */
};
/* The next point, t. */
void visits_take(struct visits_seen *v, double x, size_t t);
/* The chance that any visit outlasts those before it as the last one does. */
double visits_outstayed(const struct visits_seen *v);
/* Copies x to `out`, which may be x, the points near the higher mode moved to the lower. */
void modes_join(const double *x, size_t n, const struct modes *m, double *out);

/* Does one step explain the whole series better than the line that was found? */
bool drift_is_step(const double *x, size_t n, size_t least);

/* Slope of the points about the levels between the cuts. */
struct drift drift_find(const double *x, size_t n, const struct cut_list *cuts, double level);

/* The gain in -2 log likelihood by a slope that drift_find() takes for p in n points. */
double drift_gain(double p, size_t n);

/* Noise, correlation, intervals and levels of everything that was found, about the drift in `out`
 * if there is one. */
void changes_describe(const double *x, size_t n, const struct cut_list *cuts, struct changes *out);

#endif
