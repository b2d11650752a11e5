/* SPDX-License-Identifier: MIT */
/* Dates as people and programs write them (ISO 8601). */
#ifndef HARNESS_BASE_DATE_H
#define HARNESS_BASE_DATE_H

#include "base/error.h"

#include <stdint.h>

/* "2026-01-31", "2026-01-31 12:30", "2026-01-31T12:30:05.25+02:00", "...Z" as ms since the epoch.
 * Without an offset it is UTC. `what` stands in messages. The whole text must be a date. */
int date_parse(const char *text, const char *what, int64_t *ms, struct error *err);

#endif
