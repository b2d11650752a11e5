/* SPDX-License-Identifier: MIT */
/* A run as Markdown for people: a table of mean and spread, and who is fastest. */
#ifndef HARNESS_OUTPUT_MARKDOWN_H
#define HARNESS_OUTPUT_MARKDOWN_H

#include "base/strbuf.h"
#include "core/record.h"

/* Of one run (-1: the newest): environment line, table (benchmark, batch, seq, mean ± sd, p50,
 * thousand tokens/s, GFLOP/s), then the lowest latency, best throughput and best share of the roof,
 * and what is not OK. Every name is escaped. */
void markdown_report(const struct records *records, int run, struct strbuf *out);

#endif
