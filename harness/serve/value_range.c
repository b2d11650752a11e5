/* SPDX-License-Identifier: MIT */
#include "serve/value_range.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int value_range_end(const char *text, double *end, struct error *err)
{
    return *text ? text_parse_double(text, -INFINITY, INFINITY, "range", end, err) : 0;
}

/* Ends at the last two colons: the name of a program's own metric may have some. */
int value_range_parse(const char *text, struct value_range *range, struct error *err)
{
    char *metric = memory_string(text), *high = strrchr(metric, ':'), *low = NULL;
    int rc = 0;

    *range = (struct value_range) { NULL, -INFINITY, INFINITY };
    if (high) {
        *high++ = '\0';
        low = strrchr(metric, ':');
    }
    if (low) {
        *low++ = '\0';
        range->metric = metric_find(metric, err);
        rc = !range->metric || value_range_end(low, &range->low, err) ||
                     value_range_end(high, &range->high, err)
                 ? -1
                 : 0;
    } else {
        rc = error_set(err, "range: \"%.64s\" is no METRIC:LOW:HIGH", text);
    }
    free(metric);
    return rc;
}

static size_t value_range_metric(const struct metric *metric)
{
    size_t at = 0;

    while (at < run_values_metrics() && strcmp(metric_at(at)->id, metric->id) != 0)
        at++;
    return at;
}

void value_range_keys(const struct value_range *range, const struct view *view,
                      const struct page *page, struct string_list *keys)
{
    size_t metric = value_range_metric(range->metric);

    for (size_t i = 0; i < view->nr_runs; i++) {
        int run = page_find_run(page, &view->records.runs[view->runs[i]]);
        const struct run_values *values = run < 0 ? NULL : page->runs[run].values;
        for (size_t k = 0; values && k < values->nr; k++) {
            double value = run_value_of(&values->items[k], metric) * range->metric->factor;
            if (value >= range->low && value <= range->high)
                string_list_add(keys, values->items[k].key);
        }
    }
    string_list_sort(keys);
}
