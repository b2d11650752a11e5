/* SPDX-License-Identifier: MIT */
/* What the files of compare share; compare.h is for everyone else. */
#ifndef HARNESS_VERDICT_COMPARE_PARTS_H
#define HARNESS_VERDICT_COMPARE_PARTS_H

#include "base/array.h"
#include "verdict/compare.h"

/* The metrics of the settings, looked up, each once. */
struct compare_metrics {
    const struct metric *items[COMPARE_METRICS_MAX];
    size_t nr;
    bool rest_by_last; /* the last is for what has none of the others, too */
    struct {
        const char *text; /* "[FILTER:]ID"; borrowed */
        const struct metric *metric;
    } asked[COMPARE_ASKED_MAX];
    size_t nr_asked;
};

struct item_list {
    struct compare_item *items;
    size_t nr, capacity;
};

/* Joins the two sides into items, in reading order; what neither side can run is counted only. */
void compare_collect(const struct compare_sides *sides, const struct compare_settings *settings,
                     const struct compare_metrics *metrics, struct item_list *out,
                     size_t *unsupported);

/* An error of the effect, and how well it is known. */
struct error_term {
    double se, df;
};

/* What the error may be, where a part of it is not known: each possibility by its weight. */
enum { ERRORS_MAX = 24 };
struct errors {
    struct error_term coarse[ERRORS_MAX], fine[ERRORS_MAX]; /* the worse counts; fine.df 0: none */
    double weight[ERRORS_MAX];                              /* they add up to 1 */
    size_t nr;
};

/* Variances that may be added to a variance, by their weights, which add up to 1. */
struct spread {
    double variance[ERRORS_MAX], weight[ERRORS_MAX];
    size_t nr;
};

/* What one row's values say of its change, in logs that are worse when positive. */
struct change {
    struct compare_row *row;
    double effect;
    double variance, df;      /* of one unit of evidence (launch, run, block), and how well known */
    double units;             /* variance of the effect = variance x units */
    double least, least_df;   /* what finer evidence says of that: the worse counts; df 0: as df */
    struct errors errors;     /* of the effect, with what lies beyond that evidence */
    double shared, shared_df; /* what all rows of the metric share: counts in the interval alone */
    double null_low, null_high;   /* effects that need no change of the program */
    double share_low, share_high; /* what of the effect may be the machine's: widens the interval */
    double price;                 /* factor that p-values pay for looks; 1 for one look */
    double doubt;                 /* and for what the family's launches do by chance; 1: nothing */
    double p_before;              /* smallest p-value of earlier looks, paid for; else 1 */
};

/* What each run has in common with the others of its side, over the rows of one metric and class of
 * machines: a state of the machine. */
struct common {
    double *base, *head; /* by run; logs; owned */
    size_t nr_base, nr_head;
    double variance, df; /* of one run; df 0: not known */
};

/* By the design of the row's evidence; they fill row->noise and probe, too. `serial` is the
 * correlation of successive launches. */
struct change change_from_launches(struct compare_row *row, double serial);
struct change change_from_runs(struct compare_row *row, double serial, const struct common *common);
struct change change_from_blocks(struct compare_row *row);

/* The larger of the row's own error terms: what its evidence shows, and nothing beyond. */
struct error_term change_own_error(const struct change *ch);
/* With a variance that is known added to its square. */
struct error_term change_error_with(struct error_term e, double added);
/* Fills the errors: the row's own terms, with a variance that each may have more. NULL: none. */
void change_set_errors(struct change *ch, const struct spread *added);
/* One error that stands for all: their variance in the mean. */
struct error_term change_error(const struct change *ch);
/* Two-sided p-value of "the effect lies in the null interval", paid for. */
double change_p(const struct change *ch);
/* How far from the null interval an effect has to lie for a one-sided p-value of `tail`. */
double change_reach(const struct change *ch, double tail);
/* Half of the 90 % interval. */
double change_half(const struct change *ch);

/* The value of a launch: its log, worse when positive. */
double change_log(const struct compare_row *row, const struct evidence_value *value);
/* The same of a whole side, with wild launches drawn in (row->reach). free() it. */
double *change_logs(const struct compare_row *row, const struct evidence_side *side);
/* Draws in the values that lie farther than `reach` from their median; returns how many. A `reach`
 * of NaN draws in none. */
size_t change_draw_in(double *logs, size_t nr, double reach);

/* The mean of one run of a row's side. */
struct run_mean {
    int run;
    size_t launches;
    double mean;
};
/* Run means of a side in order; `out` has room for side->nr. Returns how many. */
size_t change_run_means(const struct compare_row *row, const struct evidence_side *side,
                        struct run_mean *out);

/* ---- the family: rows that are alike, of one metric and design ---- */

struct stratum {
    struct change **items; /* owned; what they point to is not */
    size_t nr;
};

double change_effect(const struct change *ch);
double stratum_median(const struct stratum *s, double (*field)(const struct change *ch));

/* Moves a variance towards the family's, unless it is too noisy to belong there (false). */
bool family_moderate(const struct variance_prior *prior, double *variance, double *df);
/* Is row i the first of its metric? */
bool family_first_of_metric(struct compare_row *const *rows, size_t i);
/* Sets how far from its side's median a launch of each row may lie before it is wild. */
void family_draw_in(struct compare_row *const *rows, size_t nr);
/* Of so many launches of a side: how many pairs of them that looks at. */
size_t outliers_pairs(size_t launches);
/* Successive differences share a run, and so are worth two thirds of as many others. */
#define EARLIER_STEP_WORTH (2.0 / 3)

/* What earlier runs of the machine say of what two runs differ by in all rows alike. */
struct earlier {
    size_t steps;   /* pairs of successive runs */
    double squares; /* sum of the squares of the rows' median change over each */
    double scale;   /* of what is usual before anything is seen: a metric that brings a floor of its
                     * own scatters between runs by as much less or more than time does */
};

/* What may lie between two runs beyond what launches show, from the rows' effects and own errors
 * and from earlier runs, if there are any. */
void family_between(const struct stratum *s, struct spread *between, struct earlier *earlier);
double spread_mean(const struct spread *s);
/* Sets the doubt of each change: launches dealt out otherwise, between the sides of their row, must
 * not show such changes more often than the p-values say. */
void family_deal_out(const struct stratum *s, const struct variance_prior *prior);

/* Correlation of successive launches, pooled over the rows and freed of its small-sample bias; NaN
 * where they are too few to tell. */
double family_serial(struct compare_row *const *rows, size_t nr);
/* Measures the changes of the `nr` rows and adds what only the family can tell: how alike
 * successive launches are, how noisy a benchmark of this kind is, what lies between one run and
 * another. Sets serial and run_noise of `c`. */
void family_measure(struct comparison *c, struct compare_row *const *rows, struct change *changes,
                    size_t nr);
/* Median over the family's rows; NaN members are left out, NaN if none is left. */
double family_median(struct compare_row *const *rows, size_t nr,
                     double (*field)(const struct compare_row *row));

/* Judges the family: every row that is still undecided and has enough launches. */
void compare_judge(struct comparison *c);

/* Adds the notes about the verdicts, and those about the runs. Need the counts. */
void compare_notes(struct comparison *c);
/* Which plugins and programs, beside the harness itself, are other files in base and head. `where`:
 * "", or " on machine class ...". */
void compare_guest_notes(struct comparison *c, const struct run *base, const struct run *head,
                         const char *where);
/* Runs that were measured in turn and are no pairs all the same. */
void compare_pair_notes(struct comparison *c, const struct records *base,
                        const struct records *head);
void compare_run_notes(struct comparison *c, const struct records *base,
                       const struct records *head);

bool compare_in_family(const struct compare_row *row);
/* Has it launches (or blocks) enough, of which some have 0? No logs tell of it then. */
bool compare_by_zeros(const struct compare_row *row);
size_t evidence_zeros(const struct evidence_side *side);
/* Is a launch of either side below 0? */
bool compare_below_zero(const struct compare_row *row);
/* Either of that: more launches would not tell more. */
bool compare_without_ratios(const struct compare_row *row);
/* +1 where a larger value is worse, else -1. */
double compare_sign(const struct compare_row *row);

#endif
