/* SPDX-License-Identifier: MIT */
/* Interleaved launches: one difference a block, a look after each. See compare.h. */
#include "verdict/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* It keeps t finite where blocks are alike to the last bit. */
static const double smallest_variance = 1e-12;

/* A sum of values and of their squares about the mean, kept as they come (Welford 1962). */
struct moments {
    double n, mean, squares;
};

static void moments_add(struct moments *m, double x)
{
    double from = x - m->mean;

    m->n++;
    m->mean += from / m->n;
    m->squares += from * (x - m->mean);
}

/* All blocks so far. */
struct blocks {
    struct moments difference, probe;
    double launch_squares, launch_df; /* launches of a side about their mean, within blocks */
    double launch_units;              /* sum over blocks of 1/base launches + 1/head launches */
    double inner;                     /* variance of the sum of differences, from samples alone */
    double rounded;                   /* the same, from rounding alone */
};

/* ---- what rounded values cannot tell ---- */

/* A step that is finer than this share of the values rounds nothing off that matters. */
static const double finest_step = 1e-4;

/* What is computed from a whole number comes as near to one. */
static const double nearly = 1e-6;

static bool divides_all(const double *x, size_t nr, double step)
{
    for (size_t i = 0; i < nr; i++)
        if (fabs(x[i] / step - round(x[i] / step)) > nearly)
            return false;
    return true;
}

/* Smallest distance of two values that differ; 0: none do. */
static double smallest_gap(const double *sorted, size_t nr)
{
    double gap = 0;

    for (size_t i = 1; i < nr; i++)
        if (sorted[i] > sorted[i - 1] && (gap == 0 || sorted[i] - sorted[i - 1] < gap))
            gap = sorted[i] - sorted[i - 1];
    return gap;
}

/* The largest power of `base` up to `most` of which all values are multiples; 0: none. */
static double round_step(const double *x, size_t nr, double base, double most)
{
    int power = (int)floor(log(most) / log(base) + nearly);

    while (pow(base, power) > finest_step * x[0] && !divides_all(x, nr, pow(base, power)))
        power--;
    double step = pow(base, power);
    return step > finest_step * x[0] ? step : 0;
}

/* The step that the row's values were rounded to: the largest power of ten or of 1024 (whole ns,
 * MB) of which all are multiples. It is no larger than the smallest distance of two of them: of
 * values that are all alike nobody can tell. 0: they do not look rounded. */
static double rounding_step(const struct evidence *e)
{
    size_t nr = 0;
    double *x = memory_zeroed(e->base.nr + e->head.nr, sizeof(*x));

    for (size_t i = 0; i < e->base.nr; i++)
        x[nr++] = e->base.values[i].value;
    for (size_t i = 0; i < e->head.nr; i++)
        x[nr++] = e->head.values[i].value;
    stats_sort(x, nr);
    double gap = smallest_gap(x, nr);
    double step = gap > 0 ? fmax(round_step(x, nr, 10, gap), round_step(x, nr, 1024, gap)) : 0;
    free(x);
    return step;
}

/* Variance of log(value) that a launch has because its value is rounded: even over the step. */
static double rounded_off(double value, double step)
{
    return pow(step / value, 2) / 12;
}

/* ---- blocks ---- */

/* The launches of one side in one block: `*at` moves behind them. */
struct side_block {
    struct moments logs;
    double probe, inner, rounded; /* mean log; mean variances */
};

static struct side_block take_side(const struct compare_row *row, const struct evidence_side *side,
                                   double step, size_t *at)
{
    struct side_block b = { .probe = 0 };
    int block = side->values[*at].run;

    for (; *at < side->nr && side->values[*at].run == block; ++*at) {
        const struct evidence_value *v = &side->values[*at];
        moments_add(&b.logs, compare_sign(row) * log(v->value));
        b.probe += (log(v->probe) - b.probe) / b.logs.n;
        b.inner += (v->inner - b.inner) / b.logs.n;
        b.rounded += (rounded_off(v->value, step) - b.rounded) / b.logs.n;
    }
    return b;
}

/* The next block with both sides; false if there is none. */
static bool take_block(const struct compare_row *row, double step, size_t *i, size_t *j,
                       struct blocks *all)
{
    const struct evidence_side *base = &row->item->evidence.base, *head = &row->item->evidence.head;

    while (*i < base->nr && *j < head->nr && base->values[*i].run != head->values[*j].run)
        ++*(base->values[*i].run < head->values[*j].run ? i : j);
    if (*i >= base->nr || *j >= head->nr)
        return false;
    struct side_block b = take_side(row, base, step, i), h = take_side(row, head, step, j);
    moments_add(&all->difference, h.logs.mean - b.logs.mean);
    moments_add(&all->probe, h.probe - b.probe);
    all->launch_squares += b.logs.squares + h.logs.squares;
    all->launch_df += b.logs.n + h.logs.n - 2;
    all->launch_units += 1 / b.logs.n + 1 / h.logs.n;
    all->inner += b.inner / b.logs.n + h.inner / h.logs.n;
    all->rounded += b.rounded / b.logs.n + h.rounded / h.logs.n;
    return true;
}

static double launch_variance(const struct blocks *all)
{
    return all->launch_df > 0 ? all->launch_squares / all->launch_df : NAN;
}

/* A difference is no better known than its values are written. */
static double least_variance(const struct blocks *all)
{
    return fmax(all->rounded / all->difference.n, smallest_variance);
}

/* What the variance of a block's difference may be, over what its launches make of it: blocks may
 * differ in what they do to the two sides. By its weight before anything is seen. The last stands
 * for all that is more: there the blocks speak alone. */
static const struct {
    double ratio, weight;
} block_ratios[] = { { 1, 0.5 }, { 1.5, 0.2 }, { 3, 0.15 }, { 9, 0.1 }, { 33, 0.05 } };

enum { RATIOS = sizeof(block_ratios) / sizeof(*block_ratios) };

/* The blocks' differences and the launches within blocks tell the same variance, if the ratio of
 * the two is known: for each that it may be they are pooled, and weigh by how well they agree (both
 * are normal; the prior of the variance is flat in its log). */
static void pool_variances(const struct blocks *all, struct errors *errors)
{
    double n = all->difference.n, blocks_df = n - 1, df = blocks_df + all->launch_df;
    double between = fmax(all->difference.squares, least_variance(all) * blocks_df), sum = 0;
    double within = all->launch_squares * all->launch_units / n; /* in units of a difference */
    double best = -INFINITY;

    within = fmax(within, all->rounded / n * all->launch_df);
    double seen = between * all->launch_df / (fmax(within, smallest_variance) * blocks_df);

    errors->nr = RATIOS;
    for (size_t i = 0; i < RATIOS; i++) {
        bool alone = i == RATIOS - 1;
        double ratio = alone ? fmax(block_ratios[i].ratio, seen) : block_ratios[i].ratio;
        double squares = between + within * ratio, used = alone ? blocks_df : df;
        errors->coarse[i] =
            (struct error_term) { sqrt((alone ? between : squares) / used / n), used };
        errors->fine[i] = (struct error_term) { sqrt(all->inner) / n, all->inner > 0 ? used : 0 };
        errors->weight[i] = log(block_ratios[i].weight) + 0.5 * all->launch_df * log(ratio) -
                            0.5 * df * log(squares);
        best = fmax(best, errors->weight[i]);
    }
    for (size_t i = 0; i < RATIOS; i++)
        sum += errors->weight[i] = exp(errors->weight[i] - best);
    for (size_t i = 0; i < RATIOS; i++)
        errors->weight[i] /= sum;
}

/* The change as it stands at one look. */
static struct change look_at_blocks(struct compare_row *row, const struct blocks *all)
{
    double n = all->difference.n, looks = n - COMPARE_LAUNCHES_MIN + 1;
    struct change ch = {
        .row = row,
        .effect = all->difference.mean,
        .variance = fmax(all->difference.squares / (n - 1), least_variance(all)),
        .df = n - 1,
        .units = 1 / n,
        .least = all->inner / (n * n),
        .price = looks * (looks + 1),
        .doubt = 1,
        .p_before = 1,
    };

    if (all->launch_df > 0)
        pool_variances(all, &ch.errors);
    else
        change_set_errors(&ch, NULL);
    return ch;
}

/* The part of the probe's change that is more than its own noise from block to block. */
static double probe_shown(const struct moments *probe)
{
    double half =
        stats_t_quantile(0.95, probe->n - 1) * sqrt(probe->squares / (probe->n - 1) / probe->n);

    if (isnan(probe->mean))
        return NAN;
    return copysign(fmax(fabs(probe->mean) - half, 0), probe->mean);
}

static void set_noise(struct compare_row *row, const struct blocks *all)
{
    double n = all->difference.n, launch = launch_variance(all);
    double inner = all->inner / all->launch_units;
    double block = all->difference.squares / (n - 1) - launch * all->launch_units / n;

    row->noise.within = inner > 0 ? sqrt(inner) : NAN;
    row->noise.launch = sqrt(isnan(launch) ? NAN : fmax(launch - inner, 0));
    row->noise.run = sqrt(isnan(block) ? NAN : fmax(block, 0));
}

struct change change_from_blocks(struct compare_row *row)
{
    struct blocks all = { .inner = 0 };
    struct change ch = { .row = row };
    double least[2] = { 1, 1 }; /* smallest p-value at an earlier look: better, worse */
    double step = rounding_step(&row->item->evidence);
    size_t i = 0, j = 0;

    while (take_block(row, step, &i, &j, &all)) {
        if (all.difference.n < COMPARE_LAUNCHES_MIN)
            continue;
        ch = look_at_blocks(row, &all);
        double *before = &least[ch.effect > 0];
        ch.p_before = *before;
        *before = change_p(&ch);
    }
    set_noise(row, &all);
    row->probe = expm1(probe_shown(&all.probe));
    return ch;
}
