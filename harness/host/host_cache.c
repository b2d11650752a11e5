/* SPDX-License-Identifier: MIT */
/* Linux's /sys tells caches as the hardware has them. sysconf() is asked second: glibc computes
 * some of its answers, and reports ten times the L3 of some virtual machines. */
#include "host/host_cache.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "host/host_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of cache/index<i>/<file> of the first processor: 1, 0 or -1, as
 * host_file_read(). */
static int cache_file(const char *root, int index, const char *file, char *line, size_t size,
                      struct error *err)
{
    char path[512];
    struct strbuf text;

    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu0/cache/index%d/%s", root, index,
             file);
    strbuf_init(&text);
    int rc = host_file_read(path, &text, err);
    if (rc > 0)
        snprintf(line, size, "%.*s", (int)strcspn(text.data, "\n"), text.data);
    rc = rc > 0 && text.length == 0 ? 0 : rc;
    strbuf_release(&text);
    return rc;
}

/* Is it the data or unified cache of that level? 0 or 1 as 1, 0 and -1 above; `there`: it is one.
 */
static int is_cache_of(const char *root, int index, int level, bool *there, struct error *err)
{
    char line[32];
    int rc = cache_file(root, index, "level", line, sizeof(line), err);

    *there = rc > 0;
    if (rc <= 0 || atoi(line) != level)
        return rc < 0 ? -1 : 0;
    rc = cache_file(root, index, "type", line, sizeof(line), err);
    return rc > 0 && strcmp(line, "Instruction") == 0 ? 0 : rc;
}

/* A line of the data or unified cache of a level: 1, 0 or -1. */
static int level_file(const char *root, int level, const char *file, char *line, size_t size,
                      struct error *err)
{
    bool there = true;

    for (int i = 0; there; i++) {
        int is = is_cache_of(root, i, level, &there, err);
        if (is != 0)
            return is < 0 ? -1 : cache_file(root, i, file, line, size, err);
    }
    return 0;
}

/* "32768K" or "1M" */
static int64_t parse_size(const char *text)
{
    char *end;
    long long size = strtoll(text, &end, 10);

    return size << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

static int64_t cache_bytes_of_libc(int level)
{
    static const int names[] = { _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE };
    long bytes = sysconf(names[level - 1]);

    return bytes > 0 ? bytes : 0;
}

int host_cache_find_bytes(const char *root, int level, int64_t *bytes, struct error *err)
{
    char line[32];
    int rc = level_file(root, level, "size", line, sizeof(line), err);

    *bytes = rc > 0 && parse_size(line) > 0 ? parse_size(line) : cache_bytes_of_libc(level);
    return rc < 0 ? -1 : 0;
}

int host_cache_find_sharers(const char *root, int level, int *nr, struct error *err)
{
    char list[256];
    int rc = level_file(root, level, "shared_cpu_list", list, sizeof(list), err);

    *nr = 0;
    if (rc <= 0)
        return rc;
    char *rest = list, *item; /* "0-7,16-23" */
    while ((item = strsep(&rest, ","))) {
        int first = 0, last = 0;
        *nr += sscanf(item, "%d-%d", &first, &last) == 2 ? last - first + 1 : 1;
    }
    return 0;
}

int64_t host_cache_bytes(int level)
{
    struct error ignored;
    int64_t bytes;

    (void)host_cache_find_bytes("", level, &bytes, &ignored);
    return bytes;
}

int host_cache_sharers(int level)
{
    struct error ignored;
    int nr;

    (void)host_cache_find_sharers("", level, &nr, &ignored);
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
