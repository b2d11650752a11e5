/* SPDX-License-Identifier: MIT */
/* Texts whose bytes nobody vouches for: names and messages from files and other programs. */
#ifndef HARNESS_BASE_UTF8_H
#define HARNESS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at the start of a NUL-terminated text; returns its length in bytes, or 0
 * if it is not valid UTF-8 (RFC 3629: no surrogates, nothing overlong, nothing above U+10FFFF). */
size_t utf8_decode(const char *text, uint32_t *code);

/* Puts '?' in the place of each byte that belongs to no valid code point. */
void utf8_mend(char *text);

/* As many whole characters of the text as there is room for, with a NUL behind. */
void utf8_copy(char *to, size_t size, const char *text);

#endif
