/* SPDX-License-Identifier: MIT */
/* What one row's own values say of its change; compare.h has the rule and its sources. */
#include "verdict/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No clock gives a benchmark less noise from launch to launch than this; it keeps t finite. */
static const double smallest_variance = 1e-12;

double change_log(const struct compare_row *row, const struct evidence_value *value)
{
    return compare_sign(row) * log(value->value);
}

/* Mean variance that the samples inside the launches account for; 0 if not known. */
static double change_inner(const struct evidence_side *side)
{
    double sum = 0;

    for (size_t i = 0; i < side->nr; i++)
        sum += side->values[i].inner;
    return side->nr ? sum / (double)side->nr : 0;
}

size_t change_draw_in(double *logs, size_t nr, double reach)
{
    size_t wild = 0;

    if (isnan(reach) || nr == 0)
        return 0;
    double *sorted = memory_zeroed(nr, sizeof(*sorted));
    memcpy(sorted, logs, nr * sizeof(*sorted));
    double middle = stats_median(sorted, nr);
    free(sorted);
    for (size_t i = 0; i < nr; i++) {
        double from = logs[i] - middle;
        if (fabs(from) <= reach)
            continue;
        logs[i] = middle + copysign(reach, from);
        wild++;
    }
    return wild;
}

double *change_logs(const struct compare_row *row, const struct evidence_side *side)
{
    double *logs = memory_zeroed(side->nr ? side->nr : 1, sizeof(*logs));

    for (size_t i = 0; i < side->nr; i++)
        logs[i] = change_log(row, &side->values[i]);
    change_draw_in(logs, side->nr, row->reach);
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

/* One side of a design with one run a side. */
struct side_mean {
    double mean, square, df; /* square: of its standard error */
};

/* Wild launches count with the value that they were drawn in to, and not as launches (Yuen 1974, on
 * winsorised spreads of trimmed means): so little that one of them cannot decide. */
static struct side_mean measure_side(const struct compare_row *row,
                                     const struct evidence_side *side, size_t *wild)
{
    double *logs = change_logs(row, side), n = (double)side->nr, sd = stats_sd(logs, side->nr);
    size_t drawn = 0;

    for (size_t i = 0; i < side->nr; i++)
        drawn += logs[i] != change_log(row, &side->values[i]);
    double counted = fmax(n - (double)drawn, 2);
    struct side_mean m = { stats_mean(logs, side->nr), sd * sd * (n - 1) / (counted - 1) / counted,
                           counted - 1 };

    free(logs);
    *wild += drawn;
    return m;
}

struct change change_from_launches(struct compare_row *row, double serial)
{
    const struct evidence *e = &row->item->evidence;
    double nb = (double)e->base.nr, nh = (double)e->head.nr;

    row->wild = 0;
    struct side_mean b = measure_side(row, &e->base, &row->wild);
    struct side_mean h = measure_side(row, &e->head, &row->wild);
    double square = fmax(b.square + h.square, smallest_variance);
    double variance = square / (1 / nb + 1 / nh);

    set_noise(row, variance);
    row->base.value = exp(compare_sign(row) * b.mean);
    row->head.value = exp(compare_sign(row) * h.mean);
    row->probe = expm1(probe_mean(&e->head) - probe_mean(&e->base));
    return (struct change) {
        .row = row,
        .effect = h.mean - b.mean,
        .variance = variance,
        .df = square * square /
              fmax(b.square * b.square / b.df + h.square * h.square / h.df,
                   smallest_variance * smallest_variance),
        .units = stats_serial_factor(e->base.nr, serial) / nb +
                 stats_serial_factor(e->head.nr, serial) / nh,
        .least = change_inner(&e->base) / nb + change_inner(&e->head) / nh,
        .price = 1,
        .doubt = 1,
        .p_before = 1,
    };
}

size_t change_run_means(const struct compare_row *row, const struct evidence_side *side,
                        struct run_mean *out)
{
    size_t nr = 0;

    for (size_t i = 0; i < side->nr; i++) {
        const struct evidence_value *v = &side->values[i];
        if (nr == 0 || out[nr - 1].run != v->run)
            out[nr++] = (struct run_mean) { .run = v->run };
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
        .doubt = 1,
        .p_before = 1,
    };

    set_noise(row, launch);
    row->noise.run =
        left_over(between + common->variance, isnan(launch) ? 0 : launch * launches_share(&b, &h));
    row->base.value = exp(compare_sign(row) * b.mean);
    row->head.value = exp(compare_sign(row) * h.mean);
    row->probe = expm1(probe_mean(&e->head) - probe_mean(&e->base));
    free(b.runs);
    free(h.runs);
    return ch;
}

static struct error_term coarse_error(const struct change *ch)
{
    return (struct error_term) { sqrt(ch->variance * ch->units), ch->df };
}

/* Only where it can be the worse one. */
static struct error_term fine_error(const struct change *ch)
{
    bool counts = ch->least > ch->variance * ch->units ||
                  (ch->least > 0 && ch->least_df > 0 && ch->least_df < ch->df);

    return (struct error_term) { sqrt(ch->least), !counts            ? 0
                                                  : ch->least_df > 0 ? ch->least_df
                                                                     : ch->df };
}

struct error_term change_own_error(const struct change *ch)
{
    struct error_term a = coarse_error(ch), b = fine_error(ch);

    return b.df > 0 && b.se > a.se ? b : a;
}

/* Satterthwaite's degrees of freedom. Beyond so many all are alike, and what is computed from them
 * loses its digits. */
struct error_term change_error_with(struct error_term e, double added)
{
    static const double most = 1e5;
    double own = e.se * e.se, all = own + added;

    if (!(e.df > 0))
        return e;
    return (struct error_term) { sqrt(all), fmin(e.df * pow(all / own, 2), most) };
}

void change_set_errors(struct change *ch, const struct spread *added)
{
    static const struct spread none = { { 0 }, { 1 }, 1 };
    const struct spread *s = added ? added : &none;

    ch->errors.nr = s->nr;
    for (size_t i = 0; i < s->nr; i++) {
        ch->errors.coarse[i] = change_error_with(coarse_error(ch), s->variance[i]);
        ch->errors.fine[i] = change_error_with(fine_error(ch), s->variance[i]);
        ch->errors.weight[i] = s->weight[i];
    }
}

struct error_term change_error(const struct change *ch)
{
    const struct errors *e = &ch->errors;
    double square = 0, inverse = 0;

    for (size_t i = 0; i < e->nr; i++) {
        bool other = e->fine[i].df > 0 && e->fine[i].se > e->coarse[i].se;
        struct error_term worse = other ? e->fine[i] : e->coarse[i];
        square += e->weight[i] * worse.se * worse.se;
        inverse += e->weight[i] / worse.df;
    }
    return (struct error_term) { sqrt(square), 1 / inverse };
}

/* Chance of an error beyond `distance` to one side. */
static double tail_of(const struct errors *e, double distance)
{
    double tail = 0;

    for (size_t i = 0; i < e->nr; i++) {
        double one = stats_t_cdf(-distance / e->coarse[i].se, e->coarse[i].df);
        if (e->fine[i].df > 0)
            one = fmax(one, stats_t_cdf(-distance / e->fine[i].se, e->fine[i].df));
        tail += e->weight[i] * one;
    }
    return tail;
}

double change_p(const struct change *ch)
{
    double distance = fmax(ch->effect - ch->null_high, ch->null_low - ch->effect);

    return fmin(ch->p_before, 2 * ch->price * ch->doubt * tail_of(&ch->errors, distance));
}

static double quantile_of(double tail, struct error_term e)
{
    return e.df > 0 ? stats_t_quantile(1 - tail, e.df) * e.se : 0;
}

/* The distance whose tail it is: by bisection between the narrowest and the widest possibility,
 * on the logs of the tails, which are nearly straight (regula falsi, Illinois form). */
static double solve_reach(const struct errors *e, double tail)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < e->nr; i++) {
        double one = fmax(quantile_of(tail, e->coarse[i]), quantile_of(tail, e->fine[i]));
        low = fmin(low, one);
        high = fmax(high, one);
    }
    if (high <= low * (1 + 1e-9))
        return high;
    double a = log(tail_of(e, low) / tail), b = log(tail_of(e, high) / tail);
    for (int i = 0; i < 40 && high - low > 1e-4 * high; i++) {
        double at = a > 0 && b < 0 ? (low * b - high * a) / (b - a) : 0.5 * (low + high);
        double value = log(tail_of(e, at) / tail);
        if (fabs(value) < 1e-4)
            return at;
        if (value > 0) {
            low = at;
            a = value;
            b *= 0.5;
        } else {
            high = at;
            b = value;
            a *= 0.5;
        }
    }
    return high;
}

double change_reach(const struct change *ch, double tail)
{
    return solve_reach(&ch->errors, tail / ch->price);
}

double change_half(const struct change *ch)
{
    double half = change_reach(ch, 0.05);
    struct error_term shared = { sqrt(ch->shared), ch->shared_df };

    /* Half widths of independent parts add like the parts' errors (Zou and Donner 2008). */
    return ch->shared > 0 ? hypot(half, quantile_of(0.05 / ch->price, shared)) : half;
}
