/* SPDX-License-Identifier: MIT */
/*
 * Names in less room than they need. The middle is left out, "gemm/…/simd/…,k=48", and of a set of
 * names never what tells one from another: two that differ look different.
 */
#ifndef HARNESS_TEXT_SHORTEN_H
#define HARNESS_TEXT_SHORTEN_H

#include <stddef.h>

/* At most `width` characters of a text: its beginning, "…", its end. A heap string. */
char *shorten_text(const char *text, size_t width);

/* A short form of each of the `nr` names, in at most `width` characters. What has none that is its
 * own stays whole, for lines below each other. Free with shorten_free(). */
char **shorten_names(const char *const *names, size_t nr, size_t width);
void shorten_free(char **names, size_t nr);

/* The least width in [low, high], in steps of a few characters, at which every name has a short
 * form of its own; `high` where none has that. */
size_t shorten_least(const char *const *names, size_t nr, size_t low, size_t high);

#endif
