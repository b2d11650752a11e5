/* SPDX-License-Identifier: MIT */
/* The statistics of compare: see compare.h for the rule and its sources. */
#include "analysis/compare_parts.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* No clock gives a benchmark less launch-to-launch noise than this; it keeps t finite. */
static const double smallest_variance = 1e-12;
static const double rank_level = 0.05, noisy_level = 0.01, power = 0.8;

enum { SHIFT_FAMILY_MIN = 5 };

/* The noise of one member: variance of one launch value, and what it is known from. */
struct noise {
    double effect; /* e of compare.h */
    double variance, df;
    double per_launch; /* se^2 = variance x per_launch = variance x (1/nb + 1/nh) */
    double least;      /* variance that the samples inside the launches alone account for */
};

static struct noise measure_noise(const struct compare_row *row, const struct evidence *e)
{
    struct welch w = stats_welch(e->base, row->base.launches, e->head, row->head.launches);
    double nb = (double)row->base.launches, nh = (double)row->head.launches;
    double per_launch = 1 / nb + 1 / nh;

    return (struct noise) {
        .effect = w.difference,
        .variance = fmax(w.se * w.se / per_launch, smallest_variance),
        .df = w.df,
        .per_launch = per_launch,
        .least = (e->base_inner / nb + e->head_inner / nh) / per_launch,
    };
}

static double median_df(const struct comparison *c, const size_t *family, size_t nr)
{
    double *df = memory_zeroed(nr, sizeof(*df));

    for (size_t i = 0; i < nr; i++) {
        const struct compare_row *row = &c->rows[family[i]];
        df[i] = (double)(row->base.launches + row->head.launches - 2);
    }
    double median = stats_median(df, nr);
    free(df);
    return median;
}

static struct variance_prior fit_prior(const struct comparison *c, const size_t *family,
                                       const struct noise *noise, size_t nr)
{
    struct variance_prior none = { NAN, 0 };

    if (nr < COMPARE_BORROW_MIN)
        return none;
    double *variances = memory_zeroed(nr, sizeof(*variances));
    for (size_t i = 0; i < nr; i++)
        variances[i] = noise[i].variance;
    struct variance_prior prior =
        stats_variance_prior(variances, nr, median_df(c, family, nr), COMPARE_BORROW_MAX);
    free(variances);
    return prior;
}

/* Moves a variance towards the family's, unless it is too noisy to belong there. */
static bool borrow(const struct variance_prior *prior, struct noise *n)
{
    if (!(prior->df > 0) ||
        stats_f_tail(n->variance / prior->scale, n->df, prior->df) < noisy_level)
        return false;
    n->variance = (prior->df * prior->scale + n->df * n->variance) / (prior->df + n->df);
    n->df += prior->df;
    return true;
}

/* The ratio interval of the metric as shown: a rate turns it round. */
static struct interval shown(double low, double high, double sign)
{
    double a = expm1(sign * low), b = expm1(sign * high);

    return (struct interval) { fmin(a, b), fmax(a, b) };
}

static void test_row(const struct comparison *c, const struct evidence *e, const struct noise *n,
                     size_t family, struct compare_row *row)
{
    double floor = log1p(c->settings.delta), se = sqrt(fmax(n->variance, n->least) * n->per_launch);
    double slower = stats_t_cdf((floor - n->effect) / se, n->df);
    double faster = stats_t_cdf((floor + n->effect) / se, n->df);
    double half = stats_t_quantile(0.95, n->df) * se;
    double alone = stats_t_quantile(1 - c->settings.q / (2 * (double)family), n->df);

    row->p = fmin(1, 2 * fmin(slower, faster));
    row->df = n->df;
    row->interval = shown(n->effect - half, n->effect + half, compare_sign(c));
    row->rank_p =
        n->effect > 0
            ? stats_rank_test_greater(e->base, row->base.launches, e->head, row->head.launches)
            : stats_rank_test_greater(e->head, row->head.launches, e->base, row->base.launches);
    row->detectable =
        fabs(expm1(compare_sign(c) * (floor + (alone + stats_t_quantile(power, n->df)) * se)));
}

static void control_family(struct comparison *c, const size_t *family, size_t nr)
{
    double *p = memory_zeroed(nr, sizeof(*p)), *q = memory_zeroed(nr, sizeof(*q));

    for (size_t i = 0; i < nr; i++)
        p[i] = c->rows[family[i]].p;
    stats_fdr(p, q, nr);
    for (size_t i = 0; i < nr; i++)
        c->rows[family[i]].q = q[i];
    free(p);
    free(q);
}

/* The 90 % interval lies inside the floor on both sides (both one-sided tests at 5 %). */
static bool is_same(const struct comparison *c, const struct compare_row *row)
{
    double floor = log1p(c->settings.delta);

    return log1p(row->interval.low) > -floor && log1p(row->interval.high) < floor;
}

/* The log of how much slower the machine was: beside this benchmark or over the whole family,
 * whichever is more. 0 where it was not probed. */
static double machine_share(const struct comparison *c, const struct compare_row *row)
{
    double here = isnan(row->probe) ? 0 : log1p(row->probe);
    double everywhere = isnan(c->probe_shift) ? 0 : log1p(c->probe_shift);

    return fabs(here) > fabs(everywhere) ? here : everywhere;
}

/* Did the machine itself move by more than the floor? */
static bool machine_moved(const struct comparison *c, const struct compare_row *row)
{
    return fabs(machine_share(c, row)) > log1p(c->settings.delta);
}

/* Does the change stand beyond the floor when the machine's own share is taken out of it? */
static bool stands(const struct comparison *c, const struct compare_row *row)
{
    double sign = compare_sign(c), share = machine_share(c, row);
    double floor = log1p(c->settings.delta);
    double a = sign * log1p(row->interval.low), b = sign * log1p(row->interval.high);

    if (!machine_moved(c, row))
        return true;
    if (fabs(share) > log1p(COMPARE_MACHINE_MAX))
        return false;
    return row->worse ? fmin(a, b) - share > floor : fmax(a, b) - share < -floor;
}

static void explain(const struct comparison *c, struct compare_row *row)
{
    char low[TEXT_UNIT_SIZE], high[TEXT_UNIT_SIZE];

    if (row->q <= c->settings.q)
        snprintf(row->why, sizeof(row->why),
                 "beyond the floor on average, but single launches overlap (rank test p = %.2g)",
                 row->rank_p);
    else if (row->p <= c->settings.q)
        snprintf(row->why, sizeof(row->why),
                 "p = %.2g alone, but not among %zu benchmarks (q = %.2g)", row->p, c->family,
                 row->q);
    else
        snprintf(row->why, sizeof(row->why), "the true change may be anything from %s to %s",
                 text_percent(row->interval.low, low), text_percent(row->interval.high, high));
}

static void decide(const struct comparison *c, struct compare_row *row)
{
    bool changed = row->q <= c->settings.q && row->rank_p <= rank_level + 1e-12;
    char moved[TEXT_UNIT_SIZE];

    if (changed && stands(c, row))
        row->verdict = row->worse ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    else if ((changed || is_same(c, row)) && machine_moved(c, row))
        snprintf(row->why, sizeof(row->why), "the machine itself moved: its probe took %s time",
                 text_percent(expm1(machine_share(c, row)), moved));
    else if (is_same(c, row))
        row->verdict = VERDICT_SAME;
    else
        explain(c, row);
}

/* Median of a field over the family's rows that `vendor_only` lets through; NaN if none. */
static double family_median(const struct comparison *c, const size_t *family, size_t nr,
                            double (*field)(const struct compare_row *), bool vendor_only)
{
    double *values = memory_zeroed(nr, sizeof(*values));
    size_t used = 0;

    for (size_t i = 0; i < nr; i++)
        if ((!vendor_only || c->rows[family[i]].vendor) && !isnan(field(&c->rows[family[i]])))
            values[used++] = field(&c->rows[family[i]]);
    double median = stats_median(values, used);
    free(values);
    return median;
}

static double change_of(const struct compare_row *row)
{
    return row->change;
}

static double probe_of(const struct compare_row *row)
{
    return row->probe;
}

static double spread_of(const struct compare_row *row)
{
    return 0.5 * (row->base.spread + row->head.spread);
}

/* Did the family move as one? Half the floor, and four in five to the same side. */
static void judge_shift(struct comparison *c, const size_t *family, size_t nr)
{
    size_t same_side = 0;

    c->vendor_shift = family_median(c, family, nr, change_of, true);
    if (nr < SHIFT_FAMILY_MIN)
        return;
    c->common_shift = family_median(c, family, nr, change_of, false);
    for (size_t i = 0; i < nr; i++)
        same_side += (c->rows[family[i]].change > 0) == (c->common_shift > 0);
    c->shifted =
        fabs(log1p(c->common_shift)) > 0.5 * log1p(c->settings.delta) && 5 * same_side >= 4 * nr;
}

static void judge_family(struct comparison *c, const struct evidence *evidence,
                         const size_t *family, size_t nr)
{
    struct noise *noise = memory_zeroed(nr, sizeof(*noise));

    for (size_t i = 0; i < nr; i++)
        noise[i] = measure_noise(&c->rows[family[i]], &evidence[family[i]]);
    struct variance_prior prior = fit_prior(c, family, noise, nr);
    for (size_t i = 0; i < nr; i++) {
        struct compare_row *row = &c->rows[family[i]];
        row->borrowed = borrow(&prior, &noise[i]);
        test_row(c, &evidence[family[i]], &noise[i], nr, row);
    }
    control_family(c, family, nr);
    c->probe_shift = family_median(c, family, nr, probe_of, false);
    for (size_t i = 0; i < nr; i++)
        decide(c, &c->rows[family[i]]);
    c->noise = family_median(c, family, nr, spread_of, false);
    judge_shift(c, family, nr);
    free(noise);
}

void compare_judge(struct comparison *c, const struct evidence *evidence)
{
    size_t *family = memory_zeroed(c->nr ? c->nr : 1, sizeof(*family));

    c->common_shift = c->vendor_shift = c->probe_shift = c->noise = NAN;
    for (size_t i = 0; i < c->nr; i++)
        if (compare_in_family(&c->rows[i]))
            family[c->family++] = i;
    if (c->family > 0)
        judge_family(c, evidence, family, c->family);
    free(family);
}
