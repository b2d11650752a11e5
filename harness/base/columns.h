/* SPDX-License-Identifier: MIT */
/* Columns that a character takes on a terminal: 0 of a mark that stands on the one before, 2 of
 * wide East Asian characters and emoji, else 1. */
#ifndef HARNESS_BASE_COLUMNS_H
#define HARNESS_BASE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_range {
    uint32_t first, last;
};

bool code_is_in(uint32_t code, const struct code_range *ranges, size_t nr);

#define CODE_IS_IN(code, ranges) code_is_in((code), (ranges), sizeof(ranges) / sizeof((ranges)[0]))

int columns_of(uint32_t code);

#endif
