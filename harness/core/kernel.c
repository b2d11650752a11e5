/* SPDX-License-Identifier: MIT */
#include "core/kernel.h"

#include <string.h>

int kernel_dim_index(const struct kernel *k, const char *dim)
{
    for (int i = 0; i < SHAPE_MAX && k->dims[i]; i++)
        if (strcmp(k->dims[i], dim) == 0)
            return i;
    return -1;
}

int64_t kernel_dim(const struct kernel *k, const struct shape *s, const char *dim,
                   int64_t otherwise)
{
    int i = kernel_dim_index(k, dim);

    return i < 0 ? otherwise : s->dim[i];
}

int kernel_nr_dims(const struct kernel *k)
{
    int nr = 0;

    while (nr < SHAPE_MAX && k->dims[nr])
        nr++;
    return nr;
}

int kernel_output(const struct tensor *t, int nr)
{
    for (int i = 0; i < nr; i++)
        if (t[i].role == TENSOR_OUT)
            return i;
    return -1;
}

int64_t kernel_footprint(const struct kernel *k, const struct shape *s, enum dtype dtype)
{
    struct tensor t[TENSOR_MAX] = { { 0 } };
    int nr = k->layout(k, s, dtype, t);
    int64_t total = 0;

    for (int i = 0; i < nr; i++)
        if (__builtin_add_overflow(total, tensor_bytes(&t[i]), &total))
            return INT64_MAX;
    return total;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return memcmp(a->dim, b->dim, sizeof(a->dim)) == 0;
}
