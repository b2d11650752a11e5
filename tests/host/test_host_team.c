/* SPDX-License-Identifier: MIT */
/* Features: U-05. A device of N threads has N, or there is no measurement. */
#include "host/thread_team.h"

#include "testing.h"

#include <omp.h>

/* As OMP_DYNAMIC=true: how many there are depends on the load. */
TEST(the_load_takes_no_thread)
{
    struct error err;

    omp_set_dynamic(1);
    assert_ok(thread_team_check(2, &err), &err);
    assert_false(omp_get_dynamic());
    assert_ok(thread_team_check(1, &err), &err);
    assert_ok(thread_team_check(0, &err), &err); /* a device without threads */
}

/* As OMP_MAX_ACTIVE_LEVELS=0: each region has one thread. The limit by OMP_THREAD_LIMIT, which is
 * read before main(), is in test_machine_roofs.c. */
TEST(fewer_threads_are_an_error)
{
    struct error err;
    int levels = omp_get_max_active_levels();

    omp_set_max_active_levels(0);
    int rc = thread_team_check(2, &err);
    omp_set_max_active_levels(levels);
    assert_fails(rc, &err, "2 threads are to be measured, and OpenMP gives 1 of them: unset what");
    assert_ok(thread_team_check(2, &err), &err);
}

RUN_TESTS(NULL, NULL)
