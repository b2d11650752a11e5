/* SPDX-License-Identifier: MIT */
/*
 * The environment variables HARNESS_*: one table of all that the program and its scripts read, for
 * `harness help environment`, the manual page, docs/environment.md, and the check at every start.
 *
 * An empty value is as none. Names that nothing reads are ignored; one that differs by a slip from
 * one that is read is warned of.
 */
#ifndef HARNESS_CLI_VARIABLES_H
#define HARNESS_CLI_VARIABLES_H

#include "base/error.h"
#include "base/strbuf.h"

struct variable {
    const char *name;
    const char *values;  /* what it may be, in words */
    const char *meaning; /* one line */
    const char *reader;  /* "harness", or the scripts that read it */
    /* NULL: what it names is looked at by who needs it, and its error names the variable. */
    int (*check)(const char *value, struct error *err);
};

/* Ended by a NULL name. */
extern const struct variable variables[];

/* -1 and an error with name, value and what it may be, for the first value that makes no sense.
 * What is only odd is appended to `warnings`, a line each. */
int variables_check(struct strbuf *warnings, struct error *err);

/* The table as text of at most 100 columns. */
void variables_print(struct strbuf *out);

#endif
