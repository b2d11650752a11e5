/* SPDX-License-Identifier: MIT */
/*
 * A variant, judged as a stranger's: is it right whatever it is given, and how long does it take by
 * a clock that it cannot reach? docs/judge.md says what is looked for and how.
 *
 * Rounds are fresh processes with fresh weights: a round is the unit of evidence, as a launch is
 * elsewhere. In each, a variant and the references that stand beside it get the same data in cells
 * of their own (judge/cell.h), in turn.
 */
#ifndef HARNESS_JUDGE_JUDGE_H
#define HARNESS_JUDGE_JUDGE_H

#include "base/array.h"
#include "judge/fault.h"
#include "measure/sampling.h"
#include "plugin/guests.h"
#include "stats/stats.h"

#include <cjson/cJSON.h>
#include <signal.h>

enum { JUDGE_REFERENCES = 8, JUDGE_ROUNDS = 100 };

struct judge_job {
    const struct guests *guests; /* that the variant may be of */
    const struct kernel *spec;   /* of this build: its oracle is the judge's */
    const struct variant *variant;
    const char *setting; /* of its parameters, "BM=64,stages=3"; "": it has none */
    bool tuned;          /* that is the one that is kept for these shapes */
    /* What is asked for. A variant that declares another is not valid, whatever it computes. */
    enum dtype dtype;
    enum math math;
    const struct variant *references[JUDGE_REFERENCES]; /* timed beside it */
    int nr_references;
    const struct variant *textbook; /* whose errors are the measure; NULL: there is none */
    const struct shape *shapes;     /* that are timed */
    size_t nr_shapes;
    struct device *device;
    struct sampling sampling;
    int rounds;
    int other_shapes;   /* beside these, drawn by lot: checked, not timed; so many in the first
                         * round, one in each other */
    uint64_t lot;       /* by which these are drawn; 0: nobody knows it before */
    double timeout;     /* s, of a window */
    const char *plugin; /* the file whose symbols are looked at; NULL: none */
    const volatile sig_atomic_t *interrupted;
};

/* Time of one launch, ns. */
struct judged_time {
    const struct variant *variant;
    bool measured; /* else it cannot do this shape, or there is a fault */
    double ns;
    /* 95 %: over rounds from three on, of one over its samples; NaN limits of two. */
    struct interval interval;
    double ratio; /* of this time to that of the judged variant: above 1 it is slower */
    struct interval ratio_interval; /* over rounds from three on */
    size_t samples;
    uint64_t *rounds_ns; /* median of each round; owned */
    int nr_rounds;
};

/* Windows that were stopped in the middle: some of their launches had returned, others not. Without
 * those nobody knows whether a launch owes its result to the next. */
struct judged_middle {
    int tried, looked_at;
    int wanted, missing; /* missing: a busy machine, or one launch takes nearly all of a window */
};

struct judged_shape {
    struct shape shape;
    int round; /* that looks at it; of a timed one the first, and all do */
    bool timed;
    bool taken, unsupported; /* in some round; both is a fault */
    char why[200];
    struct judged_time own, references[JUDGE_REFERENCES];
    int batch;          /* launches of a window */
    double clock_share; /* what the clock itself takes of a window */
    double max_error, rms_error, tolerance;
    /* The textbook variant's, of so many elements as the first round compared; none: there is none.
     * Where its loops take too long, at a smaller size. */
    double textbook_rms, textbook_nr;
    bool textbook_is_smaller;
    struct shape textbook_shape; /* then */
    bool precision_unchecked;    /* it is too large for the textbook variant, and no smaller does */
    double rounding_rms; /* of one rounding of the same elements; 0: not of this arithmetic */
    double compared;     /* elements */
    uint64_t launches;   /* that were checked */
    struct judged_middle middle;
};

struct judgement {
    struct judge_job job;
    struct fault fault; /* none: valid */
    struct shape fault_shape;
    ARRAY(struct judged_shape) shapes;
    struct string_list libraries; /* with code, that it loaded */
    bool vendor;                  /* one of them is a vendor's */
    bool supported;               /* at least one of the timed shapes */
};

/* 0 whatever it finds; -1 where it cannot judge. judgement_release() in any case. */
int judge_run(const struct judge_job *job, struct judgement *j, struct error *err);
void judgement_release(struct judgement *j);
bool judgement_valid(const struct judgement *j);
/* Of all its shapes. */
struct judged_middle judgement_middle(const struct judgement *j);
/* How many of them have no check of their precision. */
size_t judgement_unchecked(const struct judgement *j);
/* Is any of either missing, then "valid" is said with low confidence. */
bool judgement_confident(const struct judgement *j);

/* As docs/schema/judge.schema.json says. `roof` of each shape: share of the roof, or NaN. */
cJSON *judgement_to_json(const struct judgement *j, const double *roof);

#endif
