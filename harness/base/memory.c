/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing that is registered for exit() is run: it may need memory, too. */
static _Noreturn void end_process(size_t nr, size_t size)
{
    char text[96];
    int length =
        snprintf(text, sizeof(text), "harness: out of memory (%zu x %zu bytes)\n", nr, size);

    if (write(STDERR_FILENO, text, (size_t)length) != length)
        _exit(MEMORY_EXIT);
    _exit(MEMORY_EXIT);
}

static void *checked_memory(void *p, size_t nr, size_t size)
{
    if (!p && nr > 0 && size > 0)
        end_process(nr, size);
    return p;
}

void *memory_zeroed(size_t nr, size_t size)
{
    return checked_memory(calloc(nr, size), nr, size);
}

void *memory_resize(void *old, size_t nr, size_t size)
{
    return checked_memory(reallocarray(old, nr, size), nr, size);
}

char *memory_string(const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    /* analyzer: memory_zeroed() ends the process rather than give NULL for a byte or more */
    return memcpy(memory_zeroed(size, 1), text, size);
}
