/* SPDX-License-Identifier: MIT */
/*
 * What standard output is: a terminal with colours and a width, or a file or pipe; and the one way
 * to it. The format of terminal_print() and terminal_note() is the program's own, the texts that it
 * takes are cleaned (base/clean.h), so that no name of a history and no message of another program
 * writes into the terminal what is not text. Texts that are ready (tables, pages of help) go out by
 * output_text(): what made them has cleaned their cells.
 */
#ifndef HARNESS_TERMINAL_TERMINAL_H
#define HARNESS_TERMINAL_TERMINAL_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

bool terminal_colour(void);  /* a terminal, and NO_COLOR is not set (no-color.org) */
size_t terminal_width(void); /* characters; 0 where it is no terminal */

void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2))); /* stdout */
void terminal_note(const char *format, ...) __attribute__((format(printf, 1, 2)));  /* stderr */
void terminal_ready_note(const char *text); /* cleaned when it was made */
/* "harness: " and the message, which may have several lines, on standard error. */
void terminal_error(const struct error *err);
/* A name on a line of its own, as completion reads it; nothing where it would not be shown as it is
 * or is longer than any name: what cannot be shown cannot be chosen. */
void terminal_name(const char *name);
void terminal_add_name(struct strbuf *out, const char *name);

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
