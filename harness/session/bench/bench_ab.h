/* SPDX-License-Identifier: MIT */
/*
 * Two states of a project measured in turn by its own benchmarks (bench.h), in the blocks of
 * launch/ab.h: base head head base, or the other way round by the toss of a coin, each a fresh
 * process. After each block the rule of verdict/compare.h looks at what there is. What is decided
 * leaves: it is not measured again where its benchmark can be asked for less, and what is measured
 * of it all the same is dropped. A benchmark of which nothing is wanted is not started any more: so
 * the budget goes to what is undecided. What would not end within the budget is passed over, those
 * first that look least bad; each benchmark pays for the looks at its own blocks alone, so a block
 * may lack some.
 */
#ifndef HARNESS_SESSION_BENCH_BENCH_AB_H
#define HARNESS_SESSION_BENCH_BENCH_AB_H

#include "session/bench/bench.h"
#include "session/builds/builds.h"
#include "session/measure/ab_session.h"

struct bench_ab_request {
    struct bench_list *benches;         /* they learn from their results */
    const bool *left_out;               /* of each bench: not to be measured; NULL: none */
    const struct built *side[AB_SIDES]; /* built, foreign */
    const char *name[AB_SIDES];         /* for people: "main at 3f2a91c" */
    enum import_format format;          /* of results; IMPORT_ANY: found out */
    const struct number_specs *numbers; /* that each bench prints; NULL: none */
    const struct string_list *betters;  /* of numbers in their results; NULL: nothing is said */
    const char *const *filters;         /* keys that fit none of them are dropped */
    size_t nr_filters;                  /* 0: all are kept */
    const char *build_command;          /* as it was given, for the record; or NULL */
    struct store *store;                /* STORE_WRITE */
    struct compare_settings compare;
    const char *label; /* of the two runs, with " base" and " head" behind it; NULL: "gate" */
    struct measuring measuring;
    int blocks_max; /* 0: AB_BLOCKS_MAX */
    int failed;     /* out: the side whose program failed, or -1 */
};

/* As ab_session_run(): what was measured before an error or an interrupt stays in the history as
 * unfinished runs. Release `s` with ab_session_release() whatever the result. */
int bench_ab_run(struct bench_ab_request *r, struct ab_session *s, struct error *err);

/* What a run was measured by, for whoever wants to measure it again: BENCH_SETTINGS in its
 * settings, {"bench": ["NAME: COMMAND", ...], "format", "metrics", "better", "build_command"};
 * `metrics` as number_specs_to_json() has them. */
#define BENCH_SETTINGS "gate"

#endif
