/* SPDX-License-Identifier: MIT */
#include "reporters/number_table.h"

#include "base/json.h"
#include "base/text.h"
#include "metrics/metric.h"
#include "text/table.h"
#include "text/ticks.h"

#include <math.h>

/* The next metric of a program from the i-th row on; NULL past the end. */
static const struct metric *number_metric_next(size_t *i)
{
    const struct metric *m;

    while ((m = metric_at((*i)++)))
        if (m->number)
            return m;
    return NULL;
}

static const struct table_column number_columns[] = {
    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 }, { "metric", TABLE_LEFT, TABLE_FIRM, 0 },
    { "median", TABLE_RIGHT, TABLE_FIRM, 0 },   { "unit", TABLE_LEFT, TABLE_FIRM, 0 },
    { "±95 %", TABLE_RIGHT, TABLE_FIRM, 1 },    { "better", TABLE_LEFT, TABLE_FIRM, 2 },
};

static void number_add_row(struct table *t, const char *label, const struct metric *metric,
                           const struct metric_value *v)
{
    double half = (v->interval.high - v->interval.low) / 2 / fabs(v->value);
    char text[QUANTITY_TEXT_SIZE], share[TEXT_UNIT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", label);
    table_cell(t, TABLE_PLAIN, "%s", metric->id);
    table_cell(t, TABLE_PLAIN, "%s", quantity_text(metric->quantity, metric->base, v->value, text));
    table_cell(t, TABLE_PLAIN, "%s", metric->unit);
    if (half > 1) /* launches that disagree by more than that need no digits */
        table_cell(t, TABLE_DIM, "> 100 %%");
    else if (isfinite(half))
        table_cell(t, TABLE_DIM, "%s", text_share(half, share));
    else
        table_empty(t);
    table_cell(t, TABLE_DIM, "%s", better_name(metric->number->better));
}

/* False: there is none. */
static bool number_fill(struct table *t, const struct run_rows *rows)
{
    const struct metric *metric;
    bool any = false;

    table_init(t, number_columns, sizeof(number_columns) / sizeof(number_columns[0]));
    for (size_t r = 0; r < rows->nr; r++)
        for (size_t i = 0; (metric = number_metric_next(&i));) {
            struct metric_value v = metric_value(metric, &rows->items[r].summary, &rows->context);
            if (!isfinite(v.value))
                continue;
            any = true;
            number_add_row(t, rows->labels[r], metric, &v);
        }
    return any;
}

void number_table(const struct run_rows *rows, const struct run_table_options *options,
                  struct strbuf *out)
{
    struct table t;

    if (number_fill(&t, rows)) {
        strbuf_addc(out, '\n');
        table_text(&t, options->width, options->colour, out);
    }
    table_release(&t);
}

void number_table_markdown(const struct run_rows *rows, struct strbuf *out)
{
    struct table t;

    if (number_fill(&t, rows)) {
        strbuf_addc(out, '\n');
        table_markdown(&t, out);
    }
    table_release(&t);
}

void number_add_json(cJSON *json, const struct summary *s)
{
    const struct metric *metric;
    cJSON *metrics = NULL;

    for (size_t i = 0; (metric = number_metric_next(&i));) {
        struct metric_value v = metric_value(metric, s, NULL);
        if (!isfinite(v.value))
            continue;
        if (!metrics)
            metrics = cJSON_AddObjectToObject(json, "metrics");
        cJSON *one = cJSON_AddObjectToObject(metrics, metric->id);
        json_add_number(one, "value", v.value);
        cJSON_AddStringToObject(one, "unit", metric->unit);
        cJSON_AddStringToObject(one, "better", better_name(metric->number->better));
        if (!isfinite(v.interval.low) || !isfinite(v.interval.high))
            continue;
        cJSON *interval = cJSON_AddObjectToObject(one, "interval");
        json_add_number(interval, "low", v.interval.low);
        json_add_number(interval, "high", v.interval.high);
    }
}
