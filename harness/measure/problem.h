/* SPDX-License-Identifier: MIT */
/*
 * What is asked of every variant of a kernel alike: its tensors at a shape, filled from a seed, and
 * what the outputs should be. Filling a model and evaluating it in float64 take far longer than
 * most variants do, so variants that are only verified, one after another, may share one.
 */
#ifndef HARNESS_MEASURE_PROBLEM_H
#define HARNESS_MEASURE_PROBLEM_H

#include "measure/buffers.h"
#include "measure/oracle_check.h"

struct problem {
    struct buffers buffers;
    struct check check;
    enum dtype dtype;
    bool rounds; /* weights are rounded for the oracle, see math_rounds_weights() */
    uint64_t seed;
    bool stands;   /* the inputs are on both sides, as they were filled */
    bool expected; /* the oracle has been asked, for all rows or some */
};

/* Is it the one that the benchmark asks with this seed? */
bool problem_is(const struct problem *q, const struct benchmark *bench, const struct device *device,
                uint64_t seed);
/* Allocates and fills, unless it is that one already. problem_release() whatever the result. */
int problem_ask(struct problem *q, const struct benchmark *bench, struct device *device,
                uint64_t seed, struct error *err);
/* Poisons the outputs and begins a check of results of `math` within `tolerance`; asks the oracle
 * where it has not been. */
int problem_expect(struct problem *q, enum math math, double tolerance, bool all_rows,
                   struct error *err);
/* Not to be used again where a variant may have left the inputs otherwise than they were. */
void problem_settle(struct problem *q, bool unchanged);
void problem_release(struct problem *q);

#endif
