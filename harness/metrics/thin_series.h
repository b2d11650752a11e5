/* SPDX-License-Identifier: MIT */
/* Long series for pictures of some hundred pixels: fewer points that look the same. */
#ifndef HARNESS_METRICS_THIN_SERIES_H
#define HARNESS_METRICS_THIN_SERIES_H

#include <stddef.h>

/* Indices of at most `most` (4 or more) of n values, ascending, into `kept`: all of them where they
 * are that few, else of each of even stretches the smallest and the largest, so that no outlier is
 * lost, and two others, so that the body is not only its edges. NaN is never the smallest or
 * largest. Returns how many. */
size_t thin_series(const double *values, size_t n, size_t most, size_t *kept);

#endif
