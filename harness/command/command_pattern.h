/* SPDX-License-Identifier: MIT */
/*
 * The pattern that finds a number in a line of what a program prints: a POSIX extended regular
 * expression, as egrep knows it, with what people type beside that:
 *
 *     \d \s \w, also in brackets, and \S \W     digits, white space, letters and their opposites
 *     (?:...)                                   a group that is not the value
 *
 * The value is what the first plain group holds, or, without any, the whole match. What would mean
 * something else here than where it was learnt (lazy "*?", look-around, \b, \1) is refused.
 */
#ifndef HARNESS_COMMAND_COMMAND_PATTERN_H
#define HARNESS_COMMAND_COMMAND_PATTERN_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum { PATTERN_LENGTH_MAX = 256, PATTERN_GROUPS_MAX = 16 };

struct pattern {
    regex_t regex;
    size_t group;                          /* which one is the value; 0: the whole match */
    char required[PATTERN_LENGTH_MAX + 1]; /* every line that matches holds this; may be "" */
};

/* `text` without the slashes. -1 and what is wrong, with the column. pattern_free() after 0. */
int pattern_compile(const char *text, struct pattern *p, struct error *err);
void pattern_free(struct pattern *p);
/* Where the value of the first match in the line is; false: none. */
bool pattern_find(const struct pattern *p, const char *line, size_t *begin, size_t *length);

#endif
