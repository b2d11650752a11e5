/* SPDX-License-Identifier: MIT */
/*
 * A growing array of any type:
 *
 *     ARRAY(struct launch) launches = ARRAY_EMPTY;
 *     *array_push(&launches) = (struct launch) { .seq = 1 };
 *     for (size_t i = 0; i < launches.nr; i++) use(&launches.items[i]);
 *     array_release(&launches);
 *
 * array_push() hands back the address of a fresh zeroed element. Elements that own memory are
 * released by the caller first.
 */
#ifndef HARNESS_BASE_ARRAY_H
#define HARNESS_BASE_ARRAY_H

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY(type)                                                                                \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t nr, capacity;                                                                       \
    }

#define ARRAY_EMPTY                                                                                \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

static inline void *array_grow(void *items, size_t nr, size_t *capacity, size_t size)
{
    if (nr == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 8;
        items = memory_resize(items, *capacity, size);
    }
    /* cppcheck-suppress nullPointerArithmetic ; where there is none, nr is the capacity, 0 */
    memset((char *)items + nr * size, 0, size);
    return items;
}

#define array_push(a)                                                                              \
    ((a)->items = array_grow((a)->items, (a)->nr, &(a)->capacity, sizeof(*(a)->items)),            \
     &(a)->items[(a)->nr++])

#define array_release(a) (free((a)->items), (a)->items = NULL, (a)->nr = (a)->capacity = 0)

#endif
