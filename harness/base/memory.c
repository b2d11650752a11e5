/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p, size_t nr, size_t size)
{
    if (!p && nr > 0 && size > 0) {
        fprintf(stderr, "harness: out of memory (%zu x %zu bytes)\n", nr, size);
        abort();
    }
    return p;
}

void *memory_zeroed(size_t nr, size_t size)
{
    return checked(calloc(nr, size), nr, size);
}

void *memory_resize(void *old, size_t nr, size_t size)
{
    return checked(reallocarray(old, nr, size), nr, size);
}

char *memory_string(const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    /* analyzer: memory_zeroed() ends the process rather than give NULL for a byte or more */
    return memcpy(memory_zeroed(size, 1), text, size);
}
