/* SPDX-License-Identifier: MIT */
/* The clearest split of a piece by ranks, and the p-value that pays for looking at all splits. */
#include "analysis/changepoint_parts.h"
#include "base/memory.h"

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

struct scan scan_ranks(const double *x, const size_t *order, size_t m, size_t least, double *ranks)
{
    struct scan best = { 0, 0, 1 };

    if (m < 2 * least)
        return best;
    double ties = mid_ranks(x, order, m, ranks), n = (double)m, sum = 0;
    double spread = (n + 1 - ties / (n * (n - 1))) / 12;
    if (!(spread > 0))
        return best;
    for (size_t k = 1; k + least <= m; k++) {
        sum += ranks[k - 1];
        if (k < least)
            continue;
        double left = (double)k;
        double z = fabs(sum - left * (n + 1) / 2) / sqrt(left * (n - left) * spread);
        if (z > best.z)
            best = (struct scan) { k, z, 1 };
    }
    best.p = scan_p(best.z, m, least);
    return best;
}
