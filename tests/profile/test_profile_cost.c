/* SPDX-License-Identifier: MIT */
/* What a scope costs, in units of this machine: readings of its clock, fresh pages, a scope that is
 * on. docs/scopes-library.md has the times. Features: S4-13, S4-15. */
#include "testing.h"

#include "profile/summary.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Two readings are in a scope that is on; the rest is some 20 stores and, every 64 scopes, a fresh
 * page, which costs anything: 0.2 us of a plain kernel, 12 of a sandbox. Following memory adds two
 * loads and two comparisons; off is a load and a branch. */
enum { READINGS_MOST = 10, SCOPES_IN_PAGE = 64, OFF_LEAST = 8, TRIES = 60, PAUSE_MS = 50 };
static const double memory_most = 1.5;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* What this machine takes for the first store to a page, ns. */
static double fresh_page(void)
{
    enum { PAGES = 2048 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *m =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double start = now_ns(), ns;

    assert_ptr_not_equal(m, MAP_FAILED);
    for (size_t i = 0; i < PAGES; i++)
        m[i * page] = 1;
    ns = (now_ns() - start) / PAGES;
    munmap((void *)m, PAGES * page);
    return ns;
}

static bool is_within(const struct prof_cost *c, double page)
{
    print_message(
        "%.1f ns on (%.1f readings of %s and a page of %.0f ns), %.1f with memory "
        "(%.2f times), %.2f off (1/%.0f)\n",
        c->on, (c->on - page / SCOPES_IN_PAGE) / c->clock, c->clock_name, page, c->memory,
        c->memory / c->on, c->off, c->on / c->off);
    return c->on <= READINGS_MOST * c->clock + page / SCOPES_IN_PAGE &&
           c->memory <= memory_most * c->on && OFF_LEAST * c->off <= c->on;
}

/* Of tries over three seconds: one quiet moment is enough. */
TEST(ratios_hold)
{
    struct prof_cost cost;
    bool held = false;

    for (int i = 0; i < TRIES && !held; i++) {
        assert_int_equal(prof_overhead(&cost), 0);
        held = is_within(&cost, fresh_page());
        if (!held)
            nanosleep(&(struct timespec) { .tv_nsec = PAUSE_MS * 1000000L }, NULL);
    }
    assert_true(held);
}

/* What hooks do is in it, and nothing of it stays: marks are given back. */
static int marks, calls;

static void *count_mark(void *context, int device, void *stream)
{
    (void)context, (void)device, (void)stream;
    marks++;
    calls++;
    return &marks;
}

static void count_forget(void *context, void *mark)
{
    (void)context, (void)mark;
    marks--;
}

TEST(hooks_are_in_the_cost)
{
    const struct prof_hooks hooks = { .mark = count_mark, .forget = count_forget };
    double ns = 0;

    assert_int_equal(prof_overhead_hooked(&hooks, PROF_GPU, NULL, &ns), 0);
    assert_true(ns > 0);
    assert_true(calls > 1000 && calls % 2 == 0);
    assert_int_equal(marks, 0);
}

int main(void)
{
#ifndef __OPTIMIZE__
    print_message("skipped: nothing is optimised\n");
    return 77;
#endif
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
