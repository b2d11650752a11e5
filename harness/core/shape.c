/* SPDX-License-Identifier: MIT */
#include "core/shape.h"

#include <string.h>

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return memcmp(a->dim, b->dim, sizeof(a->dim)) == 0;
}
