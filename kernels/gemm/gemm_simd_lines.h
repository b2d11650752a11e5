/* SPDX-License-Identifier: MIT */
/*
 * A row around the caches, some columns at a time: whole cache lines, whatever its elements are.
 * For files compiled with SIMD_ISA.
 *
 *           to     group             next group
 *      .-----|-----------------|-------------
 *      | | | . | | ... | | | | . | |             | ends of cache lines, which are written whole
 *      '-----|-----------------|-------------
 *           head            waits                what ends within a line waits for the next group
 *
 * Only the first and the last piece of a row go through the caches: their lines are shared with the
 * neighbours. Without waiting every group would have two such pieces a row, whose lines are read
 * from memory first: a fifth of the time for rows that are no whole number of lines long.
 */
#ifndef HARNESS_KERNELS_GEMM_SIMD_LINES_H
#define HARNESS_KERNELS_GEMM_SIMD_LINES_H

#include "kernels/simd.h"

#ifdef SIMD_ISA

enum { LINE_BYTES = 64 };

/* The groups of a row, from left to right. */
struct line_group {
    bool first, last;
};

/* `bytes` of a row from `row` to `to`; row[-LINE_BYTES..] is room for what waited. All groups but
 * the last have a whole line at least. */
static void stream_lines(char *row, char *waiting, char *to, int64_t bytes, struct line_group g)
{
    const int64_t before = (int64_t)((uintptr_t)to % LINE_BYTES); /* in the line of to[0] */
    const int64_t start = g.first ? (LINE_BYTES - before) % LINE_BYTES : -before;
    const int64_t whole = bytes > start ? (bytes - start) / LINE_BYTES * LINE_BYTES : 0;
    const int64_t end = start + whole;

    if (g.first)
        memcpy(to, row, (size_t)(start < bytes ? start : bytes));
    else
        memcpy(row - LINE_BYTES, waiting, LINE_BYTES);
    for (int64_t j = start; j < end; j += (int64_t)sizeof(simd_float)) {
        simd_float v;
        memcpy(&v, row + j, sizeof(v));
        simd_stream((float *)(void *)(to + j), v);
    }
    if (!g.last)
        memcpy(waiting, row + bytes - LINE_BYTES, LINE_BYTES);
    else if (bytes > end)
        memcpy(to + end, row + end, (size_t)(bytes - end));
}

#endif

#endif
