/* SPDX-License-Identifier: MIT */
/* Manual pages, from the same tables as `harness help`: man(7) text for troff or mandoc. */
#ifndef HARNESS_CLI_HELP_MANUAL_H
#define HARNESS_CLI_HELP_MANUAL_H

#include "base/strbuf.h"
#include "cli/command.h"

/* What the program is for, and its exit statuses: lines of at most 80 characters. */
extern const char manual_purpose[], manual_statuses[];

/* Appends the page of a command, harness-NAME(1), or with NULL that of the program, harness(1).
 * It holds no date: the same source gives the same bytes. */
void manual_page(const struct command *c, struct strbuf *out);

#endif
