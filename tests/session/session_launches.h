/* SPDX-License-Identifier: MIT */
/* Measuring for real, by the fake device's clock: this test, started again, is the child, and a
 * script that changes its environment stands for another program. */
#ifndef HARNESS_TESTS_SESSION_LAUNCHES_H
#define HARNESS_TESTS_SESSION_LAUNCHES_H

#include "session_testing.h"

#include "core/registry.h"
#include "launch/launch.h"
#include "launch_testing.h"
#include "session/measure/workload.h"

#include <limits.h>

/* What the test is as a child; -1: it is none. */
static inline int launches_child(int argc, char **argv)
{
    struct error err = { "" };

    if (argc > 1 && strcmp(argv[1], "version") == 0)
        return printf("{\"version\":\"9.9.9\",\"commit\":\"aaaaaaa1\",\"branch\":\"old\"}\n") < 0;
    if (argc < 2 || strcmp(argv[1], "internal-launch") != 0)
        return -1;
    int rc = launch_serve(registry_builtin(), &err);
    fprintf(stderr, "%s", err.message);
    return rc ? 2 : 0;
}

/* The last line of a file, in place of RUN_TESTS. */
#define RUN_TESTS_AND_LAUNCHES()                                                                   \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        int rc = launches_child(argc, argv);                                                       \
        if (rc >= 0)                                                                               \
            return rc;                                                                             \
        allow_crashes();                                                                           \
        return cmocka_run_group_tests(file_tests, NULL, NULL);                                     \
    }

/* A program: this one with a fake device of these settings. */
static inline void put_program(const char *path, const char *settings)
{
    char self[PATH_MAX] = "", text[PATH_MAX + 128];

    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    snprintf(text, sizeof(text), "#!/bin/sh\nHARNESS_FAKE='%s' exec '%s' \"$@\"\n", settings, self);
    put_file(path, text);
    assert_int_equal(chmod(path, 0755), 0);
}

/* The right copy on the fake device, for each of the batches, in launches of a few samples. The
 * workload stays where it is until it is released. */
static inline void fake_workload(struct workload *w, const int64_t *batches, size_t nr)
{
    struct workload_options o = { .device = "fake:base=2000,sd=0.001,seed=3" };
    char filter[] = "null/copy/right", *filters[] = { filter };
    struct error err;

    o.batch = (struct int_list) { .items = (int64_t *)batches, .nr = nr };
    assert_ok(workload_make(w, &o, filters, 1, "", &err), &err);
    w->suite.sampling = (struct sampling) { .iterations = 5, .min_samples = 1, .max_samples = 5 };
}

#endif
