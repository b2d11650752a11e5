/* SPDX-License-Identifier: MIT */
#include "core/device_host.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large buffers start on a huge-page boundary and ask for huge pages, so that page walks do not
 * differ from launch to launch with the luck of the allocator. */
enum { HUGE_PAGE = 2 << 20, CACHE_LINE = 64 };

void *device_host_alloc(struct device *d, size_t bytes, struct error *err)
{
    (void)d;
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    char text[TEXT_UNIT_SIZE];
    void *memory =
        rounded >= bytes ? aligned_alloc(alignment, rounded ? rounded : alignment) : NULL;

    if (!memory)
        error_set(err, "cannot allocate %s", text_bytes((double)bytes, text));
    else if (alignment == HUGE_PAGE)
        madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
}

void device_host_free(struct device *d, void *memory)
{
    (void)d;
    free(memory);
}

int device_host_copy(struct device *d, void *to, const void *from, size_t bytes, struct error *err)
{
    (void)d;
    (void)err;
    memcpy(to, from, bytes);
    return 0;
}

int64_t device_host_available(struct device *d)
{
    (void)d;
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    long long kib = -1;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib < 0 ? INT64_MAX : kib * 1024;
}
