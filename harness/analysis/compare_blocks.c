/* SPDX-License-Identifier: MIT */
/* Interleaved launches: one difference a block, a look after each. See compare.h. */
#include "analysis/compare_parts.h"

#include <math.h>

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
};

/* The launches of one side in one block: `*at` moves behind them. */
struct side_block {
    struct moments logs;
    double probe, inner; /* mean log; mean variance */
};

static struct side_block take_side(const struct compare_row *row, const struct evidence_side *side,
                                   size_t *at)
{
    struct side_block b = { .probe = 0 };
    int block = side->values[*at].occasion;

    for (; *at < side->nr && side->values[*at].occasion == block; ++*at) {
        const struct evidence_value *v = &side->values[*at];
        moments_add(&b.logs, compare_sign(row) * log(v->value));
        b.probe += (log(v->probe) - b.probe) / b.logs.n;
        b.inner += (v->inner - b.inner) / b.logs.n;
    }
    return b;
}

/* The next block with both sides; false if there is none. */
static bool take_block(const struct compare_row *row, size_t *i, size_t *j, struct blocks *all)
{
    const struct evidence_side *base = &row->item->evidence.base, *head = &row->item->evidence.head;

    while (*i < base->nr && *j < head->nr && base->values[*i].occasion != head->values[*j].occasion)
        ++*(base->values[*i].occasion < head->values[*j].occasion ? i : j);
    if (*i >= base->nr || *j >= head->nr)
        return false;
    struct side_block b = take_side(row, base, i), h = take_side(row, head, j);
    moments_add(&all->difference, h.logs.mean - b.logs.mean);
    moments_add(&all->probe, h.probe - b.probe);
    all->launch_squares += b.logs.squares + h.logs.squares;
    all->launch_df += b.logs.n + h.logs.n - 2;
    all->launch_units += 1 / b.logs.n + 1 / h.logs.n;
    all->inner += b.inner / b.logs.n + h.inner / h.logs.n;
    return true;
}

static double launch_variance(const struct blocks *all)
{
    return all->launch_df > 0 ? all->launch_squares / all->launch_df : NAN;
}

/* The change as it stands at one look. */
static struct change look(struct compare_row *row, const struct blocks *all)
{
    double n = all->difference.n, looks = n - COMPARE_LAUNCHES_MIN + 1;
    bool launches = all->launch_squares * all->launch_units > all->inner * all->launch_df;

    return (struct change) {
        .row = row,
        .effect = all->difference.mean,
        .variance = fmax(all->difference.squares / (n - 1), 1e-12),
        .df = n - 1,
        .units = 1 / n,
        .least = (launches ? launch_variance(all) * all->launch_units : all->inner) / (n * n),
        .least_df = launches ? all->launch_df : 0,
        .price = looks * (looks + 1),
        .p_before = 1,
    };
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
    row->noise.occasion = sqrt(isnan(block) ? NAN : fmax(block, 0));
}

struct change change_from_blocks(struct compare_row *row)
{
    struct blocks all = { .inner = 0 };
    struct change ch = { .row = row };
    double least[2] = { 1, 1 }; /* smallest p-value at an earlier look: better, worse */
    size_t i = 0, j = 0;

    while (take_block(row, &i, &j, &all)) {
        if (all.difference.n < COMPARE_LAUNCHES_MIN)
            continue;
        ch = look(row, &all);
        double *before = &least[ch.effect > 0];
        ch.p_before = *before;
        *before = change_p(&ch);
    }
    set_noise(row, &all);
    row->probe = expm1(probe_shown(&all.probe));
    return ch;
}
