/* SPDX-License-Identifier: MIT */
/* Is a function of one program the same as that of another? What is forgiven: code_diff.h. */
#ifndef HARNESS_EXPLAIN_CODE_SAME_H
#define HARNESS_EXPLAIN_CODE_SAME_H

#include "explain/elf_file.h"

#include <stdbool.h>
#include <stdint.h>

/* Both files, and the function in hand. */
struct code_pair {
    const struct elf_file *file[2];
    const struct elf_function *function[2];
};

bool code_is_same(const struct code_pair *p);

/* ---- for the machines ---- */

/* Do the two addresses mean the same place? */
bool code_is_same_place(const struct code_pair *p, const uint64_t address[2]);
/* Of two functions of AArch64 that are of one size. */
bool code_is_same_arm(const struct code_pair *p);

#endif
