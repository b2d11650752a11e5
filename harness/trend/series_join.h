/* SPDX-License-Identifier: MIT */
/*
 * Series of the runs of one machine class, put together from one run after the other, so that only
 * one has to be held, and a new run costs no more than itself:
 *
 *     struct series_join *join = series_join_create();
 *     for each run: ... load it alone ...  series_join_add(join, &records);
 *     series_join_list(join, &runs, &list);       runs->runs[i] is the i-th that was added
 *     series_list_release(&list);
 *     series_join_free(join);
 *
 * The points are those of series_list_init() over all runs at once, p5 and p95 too.
 */
#ifndef HARNESS_TREND_SERIES_JOIN_H
#define HARNESS_TREND_SERIES_JOIN_H

#include "trend/series.h"

struct series_join;

struct series_join *series_join_create(void);
void series_join_free(struct series_join *join); /* NULL is fine */
/* The next run: records of it alone, with samples. Keeps nothing of them but numbers. */
void series_join_add(struct series_join *join, const struct records *records);
/* `runs` has the facts of all runs in the order in which they were added, and must outlive the
 * list. */
void series_join_list(const struct series_join *join, const struct records *runs,
                      struct series_list *list);

#endif
