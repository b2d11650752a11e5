/* SPDX-License-Identifier: MIT */
/* Inside gputrace/: units as Nsight Compute writes them ("Gbyte/second", "usecond", "Kinst"). */
#ifndef HARNESS_GPUTRACE_UNITS_H
#define HARNESS_GPUTRACE_UNITS_H

enum { COUNTER_UNIT_SIZE = 48 };

/* The factor that takes a value to the unit without prefixes, which it writes: times become "ns",
 * "Gbyte/second" becomes "byte/s" and 1e9. Prefixes are decimal. What is not known stays as it is,
 * factor 1. */
double counter_unit(const char *unit, char plain[COUNTER_UNIT_SIZE]);

#endif
