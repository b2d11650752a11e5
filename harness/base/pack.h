/* SPDX-License-Identifier: MIT */
/* Bytes, packed in memory and back: to gzip (RFC 1952), and to text of 64 letters (base64: RFC
 * 4648, section 4, with + and /, padded by =). */
#ifndef HARNESS_BASE_PACK_H
#define HARNESS_BASE_PACK_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Of the usual, samples take 25 % less than of the fast; zlib's 9 would save 2 % more in eight
 * times as long. */
enum { GZIP_FAST = 1, GZIP_USUAL = 6 };

/* Appends one gzip member without name and time, so that equal bytes give equal results. `level` is
 * one of the above. Cannot fail: out of memory ends the process, as with strbuf. */
void gzip_add(struct strbuf *out, const void *bytes, size_t length, int level);
/* Appends what the one member holds. Refuses what is damaged, cut short, followed by more, or
 * larger than `most` bytes when it is unpacked. */
int gzip_undo(struct strbuf *out, const void *bytes, size_t length, size_t most, struct error *err);

void base64_add(struct strbuf *out, const void *bytes, size_t length);
/* Appends the bytes. Takes what base64_add() writes and nothing else: no line breaks, no missing
 * padding. */
int base64_undo(struct strbuf *out, const char *text, size_t length, struct error *err);

#endif
