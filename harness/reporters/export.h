/* SPDX-License-Identifier: MIT */
/* Runs in other programs' forms. The trees belong to the caller (cJSON_Delete). */
#ifndef HARNESS_REPORTERS_EXPORT_H
#define HARNESS_REPORTERS_EXPORT_H

#include "base/strbuf.h"
#include "core/record.h"

struct cJSON;

/* One run (-1: the newest) as {"schema_version":1, "metadata":{...}, "benchmarks":[{"name",
 * "config":{kernel, variant, math, device, cache, fill, dims}, "outcome", "timing":{"unit":"ms",
 * mean, std, min, max, median, p5, p25, p75, p90, p95, p99, n, launches,
 * "intervals":{"median":{"low", "high"}, ...} (95 %), "too_few_samples_for":["p99"]},
 * "throughput":{tokens_per_second, gflops, gbs}}]}. What does not apply is absent; what has no time
 * has no "timing". */
struct cJSON *export_json(const struct records *records, int run);

/* One run in the form of Google Benchmark's --benchmark_format=json: "context" and "benchmarks". A
 * launch is a repetition (run_type "iteration"); several are followed by the aggregates mean,
 * median, stddev and cv over the launches. Times are ns for one kernel launch. Benchmarks without a
 * time carry "error_occurred" and "error_message". */
struct cJSON *export_gbench(const struct records *records, int run, const char *executable);

/* All runs, one line a measurement: run, time, commit, machine, launch, key and its parts, outcome,
 * percentiles in ns, work, error. RFC 4180, with a title line. */
void export_csv(const struct records *records, struct strbuf *out);

#endif
