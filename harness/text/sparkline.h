/* SPDX-License-Identifier: MIT */
/* A series as a word: "▂▁▂▂▁▇". For tables and mails, where no picture goes. */
#ifndef HARNESS_TEXT_SPARKLINE_H
#define HARNESS_TEXT_SPARKLINE_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends one of eight blocks a value, by the logarithm: a factor is as high wherever it stands.
 * The whole height is the range of the values, or a factor of 1 + `least` where they span less, so
 * that mere noise stays low; then they lie in the middle. A value that is not above 0 is a dot. */
void sparkline_add(struct strbuf *out, const double *values, size_t nr, double least);

#endif
