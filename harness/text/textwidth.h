/* SPDX-License-Identifier: MIT */
/*
 * How wide a text will be drawn, so that margins and label places are known before painting.
 * Widths are the advances of DejaVu Sans, which both painters ask for.
 */
#ifndef HARNESS_TEXT_TEXTWIDTH_H
#define HARNESS_TEXT_TEXTWIDTH_H

#include <stdbool.h>
#include <stddef.h>

/* Width in pixels of a UTF-8 text at a font size in pixels. */
double text_width(const char *utf8, double size, bool bold);
/* Cuts the middle out ("gemm/linear/…/cpu-2t") until the text fits into `room` pixels. Returns a
 * heap string. */
char *text_elide(const char *utf8, double size, double room);
/* Cuts the end off ("attention…"), after a whole word where that keeps half of what fits; not even
 * the ellipsis may fit. Returns a heap string. */
char *text_cut(const char *utf8, double size, double room);
/* Bytes of `utf8` that make a line of at most `room` pixels, broken at a space where there is
 * one. At least one character. */
size_t text_line(const char *utf8, double size, double room);

#endif
