/* SPDX-License-Identifier: MIT */
/*
 * `--explain`: the benchmarks of a comparison that got slower, the worst first, each with its
 * causes (explain/explain.h). What can be had is gathered: the launches that were compared, with
 * clocks and counters beside them; both runs' facts; scopes, by measuring both sides again in turn
 * or, of what lies in the history, from profiles of the same commits; machine code, where both
 * programs are at hand.
 *
 * The time is shared: each benchmark gets its part of what is left, the first the most certain one.
 * What cannot be had is a note, never an error.
 */
#ifndef HARNESS_SESSION_EXPLAIN_EXPLAIN_COMPARISON_H
#define HARNESS_SESSION_EXPLAIN_EXPLAIN_COMPARISON_H

#include "session/explain/scoped_launches.h"
#include "store/store.h"
#include "verdict/compare.h"

#define EXPLAIN_BUDGET 60 /* s, unless somebody says otherwise */

struct explain_source {
    const struct records *records; /* what was compared */
    struct scoped_side scoped;
    const char *binary;              /* ELF file with its machine code; NULL: not at hand */
    const struct string_list *words; /* of a command, without secrets; NULL: it is none */
};

struct explain_request {
    const struct comparison *comparison;
    struct explain_source side[EXPLAIN_SIDES];
    const struct workload *workload; /* to measure again; NULL: that cannot be done */
    struct store *store;             /* for profiles of the same commits; may be NULL */
    double budget;                   /* s; 0: EXPLAIN_BUDGET */
    const struct measuring *measuring;
};

/* Appends. -1 where no process can be started, or it was interrupted: what was finished is there.
 * Release `out` whatever the result. */
int explain_comparison(const struct explain_request *r, struct explanations *out,
                       struct error *err);

#endif
