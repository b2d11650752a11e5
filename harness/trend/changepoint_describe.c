/* SPDX-License-Identifier: MIT */
/* What is said about the steps that were found: levels, intervals, noise, correlation. */
#include "base/array.h"
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The series for reading: far points pulled in, the drift taken out. */
struct portrait {
    const double *x, *tamed;
    const struct cut_list *cuts;
    size_t n;
    double inflation; /* how much correlation adds to the variance of a mean */
    double doubt;     /* variance of the logarithm of that */
    double slope;     /* of the drift that was taken out about the middle, a point */
};

/* Distances of the points from the medians of their segments. */
static double *compute_residuals(const struct portrait *p, const double *x)
{
    double *r = memory_zeroed(p->n + 1, sizeof(*r));

    for (size_t i = 0; i <= p->cuts->nr; i++) {
        double level = segment_level(p->x, p->n, p->cuts, i);
        for (size_t t = segment_start(p->cuts, i); t < segment_end(p->cuts, i, p->n); t++)
            r[t] = x[t] - level;
    }
    return r;
}

/* Robust sd of the residuals of x: from the median distance, or where half of all points are equal
 * from the mean one. What is left of a line without noise is rounding, and no noise. */
static double noise_of(const double *r, const double *x, size_t n)
{
    double *distance = memory_zeroed(n + 1, sizeof(*distance)), most = 0;

    for (size_t t = 0; t < n; t++) {
        distance[t] = fabs(r[t]);
        most = fmax(most, fabs(x[t]));
    }
    for (size_t t = 0; t < n; t++)
        distance[t] = distance[t] > 1e-14 * most * sqrt((double)n) ? distance[t] : 0;
    double mean = n ? stats_mean(distance, n) : 0, middle = n ? stats_median(distance, n) : 0;
    free(distance);
    return middle > 0 ? middle / stats_normal_quantile(0.75) : mean * sqrt(acos(-1) / 2);
}

static double correlation_of(const double *r, size_t n, size_t levels)
{
    double squares = 0, products = 0;

    for (size_t t = 0; t < n; t++)
        squares += r[t] * r[t];
    for (size_t t = 1; t < n; t++)
        products += r[t] * r[t - 1];
    if (!(squares > 0) || n < 4)
        return 0;
    return fmax(-0.99, fmin(0.99, unbiased_correlation(products / squares, n, levels)));
}

/* All splits whose likelihood ratio against the best stays below the 95 % point of its limit,
 * (1 - exp(-c / 2))^2 (Hansen 2000), the ratio deflated by the correlation. */
static void position_interval(const struct portrait *p, size_t i, struct changepoint *out)
{
    static const double limit = 7.352;
    size_t from = segment_start(p->cuts, i), to = segment_end(p->cuts, i + 1, p->n), m = to - from;
    const double *y = p->tamed + from;
    double total = 0, squares = 0, mean = stats_mean(y, m), sum = 0;
    double *gain = memory_zeroed(m + 1, sizeof(*gain));

    for (size_t t = 0; t < m; t++) {
        total += y[t] - mean;
        squares += (y[t] - mean) * (y[t] - mean);
    }
    for (size_t k = 1; k < m; k++) {
        sum += y[k - 1] - mean;
        double left = (double)k, gap = sum - left * total / (double)m;
        gain[k] = gap * gap * (double)m / (left * (double)(m - k));
    }
    double floor = 1e-13 * squares, best = fmax(squares - gain[out->index - from], floor);
    out->low = out->high = out->index;
    for (size_t k = 1; k < m; k++) {
        double ratio = (double)m * log(fmax(squares - gain[k], floor) / best) / p->inflation;
        if (ratio > limit)
            continue;
        out->low = from + k < out->low ? from + k : out->low;
        out->high = from + k > out->high ? from + k : out->high;
    }
    free(gain);
}

/* Welch's interval for the change, widened by the correlation, which is itself an estimate (its
 * variance (1 - rho^2) / n, Bartlett 1946, joins Satterthwaite's); it always holds the change. */
static struct interval size_interval(const struct portrait *p, size_t i, double change)
{
    size_t from = segment_start(p->cuts, i), at = p->cuts->items[i].index,
           to = segment_end(p->cuts, i + 1, p->n);
    struct welch w = stats_welch(p->tamed + from, at - from, p->tamed + at, to - at);
    struct interval range = { NAN, NAN };

    if (isnan(w.se))
        return range;
    double df = fmax(1, 2 / (2 * p->inflation / w.df + p->doubt));
    double half = stats_t_quantile(0.975, df) * w.se * sqrt(p->inflation);
    range.low = fmin(change, w.difference - half);
    range.high = fmax(change, w.difference + half);
    return range;
}

static void describe_step(const struct portrait *p, size_t i, struct changepoint *out)
{
    *out = (struct changepoint) { .index = p->cuts->items[i].index,
                                  .id = p->cuts->items[i].id,
                                  .named = p->cuts->items[i].named,
                                  .p = p->cuts->items[i].p };
    double drifted = p->slope * ((double)out->index - 0.5 * (double)(p->n - 1));
    out->before = drifted + segment_level(p->x, p->n, p->cuts, i);
    out->after = drifted + segment_level(p->x, p->n, p->cuts, i + 1);
    out->change = size_interval(p, i, out->after - out->before);
    position_interval(p, i, out);
}

void changes_describe(const double *x, size_t n, const struct cut_list *cuts, struct changes *out)
{
    double slope = out->drift.found ? out->drift.per_point : 0;
    double *flat = memory_zeroed(2 * n + 1, sizeof(*flat)), *tamed = flat + n;
    struct portrait p = { .x = flat, .tamed = tamed, .n = n, .cuts = cuts, .slope = slope };

    for (size_t t = 0; t < n; t++)
        flat[t] = x[t] - slope * ((double)t - 0.5 * (double)(n - 1));
    if (n > 0)
        tame(flat, n, cuts, tamed);
    double *raw = compute_residuals(&p, flat), *calm = compute_residuals(&p, tamed);
    out->noise = noise_of(raw, x, n);
    out->correlation = correlation_of(calm, n, cuts->nr + 1);
    double memory = fmax(0, out->correlation);
    p.inflation = (1 + memory) / (1 - memory);
    p.doubt = memory > 0 ? 4 / ((double)n * (1 - memory * memory)) : 0;
    for (size_t i = 0; i < cuts->nr; i++) {
        struct changepoint *c = array_push(out);
        describe_step(&p, i, c);
    }
    free(raw);
    free(calm);
    free(flat);
}
