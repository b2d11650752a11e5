/* SPDX-License-Identifier: MIT */
/* Histories as somebody who means harm may make them: any objects, names, numbers, sizes and pages,
 * with checksums that hold. */
#ifndef HARNESS_TESTS_STRANGER_H
#define HARNESS_TESTS_STRANGER_H

#include "stats/random.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes a small, sound history. */
void stranger_base(const char *path);
/* Changes the history at `path` in one to three ways that the random numbers choose; `what` gets
 * their names. */
void stranger_change(const char *path, struct random *r, char *what, size_t size);
/* The same, but texts, numbers and samples alone: such a history can mostly be opened. */
void stranger_change_values(const char *path, struct random *r, char *what, size_t size);

enum { STRANGER_WORDS = 1200 }; /* bytes of `what` */

typedef void stranger_fn(const char *path, struct random *r, char *what, size_t size);
/* One of these on h.db in the folder at hand, in a process of its own: what it takes would count as
 * that of the programs that are started later, which begin as large as their parent. `what` is
 * memory shared with it. */
void stranger_aside(stranger_fn *change, uint64_t seed, char what[STRANGER_WORDS]);

/* The main() of a program HARNESS FOLDER: its one test, in that folder, as the top of a project. */
int stranger_main(int argc, char **argv, void (*test)(void **state));
extern const char *stranger_harness; /* the path of HARNESS */

/* One history of a stranger: made from the sound `base` by the case's own number. */
typedef void stranger_case_fn(const char *base, size_t length, uint64_t seed, char *what,
                              void *context);
/* HARNESS_CASES of them, or `otherwise`; each by itself: HARNESS_SEED=seed+i HARNESS_CASES=1 is the
 * ith. Their number. */
long stranger_cases(long otherwise, uint64_t seed, stranger_case_fn *try_one, void *context);

/* h.db holds these bytes, and nothing else of a case is there. */
void stranger_put(const char *bytes, size_t length);
void stranger_remove(void);
/* h.db as it is, holes and all, to be put again in the same way. */
void stranger_keep(void);
void stranger_put_kept(void);

/* UTF-8 in lines that a terminal shows and does not obey. `cut`: the end may be anywhere. */
bool stranger_is_plain(const char *text, size_t length, bool cut);

#endif
