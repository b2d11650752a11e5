/* SPDX-License-Identifier: MIT */
/*
 * Why what got slower did so, as far as what was measured already tells: launches of both sides
 * with clocks and counters beside them, facts of both runs, and profiles of the same commits in the
 * history. session/explain adds what takes time: measuring again, and machine code.
 */
#ifndef HARNESS_VIEW_CAUSES_H
#define HARNESS_VIEW_CAUSES_H

#include "explain/explain.h"
#include "store/store.h"
#include "verdict/compare.h"

/* One row for each benchmark that got slower on a machine class and is not meant to be, the worst
 * of its metrics and the worst benchmark first. free() it. */
const struct compare_row **causes_red(const struct comparison *c, size_t *nr);

/* The newest profiles of the commit of a side's newest run on a machine class ("": on any), on that
 * run's machine. What cannot be read is not there. `store` may be NULL. Release in any case. */
void causes_profiles(struct store *store, const struct records *side, const char *machine,
                     struct records *profiles);

/* What the records of both sides on the machine class of a row say of its benchmark, and what
 * differs between their newest runs there. */
void causes_add_sides(struct explain_case *c, const struct compare_row *row,
                      const struct records *const side[EXPLAIN_SIDES]);

/* Of several machine classes, which one is explained. */
void causes_name_machine(const struct comparison *c, const struct compare_row *row,
                         struct explanation *out);

/* Appends the explanations of the `most` worst; the rest is counted. */
void causes_find(struct store *store, const struct comparison *c,
                 const struct records *const side[EXPLAIN_SIDES], size_t most,
                 struct explanations *out);

#endif
