/* SPDX-License-Identifier: MIT */
/* Counters of the processor: with calls that tell what a kernel would, and with the kernel itself
 * as far as it lets us. */
#include "testing.h"

#include "base/file.h"
#include "process/counters.h"

#include <errno.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a kernel of our own ---- */

static struct {
    int refuse[COUNTER_NR]; /* errno for each event; 0: it opens */
    int opened, closed, enabled, disabled, leaders;
    struct perf_event_attr attrs[COUNTER_NR];
    int groups[COUNTER_NR];
    uint64_t readings[COUNTER_NR][3]; /* value, enabled, running */
    bool cannot_read;
} fake;

enum { FD = 100 };

static int fake_open(struct perf_event_attr *attr, int group)
{
    int i = fake.opened++;

    if (fake.refuse[i]) {
        errno = fake.refuse[i];
        return -1;
    }
    fake.attrs[i] = *attr;
    fake.groups[i] = group;
    fake.leaders += group < 0;
    return FD + i;
}

static int fake_control(int fd, unsigned long request)
{
    fake.enabled += request == PERF_EVENT_IOC_ENABLE;
    fake.disabled += request == PERF_EVENT_IOC_DISABLE;
    return fd < FD ? -1 : 0;
}

static ssize_t fake_read(int fd, void *to, size_t nr)
{
    if (fake.cannot_read || nr != sizeof(fake.readings[0]))
        return -1;
    memcpy(to, fake.readings[fd - FD], nr);
    return (ssize_t)nr;
}

static int fake_close(int fd)
{
    fake.closed += fd >= FD;
    return 0;
}

static const struct counter_calls calls = { fake_open, fake_control, fake_read, fake_close,
                                            "/nowhere" };

static void fake_count(int i, uint64_t value, uint64_t enabled, uint64_t running)
{
    fake.readings[i][0] += value;
    fake.readings[i][1] += enabled;
    fake.readings[i][2] += running;
}

static int begin(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    return 0;
}

static int end(void **state)
{
    (void)state;
    return 0;
}

TEST_WITH(one_group_with_its_children, begin, end)
{
    struct error why;
    struct counters *c = counters_open(COUNT_THREADS, &calls, &why);

    assert_non_null(c);
    assert_int_equal(fake.opened, COUNTER_NR);
    assert_int_equal(fake.leaders, 1);
    for (int i = 0; i < COUNTER_NR; i++) {
        assert_int_equal(fake.groups[i], i == 0 ? -1 : FD);
        assert_int_equal(fake.attrs[i].disabled, i == 0); /* the leader's state is the group's */
        assert_true(fake.attrs[i].inherit && fake.attrs[i].exclude_kernel);
        assert_false(fake.attrs[i].enable_on_exec);
    }
    counters_close(c);
    assert_int_equal(fake.closed, COUNTER_NR);
}

/* Only what programs do is theirs: from exec() on, and without being told. */
TEST_WITH(programs_count_from_exec_on, begin, end)
{
    struct error why;
    double counts[COUNTER_NR];
    struct counters *c = counters_open(COUNT_PROGRAMS, &calls, &why);

    assert_true(fake.attrs[0].enable_on_exec && fake.attrs[0].disabled);
    assert_false(fake.attrs[1].enable_on_exec);
    counters_begin(c);
    fake_count(COUNTER_INSTRUCTIONS, 5, 10, 10);
    counters_end(c, counts);
    assert_close(counts[COUNTER_INSTRUCTIONS], 5, 0);
    assert_int_equal(fake.enabled + fake.disabled, 0);
    counters_close(c);
}

/* What was counted is the difference; taken in turns with others, a share of the time. */
TEST_WITH(counts_are_scaled, begin, end)
{
    static const struct {
        uint64_t value, enabled, running;
        double count; /* NaN: absent */
    } rows[] = {
        { 1000, 10, 10, 1000 }, { 1000, 10, 5, 2000 },
        { 900, 9, 3, 2700 },    { 0, 10, 10, 0 }, /* counted, and none came */
        { 0, 10, 0, NAN }, /* never got the processor's counters: not known */
    };
    double counts[COUNTER_NR];
    struct error why;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(&fake, 0, sizeof(fake));
        fake_count(COUNTER_CYCLES, 12345, 777, 700); /* of before */
        struct counters *c = counters_open(COUNT_THREADS, &calls, &why);
        counters_begin(c);
        fake_count(COUNTER_CYCLES, rows[i].value, rows[i].enabled, rows[i].running);
        counters_end(c, counts);
        assert_int_equal(fake.enabled, 1);
        assert_int_equal(fake.disabled, 1);
        if (isnan(rows[i].count))
            assert_true(isnan(counts[COUNTER_CYCLES]));
        else
            assert_close(counts[COUNTER_CYCLES], rows[i].count, 1e-9);
        counters_close(c);
    }
}

static const char hybrid[] = HARNESS_TEST_DIR "/counters-hybrid";

static void put_unit(const char *file)
{
    char path[512];
    struct error err;

    snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s", hybrid, file);
    assert_ok(file_make_parent(path, &err), &err);
    assert_ok(file_write(path, "0-3\n", 4, &err), &err);
}

/* With cores of several kinds nobody knows what the kind that does not count did meanwhile. */
TEST_WITH(kinds_of_cores, begin, end)
{
    static const struct counter_calls of_kinds = { fake_open, fake_control, fake_read, fake_close,
                                                   hybrid };
    double counts[COUNTER_NR];
    struct error why;

    file_remove_folder(hybrid, &why); /* of an earlier run */
    assert_false(counters_of_kinds(hybrid));
    put_unit("cpu_core/cpus");
    put_unit("uncore_imc_0/cpumask");
    assert_false(counters_of_kinds(hybrid));
    put_unit("cpu_atom/cpus");
    assert_true(counters_of_kinds(hybrid));
    struct counters *c = counters_open(COUNT_THREADS, &of_kinds, &why);
    counters_begin(c);
    fake_count(COUNTER_INSTRUCTIONS, 1000, 10, 10);
    fake_count(COUNTER_CYCLES, 1000, 10, 9);
    counters_end(c, counts);
    assert_close(counts[COUNTER_INSTRUCTIONS], 1000, 0);
    assert_true(isnan(counts[COUNTER_CYCLES]));
    counters_close(c);
}

/* Absent is absent, never 0; the next event leads the group. */
TEST_WITH(an_event_that_is_not_there, begin, end)
{
    double counts[COUNTER_NR];
    struct error why;

    fake.refuse[COUNTER_INSTRUCTIONS] = ENOENT;
    fake.refuse[COUNTER_CACHE_MISSES] = ENOENT;
    struct counters *c = counters_open(COUNT_THREADS, &calls, &why);
    assert_non_null(c);
    assert_int_equal(fake.leaders, 1);
    assert_int_equal(fake.groups[COUNTER_CYCLES], -1);
    assert_true(fake.attrs[COUNTER_CYCLES].disabled);
    assert_int_equal(fake.groups[COUNTER_BRANCH_MISSES], FD + COUNTER_CYCLES);
    counters_begin(c);
    for (int i = 0; i < COUNTER_NR; i++)
        fake_count(i, 7, 1, 1);
    counters_end(c, counts);
    assert_true(isnan(counts[COUNTER_INSTRUCTIONS]));
    assert_true(isnan(counts[COUNTER_CACHE_MISSES]));
    assert_close(counts[COUNTER_CYCLES], 7, 0);
    counters_close(c);
    assert_int_equal(fake.closed, 2);
}

TEST_WITH(why_nothing_can_be_counted, begin, end)
{
    static const struct {
        int number;
        const char *why;
    } rows[] = {
        { ENOENT, "offers no counters" },      { EOPNOTSUPP, "offers no counters" },
        { EACCES, "perf_event_paranoid" },     { EPERM, "perf_event_paranoid" },
        { ENOSYS, "without perf_event_open" }, { EMFILE, "Too many open files" },
    };
    double counts[COUNTER_NR];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error why = { "" };
        memset(&fake, 0, sizeof(fake));
        for (int e = 0; e < COUNTER_NR; e++)
            fake.refuse[e] = rows[i].number;
        assert_null(counters_open(COUNT_THREADS, &calls, &why));
        assert_non_null(strstr(why.message, rows[i].why));
    }
    counters_begin(NULL);
    counters_end(NULL, counts);
    for (int i = 0; i < COUNTER_NR; i++)
        assert_true(isnan(counts[i]));
    counters_close(NULL);
}

TEST_WITH(what_cannot_be_read_is_absent, begin, end)
{
    double counts[COUNTER_NR];
    struct error why;
    struct counters *c = counters_open(COUNT_THREADS, &calls, &why);

    fake.cannot_read = true;
    counters_begin(c);
    fake.cannot_read = false;
    fake_count(0, 7, 1, 1);
    counters_end(c, counts);
    assert_true(isnan(counts[0]));
    counters_close(c);
}

/* ---- the kernel ---- */

/* Events that it counts itself are there in a virtual machine, too. No clock among them: that is
 * another unit to the kernel, which begins with the rest of such a group some ticks later. */
static const struct counter_event software[COUNTER_NR] = {
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
    { PERF_TYPE_SOFTWARE, 9999 }, /* there is none such */
};

/* New small pages, whatever an allocator keeps: a fault each. */
static void touch(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)memory)[i] = 1;
    assert_int_equal(munmap(memory, bytes), 0);
}

TEST(this_thread_by_the_kernel_itself)
{
    enum { PAGES = 2048 };
    double counts[COUNTER_NR];
    struct error why = { "" };
    struct counters *c = counters_open_events(software, COUNT_THREADS, NULL, &why);

    if (!c) {
        print_message("skipped: %s\n", why.message);
        return;
    }
    touch((size_t)PAGES * 4096); /* before: not counted */
    counters_begin(c);
    counters_end(c, counts);
    assert_true(counts[0] < 100);
    counters_begin(c);
    touch((size_t)PAGES * 4096);
    counters_end(c, counts);
    assert_true(counts[1] > 0);
    assert_true(counts[0] >= PAGES / 16); /* pages of Arm may have 64 KiB */
    assert_true(isnan(counts[3]));
    counters_close(c);
}

/* What it starts counts, its own work does not. */
TEST(programs_by_the_kernel_itself)
{
    char sh[] = "sh", option[] = "-c",
         script[] =
             "x=1; while [ $x -lt 2000 ]; do x=$((x+1)); done; "
             "sh -c 'exit 0'";
    char *argv[] = { sh, option, script, NULL };
    double counts[COUNTER_NR];
    struct error why = { "" };
    struct counters *c = counters_open_events(software, COUNT_PROGRAMS, NULL, &why);
    pid_t pid;
    int status;

    if (!c) {
        print_message("skipped: %s\n", why.message);
        return;
    }
    counters_begin(c);
    touch(64 << 20);
    counters_end(c, counts);
    assert_true(!(counts[0] > 0)); /* nothing was started */
    counters_begin(c);
    assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, NULL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    counters_end(c, counts);
    assert_true(counts[0] > 10);
    assert_true(counts[1] > 10);
    counters_close(c);
}

/* The same work has the same instructions; twice the work has twice as many. */
TEST(instructions_of_the_processor)
{
    double counts[COUNTER_NR], once, twice;
    struct error why = { "" };
    struct counters *c = counters_open(COUNT_THREADS, NULL, &why);

    if (!c) {
        print_message("skipped: %s\n", why.message);
        return;
    }
    counters_begin(c);
    for (volatile int i = 0; i < 1000000; i++)
        ;
    counters_end(c, counts);
    once = counts[COUNTER_INSTRUCTIONS];
    counters_begin(c);
    for (volatile int i = 0; i < 2000000; i++)
        ;
    counters_end(c, counts);
    twice = counts[COUNTER_INSTRUCTIONS];
    if (!isnan(once) && !isnan(twice))
        assert_close(twice / once, 2, 0.1);
    counters_close(c);
}

RUN_TESTS(NULL, NULL)
