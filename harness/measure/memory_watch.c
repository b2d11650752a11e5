/* SPDX-License-Identifier: MIT */
#include "measure/memory_watch.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/proc_numbers.h"
#include "base/process_tree.h"
#include "core/clock.h"

#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { SOONEST_NS = 1000000, FILES_MAX = 1024, PATH_SIZE = 128 };

/* Bytes a second that memory can at most be filled at: what is left below the limit lasts so long.
 */
static const double fastest = 16e9;

/* A file that only open descriptors still hold, and whose content is memory (memfd_create(), a
 * deleted file of a tmpfs): nobody else would give it back. */
struct held_file {
    dev_t device;
    ino_t inode;
    int64_t bytes;
};

struct tree {
    pid_t pids[PROCESS_TREE_MAX];
    size_t nr;
    struct held_file files[FILES_MAX];
    size_t nr_files;
};

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

/* Quick, and too much: with the pages of files, and those that processes share several times. */
static int64_t resident(const char *folder)
{
    char path[PATH_SIZE + 16], line[128];
    long long size, pages;

    snprintf(path, sizeof(path), "%s/statm", folder);
    if (!file_first_line(path, line, sizeof(line)) || sscanf(line, "%lld %lld", &size, &pages) != 2)
        return 0; /* it has just ended */
    return pages * sysconf(_SC_PAGESIZE);
}

/* Its part of what it shares with others, no files. The second names are those of older systems,
 * and of processes that this one must not look into. */
static int64_t held_by(const char *folder)
{
    static const struct {
        const char *file, *anonymous, *shared;
    } sources[] = { { "smaps_rollup", "Pss_Anon", "Pss_Shmem" },
                    { "status", "RssAnon", "RssShmem" } };
    int64_t anonymous = 0, shared = 0;

    for (size_t i = 0; i < 2; i++) {
        char path[PATH_SIZE + 16];
        snprintf(path, sizeof(path), "%s/%s", folder, sources[i].file);
        if (file_field(path, sources[i].anonymous, &anonymous) &&
            file_field(path, sources[i].shared, &shared))
            return 1024 * (anonymous + shared);
    }
    return resident(folder);
}

static int64_t sum(const struct tree *t, int64_t (*of)(const char *folder))
{
    char folder[PATH_SIZE];
    int64_t total = 0;

    for (size_t i = 0; i < t->nr; i++) {
        find_folder(t->pids[i], folder);
        total += of(folder);
    }
    return total;
}

/* ---- files in memory ---- */

static const struct held_file *find_file(const struct tree *t, dev_t device, ino_t inode)
{
    for (size_t i = 0; i < t->nr_files; i++)
        if (t->files[i].device == device && t->files[i].inode == inode)
            return &t->files[i];
    return NULL;
}

static bool in_memory(const char *path)
{
    struct statfs s;

    return statfs(path, &s) == 0 &&
           (s.f_type == TMPFS_MAGIC || s.f_type == HUGETLBFS_MAGIC || s.f_type == RAMFS_MAGIC);
}

static void add_files(struct tree *t, const char *folder)
{
    struct proc_numbers descriptors;
    char path[PATH_SIZE + 32];
    struct stat file;
    long fd;

    snprintf(path, sizeof(path), "%s/fd", folder);
    if (!proc_numbers_open(&descriptors, path))
        return;
    while ((fd = proc_numbers_next(&descriptors)) >= 0) {
        snprintf(path, sizeof(path), "%s/fd/%ld", folder, fd);
        if (t->nr_files < FILES_MAX && stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
            file.st_nlink == 0 && !find_file(t, file.st_dev, file.st_ino) && in_memory(path))
            t->files[t->nr_files++] =
                (struct held_file) { file.st_dev, file.st_ino, 512 * (int64_t)file.st_blocks };
    }
}

static int64_t sum_files(struct tree *t)
{
    char folder[PATH_SIZE];
    int64_t total = 0;

    for (size_t i = 0; i < t->nr; i++) {
        find_folder(t->pids[i], folder);
        add_files(t, folder);
    }
    for (size_t i = 0; i < t->nr_files; i++)
        total += t->files[i].bytes;
    return total;
}

/* What is mapped of these files, which counts as shared memory as well. */
static int64_t mapped_by(const struct tree *t, const char *folder)
{
    char path[PATH_SIZE + 16], line[512];
    unsigned major, minor;
    unsigned long inode;
    long long kilobytes;
    int64_t total = 0;
    bool ours = false;

    snprintf(path, sizeof(path), "%s/smaps", folder);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%*x-%*x %*s %*x %x:%x %lu", &major, &minor, &inode) == 3)
            ours = find_file(t, makedev(major, minor), inode) != NULL;
        else if (ours && sscanf(line, "Pss: %lld kB", &kilobytes) == 1)
            total += 1024 * kilobytes;
    if (maps)
        fclose(maps);
    return total;
}

static int64_t sum_mapped(const struct tree *t)
{
    char folder[PATH_SIZE];
    int64_t total = 0;

    for (size_t i = 0; t->nr_files && i < t->nr; i++) {
        find_folder(t->pids[i], folder);
        total += mapped_by(t, folder);
    }
    return total;
}

/* Each step costs more than the one before, and is taken where that says more than the limit. Where
 * it is likely to be so, they are stopped meanwhile: the exact number takes its time, in which much
 * more could be filled. */
static int64_t look(struct memory_watch *w, struct tree *t, pid_t guard)
{
    t->nr = process_tree_list(guard, t->pids, PROCESS_TREE_MAX);
    int64_t files = sum_files(t), guess = sum(t, resident) + files;
    if (guess <= w->limit)
        return guess;
    bool stop = guess - w->too_much > w->limit;
    if (stop)
        process_tree_signal(guard, SIGSTOP);
    int64_t held = sum(t, held_by) + files;
    if (held > w->limit)
        held -= sum_mapped(t);
    w->too_much = guess - held;
    if (stop && held <= w->limit)
        process_tree_signal(guard, SIGCONT);
    return held;
}

bool memory_watch_over(struct memory_watch *w, pid_t guard)
{
    uint64_t now = clock_ns();

    if (now < w->next_ns)
        return false;
    struct tree *tree = memory_zeroed(1, sizeof(*tree));
    w->held = look(w, tree, guard);
    free(tree);
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
