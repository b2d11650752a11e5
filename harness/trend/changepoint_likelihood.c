/* SPDX-License-Identifier: MIT */
/*
 * How much better a step explains a piece than anything without a step does, when the noise may be
 * correlated.
 */
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double segment_level(const double *x, size_t n, const struct cut_list *cuts, size_t i)
{
    size_t from = segment_start(cuts, i), nr = segment_end(cuts, i, n) - from;
    double *copy = memory_zeroed(nr + 1, sizeof(*copy));

    memcpy(copy, x + from, nr * sizeof(*copy));
    double median = stats_select_quantile(copy, nr, 0.5);
    free(copy);
    return median;
}

/* Medians of the segments. */
static void levels_of(const double *x, size_t m, const struct cut_list *cuts, double *levels)
{
    for (size_t i = 0; i <= cuts->nr; i++)
        levels[i] = segment_level(x, m, cuts, i);
}

static void tame_about(const double *x, size_t m, const struct cut_list *cuts, const double *levels,
                       double *out)
{
    double *distance = memory_zeroed(m + 1, sizeof(*distance));

    for (size_t i = 0; i <= cuts->nr; i++)
        for (size_t t = segment_start(cuts, i); t < segment_end(cuts, i, m); t++)
            distance[t] = fabs(x[t] - levels[i]);
    double limit = 2 * stats_select_quantile(distance, m, 0.9);
    for (size_t i = 0; i <= cuts->nr; i++)
        for (size_t t = segment_start(cuts, i); t < segment_end(cuts, i, m); t++) {
            double off = x[t] - levels[i];
            out[t] = levels[i] + (off > limit ? limit : off < -limit ? -limit : off);
        }
    free(distance);
}

void tame(const double *x, size_t m, const struct cut_list *cuts, double *out)
{
    double *levels = memory_zeroed(cuts->nr + 1, sizeof(*levels));

    levels_of(x, m, cuts, levels);
    tame_about(x, m, cuts, levels, out);
    free(levels);
}

size_t split_best(const double *x, size_t m, size_t least)
{
    double total = 0, sum = 0, most = -1;
    size_t best = 0;

    for (size_t t = 0; t < m; t++)
        total += x[t];
    for (size_t k = 1; k + least <= m; k++) {
        sum += x[k - 1];
        double left = (double)k, n = (double)m, gap = sum - left * total / n;
        double gain = gap * gap * n / (left * (n - left));
        if (k >= least && gain > most) {
            most = gain;
            best = k;
        }
    }
    return best;
}

/* Shifts and scales to [-1, 1]; false for a constant. */
static bool normalise_series(double *x, size_t m)
{
    double mean = stats_mean(x, m), most = 0;

    for (size_t t = 0; t < m; t++)
        most = fmax(most, fabs(x[t] -= mean));
    if (most <= 1e-12 * fabs(mean))
        return false;
    for (size_t t = 0; t < m; t++)
        x[t] /= most;
    return true;
}

/* A step, or a step on a line, which pays log m; `level` gets the cost of a level. */
static struct fit step_fit(const struct fit_grid *grid, const double *y, size_t split, double *room,
                           double *level)
{
    size_t m = grid->points;
    const double *model[] = { room, room + m, room + 2 * m, y };
    struct fit fits[4];

    for (size_t t = 0; t < m; t++) {
        room[t] = 1;
        room[m + t] = t < split ? 0 : 1;
        room[2 * m + t] = (2 * (double)t + 1) / (double)m - 1;
    }
    fit_models(grid, model, 4, 0, fits);
    fit_long_memory(model, 4, m, fits);
    *level = fits[1].cost;
    fits[3].cost += log((double)m);
    return m >= GRADUAL_LEAST && fits[3].cost < fits[2].cost ? fits[3] : fits[2];
}

/* A step that leaves correlated noise must be clearer, in short pieces above all: there the
 * correlation hides in the step. */
static double left_over(double correlation, size_t m)
{
    double share = fmin(1, 28 / (double)m);

    return 10 * share * share * fmax(0, correlation);
}

/* Looks no further than the first explanation that leaves the step less than `enough`. */
static double step_advantage(const double *y, size_t m, size_t split, double enough)
{
    double *room = memory_zeroed((FIT_TERMS + 1) * m, sizeof(*room)), without;
    struct fit_grid grid;
    fit_grid_init(&grid, m);
    struct fit fit = step_fit(&grid, y, split, room, &without);
    double step = fit.cost + left_over(fit.correlation, m);

    if (without - step >= enough)
        without = fmin(without, curve_cost(&grid, y, split, room));
    if (without - step >= enough)
        without = fmin(without, gradual_cost(&grid, y, split, step + enough, room));
    free(room);
    return without - step;
}

/* Means of `width` neighbours, counted from the split to both ends. */
static size_t average_neighbours(const double *y, size_t m, size_t *split, size_t width,
                                 double *out)
{
    size_t before = *split / width, after = (m - *split) / width;
    size_t start = *split - before * width;

    for (size_t i = 0; i < before + after; i++)
        out[i] = stats_mean(y + start + i * width, width);
    *split = before;
    return before + after;
}

/* Noise with more than one memory looks like AR(1) at some scale: a step must stand at all. */
static double least_advantage(const double *y, size_t m, size_t split, double enough)
{
    enum { BLOCKS = 40 };
    double *means = memory_zeroed(m, sizeof(*means)), least = step_advantage(y, m, split, enough);

    for (size_t width = 2; m / width >= BLOCKS && least >= enough; width *= 2) {
        size_t at = split, blocks = average_neighbours(y, m, &at, width, means);
        if (at > 0 && at < blocks)
            least = fmin(least, step_advantage(means, blocks, at, enough));
    }
    free(means);
    return least;
}

/* What the two levels about a split leave. */
struct remains {
    double all, within; /* sums of squares about the mean, and about the two levels */
    double wander;      /* of the partial sums: 1 on average where the noise is white */
};

static struct remains remains_of(const double *y, size_t m, size_t split)
{
    double mean = stats_mean(y, m), sums = 0;
    struct remains r = { 0 };

    for (int side = 0; side < 2; side++) {
        size_t from = side ? split : 0, to = side ? m : split;
        double own = stats_mean(y + from, to - from), sum = 0;
        for (size_t t = from; t < to; t++) {
            sum += y[t] - own;
            sums += sum * sum;
            r.within += (y[t] - own) * (y[t] - own);
            r.all += (y[t] - mean) * (y[t] - mean);
        }
    }
    r.within = fmax(r.within, 1e-13 * (double)m);
    double left = (double)split, right = (double)(m - split);
    r.wander = 6 * sums * (double)m / (r.within * (left * left + right * right));
    return r;
}

/* A level that wanders about itself (Kwiatkowski, Phillips, Schmidt and Shin 1992) moved more than
 * once: the step must be clearer. */
static double wander_penalty(const struct remains *r, size_t m)
{
    return 6 * fmax(0, log(r->wander / (1.75 + 70 / (double)m)));
}

/* The advantage over a level where the noise is known to be white, less a handicap: a small step is
 * no news in a short piece, where small ramps and slow noise look the same. */
static double plain_advantage(const struct remains *r, size_t m)
{
    return (double)m * log(r->all / r->within) - 5.5;
}

static double judge_split(const double *y, size_t m, size_t split, double enough)
{
    struct remains left = remains_of(y, m, split);
    double plain = plain_advantage(&left, m), doubts = wander_penalty(&left, m);

    if (plain < enough)
        return plain;
    return fmin(plain, least_advantage(y, m, split, enough + doubts) - doubts);
}

/* The advantage that one in 20 series without a step shows, and how fast the chance of a larger one
 * falls (e-fold for 1 / rate), from there to 0.1 %: as tests/statistics/calibrate_changes.c prints
 * them for AR(1) series with correlations up to 0.55, 20,000 of each (10,000 of 200 points, 5,000
 * of 400). 12 and 16 points cannot say 0.1 % and have the rate of 20; no rate is above the limit of
 * a chi-squared tail. */
static const struct calibrated {
    double points, usual, rate;
} calibrated[] = {
    { 12, 6.8, 0.38 },  { 16, 8.5, 0.38 }, { 20, 8.6, 0.38 },  { 24, 8.7, 0.44 },
    { 28, 8.5, 0.44 },  { 34, 8.8, 0.42 }, { 40, 8.9, 0.47 },  { 50, 8.8, 0.50 },
    { 62, 8.7, 0.50 },  { 70, 8.8, 0.50 }, { 100, 7.8, 0.50 }, { 200, 7.2, 0.50 },
    { 400, 6.7, 0.50 },
};

/* No less is asked, whatever AR(1) noise demands: ramps and noise with a longer memory are then
 * named less often, and a step of three sigma 8 points before the end is still found. */
static double least_asked(size_t m)
{
    return m < 34 ? 8.8 : 9.3;
}

static struct calibrated calibration_for(size_t m)
{
    enum { NR = sizeof(calibrated) / sizeof(*calibrated) };
    double n = fmax(calibrated[0].points, fmin(calibrated[NR - 1].points, (double)m));
    size_t i = 1;

    while (i + 1 < NR && n > calibrated[i].points)
        i++;
    struct calibrated low = calibrated[i - 1], high = calibrated[i];
    double part = log(n / low.points) / log(high.points / low.points);
    double usual = low.usual + part * (high.usual - low.usual);
    return (struct calibrated) { n, fmax(usual, least_asked(m)),
                                 low.rate + part * (high.rate - low.rate) };
}

static double step_p(double gain, size_t m)
{
    struct calibrated c = calibration_for(m);

    return fmin(1, 0.05 * exp(c.rate * (c.usual - gain)));
}

/* The advantage that step_p() takes for p. */
static double advantage_of(double p, size_t m)
{
    struct calibrated c = calibration_for(m);

    return c.usual - log(p / 0.05) / c.rate;
}

/* Fewer points say nothing about correlated noise. */
enum { LEAST = 8 };

/* Tames about a guess and splits; `out` gets the tame data. */
static size_t split_about(const double *x, size_t m, size_t guess, size_t least, double *out)
{
    struct cut cut = { .index = guess };
    struct cut_list split = { .items = &cut, .nr = guess > 0 };

    tame(x, m, &split, out);
    return split_best(out, m, least);
}

/* Sum of the distances of the raw data to the medians about a split. */
static double distance_about(const double *x, size_t m, size_t at)
{
    struct cut cut = { .index = at };
    struct cut_list split = { .items = &cut, .nr = at > 0 };
    double levels[2], distance = 0;

    levels_of(x, m, &split, levels);
    for (size_t i = 0; i <= split.nr; i++)
        for (size_t t = segment_start(&split, i); t < segment_end(&split, i, m); t++)
            distance += fabs(x[t] - levels[i]);
    return distance;
}

/* From two guesses: ranks lean to the middle of a piece, where a guess beside a large step would
 * have its points tamed to the wrong side; least squares lean to outliers. */
static size_t split_tame(const double *x, size_t m, size_t guess, size_t least, double *out)
{
    size_t at = split_about(x, m, guess, least, out), second = split_best(x, m, least);

    if (second == guess)
        return at;
    double *other = memory_zeroed(m + 1, sizeof(*other));
    size_t instead = split_about(x, m, second, least, other);
    if (instead != at && distance_about(x, m, instead) < distance_about(x, m, at)) {
        memcpy(out, other, m * sizeof(*out));
        at = instead;
    }
    free(other);
    return at;
}

size_t step_place(const double *x, size_t m, size_t guess, size_t least)
{
    double *y = memory_zeroed(m + 1, sizeof(*y));
    size_t at = split_tame(x, m, guess, least, y);

    free(y);
    return at;
}

struct step step_judge(const double *x, size_t m, size_t guess, size_t least, double limit)
{
    double *y = memory_zeroed(m + 1, sizeof(*y));
    struct step s = { guess, 0, 1, false };

    s.index = split_tame(x, m, guess, least, y);
    if (s.index && m >= LEAST && normalise_series(y, m)) {
        double enough = advantage_of(limit, m);
        s.advantage = judge_split(y, m, s.index, enough);
        s.enough = s.advantage >= enough;
        s.p = step_p(s.advantage, m);
    }
    free(y);
    return s;
}
