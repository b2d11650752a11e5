/* SPDX-License-Identifier: MIT */
#include "device/device_host.h"

#include "base/text.h"
#include "host/host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = HOST_MEMORY_PAGE };

void *device_host_alloc(struct device *d, size_t bytes, struct error *err)
{
    size_t stagger = host_memory_stagger(d->nr_blocks), whole = stagger + (bytes ? bytes : 1);
    char text[TEXT_UNIT_SIZE];
    void *memory = whole < bytes ? NULL : host_memory_pages(whole);

    if (!memory) {
        error_set(err, "cannot allocate %s", text_bytes((double)bytes, text));
        return NULL;
    }
    return (char *)memory + stagger;
}

void device_host_free(struct device *d, void *memory)
{
    (void)d;
    free((char *)memory - (uintptr_t)memory % PAGE); /* less than a page in front: the stagger */
}

int device_host_copy(struct device *d, void *to, const void *from, size_t bytes, struct error *err)
{
    (void)d;
    (void)err;
    memcpy(to, from, bytes);
    return 0;
}

void device_host_touch(const struct device *d, void *memory, size_t bytes)
{
    volatile char *at = memory;

    if (d->threads < 2)
        return;
#pragma omp parallel for schedule(static) num_threads(d->threads)
    for (size_t i = 0; i < bytes; i += PAGE)
        at[i] = 0;
}

int64_t device_host_available(struct device *d)
{
    (void)d;
    return host_memory_available("");
}
