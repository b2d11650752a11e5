/* SPDX-License-Identifier: MIT */
/* How alike successive launches are: one number for the whole family, because no benchmark has
 * launches enough to tell. */
#include "verdict/compare_parts.h"

#include <math.h>
#include <stdlib.h>

static const double serial_max = 0.95, made_up_weight = 20;

enum {
    SERIES_MAX = 64, /* launches of a run that the correlation looks at */
    MADE_UP = 5 /* launches of a series that is made up */,
};

/* Correlations of series of one length. */
struct lag1_bin {
    double weight, sum;
};

/* The series of launches of each run, into the bin of its length. */
static void add_series(const struct compare_row *row, const struct evidence_side *side,
                       struct lag1_bin *bins)
{
    double x[SERIES_MAX], *logs = change_logs(row, side);

    for (size_t at = 0; at < side->nr;) {
        int run = side->values[at].run;
        size_t n = 0;
        for (; at < side->nr && side->values[at].run == run; at++)
            if (n < SERIES_MAX)
                x[n++] = logs[at];
        double lag1 = n >= 3 ? stats_lag1(x, n) : NAN;
        if (isnan(lag1))
            continue;
        bins[n - 1].weight += (double)n - 1;
        bins[n - 1].sum += ((double)n - 1) * lag1;
    }
    free(logs);
}

/* What the bins' sums would be, on average, at correlation r, less what they are. Beside them stand
 * five made-up series without correlation: so few launches show little. */
static double lag1_excess(const struct lag1_bin *bins, double r)
{
    double excess =
        made_up_weight * (stats_lag1_expected(MADE_UP, r) - stats_lag1_expected(MADE_UP, 0));

    for (size_t i = 0; i < SERIES_MAX; i++)
        if (bins[i].weight > 0)
            excess += bins[i].weight * stats_lag1_expected(i + 1, r) - bins[i].sum;
    return excess;
}

double family_serial(struct compare_row *const *rows, size_t nr)
{
    struct lag1_bin bins[SERIES_MAX] = { { 0, 0 } };
    double low = 0, high = serial_max;
    size_t used = 0;

    for (size_t i = 0; i < nr; i++) {
        const struct evidence *e = &rows[i]->item->evidence;
        if (e->design == DESIGN_BLOCKS)
            continue;
        add_series(rows[i], &e->base, bins);
        add_series(rows[i], &e->head, bins);
        used++;
    }
    if (used == 0)
        return NAN;
    if (lag1_excess(bins, low) >= 0)
        return 0;
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        *(lag1_excess(bins, middle) < 0 ? &low : &high) = middle;
    }
    return high;
}
