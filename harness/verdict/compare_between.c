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
/* All that is of earlier runs is worth no more than so many rows of the comparison itself. */
static const double earlier_most = 20;
/* Degrees of freedom of a row's usual error of a run, about. */
static const double earlier_df = 30, smallest_square = 1e-12;

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

static double scatter_median(const struct scatter *s)
{
    double *values = memory_zeroed(s->nr, sizeof(*values));

    memcpy(values, s->effects, s->nr * sizeof(*values));
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

/* Log of how well the effects are explained where `added` lies between the runs and `share` of them
 * may have changed. `middle`, their median, stands for what all share; the last term pays for that
 * it was fitted. */
static double explains(const struct scatter *s, double middle, double share, double added)
{
    double sum = 0.5 * (1 - 1 / (double)s->nr) * log(own_square(s) + added);

    for (size_t i = 0; i < s->nr; i++) {
        struct error_term e = change_error_with(s->error[i], added);
        double square = e.se * e.se, df = e.df;
        double from = s->effects[i] - middle;
        double density = exp(lgamma(0.5 * df + 0.5) - lgamma(0.5 * df) -
                             (0.5 * df + 0.5) * log1p(from * from / square / df)) /
                         sqrt(3.14159265358979 * df * square);
        sum += log((1 - share) * density +
                   share * exp(-fabs(from) / usual_change) / (2 * usual_change));
    }
    return sum;
}

/* What the family itself says. One of its rows may have changed in any case: that is asked. */
static void heed_family(const struct stratum *s, struct spread *between)
{
    double share = changed_share + (1 - changed_share) / (double)s->nr;
    struct scatter family;

    scatter_init(&family, s->nr);
    for (size_t i = 0; i < s->nr; i++)
        scatter_add(&family, s->items[i]->effect, change_own_error(s->items[i]));
    double middle = scatter_median(&family);
    for (size_t i = 0; i < between->nr; i++)
        between->weight[i] += explains(&family, middle, share, between->variance[i]);
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
            if (side->values[j].occasion == run && side->values[j + 1].occasion == run + 1)
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
        if (side->nr > 0 && side->values[side->nr - 1].occasion > last)
            last = side->values[side->nr - 1].occasion;
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
        double shared = middle * ((double)nr - 1) / (double)nr;
        for (size_t i = 0; i < between->nr; i++)
            logs[i] += explains(&step, shared, changed_share, between->variance[i]);
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
static void weigh(struct spread *s)
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
    weigh(between);
}

double spread_mean(const struct spread *s)
{
    double mean = 0;

    for (size_t i = 0; i < s->nr; i++)
        mean += s->weight[i] * s->variance[i];
    return mean;
}
