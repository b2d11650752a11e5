/* SPDX-License-Identifier: MIT */
/*
 * A comparison and the history: changes that people accepted are marked in it, and it is recorded
 * with all it rests on. For every command that compares.
 *
 *     struct store_acceptances accepted = { 0 };
 *     compare_run(..., &c, err);
 *     verdict_accept(store, &sides, &c, &accepted, err);
 *     ... show it ...
 *     verdict_add(store, &sides, &c, err);
 *     comparison_release(&c);
 *     store_acceptances_release(&accepted);
 */
#ifndef HARNESS_SESSION_VERDICT_RECORD_H
#define HARNESS_SESSION_VERDICT_RECORD_H

#include "store/verdicts.h"
#include "verdict/compare.h"

struct verdict_sides {
    const char *base, *head; /* for people: "branch main at 1f3a9c2 (3 runs)" */
    const struct records *base_records, *head_records;
};

/* Marks the rows whose change was accepted (compare_accept()). An acceptance holds where the head
 * has the change, as far as git can tell: its commit is the head's or an ancestor; and as long as
 * the base does not have it: its commit is no ancestor of the base's, or, where git cannot tell,
 * the base was measured before it (interleaved sides are measured now, so there it holds then).
 * `accepted` owns the reasons: release it after `c`. */
int verdict_accept(struct store *store, const struct verdict_sides *sides, struct comparison *c,
                   struct store_acceptances *accepted, struct error *err);

/* Records the whole comparison in a history that is open for writing; nothing of one without rows.
 */
int verdict_add(struct store *store, const struct verdict_sides *sides, const struct comparison *c,
                struct error *err);

#endif
