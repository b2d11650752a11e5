/* SPDX-License-Identifier: MIT */
/* What the history says: the first steps and drifts as cards, the others and what is no step yet or
 * any more as tables, and how many series were looked at. Markdown has tables alone. */
#ifndef HARNESS_REPORTERS_TREND_TREND_TABLE_H
#define HARNESS_REPORTERS_TREND_TREND_TABLE_H

#include "base/strbuf.h"
#include "trend/trend.h"

#include <stdbool.h>
#include <stddef.h>

struct trend_table_options {
    size_t width; /* of the terminal; 0: any */
    bool colour;  /* ANSI colours */
    bool all;     /* a card for each change, and the quiet series with their noise */
};

void trend_table_text(const struct trends *t, const struct trend_table_options *options,
                      struct strbuf *out);
void trend_table_markdown(const struct trends *t, const struct trend_table_options *options,
                          struct strbuf *out);

#endif
