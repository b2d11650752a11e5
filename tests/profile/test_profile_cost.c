/* SPDX-License-Identifier: MIT */
/* What a scope costs, in units of this machine: readings of its clock, and a scope that is on.
 * docs/profiling.md has the times. Features: S4-13, S4-15. */
#include "testing.h"

#include "profile/summary.h"

#include <stdbool.h>

/* Two readings are in a scope that is on; the rest is some 20 stores and, every 64 scopes, a fresh
 * page. Following memory adds two loads and two comparisons; off is a load and a branch. */
enum { READINGS_MOST = 10, OFF_LEAST = 8, TRIES = 5 };
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

/* Of several tries: one quiet moment is enough. */
TEST(ratios_hold)
{
    struct prof_cost cost;
    bool held = false;

    for (int i = 0; i < TRIES && !held; i++) {
        assert_int_equal(prof_overhead(&cost), 0);
        held = is_within(&cost);
    }
    assert_true(held);
}

int main(void)
{
#ifndef __OPTIMIZE__
    print_message("skipped: nothing is optimised\n");
    return 77;
#endif
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
