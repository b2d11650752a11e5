/* SPDX-License-Identifier: MIT */
/* What programs say of themselves (core/number.h), below the table of a run and in what is
 * exported. */
#ifndef HARNESS_REPORTERS_NUMBER_TABLE_H
#define HARNESS_REPORTERS_NUMBER_TABLE_H

#include "metrics/run_rows.h"
#include "reporters/run_table.h"

#include <cjson/cJSON.h>

/* A row for each metric of each benchmark, labelled as run_rows_name() did; nothing where there is
 * none. */
void number_table(const struct run_rows *rows, const struct run_table_options *options,
                  struct strbuf *out);
void number_table_markdown(const struct run_rows *rows, struct strbuf *out);
/* "metrics": {"tflops": {"value": 1.5, "unit": "TFLOP/s", "better": "higher", "interval": {...}}};
 * no member where there is none. */
void number_add_json(cJSON *json, const struct summary *s);

#endif
