/* SPDX-License-Identifier: MIT */
/* What lies between two runs, where one comparison cannot show it; compare.h has the rule. */
#include "verdict/compare_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is to be expected before anything is seen: with this chance nothing at all, else a standard
 * deviation of about this size. One benchmark alone has nothing else: the numbers are such that its
 * 90 % interval holds the truth in 85 % and more where runs differ by 2 % each. */
static const double nothing_between = 0.6, usual_between = 0.025;
/* The floor that goes with these, see struct earlier. */
static const double usual_floor = 0.03;
static const double least_step = 0.002, step_ratio = 1.25;
/* What is less likely than this is left out. */
static const double unlikely = 1e-4;
/* Rows far out are taken for changed, and so the scatter for smaller than it is: by that much. */
static const double far_out = 1.12;
/* One row in ten may have changed, and one in any case, by so much in the mean, better or worse. */
static const double changed_share = 0.1, usual_change = 0.1;
/* Or as good as half of them did, all the same way: about so many, and each kind of that so much
 * less often than the usual. From four rows on: the half of fewer is one. */
static const double half_share = 0.4, half_chance = 0.1;
/* And so often, where anything lies between runs, it is two modes of each row. */
static const double modes_chance = 0.1;
enum { HALVES_MIN = 4, GUESSES = 4, CLUSTERS = 3 };
/* All that is of earlier runs is worth no more than so many rows of the comparison itself. */
static const double earlier_most = 20;
/* Degrees of freedom of a row's usual error of a run, about. */
static const double earlier_df = 30, smallest_square = 1e-12;
static const double pi = 3.14159265358979;

double change_effect(const struct change *ch)
{
    return ch->effect;
}

double stratum_median(const struct stratum *s, double (*field)(const struct change *ch))
{
    double *values = memory_zeroed(s->nr ? s->nr : 1, sizeof(*values));

    for (size_t i = 0; i < s->nr; i++)
        values[i] = field(s->items[i]);
    double median = stats_median(values, s->nr);
    free(values);
    return median;
}

static void between_prior(struct spread *s, double scale)
{
    double sum = 0, sd = least_step * scale;

    s->nr = ERRORS_MAX;
    s->variance[0] = 0;
    for (size_t i = 1; i < s->nr; i++, sd *= step_ratio) {
        double from = sd / (usual_between * scale);
        s->variance[i] = sd * sd;
        s->weight[i] = sd * sd * pow(1 + from * from / 3, -2.5);
        sum += s->weight[i];
    }
    for (size_t i = 1; i < s->nr; i++)
        s->weight[i] *= (1 - nothing_between) / sum;
    s->weight[0] = nothing_between;
}

/* How effects scatter: each with its own error. */
struct scatter {
    double *effects;          /* owned */
    struct error_term *error; /* owned */
    size_t nr;
};

static void scatter_init(struct scatter *s, size_t capacity)
{
    s->effects = memory_zeroed(capacity, sizeof(*s->effects));
    s->error = memory_zeroed(capacity, sizeof(*s->error));
    s->nr = 0;
}

static void scatter_add(struct scatter *s, double effect, struct error_term error)
{
    s->effects[s->nr] = effect;
    s->error[s->nr++] = error;
}

static void scatter_release(struct scatter *s)
{
    free(s->effects);
    free(s->error);
}

static double *sorted_effects(const struct scatter *s)
{
    double *values = memory_zeroed(s->nr, sizeof(*values));

    memcpy(values, s->effects, s->nr * sizeof(*values));
    stats_sort(values, s->nr);
    return values;
}

static double scatter_median(const struct scatter *s)
{
    double *values = sorted_effects(s);
    double median = stats_median(values, s->nr);

    free(values);
    return median;
}

/* Median of the errors' squares. */
static double own_square(const struct scatter *s)
{
    double *squares = memory_zeroed(s->nr, sizeof(*squares));

    for (size_t i = 0; i < s->nr; i++)
        squares[i] = s->error[i].se * s->error[i].se;
    double median = stats_median(squares, s->nr);
    free(squares);
    return median;
}

/* ---- what may have become of the rows ---- */

/* Where they lie: the error alone scatters them about a cluster, and the rest changed. */
struct guess {
    double at[CLUSTERS], share[CLUSTERS]; /* the first is of those that did not change */
    double changed;                       /* share that changed by anything, better or worse */
    double moved;  /* share that changed by anything, all of them the same way ... */
    int way;       /* ... +1 or -1 */
    double fitted; /* rows from which a second cluster was fitted, 0: none was ... */
    double prior;  /* ... and how likely it was there before, as a density */
};

static double student_density(double from, struct error_term e)
{
    double square = e.se * e.se, df = e.df;

    return exp(lgamma(0.5 * df + 0.5) - lgamma(0.5 * df) -
               (0.5 * df + 0.5) * log1p(from * from / square / df)) /
           sqrt(pi * df * square);
}

/* How likely a row is beyond where those that moved begin: of half of the rows that may be far. */
static double moved_density(double distance)
{
    return usual_change / pow(usual_change + distance, 2);
}

static double row_density(const struct guess *g, double effect, struct error_term e)
{
    double from = effect - g->at[0], distance = fabs(from);
    double sum = g->changed * exp(-distance / usual_change) / (2 * usual_change);

    if (from * g->way > 0)
        sum += g->moved * moved_density(distance);
    for (size_t i = 0; i < CLUSTERS && g->share[i] > 0; i++)
        sum += g->share[i] * student_density(effect - g->at[i], e);
    return sum;
}

/* Log of how well the effects are explained where `added` lies between the runs. The first term
 * pays for that the guess's middle was fitted, the second for that of another cluster. */
static double log_evidence(const struct scatter *s, const struct guess *g, double added)
{
    double square = own_square(s) + added, sum = 0.5 * (1 - 1 / (double)s->nr) * log(square);

    if (g->fitted > 0)
        sum += 0.5 * log(2 * pi * square / g->fitted) + log(g->prior);
    for (size_t i = 0; i < s->nr; i++)
        sum += log(row_density(g, s->effects[i], change_error_with(s->error[i], added)));
    return sum;
}

/* A few changed; `middle` stands for what all share. */
static struct guess few_changed(double middle, double share)
{
    return (struct guess) { .at = { middle }, .share = { 1 - share }, .changed = share };
}

/* The rows in two halves: those that lie closest together, and the rest. */
struct halves {
    double dense, rest; /* their medians */
    double apart;       /* how far the rest lies from the dense half, in the median */
    double nr_rest;
};

static struct halves split_scatter(const struct scatter *s)
{
    double *x = sorted_effects(s);
    size_t half = (s->nr + 1) / 2, nr = s->nr - half, at = 0;
    double *rest = memory_zeroed(nr, sizeof(*rest));

    for (size_t i = 0; i <= nr; i++)
        if (x[i + half - 1] - x[i] < x[at + half - 1] - x[at])
            at = i;
    memcpy(rest, x, at * sizeof(*rest));
    memcpy(rest + at, x + at + half, (nr - at) * sizeof(*rest));
    struct halves h = { .dense = stats_median(x + at, half), .nr_rest = (double)nr };
    h.rest = stats_median(rest, nr);
    for (size_t i = 0; i < nr; i++)
        rest[i] = fabs(rest[i] - h.dense);
    h.apart = stats_median(rest, nr);
    free(x);
    free(rest);
    return h;
}

/* About half of them changed the same way, by anything or all by as much: their median says nothing
 * then, it lies in the gap or among those that changed. */
static size_t half_changed(const struct halves *h, double share, struct guess *out)
{
    double stayed = 1 - share - half_share;

    for (int i = 0; i < 2; i++)
        out[i] = (struct guess) { .at = { h->dense },
                                  .share = { stayed },
                                  .changed = share,
                                  .moved = half_share,
                                  .way = i ? -1 : 1 };
    out[2] = (struct guess) { .at = { h->dense, h->rest },
                              .share = { stayed, half_share },
                              .changed = share,
                              .fitted = h->nr_rest,
                              .prior = moved_density(fabs(h->rest - h->dense)) / 2 };
    return 3;
}

/* Log of a sum of which the logs are given. */
static double log_add(double a, double b)
{
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* Each run has each row in one of two modes: no change, but what lies between the runs, and as much
 * as two modes make. It looks like half of the rows that changed, if not all of them the same way.
 * Modes that are closer than the errors cannot be told from none: how close, down to the last bit
 * of a logarithm, makes them no likelier. `prior`: logs of what was likely before, of each
 * variance. */
static void heed_modes(const struct scatter *s, const struct halves *h, double share,
                       const double *prior, struct spread *between)
{
    double apart = fmax(h->apart, sqrt(own_square(s)));
    size_t i = 1;

    while (i + 1 < between->nr && between->variance[i] < h->apart * h->apart / 2)
        i++;
    double even = (1 - share) / 4;
    struct guess modes = { .at = { h->dense, h->dense + h->apart, h->dense - h->apart },
                           .share = { 2 * even, even, even },
                           .changed = share,
                           .fitted = h->nr_rest,
                           .prior = exp(prior[i]) / (log(step_ratio) * apart) };

    between->weight[i] =
        log_add(between->weight[i], log(modes_chance) + log_evidence(s, &modes, 0));
}

/* What the family itself says. One of its rows may have changed in any case: that is asked. */
static void weigh_scatter(const struct scatter *s, struct spread *between)
{
    double share = changed_share + (1 - changed_share) / (double)s->nr, prior[ERRORS_MAX];
    struct guess guesses[GUESSES] = { few_changed(scatter_median(s), share) };
    struct halves halves = { 0 };
    size_t nr = 1;

    if (s->nr >= HALVES_MIN) {
        halves = split_scatter(s);
        nr += half_changed(&halves, share, guesses + 1);
    }
    memcpy(prior, between->weight, sizeof(prior));
    for (size_t i = 0; i < between->nr; i++) {
        double sum = log_evidence(s, &guesses[0], between->variance[i]);
        for (size_t k = 1; k < nr; k++)
            sum =
                log_add(sum, log(half_chance) + log_evidence(s, &guesses[k], between->variance[i]));
        between->weight[i] += sum;
    }
    if (nr > 1)
        heed_modes(s, &halves, share, prior, between);
}

static void heed_family(const struct stratum *s, struct spread *between)
{
    struct scatter family;

    scatter_init(&family, s->nr);
    for (size_t i = 0; i < s->nr; i++)
        scatter_add(&family, s->items[i]->effect, change_own_error(s->items[i]));
    weigh_scatter(&family, between);
    scatter_release(&family);
}

/* ---- earlier runs ---- */

static const struct evidence_side *earlier_of(const struct change *ch)
{
    return &ch->row->item->evidence.earlier;
}

/* The error of a difference of two earlier runs: the row's usual one. */
static struct error_term earlier_error(const struct evidence_side *side)
{
    double *squares = memory_zeroed(side->nr, sizeof(*squares));

    for (size_t i = 0; i < side->nr; i++)
        squares[i] = side->values[i].inner;
    double usual = fmax(stats_median(squares, side->nr), smallest_square);
    free(squares);
    return (struct error_term) { sqrt(2 * usual), earlier_df };
}

/* The rows' changes from earlier run `run` to the next. */
static void scatter_of_step(const struct stratum *s, int run, struct scatter *out)
{
    scatter_init(out, s->nr);
    for (size_t i = 0; i < s->nr; i++) {
        const struct evidence_side *side = earlier_of(s->items[i]);
        for (size_t j = 0; j + 1 < side->nr; j++)
            if (side->values[j].run == run && side->values[j + 1].run == run + 1)
                scatter_add(out,
                            change_log(s->items[i]->row, &side->values[j + 1]) -
                                change_log(s->items[i]->row, &side->values[j]),
                            earlier_error(side));
    }
}

static int last_earlier(const struct stratum *s)
{
    int last = 0;

    for (size_t i = 0; i < s->nr; i++) {
        const struct evidence_side *side = earlier_of(s->items[i]);
        if (side->nr > 0 && side->values[side->nr - 1].run > last)
            last = side->values[side->nr - 1].run;
    }
    return last;
}

/* Each earlier run against the next is a comparison, too, of which nobody asks. As in the family,
 * what all share is their median; one row alone has none. Adds to `logs` beside the variances of
 * `between`; returns how many differences there are. */
static size_t heed_step(const struct stratum *s, int run, const struct spread *between,
                        double *logs, struct earlier *earlier)
{
    struct scatter step;

    scatter_of_step(s, run, &step);
    size_t nr = step.nr;
    if (nr > 0) {
        double middle = scatter_median(&step);
        struct guess few = few_changed(middle * ((double)nr - 1) / (double)nr, changed_share);
        for (size_t i = 0; i < between->nr; i++)
            logs[i] += log_evidence(&step, &few, between->variance[i]);
        earlier->steps++;
        earlier->squares += middle * middle;
    }
    scatter_release(&step);
    return nr;
}

static void heed_earlier(const struct stratum *s, struct spread *between, struct earlier *earlier)
{
    double logs[ERRORS_MAX] = { 0 };
    size_t nr = 0;

    for (int run = 0, last = last_earlier(s); run < last; run++)
        nr += heed_step(s, run, between, logs, earlier);
    double worth = nr > 0 ? fmin(EARLIER_STEP_WORTH, earlier_most / (double)nr) : 0;
    for (size_t i = 0; i < between->nr; i++)
        between->weight[i] += worth * logs[i];
}

/* ---- all of it ---- */

/* From logs to weights that add up to 1, without what is unlikely. */
static void normalise_weights(struct spread *s)
{
    double sum = 0, best = -INFINITY;
    size_t kept = 0;

    for (size_t i = 0; i < s->nr; i++)
        best = fmax(best, s->weight[i]);
    for (size_t i = 0; i < s->nr; i++) {
        double weight = exp(s->weight[i] - best);
        if (weight < unlikely)
            continue;
        s->variance[kept] = far_out * s->variance[i];
        s->weight[kept++] = weight;
        sum += weight;
    }
    s->nr = kept;
    for (size_t i = 0; i < kept; i++)
        s->weight[i] /= sum;
}

void family_between(const struct stratum *s, struct spread *between, struct earlier *earlier)
{
    double floor = s->items[0]->row->item->metric->floor;

    *earlier = (struct earlier) { .scale = floor > 0 ? floor / usual_floor : 1 };
    between_prior(between, earlier->scale);
    for (size_t i = 0; i < between->nr; i++)
        between->weight[i] = log(between->weight[i]);
    heed_family(s, between);
    heed_earlier(s, between, earlier);
    normalise_weights(between);
}

double spread_mean(const struct spread *s)
{
    double mean = 0;

    for (size_t i = 0; i < s->nr; i++)
        mean += s->weight[i] * s->variance[i];
    return mean;
}
