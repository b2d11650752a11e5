/* SPDX-License-Identifier: MIT */
#include "core/device_host.h"

#include "base/text.h"
#include "core/host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Where a buffer comes to lie must not follow from what was allocated before it: a job's text of
 * another length would move it, and two buffers with the same place in their pages hinder each
 * other (a load waits for an earlier store whose address has the same low 12 bits). So each has
 * pages of its own, and begins in them at a line of its own that its number among the live buffers
 * tells: STAGGER is odd in lines, so 64 buffers differ.
 *
 * Nor must it matter which pages the system has at hand. A cache of the second level finds its lines
 * by the physical address: of small pages some launches get many that fall on the same lines, and
 * then the cache holds less. So what is larger than a few pages has huge pages of its own, wholly,
 * whatever it needs of them: within one, addresses are physical.
 */
enum { HUGE_PAGE = 2 << 20, PAGE = 4096, CACHE_LINE = 64, STAGGER = 5 * CACHE_LINE };
enum { HUGE_FROM = 64 << 10 }; /* bytes */

void *device_host_alloc(struct device *d, size_t bytes, struct error *err)
{
    size_t stagger = d->nr_blocks * STAGGER % PAGE, whole = stagger + (bytes ? bytes : 1);
    bool huge = bytes >= HUGE_FROM;
    char text[TEXT_UNIT_SIZE];
    void *memory = NULL;

    if (huge && whole < SIZE_MAX - HUGE_PAGE)
        whole = (whole + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (whole < bytes || posix_memalign(&memory, huge ? HUGE_PAGE : PAGE, whole)) {
        error_set(err, "cannot allocate %s", text_bytes((double)bytes, text));
        return NULL;
    }
    if (huge)
        madvise(memory, whole, MADV_HUGEPAGE);
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

int64_t device_host_available(struct device *d)
{
    (void)d;
    return host_memory_available("");
}
