/* SPDX-License-Identifier: MIT */
/*
 * One A/B session: two programs measured in turn (launch/ab.h), kept as two runs of the history,
 * looked at after each block and compared at the end. Shared by `compare`, `bisect` and
 * `selftest`. There may be more sides, each a run that is compared with the base.
 *
 *     struct ab_request r = { .side = { [AB_BASE] = { .program = a }, [AB_HEAD] = { b } },
 *                             .workload = &workload, .store = store, .compare = COMPARE_DEFAULTS };
 *     struct ab_session s;
 *     int rc = ab_session_run(&r, &s, err);
 *     ... s.comparison ...
 *     ab_session_release(&s);
 */
#ifndef HARNESS_SESSION_MEASURE_AB_SESSION_H
#define HARNESS_SESSION_MEASURE_AB_SESSION_H

#include "launch/ab.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "store/store.h"
#include "verdict/compare.h"

enum { AB_BLOCKS_MAX = 40 }; /* blocks of a session that says nothing else */

struct ab_request_side {
    const char *program; /* path of an executable; NULL: this program */
    const char *name;    /* for people: "main at 3f2a91c"; NULL: the path */
    const char *commit;  /* full hash, where it is known better than the program knows; or NULL */
    const double *plant; /* of each benchmark of the workload, see launch/launch.h; or NULL */
    const struct guests *guests; /* in place of the workload's; or NULL */
    bool fixed;                  /* placement, see device/memory_placement.h */
};

struct ab_request {
    struct ab_request_side side[AB_SIDES_MAX];
    int nr_sides; /* 0: AB_SIDES */
    const struct workload
        *workload;       /* what; its suite's sampling is shortened, see ab_sampling() */
    struct store *store; /* STORE_WRITE */
    struct compare_settings compare;
    const char *label; /* of the two runs, with " base" and " head" behind it; NULL: "ab" */
    struct measuring measuring;
    int blocks_max;   /* 0: AB_BLOCKS_MAX */
    int blocks_least; /* whatever the budget; 0: one */
    bool whole;       /* no verdict ends it: all blocks, or the budget, and each is whole */
    bool silent;      /* no progress at all ... */
    bool quiet;       /* ... or none but one that is rewritten in place */
};

struct ab_session {
    struct records records[AB_SIDES_MAX];              /* what was measured; one run each */
    struct comparison comparison;                      /* of base and head */
    struct comparison others[AB_SIDES_MAX - AB_SIDES]; /* of the base and each further side */
    char what[AB_SIDES_MAX][256];                      /* for people: "main at 3f2a91c (run 12)" */
    enum ab_end end;                                   /* what ended it */
    int blocks;                                        /* finished */
    double seconds;                                    /* that it took */
};

/* Measures until every benchmark is decided, or blocks, budget or the user's patience end. -1
 * where a program cannot be started or is no harness, or the history cannot be written. Release
 * `s` whatever the result. What was measured before an error or interrupt stays in the history as
 * unfinished runs. */
int ab_session_run(const struct ab_request *r, struct ab_session *s, struct error *err);
void ab_session_release(struct ab_session *s);
/* Of the base and that side, which is not the base. */
struct comparison *ab_session_comparison(struct ab_session *s, int side);

/* One line: "12 blocks in 1:32; all decided", "... the budget of 2:00 is spent". */
void ab_session_summary(const struct ab_session *s, const struct measuring *m, struct strbuf *out);

/* Sampling for a launch of an A/B: what buys evidence is launches, so each is short. */
struct sampling ab_sampling(const struct sampling *suite);

#endif
