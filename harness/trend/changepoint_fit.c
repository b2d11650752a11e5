/* SPDX-License-Identifier: MIT */
/*
 * Gaussian likelihood of regressions whose errors are correlated: AR(1), AR(2), or AR(1) plus white
 * noise, the correlation fitted anew for each model.
 */
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Everything the likelihood needs to know about the columns, for every correlation at once: sums
 * over pairs of points 0, 1 and 2 apart, and the same without the ends. */
enum fit_sum { FIT_ALL, FIT_NEXT, FIT_SECOND, FIT_INNER, FIT_INNERMOST, FIT_INNER_NEXT, FIT_SUMS };
struct fit_sums {
    size_t nr;     /* columns, the data last */
    size_t points; /* in each column */
    double of[FIT_COLUMNS][FIT_COLUMNS][FIT_SUMS];
    double floor; /* sums of squares under this are rounding */
};

/* Sums of products of points 0, 1 and 2 apart, the latter two both ways round; at once, since each
 * sum waits for itself. */
static void add_products(const double *a, const double *b, size_t m, double *sum)
{
    double all = 0, next = 0, second = 0;

    for (size_t t = 0; t < m; t++) {
        all += a[t] * b[t];
        if (t >= 1)
            next += a[t] * b[t - 1] + a[t - 1] * b[t];
        if (t >= 2)
            second += a[t] * b[t - 2] + a[t - 2] * b[t];
    }
    sum[FIT_ALL] = all;
    sum[FIT_NEXT] = next;
    sum[FIT_SECOND] = second;
}

static void fit_sums(const double *const *columns, size_t nr, size_t m, struct fit_sums *out)
{
    out->nr = nr;
    out->points = m;
    out->floor = 1e-13 * (double)m;
    for (size_t i = 0; i < nr; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double *a = columns[i], *b = columns[j];
            double *sum = out->of[i][j];
            add_products(a, b, m, sum);
            sum[FIT_INNER] = sum[FIT_ALL] - a[0] * b[0] - a[m - 1] * b[m - 1];
            sum[FIT_INNERMOST] = sum[FIT_INNER] - a[1] * b[1] - a[m - 2] * b[m - 2];
            sum[FIT_INNER_NEXT] = sum[FIT_NEXT] - a[0] * b[1] - a[1] * b[0] - a[m - 1] * b[m - 2] -
                                  a[m - 2] * b[m - 1];
        }
    }
}

/* Several correlations at once. */
enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lanes_bits __attribute__((vector_size(LANES * sizeof(int64_t))));

/* rest[k]: the square that the first k of nr columns leave of the last, from the lower triangle of
 * their products, which is used up. Columns that leave less than `least` are spanned by others. */
static inline __attribute__((always_inline)) void eliminate_columns(
    lanes g[FIT_COLUMNS][FIT_COLUMNS], size_t nr, double least, lanes *rest)
{
    size_t data = nr - 1;

    rest[0] = g[data][data];
    for (size_t k = 0; k < data; k++) {
        lanes_bits enough = g[k][k] > least;
        lanes inverse = 1 / g[k][k];
        for (size_t i = k + 1; i < nr; i++) {
            lanes share = (lanes)((lanes_bits)(g[i][k] * inverse) & enough);
            for (size_t j = k + 1; j <= i; j++)
                g[i][j] -= share * g[j][k];
        }
        rest[k + 1] = g[data][data];
    }
}

/* Sum of squares, in units of the innovations, that the first k columns leave, for every k, under
 * AR(2) with partial autocorrelations r and q. The inverse covariance has five diagonals (Siddiqui
 * 1958), so that every product is a polynomial in its coefficients. */
static inline __attribute__((always_inline)) void rest_of(const struct fit_sums *s, size_t nr,
                                                          const lanes *r, double q, lanes *rest)
{
    lanes one = *r * (1 - q), g[FIT_COLUMNS][FIT_COLUMNS];

    for (size_t i = 0; i < nr; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *sum = s->of[i][j];
            double none = sum[FIT_ALL] - q * sum[FIT_SECOND] + q * q * sum[FIT_INNERMOST];
            double once = sum[FIT_NEXT] - q * sum[FIT_INNER_NEXT];
            g[i][j] = none - one * (once - one * sum[FIT_INNER]);
        }
    eliminate_columns(g, nr, 1e-10 * (double)s->points, rest);
}

/* The same, for the numbers of columns that there usually are without loops over them. */
static void rest_squares(const struct fit_sums *s, const lanes *r, double q, lanes *rest)
{
    if (s->nr == 3)
        rest_of(s, 3, r, q, rest);
    else if (s->nr == 4)
        rest_of(s, 4, r, q, rest);
    else
        rest_of(s, s->nr, r, q, rest);
}

/* The least value of the parabola through three neighbours on the grid, within one step. */
static double parabola_minimum(const double *y)
{
    double bend = y[0] - 2 * y[1] + y[2], slope = 0.5 * (y[2] - y[0]);
    double offset = bend > 0 ? fmax(-1, fmin(1, -slope / bend)) : 0;

    return y[1] + offset * (slope + 0.5 * bend * offset);
}

static const double second_tried[FIT_SECONDS] = { 0, -0.95, -0.7, -0.45, -0.2, 0.2, 0.4, 0.6 };

/* First correlations that are tried: even steps of Fisher's z, -0.92 to 0.995; of them every second
 * one where there is a second correlation. */
void fit_grid_init(struct fit_grid *g, size_t m)
{
    g->points = m;
    for (size_t i = 0; i < FIT_FIRSTS; i++)
        g->r[i] = tanh(-1.6 + 4.6 * (double)i / (FIT_FIRSTS - 1));
    for (size_t i = 0; i < FIT_FIRSTS; i++) {
        double log_rest = log((1 - g->r[i]) * (1 + g->r[i])), n = (double)m;
        for (size_t k = 0; k < FIT_SECONDS; k++) {
            double q = second_tried[k];
            g->determinant[k][i] = exp(-(log_rest + 2 * log(1 - q * q)) / n) / n;
        }
    }
}

/* The place of the smallest of two numbers or more, the first of them. */
static size_t first_smallest(const double *x, size_t nr)
{
    double least = x[0], other = x[1];
    size_t at = 0;

    for (size_t i = 2; i + 1 < nr; i += 2) { /* two chains, which do not wait for each other */
        least = x[i] < least ? x[i] : least;
        other = x[i + 1] < other ? x[i + 1] : other;
    }
    least = x[nr - 1] < least ? x[nr - 1] : least;
    least = other < least ? other : least;
    while (x[at] > least)
        at++;
    return at;
}

/* The best first correlation for the given second one, of the models with `from` columns and more.
 * What the determinant adds is the same for all columns: it goes into the squares, so that
 * logarithms are taken of the best only. */
static void order_costs(const struct fit_sums *s, const struct fit_grid *g, size_t second,
                        size_t from, struct fit *fits)
{
    double squares[FIT_COLUMNS][FIT_FIRSTS], m = (double)s->points;
    size_t stride = second ? 2 : 1, nr = 1 + (FIT_FIRSTS - 1) / stride;
    lanes rest[FIT_COLUMNS];

    for (size_t i = 0; i < nr; i += LANES) {
        size_t last = nr - i < LANES ? nr - i : LANES;
        lanes r = { 0 };
        for (size_t lane = 0; lane < last; lane++)
            r[lane] = g->r[(i + lane) * stride];
        rest_squares(s, &r, second_tried[second], rest);
        for (size_t k = from; k < s->nr; k++)
            for (size_t lane = 0; lane < last; lane++) {
                double square = rest[k][lane] > s->floor ? rest[k][lane] : s->floor;
                squares[k][i + lane] = square * g->determinant[second][(i + lane) * stride];
            }
    }
    for (size_t k = from; k < s->nr; k++) {
        size_t best = first_smallest(squares[k], nr);
        const double *at = squares[k] + best;
        fits[k] = (struct fit) { m * log(*at), g->r[best * stride] };
        if (best > 0 && best + 1 < nr) {
            double near[] = { m * log(at[-1]), fits[k].cost, m * log(at[1]) };
            fits[k].cost = parabola_minimum(near);
        }
    }
}

static void keep_better(const struct fit *other, double pays, size_t from, size_t nr,
                        struct fit *best)
{
    for (size_t k = from; k < nr; k++)
        if (other[k].cost + pays < best[k].cost)
            best[k] = (struct fit) { other[k].cost + pays, other[k].correlation };
}

void fit_models(const struct fit_grid *grid, const double *const *columns, size_t nr, size_t from,
                struct fit *best)
{
    struct fit_sums sums;
    struct fit other[FIT_COLUMNS];

    fit_sums(columns, nr, grid->points, &sums);
    order_costs(&sums, grid, 0, from, best);
    for (size_t i = 1; i < FIT_SECONDS; i++) {
        order_costs(&sums, grid, i, from, other);
        keep_better(other, log((double)grid->points), from, nr, best);
    }
}

/* Kalman's filter (1960) of an AR(1) series of correlation r in white noise: the variance of what
 * is not yet known of it, and what follows from that, which soon stays as it is. */
struct filter {
    double r, noise, variance;
    double gain, scale, log_total;
    bool steady;
};

static struct filter filter_start(double r, double white)
{
    double variance = 1 / (1 - r * r);

    return (
        struct filter) { .r = r, .noise = variance * white / (1 - white), .variance = variance };
}

static void filter_step(struct filter *f)
{
    if (f->steady)
        return;
    double total = f->variance + f->noise, gain = f->variance / total;

    if (fabs(gain - f->gain) > 1e-12) {
        f->gain = gain;
        f->scale = 1 / sqrt(total);
        f->log_total = log(total);
    }
    double next = f->r * f->r * f->variance * (1 - gain) + 1;
    f->steady = next == f->variance;
    f->variance = next;
}

/* The same where a share of the errors' variance is white noise and the rest AR(1), for as many
 * pairs of both as there are lanes: the columns are filtered into what each point says that those
 * before it do not. */
static void mixed_costs(const double *const *columns, size_t nr, size_t m, struct filter *filters,
                        struct fit fits[LANES][FIT_COLUMNS])
{
    lanes g[FIT_COLUMNS][FIT_COLUMNS], expected[FIT_COLUMNS], news[FIT_COLUMNS];
    lanes rest[FIT_COLUMNS], logs = { 0 }, gain = { 0 }, scale = { 0 }, r = { 0 };

    memset(g, 0, sizeof(g));
    memset(expected, 0, sizeof(expected));
    for (size_t lane = 0; lane < LANES; lane++)
        r[lane] = filters[lane].r;
    for (size_t t = 0; t < m; t++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            filter_step(&filters[lane]);
            logs[lane] += filters[lane].log_total;
            gain[lane] = filters[lane].gain;
            scale[lane] = filters[lane].scale;
        }
        for (size_t i = 0; i < nr; i++) {
            lanes surprise = columns[i][t] - expected[i];
            expected[i] = r * (expected[i] + gain * surprise);
            news[i] = surprise * scale;
            for (size_t j = 0; j <= i; j++)
                g[i][j] += news[i] * news[j];
        }
    }
    eliminate_columns(g, nr, 1e-12 * (double)m, rest);
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t k = 0; k < nr; k++) {
            double mean = fmax(rest[k][lane] / (double)m, 1e-13);
            fits[lane][k].cost = (double)m * log(mean) + logs[lane];
        }
}

void fit_long_memory(const double *const *columns, size_t nr, size_t m, struct fit *best)
{
    enum { LEAST = 20, PAIRS = 9 }; /* fewer points have no long memory */
    static const double memory[] = { 0.7, 0.9, 0.97 }, white[] = { 0.3, 0.6, 0.85 };

    for (size_t first = 0; m >= LEAST && first < PAIRS; first += LANES) {
        struct fit fits[LANES][FIT_COLUMNS];
        struct filter filters[LANES];
        for (size_t lane = 0; lane < LANES; lane++) {
            size_t pair = first + lane < PAIRS ? first + lane : PAIRS - 1;
            filters[lane] = filter_start(memory[pair / 3], white[pair % 3]);
        }
        mixed_costs(columns, nr, m, filters, fits);
        for (size_t lane = 0; lane < LANES && first + lane < PAIRS; lane++) {
            size_t pair = first + lane;
            for (size_t k = 0; k < nr; k++)
                fits[lane][k].correlation = memory[pair / 3] * (1 - white[pair % 3]);
            keep_better(fits[lane], 0, 0, nr, best);
        }
    }
}
