/* SPDX-License-Identifier: MIT */
/* Which axes and scales of colours are logarithmic: as the preset says or, where it says "auto",
 * those of values that span more than so many times. */
#ifndef HARNESS_CHART_BASE_CHART_SCALE_H
#define HARNESS_CHART_BASE_CHART_SCALE_H

#include "chart/base/chart_base.h"

#define SCALE_WIDE         50.0 /* values of several benchmarks */
#define SCALE_WIDE_COLOURS 20.0
#define SCALE_WIDE_SAMPLES 10.0 /* of one benchmark, with its tail */
#define SCALE_WIDE_SIZES   7.5  /* they double more often than not: from a factor of 8 on */
#define SCALE_WIDE_MODELS  2.0  /* work of models, which grow by factors */

enum axis_scale chart_scale_beyond(enum scale_choice choice, double wide, double low, double high);
/* Beyond SCALE_WIDE. */
enum axis_scale chart_scale_of(enum scale_choice choice, double low, double high);
/* The same, for the y axis of the preset. */
enum axis_scale chart_scale(const struct preset *preset, double low, double high);

#endif
