/* SPDX-License-Identifier: MIT */
/* Changes that are meant to be: how `harness baseline accept` takes them, and which of them still
 * excuse an alarm of a comparison. */
#ifndef HARNESS_SESSION_ACCEPTANCE_H
#define HARNESS_SESSION_ACCEPTANCE_H

#include "base/array.h"
#include "base/error.h"
#include "session/trend_history.h"
#include "session/verdict_record.h"
#include "store/verdicts.h"

#include <stdbool.h>

struct accept_request {
    const char *key;    /* or a filter (base/text.h) */
    const char *metric; /* NULL: every one that was compared; of steps the latency */
    const char *reason;
    const char *change; /* "+8%": instead of what was seen; may be NULL */
    const char *author; /* NULL: what git calls the user, else $USER */
};

/* What was accepted, and what was seen of each. */
struct accepting {
    ARRAY(struct acceptance) items; /* borrow all their texts */
    ARRAY(double) seen;
    size_t verdicts; /* of these; the others are steps of the history */
    size_t again;    /* verdicts left out, because an equal acceptance is there */
    size_t steps;    /* that stand; looked for only where no verdict was taken */
    struct store_acceptances earlier;
    struct store_comparisons found; /* the verdicts that fit */
    struct trend_history history;
    char *author, *reason;
};

/* Who accepts: `given`, or what git calls the user, else $USER; "" where nobody knows. free() it.
 */
char *acceptance_author(const char *given);
/* Accepts of each benchmark that fits the newest recorded verdict, if it is regressed or broken.
 * Where there is none of them to accept, each step of the history that `harness trend` tells as a
 * regression, and that request->change covers if it is given. All of them or, on an error, none.
 * What was accepted already, with the same change and of the same runs, is left out. -1 where there
 * is nothing to accept, with the reason. `batch` is zeroed; release it whatever the result. */
int accept_run(struct store *store, const struct accept_request *request, struct accepting *batch,
               struct error *err);
void accepting_release(struct accepting *batch);

/* Marks the rows whose change was accepted (compare_accept()). An acceptance holds where the head
 * has the change, as far as git can tell: its commit is the head's or an ancestor; and as long as
 * the base does not have it: its commit is neither the base's nor an ancestor of it, or, where git
 * cannot tell, the base was measured before the runs in which it was seen (interleaved sides are
 * measured now, so there it holds then) or is the one that they were compared with. Git cannot
 * tell, either, whether a base has it that is of its very commit, where it was seen beside such a
 * base: it was not committed yet; nor of a commit that is in no branch or tag. Base and head are
 * the runs of the row's machine class, as each has a base of its own. What is excused by none,
 * because the head is of another commit, is noted. `accepted` owns the reasons: release it after
 * `c`. */
int acceptances_mark(struct store *store, const struct verdict_sides *sides, struct comparison *c,
                     struct store_acceptances *accepted, struct error *err);

#endif
