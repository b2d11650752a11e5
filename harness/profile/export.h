/* SPDX-License-Identifier: MIT */
/* Files for other programs. They take a sorted trace; -1 where the file cannot be written or there
 * is no memory (errno). Texts may hold any bytes: what is not UTF-8 is replaced. */
#ifndef HARNESS_PROFILE_EXPORT_H
#define HARNESS_PROFILE_EXPORT_H

#include "summary.h"
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trace Event JSON (the object form; Perfetto, chrome://tracing, speedscope). `ts` is us with three
 * decimals, so whole ns, from meta.start on. One process a process, one thread a track; slices that
 * overlap on a track without nesting get further threads, named like it. A slice is a "B" and an
 * "E", which has its arguments; those of a thread follow one another as they nest. */
int prof_write_trace(FILE *file, const struct prof_trace *trace);

/* Folded stacks, "main;forward;qkv 1234" with self time in ns (flamegraph.pl, inferno, speedscope):
 * the slices of one side, under the name of their track. Blanks and semicolons in names become
 * underscores. A line is as long as its stack is deep; so that a trace of deep stacks does not make
 * a file many times its own size, stacks end in "[deeper]" where lines would come to more. */
#define PROF_FOLDED_BYTES ((size_t)16 << 20)
int prof_write_folded(FILE *file, const struct prof_trace *trace, enum prof_side side);

/* {"schema": 1, ...}: meta, cost (may be NULL) and the rows, as a list of columns and a list of
 * values for each row. */
int prof_write_summary(FILE *file, const struct prof_summary *summary,
                       const struct prof_cost *cost);

#ifdef __cplusplus
}
#endif

#endif
