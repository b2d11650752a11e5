/* SPDX-License-Identifier: MIT */
/* What records, runs and commands say of the two sides of a benchmark, into a struct explain_case.
 * Nothing is measured here. */
#ifndef HARNESS_EXPLAIN_EVIDENCE_H
#define HARNESS_EXPLAIN_EVIDENCE_H

#include "base/options.h"
#include "core/record.h"
#include "explain/explain.h"

/* The launches of that benchmark on that machine class ("": on any) among the records of a side:
 * time, what was read beside it, and, where there are profiles of it ("KERNEL:OPERATION"), its
 * operations: their self times, and what is left of the iteration. Samples are of all that is
 * nested in an operation, so of profiles that tell nothing else (before 2026-12) no operation is
 * taken. */
void evidence_add_records(struct explain_case *c, const struct records *records,
                          const char *machine, enum explain_side side);
/* One launch: a measurement without scopes. */
void evidence_add_measurement(struct explain_case *c, const struct measurement *m,
                              enum explain_side side);
/* Whatever differs between the two runs (verdict/differences.h), but for the weather. */
void evidence_add_runs(struct explain_case *c, const struct run *base, const struct run *head);
/* Where the program stands in "env NAME=VALUE ... PROGRAM WORD ..."; 0 where there is no env. */
size_t evidence_program_place(const struct string_list *words);
/* The words of two commands; the programs are no facts. Options and "NAME=VALUE" are matched by
 * name, wherever they stand, the rest by its place among those that have none: "argument 2". */
void evidence_add_words(struct explain_case *c, const struct string_list *base,
                        const struct string_list *head);
/* How the programs were built, as they say themselves. */
void evidence_add_builds(struct explain_case *c, const struct code_diff *code);

/* By its name: "OMP_NUM_THREADS", "flags", "libc". */
enum explain_fact_kind evidence_fact_kind(const char *name);

#endif
