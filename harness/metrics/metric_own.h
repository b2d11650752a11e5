/* SPDX-License-Identifier: MIT */
/* Inside metrics/: the rows of metrics that programs say of themselves (core/number.h). They stand
 * behind those of the table in metric.c, in the order in which they were met. */
#ifndef HARNESS_METRICS_METRIC_OWN_H
#define HARNESS_METRICS_METRIC_OWN_H

#include "metrics/metric.h"

/* NULL past the end. A row lives as long as the process. */
const struct metric *metric_own_at(size_t i);

#endif
