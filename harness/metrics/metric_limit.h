/* SPDX-License-Identifier: MIT */
/*
 * What is done within a limit of latency. The limit is part of the name, so that a
 * preset, an expression or --metric states it, and old history answers:
 *
 *     good_5ms       samples   that took 5 ms or less
 *     within_250us   fraction  of the samples
 *     goodput_2s     tokens/s  of the good samples, over the time of all of them
 *
 * The limit is a whole number of ns, us, ms or s. A sample is one launch of the kernel: latency as
 * the percentiles have it, with no queue in front and no service behind it. metric_find() knows
 * these names; metric_at() does not have them, because there is no end of them.
 */
#ifndef HARNESS_METRICS_METRIC_LIMIT_H
#define HARNESS_METRICS_METRIC_LIMIT_H

#include "metrics/metric.h"

/* NULL for what is no such name, and past METRIC_LIMITS_MAX names. A row lives as long as the
 * process. */
enum { METRIC_LIMITS_MAX = 4096 };
const struct metric *metric_limit_find(const char *id);

/* One of each family, as an example; NULL past the end. */
const struct metric *metric_limit_example(size_t i);
/* The text is a family's name without a limit, or with one that is none. */
bool metric_limit_lacks(const char *id);

#endif
