/* SPDX-License-Identifier: MIT */
/* What a run was made for, and what follows from that: a trial, say, is of no history. */
#ifndef HARNESS_CORE_RUN_KIND_H
#define HARNESS_CORE_RUN_KIND_H

#include <stdbool.h>

enum run_kind {
    RUN_MEASURED, /* the history of the code is made of these */
    RUN_PROFILE,  /* with scopes on: its benchmarks have names of their own ("kernel:operation"), so
                   * it may stand beside others, but "the newest run" is not meant to be it */
    RUN_IMPORTED, /* results of another program: part of the history, too */
    RUN_TRIAL,    /* for one comparison's sake: half of an A/B comparison, a step of a bisection, a
                   * self-test. It has a name, and nothing takes it that was not given that */
    RUN_KIND_NR,
};

const char *run_kind_name(enum run_kind kind); /* "measured", "profile", "imported", "trial" */
int run_kind_find(const char *name);           /* -1 if unknown */
/* Do series have it, and may `latest` and the like be it? */
bool run_kind_is_history(enum run_kind kind);
/* Are its times those of the code as it is, without scopes? */
bool run_kind_tells_times(enum run_kind kind);

#endif
