/* SPDX-License-Identifier: MIT */
/* Lines below a run's table, for who asked: whether warm-up settled (--warm-up), and what held the
 * clock and what was only recorded (--clock). */
#ifndef HARNESS_REPORTERS_RUN_CONDITIONS_H
#define HARNESS_REPORTERS_RUN_CONDITIONS_H

#include "base/strbuf.h"
#include "core/record.h"

/* Nothing where nobody asked. */
void run_conditions(const struct records *records, int run, struct strbuf *out);

#endif
