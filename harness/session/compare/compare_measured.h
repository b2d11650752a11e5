/* SPDX-License-Identifier: MIT */
/*
 * A part of compare.c: sides that are measured now. Either both in turn, by two programs, two
 * plugins or the builds of two commits, or the new side alone (--run), which is a run of the
 * history from then on.
 */
#ifndef HARNESS_SESSION_COMPARE_COMPARE_MEASURED_H
#define HARNESS_SESSION_COMPARE_COMPARE_MEASURED_H

#include "session/compare/compare.h"
#include "session/measure/ab_session.h"

/* How it is to be measured, and by what: an error where the options do not go together. */
int compare_measured_check(const struct compare_request *r, struct error *err);
/* Both sides, in turn. */
int compare_measured_find(const struct compare_request *r, struct compared *c, struct error *err);
/* Ends a session that was measured for `c`: its records go over to the two sides, the rest is
 * released. A session that did not fail (`finished`) says before what it took, and what ended it.
 */
void compared_take_session(struct compared *c, struct ab_session *s, bool finished,
                           const struct measuring *m);
void compared_programs_release(struct compared_programs *p);

#endif
