/* SPDX-License-Identifier: MIT */
/*
 * Counting with a GPU (S3-06, S0-27), against stand-ins for CUPTI and the driver (tests/cuda): a
 * set of counters a launch, launches without room, and one line where a machine forbids it.
 */
#include "testing.h"

#include "cupti/counters.h"
#include "gputrace/work_check.h"

#include <stdlib.h>

enum { METRICS = 16 };

static int start(const char *words, size_t room, struct counters_session **session,
                 struct error *err)
{
    const char *metrics[METRICS];
    size_t nr = counter_quantity_metrics(~0u, metrics, METRICS);

    setenv("HARNESS_CUPTI", CUPTI_STUB_PATH, 1);
    setenv("CUPTI_STUB", words, 1);
    *session = NULL;
    return counters_start(session, 0, metrics, nr, room, err);
}

static void count(const char *words, size_t room, struct counter_list *list)
{
    struct counters_session *session;
    struct error err;

    setenv("CUDA_STUB_CONTEXT", "1", 1);
    assert_ok(start(words, room, &session, &err), &err);
    counter_list_init(list);
    assert_ok(counters_stop(session, list, &err), &err);
}

TEST(a_set_a_launch)
{
    struct counter_list list;

    count("ranges=6", 10, &list);
    assert_int_equal(list.nr, 6);
    assert_int_equal(list.dropped, 0);
    for (size_t i = 0; i < list.nr; i++) {
        const struct kernel_counters *k = &list.items[i];
        assert_int_equal(k->id, i);
        assert_string_equal(k->name, "");
        assert_close(kernel_counters_quantity(k, COUNTER_DRAM_BYTES), 4000, 0);
        assert_close(kernel_counters_quantity(k, COUNTER_FP32_FLOPS), 250, 0);
        assert_close(kernel_counters_quantity(k, COUNTER_TENSOR_FLOPS), 0, 0);
    }
    struct work work = work_counted(&list, 0, 6);
    assert_close(work.bytes, 24000, 0);
    assert_close(work.flops, 1500, 0);
    counter_list_release(&list);
}

TEST(no_room)
{
    struct counter_list list;

    count("ranges=6", 4, &list);
    assert_int_equal(list.nr, 4);
    assert_int_equal(list.dropped, 2);
    counter_list_release(&list);
    count("ranges=0", 4, &list);
    assert_int_equal(list.nr, 0);
    counter_list_release(&list);
}

static void assert_refused(const char *words, const char *part)
{
    struct counters_session *session;
    struct error err = { "" };

    assert_int_equal(start(words, 4, &session, &err), -1);
    assert_null(session);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" is not in: %s", part, err.message);
    assert_null(strchr(err.message, '\n'));
}

TEST(refusals)
{
    setenv("CUDA_STUB_CONTEXT", "1", 1);
    assert_refused("counters=35", "lets only its administrator read the GPU's counters");
    assert_refused("counters=40", "lets only its administrator read the GPU's counters");
    assert_refused("counters=999", "cuptiRangeProfilerEnable: STUB_ERROR");
    unsetenv("CUDA_STUB_CONTEXT");
    assert_refused("", "this thread has no CUDA context");
}

RUN_TESTS(NULL, NULL)
