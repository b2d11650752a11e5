/* SPDX-License-Identifier: MIT */
/* What the files of the ranking share; explain.h is for everyone else. */
#ifndef HARNESS_EXPLAIN_EXPLAIN_PARTS_H
#define HARNESS_EXPLAIN_EXPLAIN_PARTS_H

#include "base/strbuf.h"
#include "explain/explain.h"

/* Beliefs, and what counts as a part. They are not fitted to anything: an operation is where, and
 * the other causes are why, so of equal shares the why stands first. */
#define PART_LEAST        0.1  /* of the change: a smaller part is no cause */
#define SHARE_UNTOLD      0.1  /* what is left and said to be unknown */
#define UNTESTED_LEAST    0.05 /* log of a change that counts where nobody knows its noise */
#define BELIEF_MEASURED   1.0  /* parts of the sum */
#define BELIEF_FACT       0.95 /* that differs and that nothing speaks against */
#define BELIEF_OPERATION  0.9
#define BELIEF_WORK       0.5  /* more instructions: how, not why */
#define BELIEF_VAGUE      0.5  /* a fact that seldom matters */
#define BELIEF_DOUBTED    0.25 /* a fact that something speaks against */
#define SMALL_CODE_CHANGE 0.15 /* of all functions: flags and compilers change more of them */
#define PREEMPTED_LEAST   10   /* a second more: a turn on a processor lasts some ms */
#define MISS_CYCLES       200 /* about what a miss of the last cache costs where it is waited for ... */
#define BRANCH_CYCLES     15 /* ... and a mispredicted branch */

/* One explanation in the making. */
struct ranking {
    const struct explain_case *c;
    struct explanation *out;
    struct explain_change of[EXPLAIN_QUANTITIES];
    double all;       /* log of the change */
    double measured;  /* logs of the parts that are causes already */
    double localised; /* share of the rest that single operations explain */
    bool has_fact;    /* one that may explain all of the rest */
};

/* The error is that of the median; NaN: too few values. */
struct middle {
    double median, error;
};

/* Overwrites `x`. */
struct middle middle_of(double *x, size_t nr);

/* Is there a median of both sides? */
bool change_is_known(const struct explain_change *c);
/* Is it more than noise? With too few launches for an interval, it must be large. */
bool change_is_shown(const struct explain_change *c);

struct cause *ranking_add(struct ranking *r, enum cause_kind kind, const char *name);
/* Of the whole change, what no part explains so far: [0, 1]. */
double ranking_rest(const struct ranking *r);
void cause_set_share(struct cause *cause, double share, double belief);
double share_clipped(double share); /* at most 1 */

/* Are there profiles of both sides, with several operations? */
bool case_has_operations(const struct explain_case *c);
bool case_has_fact(const struct explain_case *c, enum explain_fact_kind kind);
/* "OMP_NUM_THREADS: 2 -> 1; affinity: ..." of that kind, appended. */
void case_write_facts(const struct explain_case *c, enum explain_fact_kind kind,
                      struct strbuf *out);

/* Parts of the sum (explain.h), in this order: what one explains the next ones do not. */
void ranking_add_parts(struct ranking *r);
/* Behind them, and before the facts. */
void ranking_add_operations(struct ranking *r);
void ranking_add_facts(struct ranking *r);
/* Instructions, which say how and not why. */
void ranking_add_work(struct ranking *r);
/* Functions that changed, where neither an operation nor instructions say more. */
void ranking_add_code(struct ranking *r);

#endif
