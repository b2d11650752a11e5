/* SPDX-License-Identifier: MIT */
/* Completion for shells, from the tables of commands and options. */
#ifndef HARNESS_CLI_HELP_COMPLETION_H
#define HARNESS_CLI_HELP_COMPLETION_H

#include "base/error.h"
#include "base/strbuf.h"

/* The whole file for the shell of that name; an unknown one is an error that lists them. */
int completion_write(const char *shell, struct strbuf *out, struct error *err);

#endif
