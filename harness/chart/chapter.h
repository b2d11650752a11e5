/* SPDX-License-Identifier: MIT */
/* Chapters of a report: what a reader looks for, in the order in which he does. A figure is in one,
 * as its preset says, or else by what it shows: its section (chart/preset.h), which is finer, or
 * the part of the benchmarks that its filter begins with (chart/places.h). */
#ifndef HARNESS_CHART_CHAPTER_H
#define HARNESS_CHART_CHAPTER_H

#include "chart/chart.h"

/* "overview", "kernels", "models", "comparison", "history", "machine", "profile", NULL-ended; also
 * the folders of pictures, in their order. */
extern const char *const chapter_names[];
/* One of them. */
const char *chapter_of(const struct preset *preset);

#endif
