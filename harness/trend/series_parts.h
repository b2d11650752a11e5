/* SPDX-License-Identifier: MIT */
/* What series.c and series_builder.c share; series.h is for everyone else. */
#ifndef HARNESS_TREND_SERIES_PARTS_H
#define HARNESS_TREND_SERIES_PARTS_H

#include "trend/series.h"

/* What the series need to know of each run. */
struct series_run {
    bool taken;
    uint64_t epoch;
};

/* One for each run of the records; free(). */
struct series_run *series_runs(const struct records *records);
/* A point without numbers. */
struct series_point series_point_of(const struct records *records, const struct series_run *runs,
                                    int run);
/* Orders the points by time and adds the series to the list; one without points is left out. */
void series_list_add(struct series_list *list, struct series *series);

#endif
