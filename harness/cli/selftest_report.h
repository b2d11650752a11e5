/* SPDX-License-Identifier: MIT */
/* What `harness selftest` prints of one series of comparisons. */
#ifndef HARNESS_CLI_SELFTEST_REPORT_H
#define HARNESS_CLI_SELFTEST_REPORT_H

#include "analysis/selftest.h"
#include "base/strbuf.h"

/* A table of rates, the noise seen, and whether the machine carries the gate. */
void selftest_report(const struct selftest *t, size_t width, bool colour, struct strbuf *out);

#endif
