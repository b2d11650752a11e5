/* SPDX-License-Identifier: MIT */
/* What standard output is: a terminal with colours and a width, or a file or pipe. */
#ifndef HARNESS_CLI_TERMINAL_H
#define HARNESS_CLI_TERMINAL_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

bool terminal_colour(void);  /* a terminal, and NO_COLOR is not set (no-color.org) */
size_t terminal_width(void); /* characters; 0 where it is no terminal */

/* Accepts "text", "markdown", "json" and NULL, the forms of commands that print tables. */
int output_check_format(const char *format, struct error *err);
/* The index of `format` in the NULL-ended list; NULL is the first. -1 and an error that lists
 * them. */
int output_choose_format(const char *format, const char *const *formats, struct error *err);

/* Writes the text to the file, its folder made if need be, or to standard output if `path` is
 * NULL or "-". */
int output_text(const struct strbuf *text, const char *path, struct error *err);
/* The same for JSON, indented. Takes the tree. */
struct cJSON;
int output_json(struct cJSON *json, const char *path, struct error *err);

#endif
