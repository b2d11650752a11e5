/* SPDX-License-Identifier: MIT */
/* What `harness selftest` prints: of a series of comparisons, of costs, of placement. */
#ifndef HARNESS_CLI_RENDER_SELFTEST_REPORT_H
#define HARNESS_CLI_RENDER_SELFTEST_REPORT_H

#include "base/strbuf.h"
#include "session/measure/selftest_trials.h"

/* A table of rates, the noise seen, and whether the machine carries the gate. */
void selftest_report(const struct selftest *t, size_t width, bool colour, struct strbuf *out);
/* A table a benchmark. */
void costs_report(const struct selftest_cost *costs, size_t nr, size_t width, bool colour,
                  struct strbuf *out);
void placements_report(const struct placement_part *parts, size_t nr, size_t width, bool colour,
                       struct strbuf *out);

#endif
