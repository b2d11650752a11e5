/* SPDX-License-Identifier: MIT */
/* Whether a program said what it should. */
#ifndef HARNESS_COMMAND_OUTPUT_CHECK_H
#define HARNESS_COMMAND_OUTPUT_CHECK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What the file holds, as each launch reads it again; /dev/null: nothing. free() it; NULL: it is no
 * file that can be read. */
char *output_expected(const char *path, size_t *length, struct error *err);

/* Compares what a program said with `expected`, which came from the file `name`. Where they differ,
 * `why` says in which line first. */
bool output_check(const char *said, size_t nr, const char *expected, size_t length,
                  const char *name, struct error *why);

#endif
