/* SPDX-License-Identifier: MIT */
/*
 * A shape: the values of a kernel's dims, in the order of kernel.dims. Batch and sequence are
 * dims like any other; the dtype belongs to the variant, which decides how to compute.
 */
#ifndef HARNESS_CORE_SHAPE_H
#define HARNESS_CORE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SHAPE_MAX = 8,
    DIM_LIMIT = 1000000000, /* a larger extent is refused as a typing error */
};

struct shape {
    int64_t dim[SHAPE_MAX]; /* unused ones are 0 */
};

bool shape_equal(const struct shape *a, const struct shape *b);

#endif
