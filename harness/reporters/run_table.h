/* SPDX-License-Identifier: MIT */
/* The table after a run: each benchmark with its outcome, percentiles, rate, share of the roof; and
 * the run as Markdown for people: mean and spread, and who is fastest. */
#ifndef HARNESS_REPORTERS_RUN_TABLE_H
#define HARNESS_REPORTERS_RUN_TABLE_H

#include "base/strbuf.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

struct run_table_options {
    size_t width; /* of the terminal; 0: any */
    bool colour;  /* ANSI colours */
};

/* Of one run, index into records->runs; -1 takes the newest. What all benchmarks share stands once,
 * above; footnotes explain the marks that were used. Rates: tokens/s of models, else GFLOP/s, or
 * GB/s where nothing is computed; all at the median. */
void run_table(const struct records *records, int run, const struct run_table_options *options,
               struct strbuf *out);
/* Lines below it: that warm-up did not settle, and for who asked, how it did (--warm-up), what held
 * the clock and what was only recorded (--clock). Nothing where all settled and nobody asked. */
void run_conditions(const struct records *records, int run, struct strbuf *out);
/* The same table as Markdown. */
void run_table_markdown(const struct records *records, int run, struct strbuf *out);

/* Of one run (-1: the newest): environment line, table (benchmark, batch, seq, mean ± sd, p50,
 * thousand tokens/s, GFLOP/s), then the lowest latency, best throughput and best share of the roof,
 * and what is not OK. Every name is escaped. */
void markdown_report(const struct records *records, int run, struct strbuf *out);

#endif
