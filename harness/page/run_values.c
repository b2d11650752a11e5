/* SPDX-License-Identifier: MIT */
#include "page/run_values.h"

#include "base/array.h"
#include "metrics/run_rows.h"

#include <math.h>
#include <stdlib.h>

size_t run_values_metrics(void)
{
    size_t nr = 0;

    while (metric_at(nr))
        nr++;
    return nr;
}

double run_value_of(const struct run_value *value, size_t metric)
{
    return metric < value->nr_values ? value->values[metric] : (double)NAN;
}

static void run_values_add(struct run_values *values, const struct run_row *row,
                           const struct metric_context *context)
{
    size_t metrics = run_values_metrics();
    struct run_value *value = array_push(values);

    *value = (struct run_value) {
        .key = memory_string(row->bench->key),
        .vendor = row->summary.m->vendor,
        .outcome = row->outcome,
        .launches = row->launches,
        .n = row->summary.n,
        .values = memory_zeroed(metrics, sizeof(double)),
        .nr_values = metrics,
    };
    for (size_t i = 0; i < metrics; i++)
        value->values[i] = metric_value(metric_at(i), &row->summary, context).value;
}

void run_values_init(struct run_values *values, const struct records *records, int run)
{
    struct run_rows rows;

    *values = (struct run_values) { 0 };
    run_rows_init(&rows, records, run);
    for (size_t i = 0; i < rows.nr; i++)
        run_values_add(values, &rows.items[i], &rows.context);
    run_rows_release(&rows);
}

void run_values_release(struct run_values *values)
{
    for (size_t i = 0; i < values->nr; i++) {
        free(values->items[i].key);
        free(values->items[i].values);
    }
    array_release(values);
}
