/* SPDX-License-Identifier: MIT */
#include "process/process_tree.h"

#include "base/monotonic.h"
#include "process/proc_numbers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, PATH_SIZE = 96 };

struct list {
    pid_t *pids;
    size_t nr, most;
    int number; /* signal that each is sent as it is found; 0: none */
};

static bool has_process(const struct list *l, pid_t pid)
{
    for (size_t i = 0; i < l->nr; i++)
        if (l->pids[i] == pid)
            return true;
    return false;
}

/* Who leads a process group, with all of it: they are below it, and by one call none of them gets
 * away. */
static void signal_one(pid_t pid, int number)
{
    if (pid == getpid())
        return;
    kill(pid, number);
    if (getpgid(pid) == pid && getpgrp() != pid)
        kill(-pid, number);
}

static void add_process(struct list *l, pid_t pid)
{
    if (l->nr == l->most || pid <= 0)
        return;
    if (l->number)
        signal_one(pid, l->number);
    l->pids[l->nr++] = pid;
}

/* ---- by parents' lists of children ---- */

static void add_listed(struct list *l, int fd)
{
    char block[1024];
    long pid = 0;
    ssize_t nr;

    while ((nr = read(fd, block, sizeof(block))) > 0)
        for (ssize_t i = 0; i < nr; i++) {
            if (block[i] >= '0' && block[i] <= '9') {
                pid = 10 * pid + (block[i] - '0');
            } else {
                add_process(l, (pid_t)pid);
                pid = 0;
            }
        }
    add_process(l, (pid_t)pid);
}

/* A child is listed with the thread that started it. */
static void add_children(struct list *l, pid_t parent)
{
    struct proc_numbers threads;
    char path[PATH_SIZE];
    long thread;

    snprintf(path, sizeof(path), "/proc/%ld/task", (long)parent);
    if (!proc_numbers_open(&threads, path))
        return;
    while ((thread = proc_numbers_next(&threads)) >= 0) {
        snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)parent, thread);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        add_listed(l, fd);
        close(fd);
    }
}

static bool children_are_told(void)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
    return access(path, R_OK) == 0;
}

/* ---- by children's words of their parents ---- */

struct known {
    long parent;
    bool runs;
};

/* Of the numbers behind the name, which may hold anything, even ")": state, parent, and of the
 * eighteenth how many threads there are. One whose first thread has ended shows as a zombie while
 * others run on. */
static bool look_at_process(pid_t pid, struct known *known)
{
    enum { THREADS = 17 };
    char path[PATH_SIZE], line[512];

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t nr = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    if (fd >= 0)
        close(fd);
    if (nr <= 0)
        return false;
    line[nr] = '\0';
    const char *at = strrchr(line, ')');
    if (!at || !at[1] || !at[2])
        return false;
    char state = at[2];
    known->parent = strtol(at + 3, NULL, 10);
    for (int i = 0; at && i <= THREADS; i++)
        at = strchr(at + 1, ' ');
    known->runs = (state != 'Z' && state != 'X') || (at && strtol(at, NULL, 10) > 1);
    return true;
}

/* Looks again until nobody is new: memory for a table of all must not be taken, and a child mostly
 * has a larger number than its parent. */
static void search_all_processes(struct list *l, pid_t root)
{
    struct proc_numbers everybody;
    struct known known;
    size_t before;
    long pid;

    do {
        before = l->nr;
        if (!proc_numbers_open(&everybody, "/proc"))
            return;
        while ((pid = proc_numbers_next(&everybody)) >= 0)
            if (!has_process(l, (pid_t)pid) && look_at_process((pid_t)pid, &known) &&
                (known.parent == root || has_process(l, (pid_t)known.parent)))
                add_process(l, (pid_t)pid);
    } while (l->nr > before && l->nr < l->most);
}

/* ---- what one wants of it ---- */

static size_t list_tree(pid_t root, pid_t *pids, size_t most, int number)
{
    struct list l = { .pids = pids, .most = most, .number = number };

    if (!children_are_told()) {
        search_all_processes(&l, root);
        return l.nr;
    }
    add_children(&l, root);
    for (size_t i = 0; i < l.nr; i++)
        add_children(&l, l.pids[i]);
    return l.nr;
}

size_t process_tree_list(pid_t root, pid_t *pids, size_t most)
{
    return list_tree(root, pids, most, 0);
}

size_t process_tree_search(pid_t root, pid_t *pids, size_t most)
{
    struct list l = { .pids = pids, .most = most };

    search_all_processes(&l, root);
    return l.nr;
}

size_t process_tree_children(pid_t *pids, size_t most)
{
    pid_t all[PROCESS_TREE_MAX], self = getpid();
    size_t nr_all = list_tree(self, all, PROCESS_TREE_MAX, 0), nr = 0;
    struct known known;

    for (size_t i = 0; i < nr_all && nr < most; i++)
        if (look_at_process(all[i], &known) && known.parent == self)
            pids[nr++] = all[i];
    return nr;
}

static bool is_running(pid_t pid)
{
    struct known known;

    return look_at_process(pid, &known) && known.runs;
}

/* Of those that have ended nothing can come; but one that ended between the look at its parent and
 * that at itself has left its children to `root`, behind the first look. So there must be no child
 * at the end that had not ended before. */
bool process_tree_is_empty(pid_t root)
{
    enum { CHILDREN = 1024 };
    pid_t pids[PROCESS_TREE_MAX], children[CHILDREN];
    struct list seen = { .pids = pids, .most = PROCESS_TREE_MAX };
    struct list last = { .pids = children, .most = CHILDREN };

    seen.nr = process_tree_list(root, pids, PROCESS_TREE_MAX);
    for (size_t i = 0; i < seen.nr; i++)
        if (pids[i] != getpid() && is_running(pids[i]))
            return false;
    if (children_are_told())
        add_children(&last, root);
    else
        search_all_processes(&last, root);
    for (size_t i = 0; i < last.nr; i++)
        if (!has_process(&seen, children[i]))
            return false;
    return last.nr < CHILDREN;
}

void process_tree_signal(pid_t root, int number)
{
    pid_t pids[PROCESS_TREE_MAX];

    list_tree(root, pids, PROCESS_TREE_MAX, number);
}

void process_tree_stop(pid_t root)
{
    kill(-root, SIGSTOP);
    process_tree_signal(root, SIGSTOP);
}

void process_tree_continue(pid_t root)
{
    process_tree_signal(root, SIGCONT);
    kill(-root, SIGCONT);
}

bool process_tree_kill(pid_t root)
{
    pid_t pids[PROCESS_TREE_MAX];
    int64_t end = monotonic_ms() + PATIENCE_MS;

    for (int round = 0; !process_tree_is_empty(root); round++) {
        size_t nr, before = 0;
        if (monotonic_ms() > end)
            return false;
        if (round)
            poll(NULL, 0, round < 20 ? 1 : 10);
        while ((nr = list_tree(root, pids, PROCESS_TREE_MAX, SIGSTOP)) > before &&
               monotonic_ms() < end)
            before = nr;
        for (size_t i = 0; i < nr; i++)
            if (pids[i] != getpid())
                kill(pids[i], SIGKILL);
    }
    return true;
}
