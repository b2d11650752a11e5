/* SPDX-License-Identifier: MIT */
#include "process/memory_watch.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "process/proc_numbers.h"
#include "process/process_tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SOONEST_NS = 1000000, PATH_SIZE = 128, MAPS_SHARE = 50 };

/* Bytes a second that memory can at most be filled at: what is left below the limit lasts so long.
 */
static const double fastest = 16e9;

struct tree {
    pid_t guard, pids[PROCESS_TREE_MAX];
    size_t nr;
    uint64_t began_ns, began_cpu_ns;
    bool stopped;
};

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Its folder in /proc, or that of a thread of it: a process whose first thread has ended says
 * nothing more of itself there, though others run on. */
static void find_folder(pid_t pid, char folder[PATH_SIZE])
{
    struct proc_numbers threads;
    char path[PATH_SIZE + 16], line[128];
    long thread;

    snprintf(folder, PATH_SIZE, "/proc/%ld", (long)pid);
    snprintf(path, sizeof(path), "%s/statm", folder);
    if (!file_first_line(path, line, sizeof(line)) || strncmp(line, "0 0 ", 4) != 0)
        return;
    snprintf(path, sizeof(path), "%s/task", folder);
    if (!proc_numbers_open(&threads, path))
        return;
    while ((thread = proc_numbers_next(&threads)) >= 0)
        if (thread != pid) /* the last one is as good as any */
            snprintf(folder, PATH_SIZE, "/proc/%ld/task/%ld", (long)pid, thread);
}

/* The sum of fields in kB of a file of /proc, which is made anew by each reading; -1 where the
 * first `needed` of them are not all there. */
static int64_t sum_fields(const char *folder, const char *file, const char *const *names,
                          size_t needed)
{
    char path[PATH_SIZE + 16], line[256];
    int64_t kilobytes = 0;
    size_t found = 0;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    FILE *stream = fopen(path, "re");
    while (stream && fgets(line, sizeof(line), stream))
        for (size_t i = 0; names[i]; i++) {
            size_t length = strlen(names[i]);
            if (strncmp(line, names[i], length) != 0 || line[length] != ':')
                continue;
            kilobytes += strtoll(line + length + 1, NULL, 10);
            found += i < needed;
        }
    if (stream)
        fclose(stream);
    return found < needed ? -1 : 1024 * kilobytes;
}

int64_t memory_watch_quick(const char *folder)
{
    static const char *const names[] = { "VmRSS", "VmSwap", "HugetlbPages", NULL };
    int64_t bytes = sum_fields(folder, "status", names, 1);

    return bytes < 0 ? 0 : bytes; /* it has just ended */
}

/* The second names are those of older systems, and of processes that this one must not look into.
 */
int64_t memory_watch_exact(const char *folder)
{
    static const char *const parts[] = { "Pss_Anon",        "Pss_Shmem",      "SwapPss",
                                         "Private_Hugetlb", "Shared_Hugetlb", NULL };
    static const char *const whole[] = { "RssAnon", "RssShmem", "VmSwap", "HugetlbPages", NULL };
    int64_t bytes = sum_fields(folder, "smaps_rollup", parts, 2);

    if (bytes < 0)
        bytes = sum_fields(folder, "status", whole, 2);
    return bytes < 0 ? memory_watch_quick(folder) : bytes;
}

/* Where those that are looked at leave no processor to look, which can be made a way of hiding,
 * they are stopped for the rest of the look. */
static void mind_the_time(struct tree *t)
{
    enum { PATIENCE_NS = 20000000 };

    if (!t->stopped && monotonic_ns() - t->began_ns - (cpu_ns() - t->began_cpu_ns) > PATIENCE_NS) {
        process_tree_stop(t->guard);
        t->stopped = true;
    }
}

/* A few first: among very many it takes its time. */
static void find_all(struct tree *t)
{
    enum { FEW = 64 };

    for (size_t most = FEW;; most *= 4) {
        t->nr = process_tree_list(t->guard, t->pids, most);
        mind_the_time(t);
        if (t->nr < most || most >= PROCESS_TREE_MAX)
            return;
    }
}

static int64_t sum_over_processes(struct tree *t, int64_t (*of)(const char *folder))
{
    char folder[PATH_SIZE];
    int64_t total = 0;

    for (size_t i = 0; i < t->nr; i++) {
        mind_the_time(t);
        find_folder(t->pids[i], folder);
        total += of(folder);
    }
    return total;
}

/* ---- files in memory ---- */

/* Mappings are many in some processes: they are read where it counts, and else as often as it costs
 * a fiftieth of the time. Meanwhile what was known counts on. */
static void look_at_maps(struct memory_watch *w, struct tree *t, struct memory_files *files,
                         int64_t guess)
{
    uint64_t start = monotonic_ns();
    char folder[PATH_SIZE];

    if (guess + memory_files_bytes(&w->files) <= w->limit && start < w->maps_ns) {
        memory_files_keep(files, &w->files);
        return;
    }
    for (size_t i = 0; i < t->nr; i++) {
        mind_the_time(t);
        find_folder(t->pids[i], folder);
        memory_files_add_mapped(files, &w->files, folder);
    }
    uint64_t end = monotonic_ns();
    w->maps_ns = end + MAPS_SHARE * (end - start);
}

static int64_t sum_files(struct memory_watch *w, struct tree *t, int64_t guess)
{
    struct memory_files files = { .nr = 0 };
    char folder[PATH_SIZE];

    for (size_t i = 0; i < t->nr; i++) {
        mind_the_time(t);
        find_folder(t->pids[i], folder);
        memory_files_add_open(&files, &w->files, folder);
    }
    look_at_maps(w, t, &files, guess + memory_files_bytes(&files));
    memory_files_release(&w->files);
    w->files = files;
    return memory_files_bytes(&files);
}

static int64_t sum_twice(const struct memory_watch *w, struct tree *t)
{
    char folder[PATH_SIZE];
    int64_t total = 0;

    for (size_t i = 0; w->files.nr && i < t->nr; i++) {
        mind_the_time(t);
        find_folder(t->pids[i], folder);
        total += memory_files_twice(&w->files, folder);
    }
    return total;
}

/* Each step costs more than the one before, and is taken where that says more than the limit. Where
 * it is likely to be so, they are stopped meanwhile: the exact number takes its time, in which much
 * more could be filled. */
static int64_t weigh_tree(struct memory_watch *w, struct tree *t)
{
    find_all(t);
    int64_t guess = sum_over_processes(t, memory_watch_quick), files = sum_files(w, t, guess);
    guess += files;
    if (guess <= w->limit)
        return guess;
    if (!t->stopped && guess - w->too_much > w->limit) {
        process_tree_stop(t->guard);
        t->stopped = true;
    }
    int64_t held = sum_over_processes(t, memory_watch_exact) + files;
    if (held > w->limit)
        held -= sum_twice(w, t);
    w->too_much = guess - held;
    return held;
}

bool memory_watch_over(struct memory_watch *w, pid_t guard)
{
    uint64_t now = monotonic_ns();

    if (now < w->next_ns)
        return false;
    struct tree *tree = memory_zeroed(1, sizeof(*tree));
    tree->guard = guard;
    tree->began_ns = now;
    tree->began_cpu_ns = cpu_ns();
    w->held = weigh_tree(w, tree);
    if (tree->stopped && w->held <= w->limit)
        process_tree_continue(guard);
    free(tree);
    double lasts = (double)(w->limit - w->held) / fastest * 1e9;
    w->next_ns = now + (uint64_t)(lasts < SOONEST_NS              ? SOONEST_NS
                                  : lasts < 1e6 * MEMORY_WATCH_MS ? lasts
                                                                  : 1e6 * MEMORY_WATCH_MS);
    return w->held > w->limit;
}

void memory_watch_release(struct memory_watch *w)
{
    memory_files_release(&w->files);
}

int memory_watch_wait(const struct memory_watch *w)
{
    uint64_t now = monotonic_ns();

    return w->next_ns > now ? (int)((w->next_ns - now + 999999) / 1000000) : 0;
}
