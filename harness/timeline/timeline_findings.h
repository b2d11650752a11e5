/* SPDX-License-Identifier: MIT */
/*
 * What a trace comes to beside the table of its operations: iterations, parts of the time, advice.
 * Made once, for all who tell of a profile: tables, files, figures, the page.
 *
 *     const struct advice_evidence known = { .trace = &trace, .summary = &summary, ... };
 *     timeline_find(&main, &known, &found, err);
 *     timeline_findings_release(&found);                   before the traces
 */
#ifndef HARNESS_TIMELINE_TIMELINE_FINDINGS_H
#define HARNESS_TIMELINE_TIMELINE_FINDINGS_H

#include "timeline/timeline_advice.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_roof.h"
#include "timeline/timeline_split.h"
#include "timeline/timeline_tables.h"
#include "timeline/timeline_typical.h"

struct timeline_findings {
    struct timeline_layers layers;   /* nr_iterations 0: the trace has none */
    struct timeline_typical typical; /* of known->summary, which must outlive it */
    struct timeline_split split;
    struct advice_list advice;
};

/* `main` is the main part of known->trace (timeline_main()), known->summary of it. known->split is
 * not read, nor is known->typical; a cost of 0 is none. Release it whatever the result; -1: no
 * memory. */
int timeline_find(const struct prof_trace *main, const struct advice_evidence *known,
                  struct timeline_findings *found, struct error *err);
/* The same of tables, whose layers it takes; known->summary is theirs. */
int timeline_find_in_tables(struct timeline_tables *tables, const struct advice_evidence *known,
                            struct timeline_findings *found, struct error *err);
void timeline_findings_release(struct timeline_findings *found);

/* ns: the median of an iteration. NaN without any. */
double timeline_iteration_median(const struct timeline_layers *layers);
/* What the operations take of all iterations together, 0 to 1. NaN without iterations or
 * operations. */
double timeline_covered(const struct timeline_layers *layers);

/* The time that a row's work took, ns: the GPU's where it has some, else all of the row's. By the
 * median iteration where that is known, so that rates on a page are one, and a slow iteration moves
 * none. `row` is one of known->summary. */
double timeline_row_ns(const struct timeline_findings *found, const struct prof_row *row);
/* The roof of its FLOPs and bytes in that time. */
struct timeline_roof timeline_row_roof(const struct timeline_findings *found,
                                       const struct timeline_roofs *roofs,
                                       const struct prof_row *row);
/* Does it do most of its work itself? What mainly holds others has their time. */
bool timeline_row_works(const struct prof_row *row);

#endif
