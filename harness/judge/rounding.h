/* SPDX-License-Identifier: MIT */
/*
 * What one rounding gives: the measure of errors of an arithmetic that the textbook variant, which
 * is of fp32, has not. The oracle is asked with its inputs, each rounded once to the arithmetic,
 * and its result is rounded once to the type that is stored. Of bf16 and fp16 the inputs are of the
 * type already, so this is the error of the stored result; of tf32 it is that of the factors. fp32
 * adds nothing that could be seen beside these.
 */
#ifndef HARNESS_JUDGE_ROUNDING_H
#define HARNESS_JUDGE_ROUNDING_H

#include "core/kernel.h"

bool rounding_measures(enum dtype dtype, enum math math);

/* As kernel->oracle(), once rounded: to values[nr x columns]. `inputs` and `expected` (without
 * rounding) are of the same rows. */
void rounding_rows(const struct kernel *k, const struct shape *s, const struct tensor *inputs,
                   int nr_inputs, int output, const int64_t *rows, size_t nr, enum math math,
                   const double *expected, double *values);

/* How many times the root mean square of one rounding that of a variant's errors may be.
 * Independent errors add as their squares: twice as much are four roundings, the result's and three
 * more of its size on the way to it (attention's weights, a sum before the residual is added).
 * Three times for tf32, where units that cut bits off instead of rounding err twice as much. Four
 * times in a forward pass, whose operations round one after another. */
double rounding_factor(const struct kernel *k, enum math math);

#endif
