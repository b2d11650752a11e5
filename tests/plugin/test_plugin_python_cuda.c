/* SPDX-License-Identifier: MIT */
/*
 * Functions of Python on a GPU, on the host layer: their tensors in memory that the interpreter
 * opens by the driver's library (tests/cuda_host/libcuda.cc is that), each way that they take them
 * and give results, each way that they fail, in words. Feature: U-02, U-11.
 */
#include "python_testing.h"

#include <stdlib.h>

/* Where libcuda.so.1 is; "" where the build has no host layer. */
#ifndef HARNESS_LIBCUDA
#define HARNESS_LIBCUDA ""
#endif

/* Twice the L2 of 1 MiB are some copies of those. */
enum { ROWS = 3, ROWS_THAT_ROTATE = 3000 };

static void skip_without_layer(void)
{
    if (!*HARNESS_LIBCUDA || !module_is_here("numpy"))
        skip();
    setenv("LD_LIBRARY_PATH", HARNESS_LIBCUDA, 1);
}

static struct measurement measure_on(const char *file, const char *function, const char *dtype,
                                     enum cache_state cache)
{
    return measure_product(file, function, dtype, "cuda",
                           cache == CACHE_ROTATE ? ROWS_THAT_ROTATE : ROWS, cache);
}

struct way {
    const char *file, *function, *dtype;
    enum outcome outcome;
    const char *says; /* why it is not OK */
    bool copied;      /* what it returns is copied in the timed part */
};

static void expect(const struct way *w, enum cache_state cache)
{
    struct measurement m = measure_on(w->file, w->function, w->dtype, cache);

    if (m.outcome != w->outcome || (w->says && (!m.message || !strstr(m.message, w->says))))
        fail_msg("%s::%s, %s: %s, %s", w->file, w->function, w->dtype, outcome_name(m.outcome),
                 m.message ? m.message : "(nothing)");
    assert_true((measurement_telemetry(&m, TELEMETRY_COPY_TIMED) == 1) == w->copied);
    measurement_release(&m);
}

static void expect_all(const struct way *ways, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        expect(&ways[i], CACHE_WARM);
}

TEST(tensors_are_where_the_device_has_them)
{
    static const struct way ways[] = {
        { "on_cuda.py", "writes", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda.py", "writes", "fp16", OUTCOME_OK, NULL, false },
        { "on_cuda.py", "writes", "bf16", OUTCOME_OK, NULL, false },
        { "on_cuda.py", "out", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda.py", "leaves", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda_own.py", "writes", "fp32", OUTCOME_OK, NULL, false },
    };

    skip_without_layer();
    expect_all(ways, sizeof(ways) / sizeof(ways[0]));
}

TEST(what_is_returned_is_copied_there)
{
    static const struct way ways[] = {
        { "on_cuda.py", "returns", "fp32", OUTCOME_OK, NULL, true },
        { "on_cuda.py", "returns_later", "fp32", OUTCOME_OK, NULL, true },
        { "on_cuda.py", "speaks", "fp32", OUTCOME_OK, NULL, true },
        { "on_cuda.py", "speaks", "bf16", OUTCOME_OK, NULL, true },
        { "on_cuda_own.py", "returns", "fp32", OUTCOME_OK, NULL, true },
        { "on_cuda.py", "shape", "fp32", OUTCOME_FAILED, "shape returns shape (6, 1), c is (6, 5)",
          false },
        { "on_cuda.py", "dtype", "fp32", OUTCOME_FAILED, "dtype returns float64, c is float32",
          false },
        { "on_cuda.py", "returns", "bf16", OUTCOME_FAILED, "returns returns float32, c is bfloat16",
          false },
        { "on_cuda.py", "turned", "fp32", OUTCOME_FAILED, "return a contiguous one", false },
        { "on_cuda.py", "on_host", "fp32", OUTCOME_FAILED, "on the CPU, not on cuda:0", false },
        { "on_cuda.py", "on_another", "fp32", OUTCOME_FAILED, "on cuda:1, not on cuda:0", false },
        { "on_cuda.py", "text", "fp32", OUTCOME_FAILED, "text returns str, which is no tensor",
          false },
        { "on_cuda.py", "nothing", "fp32", OUTCOME_FAILED, "nothing returns None", false },
    };

    skip_without_layer();
    expect_all(ways, sizeof(ways) / sizeof(ways[0]));
}

TEST(what_is_wrong_is_found)
{
    static const struct way ways[] = {
        { "on_cuda.py", "wrong", "fp32", OUTCOME_WRONG, ", expected ", false },
        { "on_cuda.py", "never", "fp32", OUTCOME_WRONG, "never written", false },
        { "on_cuda.py", "changes", "fp32", OUTCOME_WRONG, "input a was changed", false },
        { "on_cuda.py", "raises", "fp32", OUTCOME_FAILED,
          "ValueError: no luck today (on_cuda.py:", false },
        { "on_cuda.py", "asks_interface", "bf16", OUTCOME_FAILED,
          "the CUDA array interface has no bfloat16: take it by DLPack", false },
        { "on_cuda_numpy.py", "writes", "fp32", OUTCOME_FAILED,
          "harness_framework is 'numpy', and on a GPU there are: \"torch\", \"cupy\", \"raw\"",
          false },
    };

    skip_without_layer();
    expect_all(ways, sizeof(ways) / sizeof(ways[0]));
}

/* Its results are assigned by itself, whatever their strides, behind the timed part. A PyTorch that
 * there may be has no CUDA. */
TEST(cupy_is_used_where_it_is)
{
    static const struct way ways[] = {
        { "on_cuda_plain.py", "writes", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda_plain.py", "returns", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda_plain.py", "turned", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda_plain.py", "elsewhere", "fp32", OUTCOME_FAILED,
          "returns a tensor on cupy device 1, not on cuda:0", false },
    };

    skip_without_layer();
    setenv("PYTHONPATH", FILES "cupy_stand_in", 1);
    expect_all(ways, sizeof(ways) / sizeof(ways[0]));
    unsetenv("PYTHONPATH");
}

TEST(else_they_are_harness_own)
{
    static const struct way way = {
        "on_cuda_plain.py", "kind", "fp32", OUTCOME_FAILED, "it is a __main__.DeviceTensor", false
    };

    skip_without_layer();
    expect(&way, CACHE_WARM);
}

/* Until the device has done all, by the host's clock, cold and warm. */
TEST(the_time_is_the_devices)
{
    static const enum cache_state states[] = { CACHE_WARM, CACHE_COLD };

    skip_without_layer();
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct measurement m = measure_on("on_cuda.py", "slow", "fp32", states[i]);
        if (m.outcome != OUTCOME_OK)
            fail_msg("%s", m.message);
        assert_string_equal(m.clock, "CLOCK_MONOTONIC_RAW");
        assert_string_equal(m.bench.device, "cuda");
        assert_int_equal(m.nr_samples, 3);
        assert_true((double)m.samples[0] / m.batch >= 2e6);
        assert_true(measurement_telemetry(&m, TELEMETRY_EMPTY_CALL) > 0);
        assert_true(measurement_telemetry(&m, TELEMETRY_EMPTY_CALL) < 1e6);
        assert_true(measurement_telemetry(&m, "peak_rss_bytes") > 1e6);
        measurement_release(&m);
    }
}

TEST(copies_take_turns_there)
{
    static const struct way ways[] = {
        { "on_cuda.py", "writes", "fp32", OUTCOME_OK, NULL, false },
        { "on_cuda.py", "returns", "fp32", OUTCOME_OK, NULL, true },
        { "on_cuda.py", "only_first", "fp32", OUTCOME_WRONG, "after timing, of a copy: c[", false },
    };

    skip_without_layer();
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        expect(&ways[i], CACHE_ROTATE);
}

TEST(in_out_tensors_are_restored_there)
{
    skip_without_layer();
    expect_inout_restored(FILES "on_cuda.py::moves", "cuda", ROWS_THAT_ROTATE);
}

/* Each call of the driver's, in its words. */
TEST(a_driver_that_fails_is_told)
{
    static const struct {
        const char *fails;
        struct way way;
    } rows[] = {
        { "cuInit:1:100",
          { "on_cuda.py", "writes", "fp32", OUTCOME_UNSUPPORTED,
            "cannot use cuda:0: cuInit: no CUDA-capable device is detected", false } },
        { "cuDevicePrimaryCtxRetain:1:46",
          { "on_cuda.py", "writes", "fp32", OUTCOME_UNSUPPORTED,
            "cuDevicePrimaryCtxRetain: CUDA error 46", false } },
        { "cuIpcOpenMemHandle_v2:1:1",
          { "on_cuda.py", "writes", "fp32", OUTCOME_UNSUPPORTED,
            "cuIpcOpenMemHandle_v2: invalid argument", false } },
        { "cuCtxSynchronize:2:700",
          { "on_cuda.py", "writes", "fp32", OUTCOME_FAILED,
            "cuCtxSynchronize: an illegal memory access was encountered", false } },
        { "cuMemcpyDtoD_v2:1:1",
          { "on_cuda.py", "returns", "fp32", OUTCOME_FAILED, "cuMemcpyDtoD_v2: invalid argument",
            false } },
    };

    skip_without_layer();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setenv("LIBCUDA_FAIL", rows[i].fails, 1);
        expect(&rows[i].way, CACHE_WARM);
    }
    unsetenv("LIBCUDA_FAIL");
}

/* Whatever driver the machine has: the first one that is found is none. */
TEST(without_a_driver_it_cannot_be_had)
{
    static const struct way way = { "on_cuda_numpy.py",       "writes", "fp32", OUTCOME_UNSUPPORTED,
                                    "finds no CUDA driver: ", false };
    char file[] = HARNESS_TEST_DIR "/libcuda.so.1";

    skip_without_layer();
    FILE *empty = fopen(file, "w");
    assert_non_null(empty);
    fclose(empty);
    setenv("LD_LIBRARY_PATH", HARNESS_TEST_DIR, 1);
    expect(&way, CACHE_WARM);
    remove(file);
}

TEST(a_graph_is_captured_by_who_launches)
{
    skip_without_layer();
    struct measurement m =
        measure_product("on_cuda.py", "writes", "fp32", "cuda:graph", ROWS, CACHE_WARM);

    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_has(m.message, "a CUDA graph is captured in the one that launches: use --device cuda");
    measurement_release(&m);
}

RUN_TESTS(NULL, NULL)
