/* SPDX-License-Identifier: MIT */
/* The loops behind the measured roofs, in the widest vectors of this processor. */
#ifndef HARNESS_MACHINE_ROOF_LOOPS_H
#define HARNESS_MACHINE_ROOF_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

void roof_read(const void *from, size_t bytes);           /* every byte into a register */
void roof_copy(void *to, const void *from, size_t bytes); /* plain loads and stores */
/* Stores that go past the caches; both begin on a 64-byte line. Plain ones where there are none. */
void roof_stream(void *to, const void *from, size_t bytes);
void roof_fma(size_t rounds);         /* multiply-adds in registers */
double roof_fma_flops(size_t rounds); /* what that was, in FLOPs */

/* Products of bfloat16 pairs, by matrix tiles where there are some; of four bytes, or of pairs to
 * which bytes are widened. */
enum roof_dot { ROOF_DOT_BF16, ROOF_DOT_INT8 };

bool roof_has_dots(enum roof_dot dot); /* are there any? Only then: */
void roof_dots(enum roof_dot dot, size_t rounds);
double roof_dots_flops(enum roof_dot dot, size_t rounds);

#endif
