/* SPDX-License-Identifier: MIT */
/* A series as a word: "▄▄▄▅▄▄█". For tables and mails, where no picture goes. */
#ifndef HARNESS_TEXT_SPARKLINE_H
#define HARNESS_TEXT_SPARKLINE_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends one of eight blocks a value, by the logarithm of value / base: the base is the fourth of
 * them; what is slower of a time stands above it, what is faster below. The whole height reaches as
 * far as the value farthest from the base, but at least a factor of 1 + `least` to each side, so
 * that mere noise stays flat beside a change. A value that is not above 0 is a dot; so are all
 * where the base is not. */
void sparkline_add(struct strbuf *out, const double *values, size_t nr, double base, double least);

#endif
