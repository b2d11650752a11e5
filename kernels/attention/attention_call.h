/* SPDX-License-Identifier: MIT */
/* The arguments of a prepared call and the memory behind it, for the CPU variants. */
#ifndef HARNESS_KERNELS_ATTENTION_CALL_H
#define HARNESS_KERNELS_ATTENTION_CALL_H

#include "kernels/attention/attention.h"

/* Scratch is call->state. */
struct attention attention_of(const struct call *call);
struct attention_decode attention_decode_of(const struct call *call);

/* prepare() of both: allocates the scratch; host_state_release() frees it. */
int attention_prepare(struct call *call, struct error *err);
int attention_decode_prepare(struct call *call, struct error *err);

/* Bytes of the first one's. Of decode they are a row of scores a thread, which is few. */
int64_t attention_workspace(const struct call *call);

/* Queries that attention_prefill_simd takes at a time, at most. */
enum { ATTENTION_SIMD_QUERIES = 64 };

/* Most floats that one thread of attention_prefill_simd uses, whatever the instruction set. */
size_t attention_simd_scratch(int64_t seq, int64_t headdim);

#endif
