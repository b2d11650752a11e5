/* SPDX-License-Identifier: MIT */
/* Lines below a run's table: that warm-up did not settle, and for who asked, how it did
 * (--warm-up), what held the clock and what was only recorded (--clock). */
#ifndef HARNESS_REPORTERS_RUN_CONDITIONS_H
#define HARNESS_REPORTERS_RUN_CONDITIONS_H

#include "base/strbuf.h"
#include "core/record.h"

/* Nothing where all settled and nobody asked. */
void run_conditions(const struct records *records, int run, struct strbuf *out);

#endif
