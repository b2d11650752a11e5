/* SPDX-License-Identifier: MIT */
/*
 * A fixed piece of work that is no part of what is measured, timed beside every case: what the
 * machine could do at that moment. A comparison looks at it before it blames the code
 * (verdict/compare.h, "The machine").
 */
#ifndef HARNESS_MACHINE_PROBE_H
#define HARNESS_MACHINE_PROBE_H

#include "core/record.h"

/* Median ns of a few rounds of multiply-adds and reads by all threads of a CPU device, by one
 * where programs are measured; about 3 ms. What a fake device says, where it has one.
 * NaN on other devices: a GPU tells its clocks, and what holds them back, by itself
 * (machine/telemetry.h). */
double probe_ns(struct device *device);

#endif
