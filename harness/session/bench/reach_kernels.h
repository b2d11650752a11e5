/* SPDX-License-Identifier: MIT */
/*
 * `--changed` for harness's own kernels and models: the things of reach.h are the variants of this
 * program, each called as its kernel and itself, "gemm/linear/simd". What a plugin brings is none
 * of them and is always measured.
 */
#ifndef HARNESS_SESSION_BENCH_REACH_KERNELS_H
#define HARNESS_SESSION_BENCH_REACH_KERNELS_H

#include "session/bench/reach.h"
#include "session/measure/workload.h"

/* -1: the map cannot be read, or names no variant of this program. */
int reach_kernels_check(const char *map, struct error *err);
/* Takes out of the workload whatever the change from base to head cannot reach, of which it may
 * leave nothing, and says so to the sink; `left_out` gets the sentence ("" where nothing is left
 * out), in which each is named. -1: git or the map cannot be read. */
int reach_kernels_leave_out(struct workload *w, const struct built *side[AB_SIDES], const char *map,
                            const struct session_sink *sink, struct strbuf *left_out,
                            struct error *err);

/* What the sink is told of a file that may do anything. */
void reach_note_unknown(const struct reach *reach, const struct session_sink *sink);
/* What stands before the names of those that are left out. */
#define REACH_LEFT_OUT "left out, as the change cannot reach them: "

#endif
