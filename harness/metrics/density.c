/* SPDX-License-Identifier: MIT */
#include "metrics/density.h"

#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 512, EACH = DENSITY_POINTS / 2 };

/* Beyond this many bandwidths the kernel is nothing to a picture. */
#define REACH    5.0
#define SQRT_2PI 2.506628274631000502

/* Samples on a grid: what pairs of them are apart is known from the bins alone. */
struct binned {
    double low, step;
    double counts[BINS];
    double pairs[BINS]; /* ordered pairs that lie this many bins apart */
    double n;
};

/* A sample between two bins belongs to both, more to the nearer one. */
static void bin_samples(struct binned *b, const double *sorted, size_t n)
{
    b->low = sorted[0];
    b->step = (sorted[n - 1] - sorted[0]) / (BINS - 1);
    b->n = (double)n;
    for (size_t i = 0; i < n; i++) {
        double at = (sorted[i] - b->low) / b->step;
        size_t bin = at < BINS - 1 ? (size_t)at : BINS - 2;
        b->counts[bin] += 1 - (at - (double)bin);
        b->counts[bin + 1] += at - (double)bin;
    }
}

static void count_pairs(struct binned *b)
{
    for (size_t apart = 0; apart < BINS; apart++) {
        double sum = 0;
        for (size_t i = 0; i + apart < BINS; i++)
            sum += b->counts[i] * b->counts[i + apart];
        b->pairs[apart] = apart ? 2 * sum : sum;
    }
}

/* The standard normal density times its Hermite polynomial: the derivative of even order. */
static double normal_derivative(int order, double x)
{
    double s = x * x, normal = exp(-s / 2) / SQRT_2PI;

    return normal * (order == 4 ? (s - 6) * s + 3 : ((s - 15) * s + 45) * s - 15);
}

/* Mean over all pairs of the kernel's derivative at bandwidth g: the functional psi of that order.
 */
static double psi_functional(const struct binned *b, int order, double g)
{
    double sum = 0;

    for (size_t i = 0; i < BINS; i++)
        sum += b->pairs[i] * normal_derivative(order, (double)i * b->step / g);
    return sum / (b->n * b->n * pow(g, order + 1));
}

/* The pilot bandwidth for a functional, from the next higher one. */
static double pilot_bandwidth(const struct binned *b, int order, double higher)
{
    return pow(-2 * normal_derivative(order, 0) / (higher * b->n), 1.0 / (order + 3));
}

static double plug_in(const struct binned *b, double scale)
{
    double psi8 = 105 / (32 * sqrt(M_PI) * pow(scale, 9));
    double psi6 = psi_functional(b, 6, pilot_bandwidth(b, 6, psi8));
    double psi4 = psi_functional(b, 4, pilot_bandwidth(b, 4, psi6));

    return pow(1 / (2 * sqrt(M_PI) * psi4 * b->n), 0.2);
}

/* Silverman's rule for one hump, where the plug-in finds no number. */
static double rule_of_thumb(double scale, double n)
{
    return 0.9 * scale * pow(n, -0.2);
}

static double density_scale(const double *sorted, size_t n)
{
    double quartiles = stats_quantile(sorted, n, 0.75) - stats_quantile(sorted, n, 0.25);
    double sd = stats_sd(sorted, n);

    return quartiles > 0 ? fmin(sd, quartiles / 1.349) : sd;
}

/* The least difference between neighbours: one step of a coarse clock, next to nothing on a fine
 * one. */
static double density_least_step(const double *sorted, size_t n)
{
    double least = INFINITY;

    for (size_t i = 1; i < n; i++)
        if (sorted[i] > sorted[i - 1])
            least = fmin(least, sorted[i] - sorted[i - 1]);
    return least;
}

static double density_choose_bandwidth(struct binned *b, const double *sorted, size_t n)
{
    double scale = density_scale(sorted, n);

    count_pairs(b);
    double h = plug_in(b, scale);
    if (!isfinite(h) || h <= 0)
        h = rule_of_thumb(scale, b->n);
    return fmax(h, fmax(0.75 * density_least_step(sorted, n), b->step));
}

/* Sum of the kernels at x, with what would lie below the floor folded back. */
static double density_value(const struct binned *b, double x, double h)
{
    double sum = 0, above = (x - b->low) / b->step, reach = REACH * h / b->step;
    size_t first = above > reach ? (size_t)(above - reach) : 0;

    for (size_t i = first; i < BINS && (double)i <= above + reach; i++) {
        double here = (above - (double)i) * b->step / h, folded = (above + (double)i) * b->step / h;
        sum += b->counts[i] * (exp(-here * here / 2) + exp(-folded * folded / 2));
    }
    return sum / (h * SQRT_2PI);
}

/* The samples within [low, high]: how many, and where they begin. */
static size_t density_part(const double *sorted, size_t n, double low, double high, size_t *first)
{
    size_t end = n;

    *first = 0;
    while (*first < end && sorted[*first] < low)
        ++*first;
    while (end > *first && sorted[end - 1] > high)
        end--;
    return end - *first;
}

static void density_choose_places(struct density *d, const double *part, size_t nr, double top)
{
    double places[DENSITY_POINTS];

    for (size_t i = 0; i < EACH; i++) {
        double share = (double)i / (EACH - 1);
        places[2 * i] = part[0] + (top - part[0]) * share;
        places[2 * i + 1] = stats_quantile(part, nr, share);
    }
    stats_sort(places, DENSITY_POINTS);
    for (size_t i = 0; i < DENSITY_POINTS; i++)
        if (d->nr == 0 || places[i] > d->at[d->nr - 1])
            d->at[d->nr++] = places[i];
}

/* Into bins that can be told apart. */
static bool ecdf_can_be_cut(double low, double high)
{
    return high - low > fmax(fabs(low), fabs(high)) * 0x1p-42 && (high - low) / BINS > 0 &&
           isfinite(high - low);
}

bool density_fill(struct density *d, const double *sorted, size_t n, double low, double high)
{
    size_t first, nr = density_part(sorted, n, low, high, &first);
    const double *part = sorted + first;

    *d = (struct density) { 0 };
    if (nr < 2 || !ecdf_can_be_cut(part[0], part[nr - 1]))
        return false;
    struct binned *b = memory_zeroed(1, sizeof(*b));
    bin_samples(b, part, nr);
    d->bandwidth = density_choose_bandwidth(b, part, nr);
    double top = fmin(fmax(high, part[nr - 1]), part[nr - 1] + 3 * d->bandwidth);
    density_choose_places(d, part, nr, top);
    for (size_t i = 0; i < d->nr; i++) {
        d->value[i] = density_value(b, d->at[i], d->bandwidth) / (double)n;
        d->highest = fmax(d->highest, d->value[i]);
    }
    free(b);
    return true;
}

size_t ecdf_fill(struct ecdf_point *points, size_t most, const double *sorted, size_t n, double low,
                 double high)
{
    size_t nr = 0, first, end = density_part(sorted, n, low, high, &first) + first;

    if (first == end)
        return 0;
    double half = (double)(most - 2) / 2, width = sorted[end - 1] - sorted[first];
    for (size_t i = first; i < end; i++) {
        struct ecdf_point p = { sorted[i], (double)(i + 1) / (double)n };
        bool last = i + 1 == end;
        if (!last && sorted[i + 1] == sorted[i])
            continue; /* the step is as high as all that are alike */
        if (nr && !last && p.share - points[nr - 1].share < 1 / half &&
            p.x - points[nr - 1].x < width / half)
            continue;
        points[nr++] = p;
    }
    return nr;
}
