/* SPDX-License-Identifier: MIT */
/* What writers of JSON share. Not installed. */
#ifndef HARNESS_PROFILE_JSON_TEXT_H
#define HARNESS_PROFILE_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A character of a name as a line of folded stacks has it: '_' for blanks and semicolons, which
 * divide there, '?' for a byte that is not UTF-8. `nr` bytes of it; `name` is moved behind it. */
const char *prof_folded_character(const char **name, size_t *nr);
/* In quotes, escaped; '?' for bytes that are not UTF-8. */
void prof_json_text(FILE *file, const char *text);
/* Nothing that is not finite: null. */
void prof_json_number(FILE *file, double value);
/* ns as us with three decimals, which loses nothing. */
void prof_json_us(FILE *file, int64_t ns);

#endif
