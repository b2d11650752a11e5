/* SPDX-License-Identifier: MIT */
/* Whether a program said what it should. */
#ifndef HARNESS_GUEST_OUTPUT_CHECK_H
#define HARNESS_GUEST_OUTPUT_CHECK_H

#include "base/error.h"

#include <stddef.h>

/* Compares what is in the file `fd`, from its beginning, with `expected`, which came from the file
 * `name`. 1: they are equal. 0: not, and `why` says where the first difference is. -1: unreadable.
 */
int output_check(int fd, const char *expected, size_t length, const char *name, struct error *why,
                 struct error *err);

#endif
