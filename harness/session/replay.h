/* SPDX-License-Identifier: MIT */
/* `harness compare --replay`: recorded comparisons decided again by the rule of this harness, from
 * the evidence that was kept with them. */
#ifndef HARNESS_SESSION_REPLAY_H
#define HARNESS_SESSION_REPLAY_H

#include "base/array.h"
#include "reporters/verdict_json.h"
#include "session/measure/measuring.h"
#include "store/store.h"
#include "verdict/exit_status.h"

/* A verdict that is another one now. */
struct replay_difference {
    int64_t comparison;
    char *key, *machine, *was; /* owned */
    const struct metric *metric;
    struct kept_result result; /* that it was */
    enum verdict now;
    double change;
    struct interval interval;
    char why[COMPARE_WHY_SIZE];
};

struct replay_done {
    int64_t id;
    char uuid[37];
    int rule;
    size_t verdicts, differ;
};

/* Fill in the first two, zero the rest. */
struct replay {
    struct store *store;
    const struct session_sink *sink; /* records that cannot be decided again are noted */
    ARRAY(struct replay_done) done;
    ARRAY(struct replay_difference) differences;
    size_t verdicts, unreadable;
};

/* `ids`: numbers of comparisons, or "all"; none is all. Release `r` whatever the result. */
int replay_run(struct replay *r, char **ids, int nr, struct error *err);
/* Same if every verdict is as it was, regression if any is not, undecided if there is nothing to
 * replay, usage if a record cannot be decided again. */
enum exit_status replay_exit_status(const struct replay *r);
void replay_release(struct replay *r);

#endif
