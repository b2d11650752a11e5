/* SPDX-License-Identifier: MIT */
/* The sentences before and behind what a history says: how much was found, and how sure it is. */
#ifndef HARNESS_REPORTERS_TREND_TREND_SUMMARY_H
#define HARNESS_REPORTERS_TREND_TREND_SUMMARY_H

#include "base/strbuf.h"
#include "trend/trend.h"

/* "3 steps in 2 series, no drift; 209 series quiet, 3 too short (under 10 points)", no newline */
void trend_summary_head(const struct trends *t, struct strbuf *out);
/* A line for each filter that lets nothing through, if there is anything at all. */
void trend_summary_unfit(const struct trends *t, void (*escape)(struct strbuf *, const char *),
                         struct strbuf *out);
/* "4 series looked at, chance alone would give 0.1 alarms", and what would have been seen. */
void trend_summary_foot(const struct trends *t, struct strbuf *out);

#endif
