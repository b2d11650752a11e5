/* SPDX-License-Identifier: MIT */
/*
 * Reads what NVIDIA's profilers wrote. Files come from other machines and programs: what is wrong
 * with one is told by line and column, or by table and row, and nothing in it is run.
 */
#ifndef HARNESS_GPUTRACE_IMPORT_H
#define HARNESS_GPUTRACE_IMPORT_H

#include "base/error.h"
#include "gputrace/activity.h"
#include "gputrace/counter_list.h"

/* Counters of kernels from `ncu --csv`: one line a metric ("Metric Name", "Metric Unit", "Metric
 * Value"), or one line a launch (`--page raw`: a column a metric, units in the line below). What a
 * program printed before the table is skipped. Prefixes of units are worked in and times become ns,
 * commas between thousands are understood; metrics that are words are left out. Appends. */
int activity_import_ncu_csv(const char *path, struct counter_list *list, struct error *err);
/* The same of a text in memory; `what` stands in messages. */
int activity_import_ncu_text(const char *text, size_t length, const char *what,
                             struct counter_list *list, struct error *err);

/* Activities from `nsys export --type sqlite`: kernels, copies, fills, calls, waits, graphs and
 * NVTX ranges, as far as the tables are there. Devices have the machine's numbers where the file
 * tells them, since each process counts those that it may use. Times are ns since the profiler
 * started, so the list has no clock. The file is opened for reading only. More than `most` rows, of
 * activities and of names, are refused before any is read. Appends and sorts. */
int activity_import_nsys(const char *path, size_t most, struct activity_list *list,
                         struct error *err);

#endif
