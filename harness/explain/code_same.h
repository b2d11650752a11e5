/* SPDX-License-Identifier: MIT */
/* Is a function of one program the same as that of another? What is forgiven: code_diff.h. */
#ifndef HARNESS_EXPLAIN_CODE_SAME_H
#define HARNESS_EXPLAIN_CODE_SAME_H

#include "explain/elf_file.h"

#include <stdbool.h>

/* Both files, and the function in hand. */
struct code_pair {
    const struct elf_file *file[2];
    const struct elf_function *function[2];
};

bool code_is_same(const struct code_pair *p);

#endif
