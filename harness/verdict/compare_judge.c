/* SPDX-License-Identifier: MIT */
/* From changes to verdicts: see compare.h for the rule and its sources. */
#include "verdict/compare_parts.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double rank_level = 0.05, power = 0.8;
/* The log of a change that is no longer worth a number. */
static const double detectable_max = 2.3;

enum { SHIFT_FAMILY_MIN = 5 };

/* The ratio interval of the metric as shown: a rate turns it round. */
static struct interval shown_interval(double low, double high, double sign)
{
    double a = expm1(sign * low), b = expm1(sign * high);

    return (struct interval) { fmin(a, b), fmax(a, b) };
}

/* Exact test over launches that the sides are in order; NaN within blocks, which pair them. */
static double rank_p(const struct compare_row *row, double effect)
{
    const struct evidence *e = &row->item->evidence;
    double *base = memory_zeroed(e->base.nr, sizeof(*base));
    double *head = memory_zeroed(e->head.nr, sizeof(*head));

    for (size_t i = 0; i < e->base.nr; i++)
        base[i] = change_log(row, &e->base.values[i]);
    for (size_t i = 0; i < e->head.nr; i++)
        head[i] = change_log(row, &e->head.values[i]);
    double p = e->design == DESIGN_BLOCKS ? NAN
               : effect > 0 ? stats_rank_test_greater(base, e->base.nr, head, e->head.nr)
                            : stats_rank_test_greater(head, e->head.nr, base, e->base.nr);
    free(base);
    free(head);
    return p;
}

/* The smallest change for the worse that is named 4 times in 5: beyond chance as the only change
 * of the family, and with an interval of `half` to each side that reaches beyond the floor. */
static double smallest_detectable(const struct comparison *c, const struct change *ch, double half)
{
    struct error_term e = change_error(ch);
    double beyond_chance =
        ch->null_high + change_reach(ch, c->settings.q / (2 * (double)c->family));
    double beyond_floor = log1p(ch->row->delta) - half;

    double least = fmax(fmax(beyond_chance, half), fmax(beyond_floor, log1p(ch->row->placed)));

    return least + stats_t_quantile(power, e.df) * e.se;
}

static void test_row(const struct comparison *c, const struct change *ch)
{
    struct compare_row *row = ch->row;
    double sign = compare_sign(row), half = change_half(ch);
    double least = smallest_detectable(c, ch, half);

    double own = change_own_error(ch).se, all = change_error(ch).se;

    row->df = change_error(ch).df;
    row->stays = row->item->evidence.design == DESIGN_LAUNCHES ? 1 - own * own / (all * all) : 0;
    row->change = expm1(sign * ch->effect);
    row->worse = ch->effect > 0;
    row->probe = row->item->metric->of_code ? NAN : row->probe; /* it tells of times */
    row->p = fmin(1, change_p(ch));
    row->rank_p = rank_p(row, ch->effect);
    row->interval =
        shown_interval(ch->effect - ch->share_high - half, ch->effect - ch->share_low + half, sign);
    row->detectable = least < detectable_max ? fabs(expm1(sign * least)) : INFINITY;
}

/* The 90 % interval lies inside the floor on both sides (both one-sided tests at 5 %). */
static bool is_same(const struct compare_row *row)
{
    double floor = log1p(row->delta);

    return log1p(row->interval.low) > -floor && log1p(row->interval.high) < floor;
}

static bool excludes_0(const struct compare_row *row)
{
    return row->interval.low > 0 || row->interval.high < 0;
}

/* What the interval allows to be no change is not called one; within blocks the p-value keeps what
 * earlier looks have shown. */
static bool is_shown(const struct compare_row *row)
{
    return row->item->evidence.design == DESIGN_BLOCKS || excludes_0(row);
}

/* More than placement alone may do: what is less by itself is not called, however sure. */
static bool beyond_placement(const struct compare_row *row)
{
    return fabs(log1p(row->change)) > log1p(row->placed);
}

static bool in_order(const struct compare_row *row)
{
    return isnan(row->rank_p) || row->rank_p <= rank_level + 1e-12;
}

/* q-values over the whole family. What could not be named whatever its p-value counts as 1: so the
 * many small changes of rows that are the same let no chance find through. */
static void control_family(const struct comparison *c, struct compare_row *const *rows)
{
    double *p = memory_zeroed(c->family, sizeof(*p)), *q = memory_zeroed(c->family, sizeof(*q));

    for (size_t i = 0; i < c->family; i++)
        p[i] = is_same(rows[i]) || !in_order(rows[i]) ? 1 : rows[i]->p;
    stats_fdr(p, q, c->family);
    for (size_t i = 0; i < c->family; i++)
        rows[i]->q = q[i];
    free(p);
    free(q);
}

/* The log of how much slower the machine was: beside this benchmark or over the whole family,
 * whichever is more. 0 where it was not probed, and where a slower machine changes nothing: as many
 * instructions as before are the same, and more of them are a change, on any machine. */
static double machine_share(const struct comparison *c, const struct compare_row *row)
{
    double here = isnan(row->probe) ? 0 : log1p(row->probe);
    double everywhere = isnan(c->probe_shift) ? 0 : log1p(c->probe_shift);
    double more = fabs(here) > fabs(everywhere) ? here : everywhere;

    return row->item->metric->of_code ? 0 : more;
}

/* Did the machine itself move by more than the floor? */
static bool machine_moved(const struct comparison *c, const struct compare_row *row)
{
    return fabs(machine_share(c, row)) > log1p(row->delta);
}

/* How much of a change, in logs, the machine may have made where its probe moved by `share` in the
 * same direction. What is too large to be alike for everything may be a multiple, either way. */
static double machine_part(double share)
{
    bool alike = fabs(share) <= log1p(COMPARE_MACHINE_MAX);

    return alike ? share : fabs(share) * COMPARE_MACHINE_WORST;
}

/* Does the change stand beyond the floor when the machine's own part is taken out of it? */
static bool stands_without_machine(const struct comparison *c, const struct compare_row *row)
{
    double sign = compare_sign(row), share = machine_share(c, row), floor = log1p(row->delta);
    double a = sign * log1p(row->interval.low), b = sign * log1p(row->interval.high);

    if (!machine_moved(c, row))
        return true;
    return row->worse ? fmin(a, b) - machine_part(share) > floor
                      : -fmax(a, b) - machine_part(-share) > floor;
}

/* What was found, how sure it is, and what would tell more. */
static void write_reason(const struct comparison *c, struct compare_row *row)
{
    char moved[TEXT_UNIT_SIZE];

    if (machine_moved(c, row))
        snprintf(row->why, sizeof(row->why), "the machine itself moved: its probe took %s time",
                 text_percent(expm1(machine_share(c, row)), moved));
    else if (row->p <= c->settings.q && !in_order(row))
        snprintf(row->why, sizeof(row->why),
                 "changed on average, but single launches overlap (rank test p = %.2g)",
                 row->rank_p);
    else if (row->q <= c->settings.q && !beyond_placement(row))
        snprintf(row->why, sizeof(row->why),
                 "no more than placement in memory alone may do, which is %s",
                 text_about(row->placed, 2, moved));
    else if (row->q <= c->settings.q)
        snprintf(row->why, sizeof(row->why),
                 "shown on average (q = %.2g), but its interval still reaches 0", row->q);
    else if (row->p <= c->settings.q)
        snprintf(row->why, sizeof(row->why), "p = %.2g alone, but not among %zu (q = %.2g)", row->p,
                 c->family, row->q);
    else if (excludes_0(row))
        snprintf(row->why, sizeof(row->why), "probably %s, but one in %.0f does so by chance",
                 row->worse ? "worse" : "better", fmax(1 / fmin(row->p, 1), 2));
    else
        snprintf(row->why, sizeof(row->why),
                 "neither no change nor one beyond the floor is ruled out");
}

static void decide_row(const struct comparison *c, struct compare_row *row)
{
    bool same = is_same(row);
    bool changed = !same && row->q <= c->settings.q && is_shown(row) && beyond_placement(row);

    if (changed && stands_without_machine(c, row))
        row->verdict = row->worse ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    else if (same && !machine_moved(c, row))
        row->verdict = VERDICT_SAME;
    else
        write_reason(c, row);
}

static double change_of(const struct compare_row *row)
{
    return row->change;
}

static double vendor_change_of(const struct compare_row *row)
{
    return row->item->vendor ? row->change : NAN;
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
static void judge_shift(struct comparison *c, struct compare_row *const *rows, size_t nr)
{
    size_t same_side = 0;

    c->vendor_shift = family_median(rows, nr, vendor_change_of);
    if (nr < SHIFT_FAMILY_MIN)
        return;
    c->common_shift = family_median(rows, nr, change_of);
    for (size_t i = 0; i < nr; i++)
        same_side += (rows[i]->change > 0) == (c->common_shift > 0);
    c->shifted =
        fabs(log1p(c->common_shift)) > 0.5 * log1p(c->settings.delta) && 5 * same_side >= 4 * nr;
}

/* Those of the first metric: another one's changes may point the other way. */
static size_t keep_leading(struct compare_row **rows, size_t nr)
{
    size_t kept = 0;

    for (size_t i = 0; i < nr; i++)
        if (rows[i]->item->metric == rows[0]->item->metric)
            rows[kept++] = rows[i];
    return kept;
}

static void judge_family(struct comparison *c, struct compare_row **rows)
{
    struct change *changes = memory_zeroed(c->family, sizeof(*changes));

    family_measure(c, rows, changes, c->family);
    for (size_t i = 0; i < c->family; i++)
        test_row(c, &changes[i]);
    free(changes);
    control_family(c, rows);
    c->probe_shift = family_median(rows, c->family, probe_of);
    for (size_t i = 0; i < c->family; i++)
        decide_row(c, rows[i]);
    size_t leading = keep_leading(rows, c->family);
    c->noise = family_median(rows, leading, spread_of);
    judge_shift(c, rows, leading);
}

void compare_judge(struct comparison *c)
{
    struct compare_row **rows = memory_zeroed(c->nr ? c->nr : 1, sizeof(*rows)); /* NOLINT */

    c->common_shift = c->vendor_shift = c->probe_shift = c->noise = NAN;
    c->run_noise = c->serial = NAN;
    for (size_t i = 0; i < c->nr; i++)
        if (compare_in_family(&c->rows[i]))
            rows[c->family++] = &c->rows[i];
    if (c->family > 0)
        judge_family(c, rows);
    free(rows);
}
