/* SPDX-License-Identifier: MIT */
/* Texts whose bytes nobody vouches for, names and messages from files and other programs: their
 * characters, and the columns that these take. */
#ifndef HARNESS_BASE_UTF8_H
#define HARNESS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at the start of a NUL-terminated text; returns its length in bytes, or 0
 * if it is not valid UTF-8 (RFC 3629: no surrogates, nothing overlong, nothing above U+10FFFF). */
size_t utf8_decode(const char *text, uint32_t *code);

/* Puts '?' in the place of each byte that belongs to no valid code point. */
void utf8_mend(char *text);

/* As many whole characters of the text as there is room for, with a NUL behind. */
void utf8_copy(char *to, size_t size, const char *text);

struct code_range {
    uint32_t first, last;
};

bool code_is_in(uint32_t code, const struct code_range *ranges, size_t nr);

#define CODE_IS_IN(code, ranges) code_is_in((code), (ranges), sizeof(ranges) / sizeof((ranges)[0]))

/* Columns that a character takes on a terminal: 0 of a mark that stands on the one before, 2 of
 * wide East Asian characters and emoji, else 1. */
int columns_of(uint32_t code);

#endif
