/* SPDX-License-Identifier: MIT */
/*
 * What the numbers of a profile suggest. Each rule is a row of a table: what it looks at, from
 * which value on it speaks, and a sentence with the numbers that led to it. A rule whose
 * evidence is not there (no roofs, no GPU, one thread) is silent.
 *
 *     "61 % of the time between kernels: launch-bound; capture a graph, ..."
 *     "head: 58 % of the time at 93 % of the FMA roof: at its limit, ..."
 */
#ifndef HARNESS_TIMELINE_TIMELINE_ADVICE_H
#define HARNESS_TIMELINE_TIMELINE_ADVICE_H

#include "base/error.h"
#include "profile/summary.h"
#include "timeline/timeline_roof.h"
#include "timeline/timeline_split.h"
#include "timeline/timeline_typical.h"

/* What is known; all but the trace may be NULL. */
struct advice_evidence {
    const struct prof_trace *trace;         /* whole, with all threads; sorted */
    const struct prof_summary *summary;     /* of its main part (timeline_main()) */
    const struct timeline_split *split;     /* of a GPU or the CPU */
    const struct timeline_roofs *roofs;     /* of the hardware that did the work */
    const struct prof_cost *cost;           /* of a scope */
    const struct timeline_typical *typical; /* of that summary: shares are those of medians then */
    int64_t gap_ns; /* gaps of a GPU below it are no waiting; 0: the usual (time_split.h) */
};

enum { ADVICE_TEXT_SIZE = 320 };
struct advice {
    const char *rule;      /* "launch-bound", "at-limit", ... */
    const char *operation; /* whose, or NULL; belongs to the trace or summary */
    double value;          /* what was seen, in the rule's terms */
    double threshold;      /* from where on the rule speaks */
    double weight;         /* share of the time that it is about, 0 to 1: what they are sorted by */
    char text[ADVICE_TEXT_SIZE];
};

struct advice_list {
    struct advice *items;
    size_t nr, capacity;
};

/* Appends, and sorts all by weight. -1: no memory. */
int timeline_advice(const struct advice_evidence *evidence, struct advice_list *list,
                    struct error *err);
void timeline_advice_release(struct advice_list *list);

/* The table, for help texts: rule i's name, what it looks at and its threshold; NULL past the end.
 */
const char *timeline_advice_rule(size_t i, const char **looks_at, double *threshold);

#endif
