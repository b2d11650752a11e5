/* SPDX-License-Identifier: MIT */
/* What only the family can tell of a row; compare.h has the rule and its sources. */
#include "analysis/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Noisier than this against the family's prior: a benchmark keeps its own variance. */
static const double noisy_level = 0.01;
/* Degrees of freedom a row that the median absolute deviation is worth: 0.37 if effects were
 * normal; they have longer tails. */
static const double mad_efficiency = 0.25;

double family_median(struct compare_row *const *rows, size_t nr,
                     double (*field)(const struct compare_row *row))
{
    double *values = memory_zeroed(nr ? nr : 1, sizeof(*values));
    size_t used = 0;

    for (size_t i = 0; i < nr; i++)
        if (!isnan(field(rows[i])))
            values[used++] = field(rows[i]);
    double median = stats_median(values, used);
    free(values);
    return median;
}

/* ---- what a run does to all benchmarks ---- */

/* A run of one row against the others of its side. */
struct deviation {
    int run;
    double value;
};

struct deviations {
    struct deviation *items;
    size_t nr, capacity;
};

static void add_deviations(const struct compare_row *row, const struct evidence_side *side,
                           struct deviations *out)
{
    struct run_mean *runs = memory_zeroed(side->nr, sizeof(*runs));
    size_t nr = change_run_means(row, side, runs);
    double mean = 0;

    for (size_t i = 0; i < nr; i++)
        mean += runs[i].mean / (double)nr;
    for (size_t i = 0; i < nr; i++)
        *(struct deviation *)array_push(out) =
            (struct deviation) { runs[i].run, runs[i].mean - mean };
    free(runs);
}

/* Median deviation of each run over the rows; adds the runs and their squares about the mean. */
static double *common_side(const struct deviations *all, size_t *nr, double *runs, double *squares)
{
    double *values = memory_zeroed(all->nr ? all->nr : 1, sizeof(*values)), seen = 0, mean = 0;

    *nr = 0;
    for (size_t i = 0; i < all->nr; i++)
        if ((size_t)all->items[i].run >= *nr)
            *nr = (size_t)all->items[i].run + 1;
    double *common = memory_zeroed(*nr ? *nr : 1, sizeof(*common));
    for (size_t run = 0; run < *nr; run++) {
        size_t used = 0;
        for (size_t i = 0; i < all->nr; i++)
            if ((size_t)all->items[i].run == run)
                values[used++] = all->items[i].value;
        common[run] = used ? stats_median(values, used) : NAN;
        seen += used > 0;
        mean += used ? common[run] : 0;
    }
    mean /= seen > 0 ? seen : 1;
    for (size_t run = 0; run < *nr; run++) {
        common[run] = isnan(common[run]) ? 0 : common[run] - mean;
        *squares += common[run] * common[run];
    }
    *runs += seen;
    free(values);
    return common;
}

static struct common find_common(struct compare_row *const *rows, size_t nr)
{
    struct common common = { .df = 0 };
    struct deviations base = { 0 }, head = { 0 };
    double runs = 0, squares = 0;
    size_t used = 0;

    for (size_t i = 0; i < nr; i++) {
        const struct evidence *e = &rows[i]->item->evidence;
        if (e->design != DESIGN_OCCASIONS)
            continue;
        add_deviations(rows[i], &e->base, &base);
        add_deviations(rows[i], &e->head, &head);
        used++;
    }
    if (used >= COMPARE_BORROW_MIN) {
        common.base = common_side(&base, &common.nr_base, &runs, &squares);
        common.head = common_side(&head, &common.nr_head, &runs, &squares);
        common.df = runs - 2;
        common.variance = squares / common.df;
    }
    array_release(&base);
    array_release(&head);
    return common;
}

/* ---- groups of rows that are alike: one metric, one design ---- */

struct stratum {
    struct change **items; /* owned */
    size_t nr;
};

static struct stratum take_stratum(struct change *changes, size_t nr, const struct metric *metric,
                                   enum compare_design design)
{
    struct stratum s = { memory_zeroed(nr ? nr : 1, sizeof(*s.items)), 0 }; /* NOLINT */

    for (size_t i = 0; i < nr; i++) {
        const struct compare_item *item = changes[i].row->item;
        if (item->metric == metric && item->evidence.design == design)
            s.items[s.nr++] = &changes[i];
    }
    return s;
}

static double stratum_median(const struct stratum *s, double (*field)(const struct change *ch))
{
    double *values = memory_zeroed(s->nr ? s->nr : 1, sizeof(*values));

    for (size_t i = 0; i < s->nr; i++)
        values[i] = field(s->items[i]);
    double median = stats_median(values, s->nr);
    free(values);
    return median;
}

static double effect_of(const struct change *ch)
{
    return ch->effect;
}

static double df_of(const struct change *ch)
{
    return ch->df;
}

/* Degrees of freedom of a variance that both sides share. */
static double pooled_df(const struct change *ch)
{
    const struct evidence *e = &ch->row->item->evidence;

    return e->design == DESIGN_LAUNCHES ? (double)(e->base.nr + e->head.nr) - 2 : ch->df;
}

/* Moves a variance towards the family's, unless it is too noisy to belong there. */
static void moderate(const struct variance_prior *prior, struct change *ch)
{
    if (!(prior->df > 0) ||
        stats_f_tail(ch->variance / prior->scale, ch->df, prior->df) < noisy_level)
        return;
    ch->variance = (prior->df * prior->scale + ch->df * ch->variance) / (prior->df + ch->df);
    ch->df += prior->df;
    ch->row->borrowed = true;
}

static void moderate_all(const struct stratum *s)
{
    double *variances = memory_zeroed(s->nr, sizeof(*variances));

    for (size_t i = 0; i < s->nr; i++)
        variances[i] = s->items[i]->variance;
    struct variance_prior prior =
        stats_variance_prior(variances, s->nr, stratum_median(s, pooled_df), COMPARE_BORROW_MAX);
    free(variances);
    for (size_t i = 0; i < s->nr; i++)
        moderate(&prior, s->items[i]);
}

/* Scale of the studentised effects about their median where each has `added` more variance, over
 * what it is if nothing lies between the sides but chance; half its own standard error (1.17 /
 * sqrt(n) of it) on top, since too small a scale is the worse mistake. The factor n / (n - 0.8) is
 * Croux and Rousseeuw's (1992) for the median absolute deviation of few values. */
static double studentised_scale(const struct stratum *s, double added, double expected, double *z)
{
    double middle = stratum_median(s, effect_of), n = (double)s->nr;

    for (size_t i = 0; i < s->nr; i++)
        z[i] = (s->items[i]->effect - middle) / hypot(change_error(s->items[i]).se, sqrt(added));
    return stats_mad(z, s->nr) * n / (n - 0.8) / expected * (1 + 0.5 * 1.17 / sqrt(n));
}

/* The variance that brings the scale down to 1; 0 if it is there already. */
static double between_runs(const struct stratum *s)
{
    double *z = memory_zeroed(s->nr, sizeof(*z)), low = 0, high = 0;
    double middle = stratum_median(s, effect_of);
    double expected = stats_t_quantile(0.75, stratum_median(s, df_of));

    for (size_t i = 0; i < s->nr; i++)
        high = fmax(high, 4 * pow(s->items[i]->effect - middle, 2));
    if (studentised_scale(s, 0, expected, z) <= 1)
        high = 0;
    for (int i = 0; high > 0 && i < 40; i++) {
        double at = 0.5 * (low + high);
        *(studentised_scale(s, at, expected, z) > 1 ? &low : &high) = at;
    }
    free(z);
    return high;
}

/* What all share may be the machine's, as far as `reach`: a row must stand out from that, too. */
static void set_null(struct change *ch, double shift, double reach)
{
    double share = copysign(fmin(fabs(shift), reach), shift);

    ch->null_low = fmin(share, 0);
    ch->null_high = fmax(share, 0);
}

/* One run a side. Returns the variance that lies between two runs, NaN where it is not known. */
static double judge_launches(const struct stratum *s)
{
    bool known = s->nr >= COMPARE_BORROW_MIN;

    if (known)
        moderate_all(s);
    double shift = stratum_median(s, effect_of), between = known ? between_runs(s) : NAN;
    for (size_t i = 0; i < s->nr; i++) {
        struct change *ch = s->items[i];
        double floor = log1p(ch->row->delta);
        set_null(ch, shift, floor);
        ch->added = known ? between : 0;
        ch->added_df = mad_efficiency * (double)s->nr;
        ch->row->noise.occasion = sqrt(between / 2);
        if (!known) { /* the floor stands for what is not known */
            ch->null_low = -floor;
            ch->null_high = floor;
        }
    }
    return between;
}

static double occasion_of(const struct change *ch)
{
    return ch->row->noise.occasion;
}

/* Several runs on a side. Returns the variance that lies between two runs. */
static double judge_runs(const struct stratum *s)
{
    if (s->nr >= COMPARE_BORROW_MIN)
        moderate_all(s);
    double shift = stratum_median(s, effect_of);
    for (size_t i = 0; i < s->nr; i++) {
        struct change *ch = s->items[i];
        double seen =
            ch->shared > 0 ? stats_t_quantile(0.975, ch->shared_df) * sqrt(ch->shared) : 0;
        set_null(ch, shift, ch->shared > 0 ? fmax(seen, log1p(ch->row->delta)) : 0);
    }
    double occasion = stratum_median(s, occasion_of);
    return 2 * occasion * occasion;
}

static void judge_stratum(struct comparison *c, struct change *changes, size_t nr,
                          const struct metric *metric, enum compare_design design)
{
    struct stratum s = take_stratum(changes, nr, metric, design);

    if (s.nr > 0) {
        double between = design == DESIGN_LAUNCHES ? judge_launches(&s) : judge_runs(&s);
        if (isnan(c->occasion))
            c->occasion = sqrt(between);
    }
    free(s.items);
}

static bool is_first_of_metric(struct compare_row *const *rows, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (rows[j]->item->metric == rows[i]->item->metric)
            return false;
    return true;
}

void family_measure(struct comparison *c, struct compare_row *const *rows, struct change *changes,
                    size_t nr)
{
    struct common common = find_common(rows, nr);

    c->serial = family_serial(rows, nr);
    double serial = isnan(c->serial) ? 0 : c->serial;
    for (size_t i = 0; i < nr; i++) {
        enum compare_design design = rows[i]->item->evidence.design;
        changes[i] = design == DESIGN_BLOCKS      ? change_from_blocks(rows[i])
                     : design == DESIGN_OCCASIONS ? change_from_runs(rows[i], serial, &common)
                                                  : change_from_launches(rows[i], serial);
    }
    free(common.base);
    free(common.head);
    for (size_t i = 0; i < nr; i++)
        if (is_first_of_metric(rows, i)) {
            judge_stratum(c, changes, nr, rows[i]->item->metric, DESIGN_LAUNCHES);
            judge_stratum(c, changes, nr, rows[i]->item->metric, DESIGN_OCCASIONS);
        }
}
