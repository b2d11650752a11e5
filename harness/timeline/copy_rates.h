/* SPDX-License-Identifier: MIT */
/* Inside timeline/: counters of how fast copies go. */
#ifndef HARNESS_TIMELINE_COPY_RATES_H
#define HARNESS_TIMELINE_COPY_RATES_H

#include "activity/activity.h"
#include "profile/trace.h"

/* From the copies among the slices from `first` on: a counter per device and direction, in GB/s,
 * the sum over copies under way. Copies without a length in time or bytes are left out. -1: no
 * memory. */
int timeline_add_copy_rates(struct prof_trace *trace, size_t first);
/* By the name of a copy's slice: "memcpy HtoD", "Memcpy DtoH (Device -> Pageable)". */
enum memcpy_kind timeline_copy_kind(const char *name);

#endif
