/* SPDX-License-Identifier: MIT */
/* Telemetry of the conditions under which samples were taken, by name: measuring writes it, reports
 * read it. */
#ifndef HARNESS_CORE_CONDITIONS_H
#define HARNESS_CORE_CONDITIONS_H

/* Of warm-up: s of measured time, and 1 where times, clock and power had settled by then. */
#define TELEMETRY_WARM_UP "warmup_seconds"
#define TELEMETRY_SETTLED "warmup_settled"
/* Of a clock that is to be steady: MHz, how far it strayed from that in the windows that count, how
 * many there were, and how many of them were measured again. */
#define TELEMETRY_CLOCK         "clock_mhz"
#define TELEMETRY_CLOCK_STRAYED "clock_strayed_percent"
#define TELEMETRY_CLOCK_WINDOWS "clock_windows"
#define TELEMETRY_CLOCK_AGAIN   "clock_windows_again"

#endif
