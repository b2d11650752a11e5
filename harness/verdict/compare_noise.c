/* SPDX-License-Identifier: MIT */
/* What only the family can tell of a row; compare.h has the rule and its sources. */
#include "verdict/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What two runs usually differ by in all rows alike. */
static const double common_between = 0.025;

enum {
    COMMON_MIN =
        10,       /* rows from which what a run does to all can be told from what it does to one */
    TOLD_MIN = 5, /* rows or earlier runs from which what lies between two runs is told */
    COMMON_USUAL = 2,
};

/* ---- groups of rows that are alike ---- */

/* Of one metric and design. What a run does to the times of all benchmarks it does not do to their
 * memory, nor the other way round. Where a side has several runs, also of one class of machines:
 * the runs of another class are others, and what those have in common is neither the same nor of
 * the same size. So each class is judged as if it were compared alone. */
static bool are_alike(const struct compare_item *a, const struct compare_item *b)
{
    return a->metric == b->metric && a->evidence.design == b->evidence.design &&
           (a->evidence.design != DESIGN_RUNS || strcmp(a->machine, b->machine) == 0);
}

/* Those before it are looked at from the nearest on: metrics of a benchmark stand together. */
static bool is_first_alike(struct compare_row *const *rows, size_t i)
{
    for (size_t j = i; j-- > 0;)
        if (are_alike(rows[j]->item, rows[i]->item))
            return false;
    return true;
}

static struct stratum take_stratum(struct change *changes, size_t nr,
                                   const struct compare_item *like)
{
    struct stratum s = { memory_zeroed(nr ? nr : 1, sizeof(*s.items)), 0 }; /* NOLINT */

    for (size_t i = 0; i < nr; i++)
        if (are_alike(changes[i].row->item, like))
            s.items[s.nr++] = &changes[i];
    return s;
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

static size_t count_runs(const struct deviations *all)
{
    size_t nr = 0;

    for (size_t i = 0; i < all->nr; i++)
        if ((size_t)all->items[i].run >= nr)
            nr = (size_t)all->items[i].run + 1;
    return nr;
}

/* The values of each run together, in the order of the runs: those of run i from `start[i]` to
 * before `start[i + 1]`. `start` has room for two more than there are runs, all 0. */
static double *group_by_run(const struct deviations *all, size_t runs, size_t *start)
{
    double *values = memory_zeroed(all->nr + 1, sizeof(*values));

    for (size_t i = 0; i < all->nr; i++)
        start[all->items[i].run + 2]++;
    for (size_t i = 1; i < runs + 2; i++)
        start[i] += start[i - 1];
    /* start[i + 1] is where run i begins; when all its values are in, where it ends. */
    for (size_t i = 0; i < all->nr; i++)
        values[start[all->items[i].run + 1]++] = all->items[i].value;
    return values;
}

/* Median deviation of each run over the rows; adds the runs and their squares about the mean. */
static double *common_side(const struct deviations *all, size_t *nr, double *runs, double *squares)
{
    double seen = 0, mean = 0;

    *nr = count_runs(all);
    size_t *start = memory_zeroed(*nr + 2, sizeof(*start));
    double *values = group_by_run(all, *nr, start);
    double *common = memory_zeroed(*nr + 1, sizeof(*common));
    for (size_t run = 0; run < *nr; run++) {
        size_t used = start[run + 1] - start[run];
        common[run] = used ? stats_median(values + start[run], used) : NAN;
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
    free(start);
    return common;
}

/* Of the rows like `like`, of several runs a side. Of fewer than COMMON_MIN rows nothing: each
 * would lose a part of its own change and noise to what it was said to share. */
static struct common find_common(struct compare_row *const *rows, size_t nr,
                                 const struct compare_item *like)
{
    struct common common = { .df = 0 };
    struct deviations base = { 0 }, head = { 0 };
    double runs = 0, squares = 0;
    size_t used = 0;

    for (size_t i = 0; i < nr; i++) {
        const struct evidence *e = &rows[i]->item->evidence;
        if (!are_alike(rows[i]->item, like))
            continue;
        add_deviations(rows[i], &e->base, &base);
        add_deviations(rows[i], &e->head, &head);
        used++;
    }
    if (used >= COMMON_MIN) {
        common.base = common_side(&base, &common.nr_base, &runs, &squares);
        common.head = common_side(&head, &common.nr_head, &runs, &squares);
        common.df = runs - 2; /* the mean of each side is taken out of its runs */
        common.variance = squares / common.df;
    }
    array_release(&base);
    array_release(&head);
    return common;
}

/* ---- noise, and what lies between runs ---- */

/* Degrees of freedom of a variance that both sides share. */
static double pooled_df(const struct change *ch)
{
    const struct evidence *e = &ch->row->item->evidence;

    return e->design == DESIGN_LAUNCHES ? (double)(e->base.nr + e->head.nr) - 2 : ch->df;
}

static struct variance_prior moderate_all(const struct stratum *s)
{
    double *variances = memory_zeroed(s->nr, sizeof(*variances));
    size_t nr = 0;

    for (size_t i = 0; i < s->nr; i++)
        if (s->items[i]->row->wild == 0)
            variances[nr++] = s->items[i]->variance;
    struct variance_prior prior =
        stats_variance_prior(variances, nr, stratum_median(s, pooled_df), COMPARE_BORROW_MAX);
    free(variances);
    /* Where launches were drawn in, the row keeps its own: what is wild knows no family. */
    for (size_t i = 0; i < s->nr; i++)
        s->items[i]->row->borrowed =
            s->items[i]->row->wild == 0 &&
            family_moderate(&prior, &s->items[i]->variance, &s->items[i]->df);
    return prior;
}

/* What all share, up to `reach`, may be the machine's: a row must stand out from that, too. */
static void set_null(struct change *ch, double shift, double reach)
{
    double share = copysign(fmin(fabs(shift), reach), shift);

    ch->null_low = fmin(share, 0);
    ch->null_high = fmax(share, 0);
}

static double own_error_of(const struct change *ch)
{
    return change_own_error(ch).se;
}

/* The variance of what two runs differ by in all rows alike. It leaves no scatter to see, but
 * earlier runs have shown it; what is usual counts as two of them. */
static double common_square(const struct earlier *earlier)
{
    double between = common_between * earlier->scale;
    double usual = COMMON_USUAL * between * between;

    return (usual + earlier->squares) / (double)(COMMON_USUAL + earlier->steps);
}

/* How much of what all share may be the machine's: the floor, or what earlier runs did (98 %). */
static double common_reach(const struct earlier *earlier, double floor)
{
    double reach = stats_normal_quantile(0.99) * sqrt(common_square(earlier));

    return earlier->steps > 0 ? fmax(floor, reach) : floor;
}

/* Standard error of the family's median effect. */
static double shift_error(const struct stratum *s, double between)
{
    double own = stratum_median(s, own_error_of);

    return 1.25 * hypot(own, sqrt(between)) / sqrt((double)s->nr);
}

/* What is left of what all share when the median is taken out of it as far as it is shown. Where
 * earlier runs leave little between runs of each row, this is to be added: else what lies between
 * runs is wide enough to hold it. */
static void add_left_over(const struct stratum *s, const struct earlier *earlier,
                          struct spread *between)
{
    double n = (double)s->nr, error = shift_error(s, 0);
    double left = common_square(earlier) / (n * n) + error * error;

    for (size_t i = 0; i < between->nr && earlier->steps > 0 && n > 1; i++)
        between->variance[i] += left;
}

/* One run a side. Returns the variance that lies between two runs, NaN where it is not known. */
static double judge_launches(const struct stratum *s)
{
    struct variance_prior prior = moderate_all(s);
    struct spread between;
    struct earlier earlier;
    double n = (double)s->nr;

    family_between(s, &between, &earlier);
    /* One row alone has no median: its effect is what is asked for. */
    double shift = stratum_median(s, change_effect) * (n - 1) / n;
    double mean = spread_mean(&between), error = shift_error(s, mean);
    double shown = copysign(fmax(fabs(shift) - error, 0), shift);
    /* The median tells of what all share, the better the larger the family: what is left is worth
     * its own change, which is one of many. */
    double shared = common_square(&earlier) * (n - 1) / (n * n);
    double told = s->nr + earlier.steps >= TOLD_MIN ? mean : NAN;
    add_left_over(s, &earlier, &between);
    for (size_t i = 0; i < s->nr; i++) {
        struct change *ch = s->items[i];
        double reach = common_reach(&earlier, log1p(ch->row->delta));
        set_null(ch, shown, reach);
        ch->share_low = fmax(fmin(shift, 0), -reach);
        ch->share_high = fmin(fmax(shift, 0), reach);
        ch->shared = shared;
        ch->shared_df = INFINITY;
        change_set_errors(ch, &between);
        ch->row->noise.run = sqrt(told / 2);
    }
    family_deal_out(s, &prior);
    return told;
}

static double run_noise_of(const struct change *ch)
{
    return ch->row->noise.run;
}

/* Several runs on a side. Returns the variance that lies between two runs. */
static double judge_runs(const struct stratum *s)
{
    if (s->nr >= COMMON_MIN) /* else what runs do to all alike would count as each row's own */
        moderate_all(s);
    double shift = stratum_median(s, change_effect);
    for (size_t i = 0; i < s->nr; i++) {
        struct change *ch = s->items[i];
        change_set_errors(ch, NULL);
        double seen =
            ch->shared > 0 ? stats_t_quantile(0.975, ch->shared_df) * sqrt(ch->shared) : 0;
        set_null(ch, shift, ch->shared > 0 ? fmax(seen, log1p(ch->row->delta)) : 0);
    }
    double run = stratum_median(s, run_noise_of);
    return 2 * run * run;
}

static void judge_stratum(struct comparison *c, struct change *changes, size_t nr,
                          const struct compare_item *like)
{
    struct stratum s = take_stratum(changes, nr, like);
    double between = like->evidence.design == DESIGN_LAUNCHES ? judge_launches(&s) : judge_runs(&s);

    if (isnan(c->run_noise))
        c->run_noise = sqrt(between);
    free(s.items);
}

/* Rows of several runs a side, those like `like`. */
static void measure_runs_alike(struct compare_row *const *rows, struct change *changes, size_t nr,
                               const struct compare_item *like, double serial)
{
    struct common common = find_common(rows, nr, like);

    for (size_t i = 0; i < nr; i++)
        if (are_alike(rows[i]->item, like))
            changes[i] = change_from_runs(rows[i], serial, &common);
    free(common.base);
    free(common.head);
}

void family_measure(struct comparison *c, struct compare_row *const *rows, struct change *changes,
                    size_t nr)
{
    family_draw_in(rows, nr);
    c->serial = family_serial(rows, nr);
    double serial = isnan(c->serial) ? 0 : c->serial;
    for (size_t i = 0; i < nr; i++) {
        enum compare_design design = rows[i]->item->evidence.design;
        if (design == DESIGN_BLOCKS)
            changes[i] = change_from_blocks(rows[i]);
        else if (design == DESIGN_LAUNCHES)
            changes[i] = change_from_launches(rows[i], serial);
        else if (is_first_alike(rows, i))
            measure_runs_alike(rows, changes, nr, rows[i]->item, serial);
    }
    for (size_t i = 0; i < nr; i++)
        if (rows[i]->item->evidence.design != DESIGN_BLOCKS && is_first_alike(rows, i))
            judge_stratum(c, changes, nr, rows[i]->item);
}
