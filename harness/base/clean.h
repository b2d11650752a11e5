/* SPDX-License-Identifier: MIT */
/*
 * Texts that somebody else wrote (names of a history, messages of programs, paths), on their way to
 * people. Cleaned, a text stays in its place, whatever it holds: control characters (ESC, newlines,
 * line separators) become a space; marks that turn the direction of text or that nobody sees,
 * bytes that are not UTF-8, and code points that no text may hold become '?'.
 *
 * Whatever is printed or put into an error goes through clean_print(): the format is the
 * program's own and kept as it is, each text that it takes (%s) is cleaned.
 */
#ifndef HARNESS_BASE_CLEAN_H
#define HARNESS_BASE_CLEAN_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void clean_text(struct strbuf *out, const char *text);
/* Is it what cleaning would make of it? */
bool clean_is(const char *text);
/* For texts that somebody types to be kept: an error where it is not. `what` stands in it. */
int clean_check(const char *text, const char *what, struct error *err);
bool clean_is_shown(uint32_t code); /* the same of a code point */
/* Columns that it takes on a terminal (base/utf8.h). */
size_t clean_columns(const char *text);
/* Bytes of the first characters that take at most `columns` of them, with the marks on the last. */
size_t clean_fitting(const char *text, size_t columns);

/* As vsnprintf() with %s cleaned, for the conversions d i u x X o c p a e f g s and %%; no
 * allocation. The width of a text counts columns of a terminal; its precision counts bytes before
 * cleaning. Returns the whole length in bytes; what has
 * no room is cut behind a whole character. */
size_t clean_print(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* The same for messages, which may quote several lines of a program: newlines in texts are kept. */
size_t clean_print_lines(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
