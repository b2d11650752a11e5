/* SPDX-License-Identifier: MIT */
/* Histories as somebody who means harm may make them: any objects, names, numbers, sizes and pages,
 * with checksums that hold. */
#ifndef HARNESS_TESTS_STRANGER_H
#define HARNESS_TESTS_STRANGER_H

#include "base/random.h"

/* Makes a small, sound history. */
void stranger_base(const char *path);
/* Changes the history at `path` in one to three ways that the random numbers choose; `what` gets
 * their names. */
void stranger_change(const char *path, struct random *r, char *what, size_t size);

#endif
