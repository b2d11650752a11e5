/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters (S3-06, S0-27): metric names and passes by CUPTI's host half, which needs no
 * GPU, and one clear line where they cannot be had. Skipped where CUPTI is not built in or
 * installed.
 */
#include "testing.h"

#include "cupti/counters.h"

#include <stdlib.h>

static const char chip[] = "GH100"; /* H100, H200 */

/* Skips the test where there is no CUPTI here, or a sanitizer, which its host library's way of
 * loading (RTLD_DEEPBIND) does not go with. */
static void need_cupti(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    const char *metric = "gpu__time_duration.sum";
    struct error err = { "" };
    size_t passes;

    unsetenv("HARNESS_CUPTI");
    if (counters_passes(chip, &metric, 1, &passes, &err) == 0)
        return;
    if (!strstr(err.message, "not found when this was built") &&
        !strstr(err.message, "cannot be opened"))
        fail_msg("%s", err.message);
    skip();
}

static size_t passes_of(unsigned quantities)
{
    const char *metrics[16];
    size_t nr = counter_quantity_metrics(quantities, metrics, 16), passes = 0;
    struct error err;

    assert_true(nr > 0);
    assert_ok(counters_passes(chip, metrics, nr, &passes, &err), &err);
    return passes;
}

TEST(every_metric_is_known_to_the_chip)
{
    const char *metrics[16];
    struct error err;
    char text[512];

    need_cupti();
    size_t nr = counter_quantity_metrics(~0u, metrics, 16);
    assert_int_equal(nr, 9);
    for (size_t i = 0; i < nr; i++) {
        assert_ok(counters_describe(chip, metrics[i], text, sizeof(text), &err), &err);
        assert_true(strlen(text) > 0);
    }
}

TEST(passes)
{
    need_cupti();
    /* Time and memory in one run of the kernel, so they need no replay. */
    assert_int_equal(passes_of(1u << COUNTER_DURATION), 1);
    assert_int_equal(passes_of(1u << COUNTER_DURATION | 1u << COUNTER_DRAM_BYTES), 1);
    size_t fp32 =
        passes_of(1u << COUNTER_DURATION | 1u << COUNTER_DRAM_BYTES | 1u << COUNTER_FP32_FLOPS);
    assert_int_equal(fp32, 2);
    assert_in_range(passes_of(~0u), fp32, 6);
}

TEST(unknown_names)
{
    const char *metric = "dram__bites.sum";
    struct error err;
    size_t nr;

    need_cupti();
    assert_int_equal(counters_passes(chip, &metric, 1, &nr, &err), -1);
    assert_non_null(strstr(err.message, "dram__bites.sum"));
    metric = "dram__bytes.sum";
    assert_int_equal(counters_passes("GX999", &metric, 1, &nr, &err), -1);
    assert_non_null(strstr(err.message, "GX999"));
}

TEST(one_line_where_it_cannot)
{
    const char *metric = "dram__bytes.sum";
    struct counters_session *session = NULL;
    struct error err = { "" };

    /* No test has a CUDA context in this thread, whatever the machine. */
    assert_int_equal(counters_start(&session, 0, &metric, 1, 10, &err), -1);
    assert_true(strlen(err.message) > 10);
    assert_null(strchr(err.message, '\n'));
    setenv("HARNESS_CUPTI", "/nowhere/libcupti.so", 1);
    size_t nr;
    assert_int_equal(counters_passes(chip, &metric, 1, &nr, &err), -1);
    unsetenv("HARNESS_CUPTI");
}

TEST(metrics_of_quantities)
{
    const char *metrics[2];

    assert_int_equal(counter_quantity_metrics(1u << COUNTER_DRAM_BYTES, metrics, 2), 2);
    assert_string_equal(metrics[0], "dram__bytes_read.sum");
    assert_int_equal(counter_quantity_metrics(~0u, metrics, 1), 1);
    assert_int_equal(counter_quantity_metrics(0, metrics, 2), 0);
}

RUN_TESTS(NULL, NULL)
