/* SPDX-License-Identifier: MIT */
/* The loops behind the measured roofs, in the widest vectors of this processor. */
#ifndef HARNESS_MACHINE_CEILING_LOOPS_H
#define HARNESS_MACHINE_CEILING_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

void ceiling_read(const void *from, size_t bytes);           /* every byte into a register */
void ceiling_copy(void *to, const void *from, size_t bytes); /* plain loads and stores */
/* Stores that go past the caches; both begin on a 64-byte line. Plain ones where there are none. */
void ceiling_stream(void *to, const void *from, size_t bytes);
void ceiling_fma(size_t rounds);         /* multiply-adds in registers */
double ceiling_fma_flops(size_t rounds); /* what that was, in FLOPs */

/* Products of bfloat16 pairs; of four bytes, or of pairs to which bytes are widened. */
enum ceiling_dot { CEILING_DOT_BF16, CEILING_DOT_INT8 };

bool ceiling_has_dots(enum ceiling_dot dot); /* are there any? Only then: */
void ceiling_dots(enum ceiling_dot dot, size_t rounds);
double ceiling_dots_flops(enum ceiling_dot dot, size_t rounds);

#endif
