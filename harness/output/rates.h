/* SPDX-License-Identifier: MIT */
/* The rate that says most about a benchmark. */
#ifndef HARNESS_OUTPUT_RATES_H
#define HARNESS_OUTPUT_RATES_H

#include "analysis/metric.h"
#include "output/ticks.h"

/* tokens/s for models, else GFLOP/s, else GB/s; at the median time. "" where there is none. */
const char *rate_text(const struct summary *summary, const struct metric_context *context,
                      char text[QUANTITY_TEXT_SIZE]);

#endif
