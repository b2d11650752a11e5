/* SPDX-License-Identifier: MIT */
/*
 * Inputs as a variant's arithmetic sees them: as they lie in memory, but for weights of which it
 * keeps less (math_rounds_weights()). A result is held against the oracle of these, whoever checks
 * it.
 */
#ifndef HARNESS_MEASURE_SEEN_INPUTS_H
#define HARNESS_MEASURE_SEEN_INPUTS_H

#include "core/kernel.h"

struct seen_inputs {
    struct tensor tensor[TENSOR_MAX]; /* data of rounded weights are its own, the rest is the
                                         host's: what is put there later is seen, too */
    bool own[TENSOR_MAX];
};

/* Are they others than those that lie in memory? */
bool seen_inputs_differ(const struct kernel *k, enum math math);
/* Of `host`, TENSOR_MAX tensors whose weights are filled. Outputs may be without data. */
void seen_inputs_make(struct seen_inputs *s, const struct kernel *k, const struct shape *shape,
                      const struct tensor *host, int nr, enum math math);
void seen_inputs_release(struct seen_inputs *s);

#endif
