/* SPDX-License-Identifier: MIT */
/*
 * Where a benchmark is written down, for who marks lines of a change:
 *
 *   - one of pytest, "bench/test_sort.py::test_sort[8]": its file, and the line of the function;
 *   - a kernel of this program: kernels/OPERATION/OPERATION_VARIANT.c or .cu, where that is a file
 *     of the repository;
 *   - any other: the first line of the repository's source that registers its name, as
 *     BENCHMARK(BM_sort) does, or else holds the name as a word.
 *
 * Of the commit that was measured, in the repository of the current folder.
 */
#ifndef HARNESS_SESSION_BENCH_LOCATE_H
#define HARNESS_SESSION_BENCH_LOCATE_H

#include "core/record.h"
#include "reporters/comment/findings.h"

/* One place a row, in their order: those that are findings are looked for, as far as the head's
 * commit is known to git here. places_release() it. */
struct finding_place *places_find(const struct comparison *c, const struct records *head);
void places_release(struct finding_place *places, size_t nr);

#endif
