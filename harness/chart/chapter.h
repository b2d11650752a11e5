/* SPDX-License-Identifier: MIT */
/* Chapters of a report: what a reader looks for, in the order in which he does. A figure is in one,
 * by what it shows; sections of presets (chart/preset.h) are finer. */
#ifndef HARNESS_CHART_CHAPTER_H
#define HARNESS_CHART_CHAPTER_H

#include "chart/chart.h"

/* "overview", "comparison", "history", "kernels", "models", "profile", "machine". Static. */
const char *chapter_of(const struct preset *preset);

#endif
