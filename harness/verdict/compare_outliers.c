/* SPDX-License-Identifier: MIT */
/* Launches that were disturbed as a whole: how far from the others a launch may lie. */
#include "verdict/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* One launch in a thousand lies so far from the others by chance, if noise is normal. */
static const double wild_level = 0.001;
/* Two even modes may look like one and its wild launches so often, and not oftener. */
static const double modes_level = 0.003;
/* Wild launches that come by chance lie so unevenly between the sides this often, and no oftener:
 * beyond it they are a second mode of one side, which may have come with the change. */
static const double uneven_level = 0.05;
/* A launch whose own probe was slower by this share than the row's quickest fifth was disturbed. */
static const double probe_slow = 0.06;
/* Of the median of pairwise differences: its square times 1.0989 (1 - 1.75 / n) has the mean of the
 * variance, and is worth 0.7 of its degrees of freedom (fitted for 3 to 20 launches a side). */
static const double pairs_scale = 1.0989, pairs_bias = 1.75, pairs_df = 0.7;

/* Pairs grow with the square of the launches: of more than these so many stand for all. */
enum { PAIRED_MAX = 400 };

static size_t outliers_paired(size_t launches)
{
    return launches < PAIRED_MAX ? launches : PAIRED_MAX;
}

size_t outliers_pairs(size_t launches)
{
    size_t paired = outliers_paired(launches);

    return paired ? paired * (paired - 1) / 2 : 0;
}

/* Launches of both sides whose pairs are looked at. */
static double paired_in(const struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;

    return (double)(outliers_paired(e->base.nr) + outliers_paired(e->head.nr));
}

/* Of launches at even distances over the side, where not of all. */
static size_t add_pairs(const struct compare_row *row, const struct evidence_side *side,
                        double *pairs)
{
    double *logs = change_logs(row, side);
    size_t paired = outliers_paired(side->nr), nr = 0;

    for (size_t i = 0; i < paired; i++)
        logs[i] = logs[i * side->nr / paired];
    for (size_t i = 0; i < paired; i++)
        for (size_t j = 0; j < i; j++)
            pairs[nr++] = fabs(logs[i] - logs[j]);
    free(logs);
    return nr;
}

/* Variance of a launch by the median of the differences of its side's pairs (Shamos 1976): three
 * wild ones in ten do not move it far. */
static double pairs_variance(const struct compare_row *row)
{
    const struct evidence_side *base = &row->item->evidence.base, *head = &row->item->evidence.head;
    size_t all = outliers_pairs(base->nr) + outliers_pairs(head->nr);
    double *pairs = memory_zeroed(all, sizeof(*pairs));
    size_t nr = add_pairs(row, base, pairs);

    nr += add_pairs(row, head, pairs + nr);
    double middle = stats_median(pairs, nr);
    free(pairs);
    return middle * middle * pairs_scale * (1 - pairs_bias / paired_in(row));
}

static double df_of(const struct compare_row *row)
{
    return pairs_df * (paired_in(row) - 2);
}

static void draw_in(struct compare_row *const *rows, size_t nr)
{
    double *variances = memory_zeroed(nr, sizeof(*variances));

    for (size_t i = 0; i < nr; i++)
        variances[i] = pairs_variance(rows[i]);
    struct variance_prior prior =
        stats_variance_prior(variances, nr, family_median(rows, nr, df_of), COMPARE_BORROW_MAX);
    for (size_t i = 0; i < nr; i++) {
        double variance = variances[i], df = df_of(rows[i]);
        family_moderate(&prior, &variance, &df);
        rows[i]->reach = stats_t_quantile(1 - 0.5 * wild_level, df) * sqrt(variance);
    }
    free(variances);
}

/* ---- which launches those are ---- */

static bool probe_was_slow(const struct evidence_value *v, double quick)
{
    return v->probe > quick * (1 + probe_slow); /* NaN: not known */
}

/* Lower fifth of the row's probes; NaN where one was not probed. */
static double quick_probe(const struct evidence *e)
{
    size_t n = e->base.nr + e->head.nr, used = 0;
    double *probes = memory_zeroed(n, sizeof(*probes)), quick = NAN;

    for (size_t i = 0; i < n; i++) {
        double probe =
            i < e->base.nr ? e->base.values[i].probe : e->head.values[i - e->base.nr].probe;
        if (probe > 0)
            probes[used++] = probe;
    }
    if (used == n)
        quick = stats_select_quantile(probes, n, 0.2);
    free(probes);
    return quick;
}

/* Launches that lie beyond reach, and of which no probe says why. */
static size_t count_unexplained(const struct compare_row *row, const struct evidence_side *side,
                                double quick)
{
    double *logs = change_logs(row, side);
    size_t nr = 0;

    for (size_t i = 0; i < side->nr; i++)
        nr += logs[i] != change_log(row, &side->values[i]) &&
              !probe_was_slow(&side->values[i], quick);
    free(logs);
    return nr;
}

/* So many that two modes may be behind them, or so many in one side: then all count as they are. */
static void spare_modes(struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;
    double quick = quick_probe(e);
    size_t base = count_unexplained(row, &e->base, quick);
    size_t head = count_unexplained(row, &e->head, quick);
    size_t nr = base + head, all = e->base.nr + e->head.nr;

    if (nr > 0 && (2 * stats_binomial_cdf(nr, all, 0.5) > modes_level ||
                   2 * stats_draw_tail(base, e->base.nr, nr, all) <= uneven_level ||
                   2 * stats_draw_tail(head, e->head.nr, nr, all) <= uneven_level))
        row->reach = NAN;
}

static bool takes_metric(const struct compare_row *row, const struct metric *metric)
{
    return row->item->evidence.design == DESIGN_LAUNCHES && row->item->metric == metric;
}

void family_draw_in(struct compare_row *const *rows, size_t nr)
{
    struct compare_row **alike = memory_zeroed(nr, sizeof(*alike)); /* NOLINT */

    for (size_t i = 0; i < nr; i++) {
        size_t found = 0;
        if (!family_first_of_metric(rows, i))
            continue;
        for (size_t j = i; j < nr; j++)
            if (takes_metric(rows[j], rows[i]->item->metric))
                alike[found++] = rows[j];
        if (found > 0)
            draw_in(alike, found);
        for (size_t j = 0; j < found; j++)
            spare_modes(alike[j]);
    }
    free(alike);
}
