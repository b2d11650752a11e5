/* SPDX-License-Identifier: MIT */
/* Texts in lines of a terminal's width, counted in columns (clean_columns()). */
#ifndef HARNESS_TEXT_WRAP_H
#define HARNESS_TEXT_WRAP_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of `text` that make a line of at most `width` columns, at least one character. It ends
 * before a space, if it can before one that is not inside `backticks`: a command is read, and
 * copied, in one piece. Where a word is longer than the line: all of it if `whole`, or up to
 * a "|" between choices, else its beginning. */
size_t wrap_line(const char *text, size_t width, bool whole);

/* Appends the text with its long lines broken; 0 is any width. A line goes on below where its text
 * begins: behind its first gap of two spaces, as in a list of names and what they are, else a
 * little further in than its own indent. Words stay whole, as a path in two pieces is none. Lines
 * with colours are those of tables, and have their width already. */
void wrap_text(const char *text, size_t width, struct strbuf *out);

/* Appends the text with the lines of each paragraph joined, so that wrap_text() fills them anew:
 * what is indented, and empty lines, stay as they are. */
void wrap_join(const char *text, struct strbuf *out);

#endif
