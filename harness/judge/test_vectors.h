/* SPDX-License-Identifier: MIT */
/*
 * Test vectors: inputs for each slot, the same for all cells, and the rows of outputs that will be
 * checked with what the spec's float64 oracle expects in them. All of it lies in the judge's memory
 * alone. Seeds come from the kernel's generator, one for each tensor and launch: none can be
 * guessed from those before.
 *
 * Kinds of data. In timed windows all is fresh. Before that come the others, in which who remembers
 * is found out: the inputs of the launch before but for one element, those that another slot had,
 * and the very same once more.
 */
#ifndef HARNESS_JUDGE_TEST_VECTORS_H
#define HARNESS_JUDGE_TEST_VECTORS_H

#include "judge/arena.h"
#include "measure/oracle_check.h"

enum inputs_kind {
    INPUTS_FRESH,
    INPUTS_NEAR,  /* as before, but for one element */
    INPUTS_SAME,  /* as before */
    INPUTS_MOVED, /* as another slot had it; weights are each slot's own */
    INPUTS_NR,
};

/* Rows of an output in float64. */
struct expected_rows {
    int output; /* tensor */
    int64_t *rows;
    size_t nr;
    double *values; /* nr x columns */
    double *once;   /* the same with one rounding, see judge/rounding.h; NULL: no measure */
};

struct test_vector {
    struct tensor host[TENSOR_MAX]; /* outputs without data */
    struct seen_inputs seen;        /* of these */
    struct expected_rows expected[TENSOR_MAX];
    int nr_expected;
    int64_t near_row; /* of the tensor that was changed in one element; -1: none was */
    bool all;         /* all rows are expected */
};

struct test_vectors {
    const struct kernel *kernel;
    struct shape shape;
    enum dtype dtype;
    enum math math; /* by which results are expected */
    int nr_tensors, slots;
    struct test_vector *vectors;
    double squares[TENSOR_MAX]; /* of all expected values of an output so far, and how many */
    double counts[TENSOR_MAX];
};

/* Weights are filled here, and inputs with what no launch will get. vectors_close() it. */
int vectors_open(struct test_vectors *v, const struct kernel *k, const struct shape *s,
                 enum dtype dtype, enum math math, int slots, struct error *err);
void vectors_close(struct test_vectors *v);

void vectors_fill(struct test_vectors *v, int slot, enum inputs_kind kind);
/* Asks the oracle for as many rows of each output as `flops` allow, at least one; all, where that
 * is enough. Which ones is drawn now. */
void vectors_expect(struct test_vectors *v, int slot, double flops);
/* rms of what is expected of an output, the unit of errors. */
double vectors_scale(const struct test_vectors *v, int output);

#endif
