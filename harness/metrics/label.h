/* SPDX-License-Identifier: MIT */
/*
 * Short labels for a set of benchmarks: only what differs within the set is said. No two different
 * keys get the same label; where shortening would make two alike, those get the whole key.
 *
 *     gemm/linear/simd/fp32/batch=1,seq=64,n=192,k=48/cpu-2t/warm     ->  simd batch=1
 *     gemm/linear/simd/fp32/batch=4,seq=64,n=192,k=48/cpu-2t/warm         simd batch=4
 *     gemm/linear/openblas/fp32/batch=1,seq=64,n=192,k=48/cpu-2t/warm     openblas batch=1
 */
#ifndef HARNESS_METRICS_LABEL_H
#define HARNESS_METRICS_LABEL_H

#include "core/benchmark.h"

#include <stddef.h>

/* nr strings in a new array; free with labels_free(). */
char **labels_create(const struct benchmark_name *const *names, size_t nr);
void labels_free(char **labels, size_t nr);

/* Writes, in one line, what all of the set have in common ("gemm/linear fp32 seq=64 cpu-2t warm"),
 * for titles. Of kernels that differ it is the parts that all begin and end with, and a star for
 * the rest, which is a filter, too. out must hold `size` bytes. */
void labels_common(const struct benchmark_name *const *names, size_t nr, char *out, size_t size);

#endif
