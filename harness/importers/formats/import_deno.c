/* SPDX-License-Identifier: MIT */
/* `deno bench --json`: a summary in ns. */
#include "importers/base/import_form.h"

static const struct import_field fields[] = {
    { "group", FIELD_NAME, NULL },
    { "name", FIELD_NAME, NULL },
    { "results[].ok.avg", FIELD_TIME, "mean" },
    { "results[].ok.min", FIELD_SUMMARY, "min" },
    { "results[].ok.max", FIELD_SUMMARY, "max" },
    { "results[].ok.p75", FIELD_SUMMARY, "p75" },
    { "results[].ok.p99", FIELD_SUMMARY, "p99" },
    { "results[].ok.p995", FIELD_SUMMARY, "p995" },
    { "results[].ok.p999", FIELD_SUMMARY, "p999" },
    { "results[].ok.n", FIELD_BESIDE, "summary_samples" },
    { "results[].failed.exceptionMessage", FIELD_FAILURE, NULL },
    { "results[].failed", FIELD_SKIP, NULL }, /* where in the program */
    { "origin", FIELD_SKIP, NULL },           /* the file, with the path on that machine */
    FIELDS_END,
};

static const struct import_field file[] = {
    { "runtime", FIELD_FACT, "runtime" },
    { "cpu", FIELD_CPU, NULL },
    FIELDS_END,
};

static const struct import_form form = {
    .entries = "benches[]",
    .unit = "ns",
    .clock = "Deno",
    .statistic = "the mean",
    .fields = fields,
    .file = file,
};

const struct import_format_row import_deno = { .signs = { "benches[" }, .form = &form };
