/* SPDX-License-Identifier: MIT */
/* `vitest bench --outputJson`: tinybench's results, by file and group. */
#include "importers/base/import_form.h"

static const struct import_field fields[] = {
    { "../../fullName", FIELD_NAME, NULL }, /* "bench/sort.bench.ts > sorting" */
    { "name", FIELD_NAME, NULL },
    { "samples", FIELD_SAMPLES, NULL },
    { "median", FIELD_TIME, "median" },
    { "mean", FIELD_TIME, "mean" },
    { "min", FIELD_SUMMARY, "min" },
    { "max", FIELD_SUMMARY, "max" },
    { "sd", FIELD_SUMMARY, "std" },
    { "p75", FIELD_SUMMARY, "p75" },
    { "p99", FIELD_SUMMARY, "p99" },
    { "p995", FIELD_SUMMARY, "p995" },
    { "p999", FIELD_SUMMARY, "p999" },
    { "sampleCount", FIELD_BESIDE, "summary_samples" },
    { "hz", FIELD_SKIP, NULL }, /* all of these follow from the above */
    { "period", FIELD_SKIP, NULL },
    { "variance", FIELD_SKIP, NULL },
    { "sem", FIELD_SKIP, NULL },
    { "df", FIELD_SKIP, NULL },
    { "critical", FIELD_SKIP, NULL },
    { "moe", FIELD_SKIP, NULL },
    { "rme", FIELD_SKIP, NULL },
    { "totalTime", FIELD_SKIP, NULL },
    { "rank", FIELD_SKIP, NULL },
    { "id", FIELD_SKIP, NULL },
    FIELDS_END,
};

static const struct import_form form = {
    .entries = "files[].groups[].benchmarks[]",
    .unit = "ms",
    .clock = "vitest",
    .statistic = "the median or mean of the samples",
    .fields = fields,
};

const struct import_format_row import_vitest = { .signs = { "files[].groups[" }, .form = &form };
