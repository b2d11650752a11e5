/* SPDX-License-Identifier: MIT */
/*
 * What standard output is: a terminal with colours and a width, or a file or pipe; and the one way
 * to it. The format of terminal_print() and terminal_note() is the program's own, the texts that it
 * takes are cleaned (base/clean.h), so that no name of a history and no message of another program
 * writes into the terminal what is not text. Texts that are ready (tables, pages of help) go out by
 * output_page(): what made them has cleaned their cells.
 *
 * No line of a terminal is longer than it, where its words allow: what is printed as whole lines is
 * broken at spaces.
 */
#ifndef HARNESS_TERMINAL_TERMINAL_H
#define HARNESS_TERMINAL_TERMINAL_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* A terminal that knows escape codes (TERM is not "dumb"), and NO_COLOR is not set (no-color.org)
 */
bool terminal_colour(void);
/* Of standard output in characters: as the terminal says, else $COLUMNS. 0 is any: it is no
 * terminal, so that files and pipes get the same whatever the window, or nobody knows. */
size_t terminal_width(void);
size_t terminal_note_width(void); /* the same of standard error */
bool terminal_rewrites(void);     /* can a line of standard error be written over? */

void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2))); /* stdout */
void terminal_note(const char *format, ...) __attribute__((format(printf, 1, 2)));  /* stderr */
/* The same into `out`, for a line in pieces and for pages. */
void terminal_add(struct strbuf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void terminal_ready_note(const char *text); /* cleaned when it was made */
/* "harness: " and the message, which may have several lines, on standard error. */
void terminal_error(const struct error *err);
/* A name on a line of its own, as completion reads it; nothing where it would not be shown as it is
 * or is longer than any name: what cannot be shown cannot be chosen. */
void terminal_name(const char *name);
void terminal_add_name(struct strbuf *out, const char *name);

/* Accepts "text", "markdown", "json" and NULL, the forms of commands that print tables. */
int output_check_format(const char *format, struct error *err);
/* `option`, if `given`, is short for --format `form`: makes that the format, and is an error where
 * another one is asked for, too. */
int output_short_format(const char **format, bool given, const char *option, const char *form,
                        struct error *err);
/* The index of `format` in the NULL-ended list; NULL is the first. -1 and an error that lists
 * them. */
int output_choose_format(const char *format, const char *const *formats, struct error *err);

/* Does what goes to `path` go to standard output: NULL, "-", "/dev/stdout", "/dev/fd/1"? Then
 * nothing else may be printed: who reads it gets the result alone. */
bool output_is_standard(const char *path);
/* For what writes a file itself: `path`, where "-" is standard output as well. */
const char *output_file(const char *path);
/* terminal_width() and terminal_colour() of what goes to `path`; files have neither. */
size_t output_width(const char *path);
bool output_colour(const char *path);

/* Writes the text to standard output, or to the file, its folder made if need be. */
int output_text(const struct strbuf *text, const char *path, struct error *err);
/* The same for what people read: on a terminal its long lines are broken (text/wrap.h). */
int output_page(const struct strbuf *text, const char *path, struct error *err);
/* The same for JSON, indented. Takes the tree. */
struct cJSON;
int output_json(struct cJSON *json, const char *path, struct error *err);

#endif
