/* SPDX-License-Identifier: MIT */
/*
 * One `harness bisect` at work: the search (trend/bisect.h) with programs built from commits
 * (session/builds/builds.h) and measured in turn (session/measure/ab_session.h), or by a project's
 * own benchmarks (session/bench/bench_ab.h).
 *
 * What is looked for is what the first comparison, good against bad, shows: the benchmarks that
 * regressed or broke in it, each by the metrics in which it did. A step is worse if any of these
 * is, not worse if none is and all are decided, and cannot tell otherwise. A commit that does not
 * build, or in which these benchmarks do not exist or do not work, is left out. Steps need not
 * measure as finely as the first comparison: they only ask whether a known change is there, so
 * their floor is half of it (of its interval's near end, on the log scale), if that is more than
 * the floor that was asked for.
 */
#ifndef HARNESS_SESSION_BISECT_JOB_H
#define HARNESS_SESSION_BISECT_JOB_H

#include "base/array.h"
#include "session/bench/bench_ab.h"
#include "session/builds/builds.h"
#include "session/builds/git.h"
#include "session/measure/ab_session.h"
#include "trend/bisect.h"

/* A metric of a benchmark that got worse between good and bad. */
struct bisect_tracked {
    char key[KEY_SIZE];
    const struct metric *metric;
    enum verdict verdict; /* regressed or broken */
    double change;        /* of the metric as it is shown, head / base - 1 */
    struct interval interval;
    double floor; /* of the steps, the same for all metrics of a benchmark */
};

/* How one of them did in a step. */
struct bisect_look {
    char key[KEY_SIZE];
    const struct metric *metric;
    enum verdict verdict;
    double change;
    struct interval interval;
    bool worse; /* the change is for the worse */
};

/* What a step was and brought. */
struct bisect_trial {
    struct bisect_question question;
    enum bisect_answer answer;
    bool measured;   /* false: `place` does not build, or lacks what is looked for */
    size_t place;    /* of the two, the one that is out */
    char *complaint; /* about it; owned */
    ARRAY(struct bisect_look) looks;
    int blocks;
    double seconds; /* of measuring */
    double left;    /* after it, see bisect_left() */
};

/* Fill in down to `search`, zero the rest. */
struct bisect_job {
    struct git_commit good;
    struct git_range range; /* place i is item i - 1 */
    struct build_recipe recipe;
    struct workload *workload;     /* cut down to what got worse after the first comparison */
    struct store *store;           /* STORE_WRITE */
    struct ab_request request;     /* settings, blocks, how to measure */
    struct bench_ab_request bench; /* benches, format, filters and build command, where it is by
                                    * these; `benches` NULL: by our own kernels */
    struct bisect search;          /* bisect_init() */

    struct built *built; /* of each place, as far as it was tried; owned */
    ARRAY(struct bisect_tracked) tracked;
    ARRAY(const char *) keys;           /* of what is tracked, for bench.filters */
    ARRAY(const char *) metrics;        /* of what is tracked, NULL-ended; the same */
    ARRAY(struct compare_floor) floors; /* the request's own, then those of the steps */
    ARRAY(struct bisect_trial) trials;
};

const struct git_commit *bisect_job_commit(const struct bisect_job *job, size_t place);
/* Reads the answer and the looks of a trial from its comparison. False: there is none, and more
 * evidence would not help, because benchmarks are missing or do not work. */
bool bisect_job_answer(const struct bisect_job *job, const struct comparison *c,
                       struct bisect_trial *trial);
/* Builds and compares what is asked, and tells the search. 1: interrupted, and nothing was told.
 * -1: the good or the bad commit cannot be measured, or the tool failed. */
int bisect_job_step(struct bisect_job *job, struct bisect_question question, struct error *err);
/* The worst of a trial's looks; NULL if it has none. */
const struct bisect_look *bisect_worst(const struct bisect_trial *trial);
/* The last trial that compared these two; NULL if there is none. */
const struct bisect_trial *bisect_job_trial(const struct bisect_job *job,
                                            struct bisect_question question);
/* The comparison that shows a culprit best: against the place before it, else against good; NULL
 * if there is neither. */
const struct bisect_trial *bisect_job_evidence(const struct bisect_job *job, size_t place);
void bisect_job_release(struct bisect_job *job);

#endif
