/* SPDX-License-Identifier: MIT */
/*
 * A growing string. `data` is always NUL-terminated and never NULL from strbuf_init() to
 * strbuf_release() or strbuf_detach().
 * Out of memory ends the process (there is nothing useful left to do, see docs/decisions).
 */
#ifndef HARNESS_BASE_STRBUF_H
#define HARNESS_BASE_STRBUF_H

#include <stddef.h>

struct strbuf {
    char *data;
    size_t length, capacity;
};

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb);
void strbuf_clear(struct strbuf *sb);
void strbuf_add(struct strbuf *sb, const void *bytes, size_t nr);
void strbuf_adds(struct strbuf *sb, const char *text);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Forgets all but the last `nr` bytes. */
void strbuf_keep_last(struct strbuf *sb, size_t nr);
/* Takes blanks, tabs, line ends and NUL bytes from its end: what a program printed, for a sentence.
 */
void strbuf_trim_end(struct strbuf *sb);
/* Pads with `c` until `length` is at least `width`. */
void strbuf_pad(struct strbuf *sb, size_t width, char c);
/* Hands the heap string to the caller (free() it); the buffer is then as after strbuf_release(). */
char *strbuf_detach(struct strbuf *sb);

#endif
