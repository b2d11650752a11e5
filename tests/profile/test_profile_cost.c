/* SPDX-License-Identifier: MIT */
/* What a scope costs, in units of this machine: readings of its clock, and a scope that is on.
 * docs/scopes-library.md has the times. Features: S4-13, S4-15. */
#include "testing.h"

#include "profile/summary.h"

#include <stdbool.h>
#include <time.h>

/* Two readings are in a scope that is on; the rest is some 20 stores and, every 64 scopes, a fresh
 * page. Following memory adds two loads and two comparisons; off is a load and a branch. */
enum { READINGS_MOST = 10, OFF_LEAST = 8, TRIES = 60, PAUSE_MS = 50 };
static const double memory_most = 1.5;

static bool is_within(const struct prof_cost *c)
{
    print_message(
        "%.1f ns on (%.1f readings of %s), %.1f with memory (%.2f times), %.2f off "
        "(1/%.0f)\n",
        c->on, c->on / c->clock, c->clock_name, c->memory, c->memory / c->on, c->off,
        c->on / c->off);
    return c->on <= READINGS_MOST * c->clock && c->memory <= memory_most * c->on &&
           OFF_LEAST * c->off <= c->on;
}

/* Of tries over three seconds: one quiet moment is enough. */
TEST(ratios_hold)
{
    struct prof_cost cost;
    bool held = false;

    for (int i = 0; i < TRIES && !held; i++) {
        assert_int_equal(prof_overhead(&cost), 0);
        held = is_within(&cost);
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
