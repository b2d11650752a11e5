/* SPDX-License-Identifier: MIT */
/* Bytes as text of 64 letters (RFC 4648, section 4: with + and /, padded by =). */
#ifndef HARNESS_BASE_BASE64_H
#define HARNESS_BASE_BASE64_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Characters that `length` bytes take. */
size_t base64_length(size_t length);
void base64_add(struct strbuf *out, const void *bytes, size_t length);
/* Appends the bytes. Takes what base64_add() writes and nothing else: no line breaks, no missing
 * padding. */
int base64_undo(struct strbuf *out, const char *text, size_t length, struct error *err);

#endif
