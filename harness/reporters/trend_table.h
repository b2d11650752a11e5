/* SPDX-License-Identifier: MIT */
/* What the history says, as tables: steps, drifts, and how many series were looked at. */
#ifndef HARNESS_REPORTERS_TREND_TABLE_H
#define HARNESS_REPORTERS_TREND_TABLE_H

#include "base/strbuf.h"
#include "trend/trend.h"

#include <stdbool.h>
#include <stddef.h>

struct trend_table_options {
    size_t width; /* of the terminal; 0: any */
    bool colour;  /* ANSI colours */
    bool all;     /* the quiet series, too, with their noise; else they are only counted */
};

void trend_table_text(const struct trends *t, const struct trend_table_options *options,
                      struct strbuf *out);
void trend_table_markdown(const struct trends *t, const struct trend_table_options *options,
                          struct strbuf *out);

#endif
