/* SPDX-License-Identifier: MIT */
/*
 * A fixed piece of work that is no part of what is measured, timed beside every case: what the
 * machine could do at that moment. A comparison looks at it before it blames the code
 * (verdict/compare.h, "The machine").
 */
#ifndef HARNESS_MACHINE_PROBE_H
#define HARNESS_MACHINE_PROBE_H

#include "core/record.h"

/* Median ns of a few rounds of multiply-adds, reads and hand-overs within the team, by all threads
 * of a CPU device, by one where programs are measured; about 3 ms. Hand-overs tell what the rest
 * cannot: a host that moves two of its virtual processors from one group of cores to another makes
 * each cache line that they share take four times as long (85 and 375 ns there and back were seen,
 * for 10 to 60 s), and every kernel with a team 5 to 47 % slower. Kept as TELEMETRY_MACHINE. What a
 * fake device says, where it has one. NaN on other devices: a GPU tells its clocks, and what holds
 * them back, by itself (machine/telemetry.h). */
double probe_ns(struct device *device);

#endif
