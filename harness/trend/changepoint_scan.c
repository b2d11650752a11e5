/* SPDX-License-Identifier: MIT */
/* The clearest split of a piece by ranks, and the p-value that pays for looking at all splits. */
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>

struct place {
    double value;
    size_t position;
};

static int by_value(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->position < b->position ? -1 : 1;
}

size_t *scan_order(const double *x, size_t n)
{
    struct place *places = memory_zeroed(n + 1, sizeof(*places));
    size_t *order = memory_zeroed(n + 1, sizeof(*order));

    for (size_t i = 0; i < n; i++)
        places[i] = (struct place) { x[i], i };
    qsort(places, n, sizeof(*places), by_value);
    for (size_t i = 0; i < n; i++)
        order[i] = places[i].position;
    free(places);
    return order;
}

/* Mid-ranks; the value is the sum of t^3 - t over groups of t equal values. */
static double mid_ranks(const double *x, const size_t *order, size_t m, double *ranks)
{
    double ties = 0;

    for (size_t i = 0, end; i < m; i = end) {
        for (end = i + 1; end < m && x[order[end]] == x[order[i]]; end++)
            ;
        double equal = (double)(end - i);
        for (size_t j = i; j < end; j++)
            ranks[order[j]] = 0.5 * (double)(i + end + 1);
        ties += equal * equal * equal - equal;
    }
    return ties;
}

/* Smaller p-values are not told apart: no bound reaches that far, and none is ever 0. */
static const double smallest_p = 1e-16;

/* Two bounds on P(max |z| >= z), the smaller of which counts: that of Miller and Siegmund 1982 for
 * the continuous process, and the sum over all splits. */
static double scan_p(double z, size_t m, size_t least)
{
    if (z < 1.5)
        return 1;
    double edge = (double)least / (double)m;
    double density = exp(-0.5 * z * z) / sqrt(2 * acos(-1));
    double span = 2 * log((1 - edge) / edge);
    double process = density * ((z - 1 / z) * span + 4 / z);
    double sum = (double)(m - 2 * least + 1) * erfc(z / sqrt(2));

    return fmin(1, fmax(smallest_p, fmin(process, sum)));
}

/* Log of the bound E exp(t (U - d)) on P(U >= d), U the Mann-Whitney statistic of `few` among m
 * points less its mean: its generating function is a Gaussian binomial coefficient (Mann and
 * Whitney 1947), a product of sinh(t (m - few + i) / 2) / sinh(t i / 2). `choose` is log(m over
 * few). */
static double chernoff_bound(double t, double d, size_t few, size_t m, double choose)
{
    enum { FACTORS = 32 }; /* of at most m each: their product is finite */
    double decay = exp(-t), top = exp(-t * (double)(m - few)), bottom = 1, product = 1;
    double sum = 0.5 * t * (double)few * (double)(m - few) - t * d - choose;

    for (size_t i = 1; i <= few; i++) {
        top *= decay;
        bottom *= decay;
        product *= (1 - top) / (1 - bottom);
        if (i % FACTORS == 0) {
            sum += log(product);
            product = 1;
        }
    }
    return sum + log(product);
}

/* What Chernoff's bound at its best t says too much (Bahadur and Rao 1960, for a lattice). */
static double saddlepoint_factor(double t, size_t few, size_t m)
{
    double bend = 0; /* second derivative of the logarithm of the generating function */

    for (size_t i = 1; i <= few; i++) {
        double a = 0.5 * (double)i, b = 0.5 * (double)(m - few + i);
        double sine_a = sinh(fmin(300, t * a)), sine_b = sinh(fmin(300, t * b));
        bend += a * a / (sine_a * sine_a) - b * b / (sine_b * sine_b);
    }
    return bend > 0 ? 1 / (sqrt(2 * acos(-1) * bend) * -expm1(-t)) : 1;
}

/* Chernoff's bound, the least over t: any t gives a bound, so that a rough search is enough. Where
 * the two sides do not mix at all it is exact, and ties only make it smaller (Jensen). */
static double tail_bound(double d, size_t few, size_t m)
{
    double size = (double)few * (double)(m - few), t = 12 * d / (size * (double)(m + 1));
    double choose = lgamma((double)m + 1) - lgamma((double)few + 1) - lgamma((double)(m - few) + 1);
    double best = chernoff_bound(t, d, few, m, choose), step = 2;

    for (int i = 0; i < 40 && step > 1.02; i++) {
        double next = chernoff_bound(t * step, d, few, m, choose);
        if (next < best - 1e-9) {
            best = next;
            t *= step;
        } else {
            step = sqrt(step);
        }
    }
    return exp(best) * fmin(1, saddlepoint_factor(t, few, m));
}

/* The normal tail says little where one side has few points. Each split has its own tail here, and
 * its share of the chance: what few points can say counts as much as what many can. `d` is that of
 * one split; the sum over all holds for the least. */
static double exact_p(double d, size_t at, size_t m, size_t least)
{
    double all = 0, few = fmin((double)at, (double)(m - at));

    for (size_t k = least; k + least <= m; k++)
        all += 1 / fmin((double)k, (double)(m - k));
    return fmin(1, fmax(smallest_p, 2 * tail_bound(d, (size_t)few, m) * all * few));
}

struct scan scan_ranks(const double *x, const size_t *order, size_t m, size_t least, double *ranks)
{
    static const double rounding = 1 - 1e-9;
    struct scan best = { 0, 0, 1 };

    if (m < 2 * least)
        return best;
    double ties = mid_ranks(x, order, m, ranks), n = (double)m, sum = 0, apart = 0, most = 0;
    double spread = (n + 1 - ties / (n * (n - 1))) / 12;
    if (!(spread > 0))
        return best;
    for (size_t k = 1; k < least; k++)
        sum += ranks[k - 1];
    for (size_t k = least; k + least <= m; k++) {
        sum += ranks[k - 1];
        double left = (double)k, places = left * (n - left);
        double off = fabs(sum - left * (n + 1) / 2);
        if (off * off < most * places) /* without a root: most splits are far from the best */
            continue;
        double z = off / sqrt(places * spread);
        if (z > best.z) {
            best = (struct scan) { k, z, 1 };
            apart = off;
            most = off * off / places * rounding;
        }
    }
    best.p = scan_p(best.z, m, least);
    if (best.p < 0.02 && best.p > smallest_p)
        best.p = fmin(best.p, exact_p(apart, best.index, m, least));
    return best;
}
