/* SPDX-License-Identifier: MIT */
/* What one row's own values say of its change; compare.h has the rule and its sources. */
#include "analysis/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* No clock gives a benchmark less noise from launch to launch than this; it keeps t finite. */
static const double smallest_variance = 1e-12;

double change_log(const struct compare_row *row, const struct evidence_value *value)
{
    return compare_sign(row) * log(value->value);
}

double change_inner(const struct evidence_side *side)
{
    double sum = 0;

    for (size_t i = 0; i < side->nr; i++)
        sum += side->values[i].inner;
    return side->nr ? sum / (double)side->nr : 0;
}

static double *read_logs(const struct compare_row *row, const struct evidence_side *side)
{
    double *logs = memory_zeroed(side->nr ? side->nr : 1, sizeof(*logs));

    for (size_t i = 0; i < side->nr; i++)
        logs[i] = change_log(row, &side->values[i]);
    return logs;
}

static double probe_mean(const struct evidence_side *side)
{
    double sum = 0;

    for (size_t i = 0; i < side->nr; i++)
        sum += log(side->values[i].probe);
    return sum / (double)side->nr;
}

/* sd of what is left of a variance when `known` is taken out of it; NaN if it is not known. */
static double left_over(double variance, double known)
{
    return sqrt(isnan(variance) ? NAN : fmax(variance - known, 0));
}

static void set_noise(struct compare_row *row, double launch_variance)
{
    const struct evidence *e = &row->item->evidence;
    double inner = 0.5 * (change_inner(&e->base) + change_inner(&e->head));

    row->noise.within = inner > 0 ? sqrt(inner) : NAN;
    row->noise.launch = left_over(launch_variance, inner);
}

struct change change_from_launches(struct compare_row *row, double serial)
{
    const struct evidence *e = &row->item->evidence;
    double *base = read_logs(row, &e->base), *head = read_logs(row, &e->head);
    struct welch w = stats_welch(base, e->base.nr, head, e->head.nr);
    double nb = (double)e->base.nr, nh = (double)e->head.nr;
    double variance = fmax(w.se * w.se / (1 / nb + 1 / nh), smallest_variance);

    free(base);
    free(head);
    set_noise(row, variance);
    row->probe = expm1(probe_mean(&e->head) - probe_mean(&e->base));
    return (struct change) {
        .row = row,
        .effect = w.difference,
        .variance = variance,
        .df = w.df,
        .units = stats_serial_factor(e->base.nr, serial) / nb +
                 stats_serial_factor(e->head.nr, serial) / nh,
        .least = change_inner(&e->base) / nb + change_inner(&e->head) / nh,
        .price = 1,
        .p_before = 1,
    };
}

size_t change_run_means(const struct compare_row *row, const struct evidence_side *side,
                        struct run_mean *out)
{
    size_t nr = 0;

    for (size_t i = 0; i < side->nr; i++) {
        const struct evidence_value *v = &side->values[i];
        if (nr == 0 || out[nr - 1].run != v->occasion)
            out[nr++] = (struct run_mean) { .run = v->occasion };
        out[nr - 1].launches++;
        out[nr - 1].mean += change_log(row, v);
    }
    for (size_t i = 0; i < nr; i++)
        out[i].mean /= (double)out[i].launches;
    return nr;
}

/* One side of a design with several runs. */
struct side_runs {
    struct run_mean *runs; /* owned */
    size_t nr, launches;
    double mean;         /* of the run means */
    double between;      /* sum of their squares about it, without what is common to the family */
    double within;       /* sum of squares of launches about their runs */
    double launch_units; /* variance of `mean` over that of a launch, where only launches differ */
};

static double common_of(const double *common, size_t nr, int run)
{
    return (size_t)run < nr ? common[run] : 0;
}

static void measure_runs(const struct compare_row *row, const struct evidence_side *side,
                         double serial, const double *common, size_t nr_common, struct side_runs *s)
{
    *s = (struct side_runs) { .launches = side->nr };
    s->runs = memory_zeroed(side->nr, sizeof(*s->runs));
    s->nr = change_run_means(row, side, s->runs);
    double own_mean = 0, nr = (double)s->nr;

    for (size_t i = 0; i < s->nr; i++) {
        s->mean += s->runs[i].mean / nr;
        own_mean += (s->runs[i].mean - common_of(common, nr_common, s->runs[i].run)) / nr;
        s->launch_units += stats_serial_factor(s->runs[i].launches, serial) /
                           ((double)s->runs[i].launches * nr * nr);
    }
    for (size_t i = 0, at = 0; i < s->nr; i++) {
        double own = s->runs[i].mean - common_of(common, nr_common, s->runs[i].run) - own_mean;
        s->between += own * own;
        for (size_t end = at + s->runs[i].launches; at < end; at++) {
            double d = change_log(row, &side->values[at]) - s->runs[i].mean;
            s->within += d * d;
        }
    }
}

/* Mean of 1/launches over the runs: what launches add to the variance of a run mean. */
static double launches_share(const struct side_runs *a, const struct side_runs *b)
{
    double sum = 0;

    for (size_t i = 0; i < a->nr; i++)
        sum += 1 / (double)a->runs[i].launches;
    for (size_t i = 0; i < b->nr; i++)
        sum += 1 / (double)b->runs[i].launches;
    return sum / (double)(a->nr + b->nr);
}

struct change change_from_runs(struct compare_row *row, double serial, const struct common *common)
{
    const struct evidence *e = &row->item->evidence;
    struct side_runs b, h;

    measure_runs(row, &e->base, serial, common->base, common->nr_base, &b);
    measure_runs(row, &e->head, serial, common->head, common->nr_head, &h);
    double df = (double)(b.nr + h.nr) - 2, units = 1 / (double)b.nr + 1 / (double)h.nr;
    double launch_df = (double)(b.launches + h.launches - b.nr - h.nr);
    double launch = launch_df > 0 ? (b.within + h.within) / launch_df : NAN;
    double least = isnan(launch) ? 0 : launch * (b.launch_units + h.launch_units);
    double between = (b.between + h.between) / df;
    struct change ch = {
        .row = row,
        .effect = h.mean - b.mean,
        .variance = fmax(between, smallest_variance),
        .df = df,
        .units = units,
        .least = least,
        .least_df = launch_df,
        .shared = common->df > 0 ? common->variance * units : 0,
        .shared_df = common->df,
        .price = 1,
        .p_before = 1,
    };

    set_noise(row, launch);
    row->noise.occasion =
        left_over(between + common->variance, isnan(launch) ? 0 : launch * launches_share(&b, &h));
    row->base.value = exp(compare_sign(row) * b.mean);
    row->head.value = exp(compare_sign(row) * h.mean);
    row->probe = expm1(probe_mean(&e->head) - probe_mean(&e->base));
    free(b.runs);
    free(h.runs);
    return ch;
}

/* With what the family adds: Satterthwaite's degrees of freedom. */
static struct error_term error_of(const struct change *ch, double variance, double df)
{
    double all = variance + ch->added;

    if (ch->added > 0)
        df = all * all / (variance * variance / df + ch->added * ch->added / ch->added_df);
    return (struct error_term) { sqrt(all), df };
}

static struct error_term coarse(const struct change *ch)
{
    return error_of(ch, ch->variance * ch->units, ch->df);
}

static struct error_term fine(const struct change *ch)
{
    return error_of(ch, ch->least, ch->least_df > 0 ? ch->least_df : ch->df);
}

/* Can the fine term be the worse one? */
static bool fine_counts(const struct change *ch)
{
    return ch->least > ch->variance * ch->units ||
           (ch->least > 0 && ch->least_df > 0 && ch->least_df < ch->df);
}

struct error_term change_error(const struct change *ch)
{
    struct error_term a = coarse(ch), b = fine_counts(ch) ? fine(ch) : a;

    return b.se > a.se ? b : a;
}

static double tail_of(const struct change *ch, struct error_term e)
{
    return fmin(stats_t_cdf((ch->null_high - ch->effect) / e.se, e.df),
                stats_t_cdf((ch->effect - ch->null_low) / e.se, e.df));
}

double change_p(const struct change *ch)
{
    double tail = tail_of(ch, coarse(ch));

    if (fine_counts(ch))
        tail = fmax(tail, tail_of(ch, fine(ch)));
    return fmin(ch->p_before, 2 * ch->price * tail);
}

static double quantile_of(double tail, struct error_term e)
{
    return stats_t_quantile(1 - tail, e.df) * e.se;
}

double change_reach(const struct change *ch, double tail)
{
    double reach = quantile_of(tail / ch->price, coarse(ch));

    return fine_counts(ch) ? fmax(reach, quantile_of(tail / ch->price, fine(ch))) : reach;
}

double change_half(const struct change *ch)
{
    double half = change_reach(ch, 0.05);
    struct error_term shared = { sqrt(ch->shared), ch->shared_df };

    /* Half widths of independent parts add like the parts' errors (Zou and Donner 2008). */
    return ch->shared > 0 ? hypot(half, quantile_of(0.05 / ch->price, shared)) : half;
}
