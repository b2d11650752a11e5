/* SPDX-License-Identifier: MIT */
/* Bencher Metric Format: {BENCHMARK: {MEASURE: {value, lower_value, upper_value}}}. */
#include "importers/base/import_form.h"

static const struct import_field fields[] = {
    { "", FIELD_KEY, NULL },
    { "latency.value", FIELD_TIME, "value" }, /* in ns */
    { "latency.lower_value", FIELD_SUMMARY, "lower" },
    { "latency.upper_value", FIELD_SUMMARY, "upper" },
    { "*.value", FIELD_NUMBER, NULL },
    { "*.lower_value", FIELD_BESIDE, "*_lower" },
    { "*.upper_value", FIELD_BESIDE, "*_upper" },
    FIELDS_END,
};

/* Operations in a second, where there is no latency. */
static int bmf_read_times(struct import_entry *e)
{
    const cJSON *at = import_entry_at(e, "throughput.value");
    double value;

    if (import_entry_at(e, "latency.value") || !import_value(at, &value))
        return 0;
    import_take(at);
    e->b->statistic = e->form->statistic;
    return import_quantity(e->b, e->c, at, value, "ops/s", "throughput");
}

static const struct import_form form = {
    .entries = "*",
    .unit = "ns",
    .clock = "latency",
    .statistic = "the one value",
    .fields = fields,
    .paths = true,
    .read_times = bmf_read_times,
};

const struct import_format_row import_bmf = { .signs = { "*.*.value" }, .form = &form };
