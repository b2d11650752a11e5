/* SPDX-License-Identifier: MIT */
#include "host/host_memory.h"

#include "base/file.h"
#include "host/control_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The files of a memory cgroup. Its file cache counts as used and can be had at once. */
static const struct hierarchy {
    const char *controller; /* in /proc/self/cgroup; "" is version 2 */
    const char *folder, *limit, *used, *cache;
} hierarchies[] = {
    { "", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file" },
    { "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
      "total_inactive_file" },
};

enum { FILE_SIZE = CONTROL_GROUP_SIZE + 32 };

/* -1 where the file is none, or says "max". */
static int64_t number_in(const char *folder, const char *name)
{
    char path[FILE_SIZE], line[64], *end;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!file_first_line(path, line, sizeof(line)))
        return -1;
    int64_t value = strtoll(line, &end, 10);
    return end == line || *end ? -1 : value;
}

static struct host_memory_group group_in(const struct hierarchy *h, const char *folder)
{
    int64_t limit = number_in(folder, h->limit), used = number_in(folder, h->used), cache = 0;
    char path[FILE_SIZE];

    if (limit < 0 || used < 0)
        return (struct host_memory_group) { INT64_MAX, INT64_MAX };
    snprintf(path, sizeof(path), "%s/memory.stat", folder);
    file_field(path, h->cache, &cache);
    used = cache > 0 && cache < used ? used - cache : used;
    return (struct host_memory_group) { limit > used ? limit - used : 0, limit };
}

struct host_memory_group host_memory_group(const char *root)
{
    struct host_memory_group least = { INT64_MAX, INT64_MAX };
    struct control_group g;

    for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
        const struct hierarchy *h = &hierarchies[i];
        control_group_begin(&g, root, h->controller, h->folder);
        do {
            struct host_memory_group here = group_in(h, g.folder);
            least = here.left < least.left ? here : least;
        } while (control_group_up(&g));
    }
    return least;
}

int64_t host_memory_available(const char *root)
{
    char path[FILE_SIZE];
    int64_t kib, least = host_memory_group(root).left;

    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    if (file_field(path, "MemAvailable", &kib) && kib >= 0 && kib <= INT64_MAX / 1024)
        least = kib * 1024 < least ? kib * 1024 : least;
    return least == INT64_MAX ? least : (int64_t)(HOST_MEMORY_SHARE * (double)least);
}

enum { HUGE_PAGE = 2 << 20, CACHE_LINE = 64 };

size_t host_memory_stagger(size_t number)
{
    enum { STAGGER = 5 * CACHE_LINE }; /* odd in lines */

    return number * STAGGER % HOST_MEMORY_PAGE;
}

void *host_memory_shared(size_t bytes, int *fd)
{
    *fd = memfd_create("harness tensor", MFD_CLOEXEC);
    if (*fd < 0)
        return NULL;
    void *memory = ftruncate(*fd, (off_t)bytes)
                       ? MAP_FAILED
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (memory != MAP_FAILED) {
        if (bytes >= HOST_MEMORY_HUGE)
            madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
    close(*fd);
    *fd = -1;
    return NULL;
}

void host_memory_unshare(void *memory, size_t bytes, int fd)
{
    munmap(memory, bytes);
    close(fd);
}

void *host_memory_pages(size_t bytes)
{
    bool huge = bytes >= HOST_MEMORY_HUGE && bytes < SIZE_MAX - HUGE_PAGE;
    size_t whole = huge ? (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : bytes;
    void *memory = NULL;

    if (posix_memalign(&memory, huge ? HUGE_PAGE : HOST_MEMORY_PAGE, whole))
        return NULL;
    if (huge)
        madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}
