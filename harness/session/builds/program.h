/* SPDX-License-Identifier: MIT */
/* Another harness, as an executable: who it is. */
#ifndef HARNESS_SESSION_BUILDS_PROGRAM_H
#define HARNESS_SESSION_BUILDS_PROGRAM_H

#include "core/record.h"

#include <stddef.h>

/* Asks it by `PATH version --json`; one too old for that by `PATH version`. What is no harness is
 * an error with the path and what it said. */
int program_build(const char *path, struct build *b, struct error *err);

/* What it says of itself: the JSON of `version --json`, or the text of `version`, which ends with a
 * NUL behind its `length` bytes. -1: that is no harness. */
int program_parse(const char *text, size_t length, struct build *b);

#endif
