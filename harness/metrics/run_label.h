/* SPDX-License-Identifier: MIT */
/*
 * Short names for a set of runs: only what differs within the set is said, and as little of it as
 * tells them apart. No two runs get the same name.
 *
 *     two machines                              EPYC 7763           Xeon 8488C
 *     two branches                              main                faster-gemm
 *     commits of one branch                     3f2a91c             9be01aa+     (+: uncommitted)
 *     one commit, two compilers                 gcc 12.2.0          clang 16.0.6
 *     the same build twice                      run 11              run 12
 */
#ifndef HARNESS_METRICS_RUN_LABEL_H
#define HARNESS_METRICS_RUN_LABEL_H

#include "base/error.h"
#include "core/record.h"

#include <stddef.h>

/* A fact by which runs can be named: machine, gpu, cuda, label, branch, commit, compiler, flags,
 * build, suite. */
struct run_fact;

/* NULL and an error that names the nearest. */
const struct run_fact *run_fact_find(const char *name, struct error *err);

/* nr strings in a new array; free with run_labels_free(). `first` NULL: whatever differs; else each
 * name begins with that fact, and more follows only where it does not tell runs apart. */
char **run_labels_create(const struct run *const *runs, size_t nr, const struct run_fact *first);
void run_labels_free(char **labels, size_t nr);

#endif
