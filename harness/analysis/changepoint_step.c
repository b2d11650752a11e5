/* SPDX-License-Identifier: MIT */
/*
 * How much better a step explains a piece than anything without a step does, when the noise may be
 * correlated.
 */
#include "analysis/changepoint_parts.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double segment_level(const double *x, size_t n, const struct cut_list *cuts, size_t i)
{
    size_t from = segment_start(cuts, i), nr = segment_end(cuts, i, n) - from;
    double *copy = memory_zeroed(nr + 1, sizeof(*copy));

    memcpy(copy, x + from, nr * sizeof(*copy));
    double median = stats_median(copy, nr);
    free(copy);
    return median;
}

void tame(const double *x, size_t m, const struct cut_list *cuts, double *out)
{
    double *distance = memory_zeroed(m + 1, sizeof(*distance));
    double *level = memory_zeroed(cuts->nr + 1, sizeof(*level));

    for (size_t i = 0; i <= cuts->nr; i++) {
        level[i] = segment_level(x, m, cuts, i);
        for (size_t t = segment_start(cuts, i); t < segment_end(cuts, i, m); t++)
            distance[t] = fabs(x[t] - level[i]);
    }
    stats_sort(distance, m);
    double limit = 2 * stats_quantile(distance, m, 0.9);
    for (size_t i = 0; i <= cuts->nr; i++)
        for (size_t t = segment_start(cuts, i); t < segment_end(cuts, i, m); t++)
            out[t] = level[i] + fmax(-limit, fmin(limit, x[t] - level[i]));
    free(distance);
    free(level);
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
static bool normalise(double *x, size_t m)
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

/* Legendre polynomials of degrees 0 to `terms`, a column each: nearly orthogonal, so that no digits
 * get lost. */
static void legendre(double *columns, size_t terms, size_t m)
{
    for (size_t t = 0; t < m; t++) {
        double u = (2 * (double)t + 1) / (double)m - 1, before = 0, value = 1;
        for (size_t k = 0; k <= terms; k++) {
            double d = (double)k, next = ((2 * d + 1) * u * value - d * before) / (d + 1);
            columns[k * m + t] = value;
            before = value;
            value = next;
        }
    }
}

static size_t curve_terms(size_t m)
{
    double terms = 1.6 * log2((double)m / 25);

    return terms < 2 ? 1 : terms > FIT_TERMS ? FIT_TERMS : (size_t)terms;
}

/* Shorter pieces cannot tell a step from a gradual change, nor a step on a line from a line. */
enum { GRADUAL_LEAST = 64 };

/* The best cost without a step: a level, or a curve that pays log m a term. A step has a position
 * besides its size, so that curves get a handicap, the larger the less a piece can say. */
static double handicap(size_t m)
{
    return 2 + 5.5 * fmin(1, 28 / (double)m);
}

static double curve_cost(const double *y, size_t m, double *room)
{
    size_t terms = curve_terms(m);
    double cost[FIT_COLUMNS];
    const double *model[FIT_COLUMNS];

    for (size_t k = 0; k <= terms; k++)
        model[k] = room + k * m;
    model[terms + 1] = y;
    legendre(room, terms, m);
    fit_models(model, terms + 2, m, cost);
    double best = cost[1];
    for (size_t q = 1; q <= terms; q++)
        best = fmin(best, cost[q + 1] + (double)(q - 1) * log((double)m) + handicap(m));
    return best;
}

/* Cost of two levels with a straight line of `width` points between them, about `centre`. */
static double ramp_cost(const double *y, size_t m, double centre, double width, double *room)
{
    const double *model[] = { room, room + m, y };
    double cost[3];

    for (size_t t = 0; t < m; t++) {
        double from_centre = (double)t + 0.5 - centre;
        room[t] = 1;
        room[m + t] = fabs(from_centre) >= 0.5 * width ? (from_centre > 0 ? 1 : 0)
                                                       : from_centre / width + 0.5;
    }
    fit_models(model, 3, m, cost);
    return cost[2];
}

/* Cost of two straight lines that meet at `knot`. */
static double bend_cost(const double *y, size_t m, double knot, double *room)
{
    const double *model[] = { room, room + m, room + 2 * m, y };
    double cost[4];

    for (size_t t = 0; t < m; t++) {
        double place = ((double)t + 0.5) / (double)m;
        room[t] = 1;
        room[m + t] = 2 * place - 1;
        room[2 * m + t] = fmax(0, place - knot / (double)m);
    }
    fit_models(model, 4, m, cost);
    return cost[3];
}

/* Gradual changes: two lines that meet near the split, or two levels with a ramp between them that
 * is a quarter or half as long as the piece (an eighth too where it is long). Both pay for two
 * numbers more than a step has. Stops at the first that costs less than `enough`. */
static double gradual_cost(const double *y, size_t m, size_t split, double enough, double *room)
{
    double best = INFINITY, n = (double)m, pays = 2 * log(n) + handicap(m);

    if (m < GRADUAL_LEAST)
        return best;
    for (int place = -4; place <= 4 && best >= enough; place++) {
        double knot = (double)split + place * n / 16;
        if (knot >= 0.2 * n && knot <= 0.8 * n)
            best = fmin(best, bend_cost(y, m, knot, room) + pays);
    }
    for (size_t part = 2; part <= (m < 160 ? 4 : 8); part *= 2) {
        double width = n / (double)part;
        for (int place = -2; place <= 2 && best >= enough; place++) {
            double centre = (double)split + 0.25 * place * width;
            if (centre >= 0.5 * width && centre + 0.5 * width <= n)
                best = fmin(best, ramp_cost(y, m, centre, width, room) + pays);
        }
    }
    return best;
}

/* A step, or a step on a line, which pays log m; `level` gets the cost of a level. */
static double step_cost(const double *y, size_t m, size_t split, double *room, double *level)
{
    const double *model[] = { room, room + m, room + 2 * m, y };
    double cost[4];

    for (size_t t = 0; t < m; t++) {
        room[t] = 1;
        room[m + t] = t < split ? 0 : 1;
        room[2 * m + t] = (2 * (double)t + 1) / (double)m - 1;
    }
    fit_models(model, 4, m, cost);
    *level = cost[1];
    return m < GRADUAL_LEAST ? cost[2] : fmin(cost[2], cost[3] + log((double)m));
}

/* Looks no further than the first explanation that leaves the step less than `enough`. */
static double advantage(const double *y, size_t m, size_t split, double enough)
{
    double *room = memory_zeroed((FIT_TERMS + 1) * m, sizeof(*room)), without;
    double step = step_cost(y, m, split, room, &without);

    if (without - step >= enough)
        without = fmin(without, curve_cost(y, m, room));
    if (without - step >= enough)
        without = fmin(without, gradual_cost(y, m, split, step + enough, room));
    free(room);
    return without - step;
}

/* Means of `width` neighbours, counted from the split to both ends. */
static size_t average(const double *y, size_t m, size_t *split, size_t width, double *out)
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
    double *means = memory_zeroed(m, sizeof(*means)), least = advantage(y, m, split, enough);

    for (size_t width = 2; m / width >= BLOCKS && least >= enough; width *= 2) {
        size_t at = split, blocks = average(y, m, &at, width, means);
        if (at > 0 && at < blocks)
            least = fmin(least, advantage(means, blocks, at, enough));
    }
    free(means);
    return least;
}

/* p = 0.05 at the usual largest advantage, and an exponential tail beyond; both are on the safe
 * side of simulated AR(1) series with correlations up to 0.7 (tests/statistics prints the rates).
 */
static double usual_advantage(size_t m)
{
    return 8.5 + 2.6 * fmin(1, sqrt(45 / (double)m));
}

static double tail_rate(size_t m)
{
    return 0.55 * (double)m / (double)(m + 8);
}

static double step_p(double gain, size_t m)
{
    return fmin(1, 0.05 * exp(tail_rate(m) * (usual_advantage(m) - gain)));
}

/* The advantage that step_p() takes for p. */
static double advantage_of(double p, size_t m)
{
    return usual_advantage(m) - log(p / 0.05) / tail_rate(m);
}

/* Fewer points say nothing about correlated noise. */
enum { LEAST = 8 };

struct step step_judge(const double *x, size_t m, size_t guess, size_t least, double limit)
{
    double *y = memory_zeroed(m + 1, sizeof(*y));
    struct step s = { guess, 0, 1 };
    struct cut cut = { .index = guess };
    struct cut_list split = { .items = &cut, .nr = guess > 0 };

    tame(x, m, &split, y);
    s.index = split_best(y, m, least);
    if (s.index && m >= LEAST && normalise(y, m)) {
        s.advantage = least_advantage(y, m, s.index, advantage_of(limit, m));
        s.p = step_p(s.advantage, m);
    }
    free(y);
    return s;
}
