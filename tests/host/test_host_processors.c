/* SPDX-License-Identifier: MIT */
/* Features: U-05. Sets of processors on a kernel that may have more than 1024 of them. */
#include "host/processors.h"

#include "core/device.h"
#include "host/thread_pinning.h"
#include "testing.h"

#include <errno.h>
#include <sched.h>

/* What the kernel keeps of this process, in place of the C library's calls to it. */
static struct processors kept;
static size_t kernel_bytes = 2048 / 8;

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set)
{
    (void)thread;
    if (size < kernel_bytes) {
        errno = EINVAL;
        return -1;
    }
    memset((void *)set, 0, size);
    memcpy((void *)set, kept.words, kernel_bytes < size ? kernel_bytes : size);
    return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
    (void)thread;
    kept = (struct processors) { { 0 } };
    memcpy(kept.words, (const void *)set, kernel_bytes < size ? kernel_bytes : size);
    return 0;
}

static void keep_four(void)
{
    static const size_t numbers[] = { 3, 1023, 1024, 2047 };

    kept = (struct processors) { { 0 } };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        processors_add(&kept, numbers[i]);
}

TEST(all_of_them_are_seen)
{
    struct processors own;

    keep_four();
    assert_true(processors_of(0, &own));
    assert_int_equal(processors_count(&own), 4);
    assert_true(processors_have(&own, 1024) && processors_have(&own, 2047));
    assert_false(processors_have(&own, 2046) || processors_have(&own, PROCESSORS_MAX));
    assert_int_equal(device_cpu_cores(), 4);
}

TEST(all_of_them_can_be_bound)
{
    struct processors own;

    keep_four();
    assert_true(processors_of(0, &own));
    processors_remove(&own, 3);
    processors_add(&own, PROCESSORS_MAX);
    assert_true(processors_bind(0, &own));
    assert_int_equal(device_cpu_cores(), 3);
    assert_false(pin_threads(1)); /* moved, and free again */
    assert_int_equal(device_cpu_cores(), 3);
    assert_true(processors_have(&kept, 2047));
}

TEST(what_is_not_told_is_none)
{
    struct processors own;

    keep_four();
    kernel_bytes = sizeof(own) + 8;
    assert_false(processors_of(0, &own));
    assert_int_equal(processors_count(&own), 0);
    assert_int_equal(device_cpu_cores(), 1);
    kernel_bytes = 2048 / 8;
}

TEST(sets_are_joined)
{
    struct processors one = { { 0 } }, other = { { 0 } };

    processors_add(&one, 1);
    processors_add(&other, 1);
    processors_add(&other, 1500);
    processors_join(&one, &other);
    assert_int_equal(processors_count(&one), 2);
}

RUN_TESTS(NULL, NULL)
