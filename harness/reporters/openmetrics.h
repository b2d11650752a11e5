/* SPDX-License-Identifier: MIT */
/*
 * One run for Prometheus and whatever else reads its forms: a gauge a metric in base units, a
 * series a benchmark. In two forms:
 *
 *   OpenMetrics 1.0  with the run's start as time stamp: to fill in the past, as `promtool tsdb
 *                    create-blocks-from openmetrics` does
 *   classic          (text format 0.0.4) without stamps: for what is scraped, as by the text file
 *                    collector of node_exporter, which knows no type info
 *
 * Metrics that a benchmark lacks make no sample, those that none has no family. Names of benchmarks
 * are labels, escaped; dims are labels "dim_<name>", with '_' for what a label's name may not have.
 */
#ifndef HARNESS_REPORTERS_OPENMETRICS_H
#define HARNESS_REPORTERS_OPENMETRICS_H

#include "base/strbuf.h"
#include "core/record.h"
#include "trend/trend.h"
#include "verdict/compare.h"

/* Run `run` (-1: the newest) is appended as OpenMetrics, to the "# EOF" behind it. */
void openmetrics_add(const struct records *records, int run, struct strbuf *out);
/* The same in the classic form; nothing where there is no run. More may follow. */
void prometheus_add(const struct records *records, int run, struct strbuf *out);

/* For what is scraped, behind a run of that machine class: how many benchmarks have which verdict,
 * and how many steps for the worse stand. */
void prometheus_add_compared(const struct comparison *c, const char *machine, struct strbuf *out);
void prometheus_add_trends(const struct trends *t, const char *machine, struct strbuf *out);

#endif
