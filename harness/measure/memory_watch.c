/* SPDX-License-Identifier: MIT */
#include "measure/memory_watch.h"

#include "base/array.h"
#include "base/file.h"
#include "core/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

enum { SOONEST_NS = 5000000, PROCESSES_MAX = 4096 };

/* Bytes a second that memory can at most be filled at: what is left below the limit lasts so long.
 */
static const double fastest = 16e9;

struct processes {
    pid_t *items;
    size_t nr, capacity;
};

static void add_children(struct processes *all, pid_t parent)
{
    char path[300];
    struct dirent *task;

    snprintf(path, sizeof(path), "/proc/%ld/task", (long)parent);
    DIR *tasks = opendir(path);
    while (tasks && (task = readdir(tasks))) {
        long child;
        if (!isdigit((unsigned char)task->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", (long)parent, task->d_name);
        FILE *children = fopen(path, "r");
        while (children && all->nr < PROCESSES_MAX && fscanf(children, "%ld", &child) == 1)
            *array_push(all) = (pid_t)child;
        if (children)
            fclose(children);
    }
    if (tasks)
        closedir(tasks);
}

/* Quick, and too much: with the pages of files, and those that processes share several times. */
static int64_t resident(pid_t pid)
{
    char path[64], line[128];
    long long size, pages;

    snprintf(path, sizeof(path), "/proc/%ld/statm", (long)pid);
    if (!file_first_line(path, line, sizeof(line)) || sscanf(line, "%lld %lld", &size, &pages) != 2)
        return 0; /* it has just ended */
    return pages * sysconf(_SC_PAGESIZE);
}

/* Its part of what it shares with others, no files. The second names are those of older systems. */
static int64_t held_by(pid_t pid)
{
    static const struct {
        const char *file, *anonymous, *shared;
    } sources[] = { { "smaps_rollup", "Pss_Anon", "Pss_Shmem" },
                    { "status", "RssAnon", "RssShmem" } };
    int64_t anonymous = 0, shared = 0;

    for (size_t i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, sources[i].file);
        if (file_field(path, sources[i].anonymous, &anonymous) &&
            file_field(path, sources[i].shared, &shared))
            return 1024 * (anonymous + shared);
    }
    return resident(pid);
}

static int64_t sum(const struct processes *all, int64_t (*of)(pid_t pid))
{
    int64_t total = 0;

    for (size_t i = 0; i < all->nr; i++)
        total += of(all->items[i]);
    return total;
}

static int64_t look(pid_t pid, int64_t limit)
{
    struct processes all = { .nr = 0 };

    *array_push(&all) = pid;
    for (size_t i = 0; i < all.nr; i++)
        add_children(&all, all.items[i]);
    int64_t held = sum(&all, resident);
    if (held > limit)
        held = sum(&all, held_by);
    array_release(&all);
    return held;
}

bool memory_watch_over(struct memory_watch *w, pid_t pid)
{
    uint64_t now = clock_ns();

    if (now < w->next_ns)
        return false;
    w->held = look(pid, w->limit);
    double lasts = (double)(w->limit - w->held) / fastest * 1e9;
    w->next_ns = now + (uint64_t)(lasts < SOONEST_NS              ? SOONEST_NS
                                  : lasts < 1e6 * MEMORY_WATCH_MS ? lasts
                                                                  : 1e6 * MEMORY_WATCH_MS);
    return w->held > w->limit;
}

int memory_watch_wait(const struct memory_watch *w)
{
    uint64_t now = clock_ns();

    return w->next_ns > now ? (int)((w->next_ns - now + 999999) / 1000000) : 0;
}
