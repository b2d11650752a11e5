/* SPDX-License-Identifier: MIT */
/*
 * Distribution functions. Everything but the normal distribution comes from the regularised
 * incomplete beta function I_x(a, b), computed from its continued fraction (DLMF 8.17.22) by
 * the recurrence of its convergents (DLMF 1.12(ii)).
 */
#include "stats/stats.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

double stats_normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* numerator / denominator, coefficients from the constant term up. */
static double evaluate_rational(const double num[8], const double den[8], double x)
{
    double top = num[7], bottom = den[7];

    for (int i = 6; i >= 0; i--) {
        top = top * x + num[i];
        bottom = bottom * x + den[i];
    }
    return top / bottom;
}

/* Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied
 * Statistics 37(3), 1988: about 16 digits. One rational function for |p - 1/2| <= 0.425, which
 * makes it fast enough to draw random numbers by. */
double stats_normal_quantile(double p)
{
    static const double middle[2][8] = {
        { 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
          1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
          3.3430575583588128105e4, 2.5090809287301226727e3 },
        { 1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
          2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
          5.2264952788528545610e3 },
    };
    static const double tail[2][8] = {
        { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
          3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
          2.27238449892691845833e-2, 7.74545014278341407640e-4 },
        { 1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
          1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
          1.05075007164441684324e-9 },
    };
    static const double far_tail[2][8] = {
        { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
          2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
          2.71155556874348757815e-5, 2.01033439929228813265e-7 },
        { 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
          7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
          2.04426310338993978564e-15 },
    };
    double q = p - 0.5;

    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return q * INFINITY;
    if (fabs(q) <= 0.425)
        return q * evaluate_rational(middle[0], middle[1], 0.180625 - q * q);
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double z = r <= 5 ? evaluate_rational(tail[0], tail[1], r - 1.6)
                      : evaluate_rational(far_tail[0], far_tail[1], r - 5);
    return q < 0 ? -z : z;
}

/* Numerators and denominators of two convergents of a continued fraction. */
struct convergents {
    double top, bottom, earlier_top, earlier_bottom;
};

static void next_convergent(struct convergents *c, double coefficient)
{
    double top = c->top + coefficient * c->earlier_top;
    double bottom = c->bottom + coefficient * c->earlier_bottom;

    *c = (struct convergents) { top, bottom, c->top, c->bottom };
}

static bool has_converged(const struct convergents *c)
{
    double one = c->top * c->earlier_bottom, other = c->earlier_top * c->bottom;

    return fabs(one - other) < 4 * DBL_EPSILON * fabs(one);
}

/* Far from overflow and underflow, by a power of two, which rounds nothing. */
static void keep_in_range(struct convergents *c)
{
    double most = fabs(c->bottom), scale = most > 0x1p200 ? 0x1p-200 : 0x1p200;

    if (most > 0x1p-200 && most < 0x1p200)
        return;
    *c = (struct convergents) { c->top * scale, c->bottom * scale, c->earlier_top * scale,
                                c->earlier_bottom * scale };
}

/* Converges fast for x < (a + 1) / (a + b + 2), within about sqrt(max(a, b)) steps. No step waits
 * for a division of the one before it, which would take most of the time of a comparison. */
static double beta_fraction(double x, double a, double b)
{
    struct convergents c = { 1, 1, 0, 1 };

    next_convergent(&c, -(a + b) * x / (a + 1));
    for (int m = 1; m < 100000; m++) {
        next_convergent(&c, m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
        next_convergent(&c, -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
        if (has_converged(&c))
            break;
        keep_in_range(&c);
    }
    return c.top / c.bottom;
}

static double log_beta(double a, double b)
{
    int sign;

    return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
}

/* Inside (0, 1). scale: log_beta(a, b) */
static double beta_cdf_scaled(double x, double a, double b, double scale)
{
    double front = exp(a * log(x) + b * log1p(-x) - scale);

    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double stats_beta_cdf(double x, double a, double b)
{
    if (!(a > 0 && b > 0) || isnan(x))
        return NAN;
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    return beta_cdf_scaled(x, a, b, log_beta(a, b));
}

/* From a guess inside (0, 1). */
static double beta_quantile_near(double p, double a, double b, double x)
{
    double low = 0, high = 1, scale = log_beta(a, b);

    if (!(x > 0 && x < 1))
        x = a / (a + b);
    if (!(p >= 0 && p <= 1 && a > 0 && b > 0))
        return NAN;
    if (p == 0 || p == 1)
        return p;
    /* Newton's method, kept inside a bracket that shrinks; bisection where it would leave it. Its
     * error is squared at each step: after one of 1e-10 nothing is left of it. */
    for (int i = 0; i < 1100; i++) {
        double excess = beta_cdf_scaled(x, a, b, scale) - p;
        *(excess < 0 ? &low : &high) = x;
        double step = excess / exp((a - 1) * log(x) + (b - 1) * log1p(-x) - scale);
        if (fabs(step) <= 2 * DBL_EPSILON * x || high - low <= 2 * DBL_EPSILON * high)
            break;
        x -= step;
        if (!(x > low && x < high))
            x = 0.5 * (low + high);
        else if (fabs(step) <= 1e-10 * fmin(x, 1 - x))
            break;
    }
    return x;
}

double stats_beta_quantile(double p, double a, double b)
{
    return beta_quantile_near(p, a, b, a / (a + b));
}

double stats_t_cdf(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    if (isinf(df))
        return stats_normal_cdf(t);
    if (t > 0)
        return 1 - stats_t_cdf(-t, df);
    if (isinf(t))
        return 0;
    /* Both forms are the same number: one keeps its digits near 0, the other in the tail. */
    double square = t * t;
    if (square < 0.25)
        return 0.5 - 0.5 * stats_beta_cdf(square / (df + square), 0.5, df / 2);
    return 0.5 * stats_beta_cdf(df / (df + square), df / 2, 0.5);
}

/* Of a lower tail, within some percent from 3 degrees on: the quantile as a series in 1 / df about
 * that of the normal distribution (Abramowitz and Stegun, 26.7.5). */
static double t_quantile_guess(double p, double df)
{
    double z = stats_normal_quantile(p), y = z * z;

    return z * (1 + ((y + 1) / 4 + ((5 * y + 16) * y + 3) / (96 * df)) / df);
}

double stats_t_quantile(double p, double df)
{
    if (!(p >= 0 && p <= 1) || !(df > 0))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    if (isinf(df))
        return stats_normal_quantile(p);
    if (p > 0.5)
        return -stats_t_quantile(1 - p, df);
    if (p == 0.5)
        return 0;
    /* 2 p = I_x(df/2, 1/2) with x = df / (df + t^2), or the complement of I_(1-x)(1/2, df/2): the
     * one whose x is small keeps its digits. */
    double t = t_quantile_guess(p, df);
    if (p > 0.1) {
        double y = beta_quantile_near(1 - 2 * p, 0.5, df / 2, t * t / (df + t * t));
        return -sqrt(df * y / (1 - y));
    }
    double x = beta_quantile_near(2 * p, df / 2, 0.5, df / (df + t * t));
    return -sqrt(df * (1 - x) / x);
}

double stats_f_tail(double f, double df1, double df2)
{
    return f <= 0 ? 1 : stats_beta_cdf(df2 / (df2 + df1 * f), df2 / 2, df1 / 2);
}

double stats_f_quantile(double p, double df1, double df2)
{
    double x = stats_beta_quantile(p, df1 / 2, df2 / 2);

    return df2 * x / (df1 * (1 - x));
}

double stats_binomial_cdf(size_t k, size_t n, double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    return k >= n ? 1 : stats_beta_cdf(1 - p, (double)(n - k), (double)k + 1);
}

struct interval stats_proportion_interval(size_t k, size_t n, double confidence)
{
    double tail = (1 - confidence) / 2, hits = (double)k, misses = (double)n - hits;

    if (n == 0 || k > n || !(confidence > 0 && confidence < 1))
        return (struct interval) { NAN, NAN };
    return (struct interval) {
        .low = k == 0 ? 0 : stats_beta_quantile(tail, hits, misses + 1),
        .high = k == n ? 1 : stats_beta_quantile(1 - tail, hits + 1, misses),
    };
}
