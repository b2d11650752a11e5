/* SPDX-License-Identifier: MIT */
/* The tables of `harness tune`. */
#ifndef HARNESS_CLI_RENDER_TUNE_REPORT_H
#define HARNESS_CLI_RENDER_TUNE_REPORT_H

#include "session/tune/tuning.h"

/* A sentence and a table for each race, then what it took. `width` and `colour` as of table_text().
 */
void tune_report(const struct tuning *t, size_t width, bool colour, struct strbuf *out);
/* What is kept: a row for each benchmark. */
void tune_report_kept(const struct store_tuned_list *kept, size_t width, bool colour,
                      struct strbuf *out);

#endif
