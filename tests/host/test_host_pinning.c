/* SPDX-License-Identifier: MIT */
/* Features: U-05. Each thread of a launch has a processor of its own. */
#include "host/thread_pinning.h"

#include "testing.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int processors(void)
{
    cpu_set_t all;

    return sched_getaffinity(0, sizeof(all), &all) ? 1 : CPU_COUNT(&all);
}

/* All of them may be used in a pause, and afterwards as many as before it. */
static bool pause_holds(int all)
{
    struct pinning_pause pause;
    int before = processors();

    pinning_pause(&pause);
    int meanwhile = processors();
    pinning_resume(&pause);
    return meanwhile == all && processors() == before;
}

static bool is_alone(void)
{
    cpu_set_t own;

    return sched_getaffinity(0, sizeof(own), &own) == 0 && CPU_COUNT(&own) == 1;
}

/* Whether a region that names no number has so many threads, each alone. */
static bool region_is_of(int threads)
{
    int nr = 0, alone = 0;

#pragma omp parallel reduction(+ : nr, alone)
    {
        nr++;
        alone += is_alone();
    }
    return nr == threads && alone == threads;
}

/* In a child, because binding stays. Exit status: bit 0 the answer, bit 1 all alone, bit 2 a pause
 * before and one after hold, bit 3 a region that names no number is of the bound threads. */
static int spread_in_child(int threads, const char *placed)
{
    pid_t child = fork();

    if (child == 0) {
        if (placed)
            setenv("OMP_PLACES", placed, 1);
        else
            unsetenv("OMP_PLACES");
        unsetenv("OMP_PROC_BIND");
        unsetenv("GOMP_CPU_AFFINITY");
        int all = processors();
        omp_set_num_threads(all + 1); /* as where there are more processors than that */
        bool pauses = pause_holds(all);
        int answer = pin_threads(threads), alone = 0;
#pragma omp parallel num_threads(threads > 0 ? threads : 1) reduction(+ : alone)
        alone += is_alone();
        _exit((answer ? 1 : 0) + (alone == threads ? 2 : 0) + (pauses && pause_holds(all) ? 4 : 0) +
              (region_is_of(threads) ? 8 : 0));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_one_each(void **state)
{
    (void)state;
    if (processors() < 2) {
        print_message("skipped: this process may use one processor only\n");
        skip();
    }
    assert_int_equal(spread_in_child(processors(), NULL), 15);
}

static void test_left_alone(void **state)
{
    (void)state;
    assert_int_equal(spread_in_child(0, NULL) & 5, 4); /* a device without threads */
    assert_int_equal(spread_in_child(1, NULL) & 5, 4);
    assert_int_equal(spread_in_child(processors() + 1, NULL) & 1, 0);
    assert_int_equal(spread_in_child(2, "cores") & 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_each),
        cmocka_unit_test(test_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
