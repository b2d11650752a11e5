/* SPDX-License-Identifier: MIT */
/* The two clocks of the host: one for durations, one for dates. */
#ifndef HARNESS_CORE_CLOCK_H
#define HARNESS_CORE_CLOCK_H

#include <stdint.h>

#define CLOCK_NS_NAME "CLOCK_MONOTONIC_RAW"
uint64_t clock_ns(void);      /* of that name: never stepped or slewed */
int64_t clock_epoch_ms(void); /* CLOCK_REALTIME */
double clock_step_ns(void);   /* smallest non-zero difference seen between two readings */

#endif
