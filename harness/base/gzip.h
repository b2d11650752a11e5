/* SPDX-License-Identifier: MIT */
/* Bytes to gzip (RFC 1952) and back, in memory. */
#ifndef HARNESS_BASE_GZIP_H
#define HARNESS_BASE_GZIP_H

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

#endif
