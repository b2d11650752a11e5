/* SPDX-License-Identifier: MIT */
/*
 * What launches do by chance, shown by the family's own: those of a row are dealt out anew between
 * its sides, as often as not a base launch to the head, and the change that comes out is judged as
 * the true one was. Nothing changed between sides so mixed, so what stands out does so by chance;
 * normal noise does it as often as the p-values say. Where the launches of a family jump between
 * two modes it happens more often, and then p-values are to be multiplied by how much more (after
 * Tusher, Tibshirani and Chu 2001, who pool such permutations over a family).
 *
 * Rows that stand out by themselves are not dealt: those that changed would look like chance.
 */
#include "verdict/compare_parts.h"

#include "base/memory.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEALS = 2000,  /* of the whole family, about */
    ALL_DEALT = 7, /* launches of a row of which all deals are made: 34 at most */
};

static const double stands_out = 1e-3, beyond_chance = 0.1;
/* Where deals show more than chance for certain, among p-values as small as these. */
static const double certain = 0.002, small = 0.01;

/* Of the row's launches alone, whatever lies between runs. */
static double own_p(const struct change *ch)
{
    struct error_term e = change_own_error(ch);

    return 2 * stats_t_cdf(-fabs(ch->effect) / e.se, e.df);
}

/* ---- one deal ---- */

struct deck {
    double *logs;  /* of both sides; owned */
    size_t *order; /* owned */
    size_t base, all;
};

static void deck_init(struct deck *d, const struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;

    d->base = e->base.nr;
    d->all = e->base.nr + e->head.nr;
    d->logs = memory_zeroed(d->all, sizeof(*d->logs));
    d->order = memory_zeroed(d->all, sizeof(*d->order));
    for (size_t i = 0; i < d->all; i++)
        d->logs[i] =
            change_log(row, i < d->base ? &e->base.values[i] : &e->head.values[i - d->base]);
}

/* The sides as they were, or the whole of one in place of the other? */
static bool is_as_it_was(const struct deck *d)
{
    size_t stayed = 0;

    for (size_t i = 0; i < d->base; i++)
        stayed += d->order[i] < d->base;
    return stayed == d->base || (stayed == 0 && 2 * d->base == d->all);
}

/* Puts the launches whose bits are set into the base; false if these are not as many as it has. */
static bool deal_bits(struct deck *d, unsigned bits)
{
    size_t base = 0, head = d->base;

    for (size_t i = 0; i < d->all; i++) {
        bool in_base = bits >> i & 1;
        if ((in_base && base == d->base) || (!in_base && head == d->all))
            return false;
        d->order[in_base ? base++ : head++] = i;
    }
    return true;
}

/* p-value of the change between the sides as they are dealt. */
static double deal_p(const struct deck *d, const struct change *ch,
                     const struct variance_prior *prior, double *logs)
{
    for (size_t i = 0; i < d->all; i++)
        logs[i] = d->logs[d->order[i]];
    size_t wild = change_draw_in(logs, d->base, ch->row->reach) +
                  change_draw_in(logs + d->base, d->all - d->base, ch->row->reach);
    struct welch w = stats_welch(logs, d->base, logs + d->base, d->all - d->base);
    double scale = 1 / (double)d->base + 1 / (double)(d->all - d->base), df = w.df;
    double variance = fmax(w.se * w.se / scale, 1e-12);

    if (wild == 0)
        family_moderate(prior, &variance, &df);
    double square = fmax(variance * ch->units, ch->least);
    return 2 * stats_t_cdf(-fabs(w.difference) / sqrt(square), df);
}

/* ---- all of them ---- */

struct dealt {
    double *p;      /* ascending; owned */
    double *beyond; /* see look_beyond(); owned */
    size_t nr;
};

/* All deals there are where they are few; else some. */
static void deal_row(const struct change *ch, const struct variance_prior *prior, size_t times,
                     struct random *r, struct dealt *out)
{
    struct deck d;

    deck_init(&d, ch->row);
    double *logs = memory_zeroed(d.all, sizeof(*logs));
    bool few = d.all <= ALL_DEALT;
    for (unsigned i = 0; i < (few ? 1U << d.all : times); i++) {
        if (few && !deal_bits(&d, i))
            continue;
        if (!few)
            random_permutation(r, d.order, d.all);
        if (!is_as_it_was(&d))
            out->p[out->nr++] = deal_p(&d, ch, prior, logs);
    }
    free(logs);
    free(d.logs);
    free(d.order);
}

/* How often so many or more are dealt, if this is not to be too small. */
static double dealt_frequency(const struct dealt *dealt, size_t seen)
{
    return (double)(seen + 1) / (double)(dealt->nr + 1);
}

/* Of each p-value that was dealt: what doubt a smaller one is worth, times its root. */
static void look_beyond(struct dealt *dealt)
{
    for (size_t i = 0; i < dealt->nr; i++) {
        double p = dealt->p[i];
        if (p < small && p > 0 && 1 - stats_binomial_cdf(i, dealt->nr, p) <= certain)
            dealt->beyond[i] = dealt_frequency(dealt, i + 1) / sqrt(p);
    }
}

/* Few deals reach as far as a row that split cleanly between its sides, and what they showed just
 * before it does not end there: the factor goes on to grow, with the root of the p-value. That is
 * so for p-values of up to twice the digits: a change far larger than all that was dealt is left
 * alone. `seen` p-values were dealt that are no larger. */
static double doubt_beyond(const struct dealt *dealt, size_t seen, double p)
{
    double most = 1;

    for (size_t i = seen; i < dealt->nr && dealt->p[i] < fmin(small, sqrt(p)); i++)
        most = fmax(most, dealt->beyond[i] / sqrt(p));
    return most;
}

/* How many times too small is p? Only what chance does not explain counts. */
static double times_too_small(const struct dealt *dealt, double p)
{
    size_t seen = stats_count_below(dealt->p, dealt->nr, p, true);
    double most = doubt_beyond(dealt, seen, p);

    if (seen == 0 || 1 - stats_binomial_cdf(seen - 1, dealt->nr, p) > beyond_chance)
        return most;
    return fmax(most, dealt_frequency(dealt, seen) / p);
}

void family_deal_out(const struct stratum *s, const struct variance_prior *prior)
{
    struct dealt dealt = { NULL, NULL, 0 };
    size_t times = DEALS / s->nr + 1, most = times > 1U << ALL_DEALT ? times : 1U << ALL_DEALT;
    struct random r;

    dealt.p = memory_zeroed(s->nr * most, sizeof(*dealt.p));
    random_seed(&r, 1); /* the same evidence, the same verdict */
    for (size_t i = 0; i < s->nr; i++)
        if (own_p(s->items[i]) > stands_out)
            deal_row(s->items[i], prior, times, &r, &dealt);
    stats_sort(dealt.p, dealt.nr);
    dealt.beyond = memory_zeroed(dealt.nr + 1, sizeof(*dealt.beyond));
    look_beyond(&dealt);
    for (size_t i = 0; i < s->nr; i++)
        s->items[i]->doubt = times_too_small(&dealt, own_p(s->items[i]));
    free(dealt.p);
    free(dealt.beyond);
}
