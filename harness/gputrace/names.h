/* SPDX-License-Identifier: MIT */
/* Inside gputrace/: every name once, in a hash table from the raw name to the one for people. */
#ifndef HARNESS_GPUTRACE_NAMES_H
#define HARNESS_GPUTRACE_NAMES_H

struct activity_names;

struct activity_names *activity_names_create(void);
void activity_names_free(struct activity_names *names); /* NULL is allowed */
/* Owned by `names`; the same text gives the same pointer. */
const char *activity_names_get(struct activity_names *names, const char *raw);

/* The C++ name behind a mangled one, free() it; NULL where it is not mangled. */
char *activity_demangle(const char *name);

#endif
