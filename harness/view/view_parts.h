/* SPDX-License-Identifier: MIT */
/* Inside view/: parts of records. */
#ifndef HARNESS_VIEW_VIEW_PARTS_H
#define HARNESS_VIEW_VIEW_PARTS_H

#include "core/record.h"

#include <stddef.h>

/* Some runs of `whole` as records of their own, which borrow everything from it. */
void records_part_init(struct records *part, const struct records *whole, const int *runs,
                       size_t nr);
/* Of a part, or of nothing (zeroed). */
void records_part_release(struct records *part);

/* Sorts runs by time, oldest first; places[i] is the new index of run i. */
void records_sort_runs(struct records *records, int *places);

#endif
