/* SPDX-License-Identifier: MIT */
/*
 * A comparison is recorded in the history with all it rests on, after the changes that people
 * accepted were marked in it (session/acceptance.h). For every command that compares.
 *
 *     struct store_acceptances accepted = { 0 };
 *     compare_run(..., &c, err);
 *     acceptances_mark(store, &sides, &c, &accepted, err);
 *     ... show it ...
 *     verdict_keep(store, &sides, &c, sink);
 *     comparison_release(&c);
 *     store_acceptances_release(&accepted);
 */
#ifndef HARNESS_SESSION_VERDICT_RECORD_H
#define HARNESS_SESSION_VERDICT_RECORD_H

#include "session/measure/measuring.h"
#include "store/verdicts.h"
#include "verdict/compare.h"

struct verdict_sides {
    const char *base, *head; /* for people: "branch main at 1f3a9c2 (3 runs)" */
    const struct records *base_records, *head_records;
};

/* The commit of all runs of a side on that machine class ("": on any); "" if unknown or several, as
 * each class has a base of its own. Borrowed. */
const char *verdict_side_commit(const struct records *records, const char *class_name);

/* The machine class of all runs of a side, likewise. */
const char *verdict_side_machine(const struct records *records);

/* Records the whole comparison in a history that is open for writing; nothing of one without rows.
 * Where that fails, a note says so: what was compared stands all the same. */
void verdict_keep(struct store *store, const struct verdict_sides *sides,
                  const struct comparison *c, const struct session_sink *sink);

#endif
