/* SPDX-License-Identifier: MIT */
/*
 * Gaussian likelihood of regressions whose errors are correlated: AR(1), AR(2), or AR(1) plus white
 * noise, the correlation fitted anew for each model.
 */
#include "analysis/changepoint_parts.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Everything the likelihood needs to know about the columns, for every correlation at once: sums
 * over pairs of points 0, 1 and 2 apart, and the same without the ends. */
enum fit_sum { FIT_ALL, FIT_NEXT, FIT_SECOND, FIT_INNER, FIT_INNERMOST, FIT_INNER_NEXT, FIT_SUMS };
struct fit_sums {
    size_t nr;     /* columns, the data last */
    size_t points; /* in each column */
    double of[FIT_COLUMNS][FIT_COLUMNS][FIT_SUMS];
    double floor; /* sums of squares under this are rounding */
};

/* Sum of a[t] b[t - lag] + a[t - lag] b[t]. */
static double lagged(const double *a, const double *b, size_t m, size_t lag)
{
    double sum = 0;

    for (size_t t = lag; t < m; t++)
        sum += a[t] * b[t - lag] + a[t - lag] * b[t];
    return sum;
}

static void fit_sums(const double *const *columns, size_t nr, size_t m, struct fit_sums *out)
{
    *out = (struct fit_sums) { .nr = nr, .points = m, .floor = 1e-13 * (double)m };
    for (size_t i = 0; i < nr; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double *a = columns[i], *b = columns[j];
            double *sum = out->of[i][j];
            for (size_t t = 0; t < m; t++)
                sum[FIT_ALL] += a[t] * b[t];
            sum[FIT_NEXT] = lagged(a, b, m, 1);
            sum[FIT_SECOND] = lagged(a, b, m, 2);
            sum[FIT_INNER] = sum[FIT_ALL] - a[0] * b[0] - a[m - 1] * b[m - 1];
            sum[FIT_INNERMOST] = sum[FIT_INNER] - a[1] * b[1] - a[m - 2] * b[m - 2];
            sum[FIT_INNER_NEXT] = sum[FIT_NEXT] - a[0] * b[1] - a[1] * b[0] - a[m - 1] * b[m - 2] -
                                  a[m - 2] * b[m - 1];
        }
    }
}

/* rest[k]: the square that the first k of nr columns leave of the last, from the lower triangle of
 * their products, which is used up. Columns that leave less than `least` are spanned by others. */
static void eliminate(double g[FIT_COLUMNS][FIT_COLUMNS], size_t nr, double least, double *rest)
{
    size_t data = nr - 1;

    rest[0] = g[data][data];
    for (size_t k = 0; k < data; k++) {
        if (g[k][k] > least)
            for (size_t i = k + 1; i < nr; i++) {
                double share = g[i][k] / g[k][k];
                for (size_t j = k + 1; j <= i; j++)
                    g[i][j] -= share * g[j][k];
            }
        rest[k + 1] = g[data][data];
    }
}

/* Sum of squares, in units of the innovations, that the first k columns leave, for every k, under
 * AR(2) with partial autocorrelations r and q. The inverse covariance has five diagonals (Siddiqui
 * 1958), so that every product is a polynomial in its coefficients. */
static void rest_squares(const struct fit_sums *s, double r, double q, double *rest)
{
    double one = r * (1 - q), g[FIT_COLUMNS][FIT_COLUMNS] = { 0 };

    for (size_t i = 0; i < s->nr; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *sum = s->of[i][j];
            g[i][j] = sum[FIT_ALL] - one * sum[FIT_NEXT] - q * sum[FIT_SECOND] +
                      one * one * sum[FIT_INNER] + q * q * sum[FIT_INNERMOST] +
                      one * q * sum[FIT_INNER_NEXT];
        }
    eliminate(g, s->nr, 1e-10 * (double)s->points, rest);
}

/* The least value of the parabola through three neighbours on the grid, within one step. */
static double parabola(const double *y)
{
    double bend = y[0] - 2 * y[1] + y[2], slope = 0.5 * (y[2] - y[0]);
    double offset = bend > 0 ? fmax(-1, fmin(1, -slope / bend)) : 0;

    return y[1] + offset * (slope + 0.5 * bend * offset);
}

/* First correlations that are tried: even steps of Fisher's z, -0.92 to 0.995. */
enum { GRID = 33 };
struct grid {
    double r[GRID], log_rest[GRID]; /* log(1 - r^2) */
};

static void grid_fill(struct grid *g)
{
    for (size_t i = 0; i < GRID; i++) {
        g->r[i] = tanh(-1.6 + 4.6 * (double)i / (GRID - 1));
        g->log_rest[i] = log((1 - g->r[i]) * (1 + g->r[i]));
    }
}

/* The best first correlation for a given second one. What the determinant adds is the same for all
 * columns: it goes into the squares, so that logarithms are taken of the best only. */
static void order_costs(const struct fit_sums *s, const struct grid *g, double q, size_t stride,
                        struct fit *fits)
{
    double squares[FIT_COLUMNS][GRID], rest[FIT_COLUMNS] = { 0 }, m = (double)s->points;
    double second = 2 * log(1 - q * q);
    size_t nr = 1 + (GRID - 1) / stride;

    for (size_t i = 0; i < nr; i++) {
        double determinant = exp(-(g->log_rest[i * stride] + second) / m) / m;
        rest_squares(s, g->r[i * stride], q, rest);
        for (size_t k = 0; k < s->nr; k++)
            squares[k][i] = fmax(rest[k], s->floor) * determinant;
    }
    for (size_t k = 0; k < s->nr; k++) {
        size_t best = 0;
        for (size_t i = 1; i < nr; i++)
            best = squares[k][i] < squares[k][best] ? i : best;
        const double *at = squares[k] + best;
        fits[k] = (struct fit) { m * log(*at), g->r[best * stride] };
        if (best > 0 && best + 1 < nr) {
            double near[] = { m * log(at[-1]), fits[k].cost, m * log(at[1]) };
            fits[k].cost = parabola(near);
        }
    }
}

static void keep_better(const struct fit *other, double pays, size_t nr, struct fit *best)
{
    for (size_t k = 0; k < nr; k++)
        if (other[k].cost + pays < best[k].cost)
            best[k] = (struct fit) { other[k].cost + pays, other[k].correlation };
}

void fit_models(const double *const *columns, size_t nr, size_t m, struct fit *best)
{
    static const double second[] = { -0.95, -0.7, -0.45, -0.2, 0.2, 0.4, 0.6 };
    struct fit_sums *sums = memory_zeroed(1, sizeof(*sums));
    struct fit other[FIT_COLUMNS];
    struct grid grid;

    fit_sums(columns, nr, m, sums);
    grid_fill(&grid);
    order_costs(sums, &grid, 0, 1, best);
    for (size_t i = 0; i < sizeof(second) / sizeof(*second); i++) {
        order_costs(sums, &grid, second[i], 2, other);
        keep_better(other, log((double)m), nr, best);
    }
    free(sums);
}

/* Kalman's filter (1960) of an AR(1) series of correlation r in white noise: the variance of what
 * is not yet known of it, and what follows from that, which soon stays as it is. */
struct filter {
    double r, noise, variance;
    double gain, scale, log_total;
};

static struct filter filter_start(double r, double white)
{
    double variance = 1 / (1 - r * r);

    return (
        struct filter) { .r = r, .noise = variance * white / (1 - white), .variance = variance };
}

static void filter_step(struct filter *f)
{
    double total = f->variance + f->noise, gain = f->variance / total;

    if (fabs(gain - f->gain) > 1e-12) {
        f->gain = gain;
        f->scale = 1 / sqrt(total);
        f->log_total = log(total);
    }
    f->variance = f->r * f->r * f->variance * (1 - gain) + 1;
}

/* The same where a share `white` of the errors' variance is white noise and the rest AR(1): the
 * columns are filtered into what each point says that those before it do not. */
static void mixed_costs(const double *const *columns, size_t nr, size_t m, double r, double white,
                        struct fit *fits)
{
    double g[FIT_COLUMNS][FIT_COLUMNS] = { 0 }, expected[FIT_COLUMNS] = { 0 };
    double news[FIT_COLUMNS], rest[FIT_COLUMNS] = { 0 }, logs = 0;
    struct filter f = filter_start(r, white);

    for (size_t t = 0; t < m; t++) {
        filter_step(&f);
        logs += f.log_total;
        for (size_t i = 0; i < nr; i++) {
            double surprise = columns[i][t] - expected[i];
            expected[i] = r * (expected[i] + f.gain * surprise);
            news[i] = surprise * f.scale;
            for (size_t j = 0; j <= i; j++)
                g[i][j] += news[i] * news[j];
        }
    }
    eliminate(g, nr, 1e-12 * (double)m, rest);
    for (size_t k = 0; k < nr; k++) {
        double mean = fmax(rest[k] / (double)m, 1e-13);
        fits[k] = (struct fit) { (double)m * log(mean) + logs, r * (1 - white) };
    }
}

void fit_long_memory(const double *const *columns, size_t nr, size_t m, struct fit *best)
{
    enum { LEAST = 20 }; /* fewer points have no long memory */
    static const double memory[] = { 0.7, 0.9, 0.97 }, white[] = { 0.3, 0.6, 0.85 };
    struct fit other[FIT_COLUMNS];

    for (size_t i = 0; m >= LEAST && i < sizeof(memory) / sizeof(*memory); i++)
        for (size_t k = 0; k < sizeof(white) / sizeof(*white); k++) {
            mixed_costs(columns, nr, m, memory[i], white[k], other);
            keep_better(other, 0, nr, best);
        }
}
