/* SPDX-License-Identifier: MIT */
/*
 * Nothing is timed that did not match the oracle.
 *
 * A check runs the variant once on fresh random inputs with poisoned outputs and compares with
 * the kernel's float64 oracle:
 *   - the chosen rows of each output: max |out - expected| / rms(expected) <= tolerance;
 *     of arithmetic that rounds weights, the expected ones are those of the rounded weights, and
 *     the error against the weights as they are is told beside it;
 *   - every other element: finite, so poison left anywhere is found;
 *   - every input: unchanged.
 * Rows: all, if the oracle can afford them; else the first 4, the last 20 (where tiles end) and a
 * random choice of the rest. The share of compared elements is kept with the result.
 * The expected rows are kept so that the output can be compared again after timing.
 */
#ifndef HARNESS_MEASURE_ORACLE_CHECK_H
#define HARNESS_MEASURE_ORACLE_CHECK_H

#include "measure/buffers.h"

/* Inputs as a variant's arithmetic sees them: as they lie in memory, but for weights of which it
 * keeps less (math_rounds_weights()). A result is held against the oracle of these, whoever checks
 * it. */
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
/* What such inputs of a benchmark take. */
int64_t seen_inputs_bytes(const struct benchmark *bench);

struct expected {
    int output; /* tensor index */
    int64_t *rows;
    size_t nr_rows;
    double *values;    /* nr_rows x cols */
    double *unrounded; /* the same by the weights as they are; NULL: those are not rounded */
    double rms;
};

struct check {
    struct expected outputs[TENSOR_MAX];
    int nr_outputs;
    double tolerance;
    double checked;       /* share of output elements compared with the oracle */
    double weights_error; /* as max_error, of the weights as they are; NaN: not rounded */
    double max_error;     /* the largest seen so far, in units of rms(expected); NaN: poison left */
    char where[160];      /* "y[12,7] = 1.5, expected 1.25" for the worst element */
};

/* Asks the oracle; `all_rows` ignores the budget. Inputs must be filled. */
void check_init(struct check *c, const struct buffers *b, enum math math, double tolerance,
                bool all_rows, uint64_t seed);
/* Whether each value that is expected is a number that its output can hold. */
bool check_expects_numbers(const struct check *c, const struct buffers *b);
/* The same expected rows, for a variant that is allowed another error. */
void check_again(struct check *c, double tolerance);
void check_release(struct check *c);

/* Downloads the outputs and compares. Returns true if all is well; else c->max_error and
 * c->where tell. False with an empty `where` is a failed download: see err. */
bool check_outputs(struct check *c, struct buffers *b, struct error *err);
/* True if no input differs from its host copy; else `where` names the first that does. */
bool check_inputs_unchanged(struct check *c, struct buffers *b, struct error *err);

#endif
