/* SPDX-License-Identifier: MIT */
/*
 * Gaussian likelihood of regressions whose errors are correlated, AR(1) or AR(2), the correlation
 * fitted anew for each model.
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

/* Sum of squares, in units of the innovations, that the first k columns leave, for every k, under
 * AR(2) with partial autocorrelations r and q. The inverse covariance has five diagonals (Siddiqui
 * 1958), so that every product is a polynomial in its coefficients; Gaussian elimination then takes
 * the columns out one by one. */
static void rest_squares(const struct fit_sums *s, double r, double q, double *rest)
{
    double one = r * (1 - q), g[FIT_COLUMNS][FIT_COLUMNS] = { 0 };
    size_t data = s->nr - 1;

    for (size_t i = 0; i < s->nr; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *sum = s->of[i][j];
            g[i][j] = sum[FIT_ALL] - one * sum[FIT_NEXT] - q * sum[FIT_SECOND] +
                      one * one * sum[FIT_INNER] + q * q * sum[FIT_INNERMOST] +
                      one * q * sum[FIT_INNER_NEXT];
        }
    rest[0] = g[data][data];
    for (size_t k = 0; k < data; k++) {
        if (g[k][k] > 1e-10 * (double)s->points)
            for (size_t i = k + 1; i < s->nr; i++) {
                double share = g[i][k] / g[k][k];
                for (size_t j = k + 1; j <= i; j++)
                    g[i][j] -= share * g[j][k];
            }
        rest[k + 1] = g[data][data];
    }
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
                        double *cost)
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
        cost[k] = m * log(*at);
        if (best > 0 && best + 1 < nr) {
            double near[] = { m * log(at[-1]), cost[k], m * log(at[1]) };
            cost[k] = parabola(near);
        }
    }
}

static void fit_costs(const struct fit_sums *s, double *cost)
{
    static const double second[] = { -0.95, -0.7, -0.45, -0.2, 0.2, 0.4, 0.6 };
    double other[FIT_COLUMNS];
    struct grid grid;

    grid_fill(&grid);
    order_costs(s, &grid, 0, 1, cost);
    for (size_t i = 0; i < sizeof(second) / sizeof(*second); i++) {
        order_costs(s, &grid, second[i], 2, other);
        for (size_t k = 0; k < s->nr; k++)
            cost[k] = fmin(cost[k], other[k] + log((double)s->points));
    }
}

void fit_models(const double *const *columns, size_t nr, size_t m, double *cost)
{
    struct fit_sums *sums = memory_zeroed(1, sizeof(*sums));

    fit_sums(columns, nr, m, sums);
    fit_costs(sums, cost);
    free(sums);
}
