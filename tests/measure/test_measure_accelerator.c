/* SPDX-License-Identifier: MIT */
/*
 * A kind of device that this build lacks is one file and one row away: devices.c is compiled here
 * with the row of SYCL, fake_sycl.c is the file, and a plugin's variant for it is checked and timed
 * like any other. Feature: U-02.
 */
#include "testing.h"

#include "base/memory.h"
#include "device/devices.h"
#include "fake_sycl.h"
#include "measure/case.h"
#include "plugin/plugin_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct kernel *const *const no_operations[] = { NULL };
static const struct variant *const no_files[] = { NULL };
static const struct missing_variant no_missing[] = { { NULL, NULL, NULL } };
static const struct registry nothing = { no_operations, no_files, no_missing, NULL, NULL, NULL };

static int32_t layout(const int64_t *size, int32_t dtype, struct harness_tensor *t)
{
    t[0] = harness_vector("x", HARNESS_IN, dtype, size[0]);
    t[1] = harness_vector("y", HARNESS_OUT, dtype, size[0]);
    return 2;
}

static void oracle(const int64_t *size, const struct harness_tensor *t, int32_t output,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    for (int64_t i = 0; i < size[0]; i++)
        expected[i] = 2 * (double)((const float *)t[0].data)[i];
}

static void kernel(const void *what)
{
    const struct harness_call *call = *(const struct harness_call *const *)what;
    const float *x = fake_sycl_memory(call->tensor[0].data);
    float *y = fake_sycl_memory(call->tensor[1].data);

    for (int64_t i = 0; i < call->size[0]; i++)
        y[i] = 2 * x[i];
}

/* Where outputs lay. */
static struct {
    const void *at[100];
    size_t nr;
} places;

static void note_place(const void *at)
{
    size_t i = 0;

    while (i < places.nr && places.at[i] != at)
        i++;
    if (i == places.nr && i < sizeof(places.at) / sizeof(places.at[0]))
        places.at[places.nr++] = at;
}

static void launch(const struct harness_call *call)
{
    note_place(call->tensor[1].data);
    assert_int_equal(call->device, HARNESS_SYCL);
    assert_int_equal(call->device_index, 1);
    fake_sycl_submit(call->stream, kernel, &call, sizeof(call));
}

static const char *fault_words;

static const char *fault(void)
{
    return fault_words;
}

static void measure(struct measurement *m, enum cache_state cache, int iterations)
{
    static const char *const dims[] = { "n" };
    static const int64_t sizes[] = { 100 };
    static const struct harness_variant variants[] = {
        HARNESS_VARIANT("doubles", "2 x", HARNESS_SYCL, HARNESS_FP32, launch),
    };
    static const struct harness_kernel kernels[] = { HARNESS_KERNEL(
        "mine/double", NULL, dims, sizes, layout, NULL, oracle, variants) };
    static const struct harness_plugin table = { HARNESS_PLUGIN_ABI,
                                                 sizeof(struct harness_plugin),
                                                 sizeof(struct harness_kernel),
                                                 sizeof(struct harness_variant),
                                                 sizeof(struct harness_tensor),
                                                 sizeof(struct harness_call),
                                                 kernels,
                                                 1,
                                                 fault };
    const struct case_settings settings = { .sampling = { .iterations = iterations }, .seed = 3 };
    struct plugin p = { .own = memory_zeroed(1, sizeof(*p.own)) };
    struct device d;
    struct error err = { "" };

    assert_ok(plugin_take(p.own, &table, &err), &err);
    assert_ok(plugin_check(p.own->table, &err), &err);
    assert_ok(plugin_adapt(&p, &nothing, NULL, &err), &err);
    assert_ok(device_open(&d, "sycl:1", &err), &err);
    struct benchmark bench = { &p.variants[0], p.kernels[0]->shapes[0], cache, NULL };
    case_measure(&bench, &d, &settings, m);
    device_close(&d);
    plugin_drop(&p);
    free(p.own);
}

TEST(one_file_and_one_row_are_a_device)
{
    struct measurement m;

    measure(&m, CACHE_WARM, 5);
    if (m.outcome != OUTCOME_OK)
        fail_msg("%s", m.message);
    assert_string_equal(m.bench.key, "mine/double/doubles/fp32/n=100/sycl1/warm");
    assert_int_equal(m.nr_samples, 5);
    assert_true(fake_sycl_submitted() >= 6);
    measurement_release(&m);
}

/* Its own caches are asked for, not the host's: of 800 bytes, 11 are twice its 4 KiB; and one. */
TEST(copies_take_turns_on_it)
{
    struct measurement m;

    places.nr = 0;
    measure(&m, CACHE_ROTATE, 50);
    if (m.outcome != OUTCOME_OK)
        fail_msg("%s", m.message);
    assert_string_equal(m.bench.key, "mine/double/doubles/fp32/n=100/sycl1/rotate");
    assert_int_equal(places.nr, 12);
    measurement_release(&m);
}

TEST(what_nobody_has_given_it_is_refused)
{
    struct device d;
    struct error err = { "" };

    assert_ok(device_open(&d, "sycl", &err), &err);
    assert_int_equal(device_cache_bytes(&d), 4096);
    assert_false(device_has_roofs(&d));
    device_close(&d);
}

static void add_one(const void *what)
{
    float *x = fake_sycl_memory(*(float *const *)what);

    for (int i = 0; i < 4; i++)
        x[i] += 1;
}

/* On the device's queue, and on another one, for which nobody but the wait has waited. */
static int work_on_borrowed(struct device *d, const struct device_handle *handle)
{
    struct error err;
    void *memory = device_lending_of(d->kind)->borrow(d, handle, &err);
    struct fake_sycl_queue *queue = device_stream(d);

    if (!memory)
        return 1;
    fake_sycl_submit(queue, add_one, &memory, sizeof(memory));
    fake_sycl_submit(queue->aside, add_one, &memory, sizeof(memory));
    if (device_lending_of(d->kind)->wait(d, &err))
        return 2;
    fake_sycl_submit(queue, add_one, &memory, FAKE_SYCL_WHAT + 1);
    return device_lending_of(d->kind)->wait(d, &err) ? 0 : 3;
}

TEST(its_memory_is_lent_and_work_there_is_waited_for)
{
    const float before[4] = { 1, 2, 3, 4 };
    struct device_handle handle = { { 0 } };
    float after[4];
    struct device d;
    struct error err = { "" };
    int status;

    assert_ok(device_open(&d, "sycl", &err), &err);
    void *memory = device_alloc(&d, sizeof(before), &err);
    assert_non_null(memory);
    assert_ok(d.ops->upload(&d, memory, before, sizeof(before), &err), &err);
    assert_ok(device_lending_of(d.kind)->lend(&d, memory, &handle, &err), &err);
    pid_t pid = fork();
    if (pid == 0)
        _exit(work_on_borrowed(&d, &handle));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    assert_ok(d.ops->download(&d, after, memory, sizeof(after), &err), &err);
    for (int i = 0; i < 4; i++)
        assert_float_equal(after[i], before[i] + 2, 0);
    device_free(&d, memory);
    device_close(&d);
}

TEST(memory_that_nobody_lends_is_not_borrowed)
{
    const struct device_handle none = { { 0xff, 0xff, 0xff, 0x7f } };
    struct device d;
    struct error err = { "" };

    assert_ok(device_open(&d, "sycl:1", &err), &err);
    assert_null(device_lending_of(d.kind)->borrow(&d, &none, &err));
    assert_non_null(strstr(err.message, "device sycl:1: another process's memory cannot be had"));
    device_close(&d);
}

TEST(what_a_plugins_runtime_met_is_told)
{
    struct measurement m;

    fault_words = "no kernel image is available";
    measure(&m, CACHE_WARM, 5);
    fault_words = NULL;
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_string_equal(m.message, "launch(): no kernel image is available");
    measurement_release(&m);
}

TEST(kinds_that_nobody_has_added_are_known_by_name)
{
    struct device d;
    struct error err = { "" };

    assert_int_equal(device_open(&d, "hip", &err), -1);
    assert_non_null(strstr(err.message, "device hip is not available: this build has no HIP"));
}

RUN_TESTS(NULL, NULL)
