/* SPDX-License-Identifier: MIT */
/* What a workload has twice. Inside session/measure alone. */
#ifndef HARNESS_SESSION_MEASURE_WORKLOAD_TWINS_H
#define HARNESS_SESSION_MEASURE_WORKLOAD_TWINS_H

#include "session/measure/workload.h"

/* Leaves the first of each benchmark on each device; the order stays. */
void workload_drop_twins(struct workload *c);

#endif
