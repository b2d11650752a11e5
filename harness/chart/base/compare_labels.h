/* SPDX-License-Identifier: MIT */
/* How rows of a comparison are called: tables, reports and figures tell them apart alike. */
#ifndef HARNESS_CHART_BASE_COMPARE_LABELS_H
#define HARNESS_CHART_BASE_COMPARE_LABELS_H

#include "base/strbuf.h"
#include "verdict/compare.h"

#include <stddef.h>

/* Tells a row from others of its benchmark: " p50 on epyc", of what there are several. */
void compare_add_which(const struct compare_several *several, const struct compare_row *row,
                       struct strbuf *name);
/* The short label of each row, unique; with its metric and its machine where there are several.
 * Free with labels_free(). */
char **compare_row_labels(const struct compare_several *several,
                          const struct compare_row *const *rows, size_t nr);

#endif
