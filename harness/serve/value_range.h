/* SPDX-License-Identifier: MIT */
/* "range=p50:1e3:5e6": the benchmarks of a view whose value of a metric lies in a range. The page
 * knows which these are, but an address has no room for hundreds of keys. */
#ifndef HARNESS_SERVE_VALUE_RANGE_H
#define HARNESS_SERVE_VALUE_RANGE_H

#include "page/page.h"

struct value_range {
    const struct metric *metric; /* NULL: everything is in it */
    double low, high;            /* in base units: ns, bytes, per second, a fraction */
};

/* "METRIC:LOW:HIGH", where an end that is left out is open. */
int value_range_parse(const char *text, struct value_range *range, struct error *err);
/* Keys of benchmarks with such a value in one of the runs of the view, sorted. */
void value_range_keys(const struct value_range *range, const struct view *view,
                      const struct page *page, struct string_list *keys);

#endif
