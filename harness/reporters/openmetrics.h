/* SPDX-License-Identifier: MIT */
/*
 * One run as OpenMetrics text (version 1.0.0 of the specification), for Prometheus and whatever
 * else reads it: a gauge a metric in base units, a series a benchmark, the run's start as
 * timestamp.
 */
#ifndef HARNESS_REPORTERS_OPENMETRICS_H
#define HARNESS_REPORTERS_OPENMETRICS_H

#include "base/strbuf.h"
#include "core/record.h"

/* Appends run `run` (-1: the newest). Metrics that a benchmark lacks make no sample, those that
 * none has no family. Names of benchmarks are labels, escaped; dims are labels "dim_<name>", with
 * '_' for what a label's name may not have. */
void openmetrics_add(const struct records *records, int run, struct strbuf *out);

#endif
