/* SPDX-License-Identifier: MIT */
/*
 * Which benchmarks are forward passes of a model, and how many tokens one of them works on: the one
 * place that knows it of names, until a measurement says it by itself.
 *
 *     gpt/<model>/prefill   batch x seq tokens
 *     gpt/<model>/decode    batch tokens
 */
#ifndef HARNESS_METRICS_FORWARD_H
#define HARNESS_METRICS_FORWARD_H

#include "core/benchmark.h"

#include <stddef.h>

/* Tokens of one launch; NaN where it is no forward pass. */
double forward_tokens(const struct benchmark_name *bench);
/* The model's name in the benchmark's, and its length; NULL where it is no forward pass. */
const char *forward_model(const struct benchmark_name *bench, size_t *length);

#endif
