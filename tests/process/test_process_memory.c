/* SPDX-License-Identifier: MIT */
/* How much memory there is for measuring, and how much a process and its own hold. Features: S0-22.
 */
#include "testing.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "host/host_memory.h"
#include "process/memory_watch.h"
#include "process/process_tree.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what there is: a /proc and /sys of our own ---- */

static char root[] = HARNESS_TEST_DIR "/memory-XXXXXX";

static void put(const char *path, const char *text)
{
    struct strbuf whole;
    struct error err;

    strbuf_init(&whole);
    strbuf_addf(&whole, "%s%s", root, path);
    assert_ok(file_make_parent(whole.data, &err), &err);
    assert_ok(file_write(whole.data, text, strlen(text), &err), &err);
    strbuf_release(&whole);
}

static void assert_available(int64_t free_bytes)
{
    assert_close((double)host_memory_available(root), HOST_MEMORY_SHARE * (double)free_bytes, 2);
}

TEST(what_is_free)
{
    assert_non_null(mkdtemp(root));
    assert_true(host_memory_available(root) == INT64_MAX); /* nothing tells */
    put("/proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    8000 kB\n");
    assert_available(8000 << 10);
    /* Version 2: its own cgroup has no limit, the one above leaves 3,000,000 and its cache. */
    put("/proc/self/cgroup", "0::/job/step\n");
    put("/sys/fs/cgroup/job/step/memory.max", "max\n");
    put("/sys/fs/cgroup/job/step/memory.current", "5\n");
    assert_available(8000 << 10);
    put("/sys/fs/cgroup/job/memory.max", "4000000\n");
    put("/sys/fs/cgroup/job/memory.current", "1500000\n");
    put("/sys/fs/cgroup/job/memory.stat", "anon 1000000\nfile 500000\ninactive_file 500000\n");
    assert_available(3000000);
    put("/sys/fs/cgroup/job/memory.current", "9000000\n"); /* it was set below what is used */
    assert_available(0);
}

TEST(what_is_free_in_version_1)
{
    /* The path is the host's: in here the top is the container's own. */
    put("/proc/self/cgroup", "4:memory,hugetlb:/docker/0123\n3:cpu:/\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1600000\n");
    put("/sys/fs/cgroup/memory/memory.stat", "cache 3\ntotal_inactive_file 100000\n");
    assert_available(500000);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    assert_available(8000 << 10);
}

TEST(this_machine)
{
    assert_true(host_memory_available("") > 1 << 20);
}

/* ---- what is held ---- */

enum { PART = 64 << 20 };

static char *take(int flags)
{
    char *memory = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

    if (memory != MAP_FAILED)
        memset(memory, 1, PART);
    return memory;
}

/* One part of its own, one that it shares with a child, which has one of its own, too. */
static void hold_three_parts(int ready)
{
    char *shared = take(MAP_SHARED), *own = take(MAP_PRIVATE);

    if (shared == MAP_FAILED || own == MAP_FAILED)
        _exit(1);
    if (fork() == 0) {
        own = take(MAP_PRIVATE);
        shared[0] = own == MAP_FAILED ? 'x' : '+';
        for (int i = 0; i < PART; i += 4096)
            shared[i]++;
        if (write(ready, "+", 1) != 1)
            _exit(1);
    }
    for (;;)
        pause();
}

TEST(the_whole_tree_counts)
{
    struct memory_watch watch = { .limit = 1 };
    char byte;
    int ends[2], status;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork(); /* a guard, which does not count */
    if (pid == 0) {
        setpgid(0, 0);
        if (fork() == 0)
            hold_three_parts(ends[1]);
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    bool over = memory_watch_over(&watch, pid);
    int64_t held = watch.held;
    struct memory_watch later = { .limit = 1, .next_ns = UINT64_MAX };
    bool early = memory_watch_over(&later, pid);
    struct memory_watch wide = { .limit = INT64_C(1) << 50 };
    bool never = memory_watch_over(&wide, pid);
    kill(-pid, SIGKILL);
    memory_watch_release(&watch);
    memory_watch_release(&wide);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(over && !early && !never);
    assert_in_range(held, 3 * (int64_t)PART, 4 * (int64_t)PART - 1); /* what is shared once */
    assert_in_range(memory_watch_wait(&watch), 0, 5); /* the less is left, the sooner */
    assert_in_range(memory_watch_wait(&wide), 0, MEMORY_WATCH_MS);
    close(ends[0]);
    close(ends[1]);
}

/* ---- what hides ---- */

/* Each is held by two processes, and in each once. */
static void hold_and_wait(int ready)
{
    if (fork() == 0)
        for (;;)
            pause();
    if (write(ready, "+", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static bool fill_file(int fd)
{
    char block[1 << 16];

    memset(block, 1, sizeof(block));
    for (int i = 0; i < PART; i += (int)sizeof(block))
        if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
            return false;
    return true;
}

static void hold_memfd(int ready)
{
    if (!fill_file(memfd_create("held", 0)))
        _exit(1);
    hold_and_wait(ready);
}

/* Mapped and open: it counts once. */
static void hold_mapped_memfd(int ready)
{
    int fd = memfd_create("held", 0);
    char *memory =
        fill_file(fd) ? mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (memory == MAP_FAILED)
        _exit(1);
    memset(memory, 2, PART);
    hold_and_wait(ready);
}

/* Not open any more, and never touched. */
static void hold_closed_memfd(int ready)
{
    int fd = memfd_create("held", 0);

    if (!fill_file(fd) || mmap(NULL, PART, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
        _exit(1);
    close(fd);
    hold_and_wait(ready);
}

/* The same of a tmpfs, in a folder that is gone as well. */
static void hold_closed_deleted(int ready)
{
    char folder[] = "/dev/shm/harness-test-XXXXXX", path[64];

    if (!mkdtemp(folder))
        _exit(1);
    snprintf(path, sizeof(path), "%s/held", folder);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    unlink(path);
    rmdir(folder);
    if (!fill_file(fd) || mmap(NULL, PART, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        _exit(1);
    close(fd);
    hold_and_wait(ready);
}

/* Pages of its own, beside those of the file that they were copied from. */
static void hold_private_memfd(int ready)
{
    int fd = memfd_create("held", 0);
    char *memory = ftruncate(fd, PART) == 0
                       ? mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0)
                       : MAP_FAILED;

    if (memory == MAP_FAILED)
        _exit(1);
    memset(memory, 2, PART);
    hold_and_wait(ready);
}

static void hold_behind_many(int ready)
{
    const struct rlimit many = { 4096, 4096 };

    setrlimit(RLIMIT_NOFILE, &many);
    for (int i = 0; i < 2000; i++)
        if (memfd_create("empty", 0) < 0)
            break;
    hold_memfd(ready);
}

static void *hold_in_thread(void *ready)
{
    if (take(MAP_PRIVATE) == MAP_FAILED || write(*(int *)ready, "+", 1) != 1)
        _exit(1);
    for (;;)
        pause();
    return NULL;
}

/* What the first thread of a process shows in /proc ends with it. */
static void hold_behind_a_thread(int ready)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, hold_in_thread, &ready))
        _exit(1);
    syscall(SYS_exit, 0);
}

/* Its parent has ended. */
static void hold_as_daemon(int ready)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            if (take(MAP_PRIVATE) == MAP_FAILED)
                _exit(1);
            hold_and_wait(ready);
        }
        _exit(0);
    }
    for (;;)
        pause();
}

static int64_t held_below(void (*hold)(int ready))
{
    struct memory_watch watch = { .limit = 1 };
    char byte;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t guard = fork();
    if (guard == 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (fork() == 0)
            hold(ends[1]);
        close(ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]); /* who cannot hold it ends, and then there is nothing to wait for */
    ssize_t told = read(ends[0], &byte, 1);
    memory_watch_over(&watch, guard);
    int64_t held = watch.held;
    process_tree_kill(guard);
    kill(guard, SIGKILL);
    memory_watch_release(&watch);
    assert_int_equal(waitpid(guard, NULL, 0), guard);
    close(ends[0]);
    assert_int_equal(told, 1);
    return held;
}

/* A container's is of 64 MB often, and others write there as well. */
static bool is_roomy(const char *folder)
{
    struct statvfs fs;

    return statvfs(folder, &fs) == 0 && (int64_t)(fs.f_bavail * fs.f_frsize) >= 4 * (int64_t)PART;
}

TEST(what_hides_counts_once)
{
    static const struct {
        const char *name;
        void (*hold)(int ready);
        int parts;
    } rows[] = {
        { "memfd", hold_memfd, 1 },
        { "mapped memfd", hold_mapped_memfd, 1 },
        { "closed memfd", hold_closed_memfd, 1 },
        { "closed deleted file", hold_closed_deleted, 1 },
        { "private pages of a memfd", hold_private_memfd, 2 },
        { "behind many empty files", hold_behind_many, 1 },
        { "behind a thread", hold_behind_a_thread, 1 },
        { "daemon", hold_as_daemon, 1 },
    };
    /* Several files of /proc are read, one after the other: some pages may come to be between them.
     */
    const int64_t pages = PART / 256;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].hold == hold_closed_deleted && !is_roomy("/dev/shm")) {
            print_message("skipped: there is no room in /dev/shm for a %s\n", rows[i].name);
            continue;
        }
        int64_t held = held_below(rows[i].hold);
        if (held < rows[i].parts * (int64_t)PART - pages ||
            held >= (rows[i].parts + 1) * (int64_t)PART)
            fail_msg("%s: held %lld bytes", rows[i].name, (long long)held);
    }
}

/* Untouched, and no more than reserved: as good as nothing. */
static void hold_reserve(int ready)
{
    size_t size = (size_t)64 * PART;

    if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) == MAP_FAILED)
        _exit(1);
    hold_and_wait(ready);
}

TEST(a_reserve_is_not_held)
{
    assert_in_range(held_below(hold_reserve), 0, PART - 1);
}

/* What is not resident, by files as the system writes them. */
TEST(swap_and_huge_pages_count)
{
    char folder[sizeof(root) + 8];
    const int64_t kib = 1024;

    snprintf(folder, sizeof(folder), "%s/proc/7", root);
    put("/proc/7/status",
        "Name:\tx\nVmSize:\t 9000 kB\nVmRSS:\t 500 kB\nRssAnon:\t 100 kB\n"
        "RssFile:\t 300 kB\nRssShmem:\t 100 kB\nVmSwap:\t 30 kB\n"
        "HugetlbPages:\t 2048 kB\n");
    assert_int_equal(memory_watch_quick(folder), (500 + 30 + 2048) * kib);
    assert_int_equal(memory_watch_exact(folder), (200 + 30 + 2048) * kib);
    put("/proc/7/smaps_rollup",
        "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss: 500 kB\nPss: 400 kB\nPss_Anon: 90 kB\n"
        "Pss_File: 200 kB\nPss_Shmem: 50 kB\nAnonymous: 90 kB\nShared_Hugetlb: 1024 kB\n"
        "Private_Hugetlb: 2048 kB\nSwap: 30 kB\nSwapPss: 20 kB\n");
    assert_int_equal(memory_watch_exact(folder), (90 + 50 + 1024 + 2048 + 20) * kib);
}

TEST(a_process_that_is_gone)
{
    struct memory_watch watch = { .limit = 1 };
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(memory_watch_over(&watch, pid));
    assert_int_equal(watch.held, 0);
    memory_watch_release(&watch);
}

RUN_TESTS(NULL, NULL)
