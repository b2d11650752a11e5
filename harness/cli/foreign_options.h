/* SPDX-License-Identifier: MIT */
/*
 * What users of hyperfine, Google Benchmark and pytest-benchmark type: options and commands that
 * harness calls otherwise.
 */
#ifndef HARNESS_CLI_FOREIGN_OPTIONS_H
#define HARNESS_CLI_FOREIGN_OPTIONS_H

#include "base/error.h"

/* Where the message is of an unknown option or command, `word`, and one of those programs has that
 * word, or it is a program that could be timed: adds a line that says how that is asked for. */
void foreign_options_hint(const char *word, struct error *err);

#endif
