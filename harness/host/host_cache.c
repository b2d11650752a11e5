/* SPDX-License-Identifier: MIT */
/* Linux's /sys tells caches as the hardware has them. sysconf() is asked second: glibc computes
 * some of its answers, and reports ten times the L3 of some virtual machines. */
#include "host/host_cache.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line of /sys/devices/system/cpu/cpu0/cache/index<i>/<file>. */
static bool cache_file(int index, const char *file, char *line, size_t size)
{
    char path[96];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
    return file_first_line(path, line, size);
}

/* The index of the data or unified cache of a level, or -1. */
static int cache_index(int level)
{
    char line[32];

    for (int i = 0; cache_file(i, "level", line, sizeof(line)); i++) {
        if (atoi(line) != level || !cache_file(i, "type", line, sizeof(line)))
            continue;
        if (strcmp(line, "Instruction") != 0)
            return i;
    }
    return -1;
}

/* "32768K" or "1M" */
static int64_t parse_size(const char *text)
{
    char *end;
    long long size = strtoll(text, &end, 10);

    return size << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

int64_t host_cache_bytes(int level)
{
    static const int names[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE };
    int index = cache_index(level);
    char line[32];

    if (index >= 0 && cache_file(index, "size", line, sizeof(line)) && parse_size(line) > 0)
        return parse_size(line);
    long bytes = sysconf(names[level - 1]);
    return bytes > 0 ? bytes : 0;
}

int host_cache_sharers(int level)
{
    int index = cache_index(level), nr = 0;
    char list[256];

    /* "0-7,16-23" */
    if (index < 0 || !cache_file(index, "shared_cpu_list", list, sizeof(list)))
        return 0;
    char *rest = list, *item;
    while ((item = strsep(&rest, ","))) {
        int first = 0, last = 0;
        nr += sscanf(item, "%d-%d", &first, &last) == 2 ? last - first + 1 : 1;
    }
    return nr;
}

static const int64_t unknown_cache = 32 << 20;

int host_cache_instances(int sharers, int cores, int threads)
{
    int sharing = sharers > 0 ? sharers : cores;
    int all = sharing > 0 ? (cores + sharing - 1) / sharing : 1;

    return all < 1 ? 1 : all < threads ? all : threads;
}

size_t host_caches_bytes(const struct host_caches *c, int threads)
{
    int nr = threads > 0 ? threads : 1;
    int64_t last = c->l3 > 0 ? c->l3 : unknown_cache;

    return (size_t)(host_cache_instances(c->l3_shared_by, c->cores, nr) * last + nr * c->l2);
}

/* Of all cores, wherever those lie that this process may use. */
size_t host_cache_flush_bytes(int threads)
{
    const struct host_caches here = { .l2 = host_cache_bytes(2),
                                      .l3 = host_cache_bytes(3),
                                      .l3_shared_by = host_cache_sharers(3),
                                      .cores = (int)sysconf(_SC_NPROCESSORS_ONLN) };

    return 2 * host_caches_bytes(&here, threads);
}
