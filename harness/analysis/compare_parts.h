/* SPDX-License-Identifier: MIT */
/* What the files of compare share; compare.h is for everyone else. */
#ifndef HARNESS_ANALYSIS_COMPARE_PARTS_H
#define HARNESS_ANALYSIS_COMPARE_PARTS_H

#include "analysis/compare.h"
#include "base/array.h"

/* The metrics of the settings, looked up. */
struct compare_metrics {
    const struct metric *items[COMPARE_METRICS_MAX];
    size_t nr;
};

struct item_list {
    struct compare_item *items;
    size_t nr, capacity;
};

/* Joins the two sides into items, in reading order; what neither side can run is counted only. */
void compare_collect(const struct records *base, const struct records *head,
                     const struct compare_settings *settings, const struct compare_metrics *metrics,
                     struct item_list *out, size_t *unsupported);

/* What one row's values say of its change, in logs that are worse when positive. */
struct change {
    struct compare_row *row;
    double effect;
    double variance, df;      /* of one unit of evidence (launch, run, block), and how well known */
    double units;             /* variance of the effect = variance x units */
    double least, least_df;   /* what finer evidence says of that: the worse counts; df 0: as df */
    double added, added_df;   /* variance of the effect beyond either, which the family tells */
    double shared, shared_df; /* what all rows of the family share: counts in the interval alone */
    double null_low, null_high; /* effects that need no change of the program */
    double price;               /* factor that p-values pay for looks; 1 for one look */
    double p_before;            /* smallest p-value of earlier looks, paid for; else 1 */
};

/* What each run has in common with the others of its side, over the family: a state of the
 * machine. */
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

/* An error of the effect, and how well it is known. */
struct error_term {
    double se, df;
};
/* The larger of the row's error terms, without what is shared. */
struct error_term change_error(const struct change *ch);
/* Two-sided p-value of "the effect lies in the null interval", paid for. */
double change_p(const struct change *ch);
/* How far from the null interval an effect has to lie for a one-sided p-value of `tail`. */
double change_reach(const struct change *ch, double tail);
/* Half of the 90 % interval. */
double change_half(const struct change *ch);

/* The value of a launch as it counts: its log, worse when positive. */
double change_log(const struct compare_row *row, const struct evidence_value *value);
/* Mean variance that the samples inside the launches account for; 0 if not known. */
double change_inner(const struct evidence_side *side);

/* The mean of one run of a row's side. */
struct run_mean {
    int run;
    size_t launches;
    double mean;
};
/* Run means of a side in order; `out` has room for side->nr. Returns how many. */
size_t change_run_means(const struct compare_row *row, const struct evidence_side *side,
                        struct run_mean *out);

/* Correlation of successive launches, pooled over the rows and freed of its small-sample bias; NaN
 * where they are too few to tell. */
double family_serial(struct compare_row *const *rows, size_t nr);
/* Measures the changes of the `nr` rows and adds what only the family can tell: how alike
 * successive launches are, how noisy a benchmark of this kind is, what lies between one run and
 * another. Sets serial and occasion of `c`. */
void family_measure(struct comparison *c, struct compare_row *const *rows, struct change *changes,
                    size_t nr);
/* Median over the family's rows; NaN members are left out, NaN if none is left. */
double family_median(struct compare_row *const *rows, size_t nr,
                     double (*field)(const struct compare_row *row));

/* Judges the family: every row that is still undecided and has enough launches. */
void compare_judge(struct comparison *c);

/* Counts what the rows say, and the exit status that follows. */
void compare_count(struct comparison *c);

/* Adds the notes about the verdicts, and those about the runs. Need the counts. */
void compare_notes(struct comparison *c);
/* Which plugins and programs, beside the harness itself, are other files in base and head. */
void compare_guest_notes(struct comparison *c, const struct run *base, const struct run *head);
void compare_run_notes(struct comparison *c, const struct records *base,
                       const struct records *head);

bool compare_in_family(const struct compare_row *row);
/* +1 where a larger value is worse, else -1. */
double compare_sign(const struct compare_row *row);

#endif
