/* SPDX-License-Identifier: MIT */
/*
 * Functions of Python as variants of a kernel of this build: each way that they take tensors and
 * give results, each way that they fail, in words; names, jobs and interpreters. Feature: U-11.
 */
#include "python_testing.h"

#include "base/json.h"
#include "host/host_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#define FUNCTIONS FILES "functions.py"

static int make(struct made *m, const char *text, const char *like, const char *called,
                const struct string_list *dtypes, struct error *err)
{
    const struct python_request request = { &m->list, like, dtypes ? dtypes : &none, called,
                                            DEVICE_CPU };

    return make_of(m, registry_builtin(), &request, text, err);
}

/* So many that 16 copies of a call are twice the caches, and some more are needed. */
static int64_t rows_that_rotate(void)
{
    return (int64_t)(host_cache_flush_bytes(1) / 16 / (2 * (4 + 5) * sizeof(float)));
}

static struct measurement measure_of(const char *file, const char *function, const char *dtype,
                                     enum cache_state cache)
{
    int64_t rows = cache == CACHE_ROTATE ? rows_that_rotate() : 3;

    return measure_product(file, function, dtype, "cpu:1", rows, cache);
}

static struct measurement measure_function(const char *function, enum cache_state cache)
{
    return measure_of("functions.py", function, "fp32", cache);
}

TEST(functions_are_timed)
{
    static const struct {
        const char *function;
        bool numpy, copied;
        enum cache_state cache;
    } rows[] = {
        { "writes", true, false, CACHE_WARM },    { "out", true, false, CACHE_COLD },
        { "with_dims", true, false, CACHE_WARM }, { "later", true, true, CACHE_WARM },
        { "plain", false, false, CACHE_WARM },    { "prints", true, false, CACHE_WARM },
    };
    bool numpy = module_is_here("numpy");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].numpy && !numpy)
            continue;
        struct measurement m = measure_function(rows[i].function, rows[i].cache);
        if (m.outcome != OUTCOME_OK)
            fail_msg("%s: %s %s", rows[i].function, outcome_name(m.outcome), m.message);
        assert_int_equal(m.nr_samples, 3);
        assert_true(m.samples[0] > 0);
        assert_string_equal(m.clock, "CLOCK_MONOTONIC_RAW");
        assert_true(rows[i].cache == CACHE_WARM || m.batch == 1);
        assert_true(measurement_telemetry(&m, TELEMETRY_EMPTY_CALL) > 0);
        assert_true((measurement_telemetry(&m, TELEMETRY_COPY_TIMED) == 1) == rows[i].copied);
        assert_true(measurement_telemetry(&m, "peak_rss_bytes") > 1e6);
        measurement_release(&m);
    }
    if (!numpy)
        skip(); /* of the rest */
}

struct way {
    const char *file, *function, *dtype;
    const char *says; /* why it FAILED; NULL: it is right */
    bool copied;      /* what it returns is copied in the timed part */
};

static void expect_ways(const struct way *ways, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        const struct way *w = &ways[i];
        struct measurement m = measure_of(w->file, w->function, w->dtype, CACHE_WARM);
        if (m.outcome != (w->says ? OUTCOME_FAILED : OUTCOME_OK) ||
            (w->says && !strstr(m.message, w->says)))
            fail_msg("%s::%s, %s: %s, %s", w->file, w->function, w->dtype, outcome_name(m.outcome),
                     m.message ? m.message : "(nothing)");
        assert_true((measurement_telemetry(&m, TELEMETRY_COPY_TIMED) == 1) == w->copied);
        measurement_release(&m);
    }
}

/* What the file's own framework takes and gives, bf16 as such; what it has given is let go. */
TEST(tensors_come_and_go_by_dlpack)
{
    static const struct way ways[] = {
        { "dlpack_alone.py", "writes", "fp32", NULL, false },
        { "dlpack_alone.py", "writes", "bf16", NULL, false },
        { "dlpack_alone.py", "returns", "fp32", NULL, true },
        { "dlpack_alone.py", "returns", "bf16", NULL, true },
        { "dlpack_alone.py", "turned", "fp32", NULL, true },
        { "dlpack_alone.py", "turned", "bf16", NULL, true },
        { "dlpack_alone.py", "wide", "fp32", "wide returns float64, c is float32", false },
        { "dlpack_alone.py", "wide", "bf16", "wide returns float64, c is bfloat16", false },
        { "dlpack_alone.py", "narrow", "fp32", "narrow returns shape (6, 1), c is (6, 5)", false },
        { "dlpack_alone.py", "elsewhere", "fp32", "on another device than the CPU", false },
    };

    if (!module_is_here("numpy"))
        skip();
    expect_ways(ways, sizeof(ways) / sizeof(ways[0]));
}

/* By annotation, by the file's word, by DLPack. */
TEST(pytorch_is_used_where_it_is)
{
    static const struct way ways[] = {
        { "functions.py", "with_torch", "fp32", NULL, false },
        { "functions.py", "with_torch", "bf16", NULL, false },
        { "torch_named.py", "writes", "fp32", NULL, false },
        { "torch_named.py", "writes", "bf16", NULL, false },
        { "torch_named.py", "returns", "bf16", NULL, false },
        { "torch_named.py", "out", "fp32", NULL, false },
        { "torch_named.py", "wide", "bf16", "wide returns float64, c is bfloat16", false },
        { "torch_dlpack.py", "writes", "fp32", NULL, false },
        { "torch_dlpack.py", "writes", "bf16", NULL, false },
        { "torch_dlpack.py", "returns", "fp32", NULL, false },
        { "torch_dlpack.py", "returns", "bf16", NULL, false },
    };

    if (!module_is_here("torch"))
        skip();
    expect_ways(ways, sizeof(ways) / sizeof(ways[0]));
}

/* Launched by a function in Triton's way, with a grid. The stand-in comes before a Triton that
 * there may be, which cli.python_triton tries. */
TEST(kernels_in_the_form_of_triton_are_launched)
{
    static const struct way ways[] = {
        { "triton_form.py", "writes", "fp32", NULL, false },
        { "triton_form.py", "returns", "fp32", NULL, false },
        { "triton_form.py", "multiply", "fp32", "Cannot call @triton.jit'd outside", false },
    };

    if (!module_is_here("numpy"))
        skip();
    setenv("PYTHONPATH", FILES "triton_stand_in", 1);
    expect_ways(ways, sizeof(ways) / sizeof(ways[0]));
    unsetenv("PYTHONPATH");
}

/* -S: no package is to be seen, as in a fresh environment. */
TEST(without_pytorch_it_is_told)
{
    char program[] = HARNESS_TEST_DIR "/python_bare_XXXXXX";

    if (!module_is_here("json"))
        skip();
    int fd = mkstemp(program);
    assert_true(fd >= 0);
    dprintf(fd, "#!/bin/sh\nexec python3 -S \"$@\"\n");
    fchmod(fd, 0700);
    close(fd);
    setenv("HARNESS_PYTHON", program, 1);
    struct measurement m = measure_function("with_torch", CACHE_WARM);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_non_null(strstr(m.message, "has no module torch"));
    measurement_release(&m);
    unlink(program);
    unsetenv("HARNESS_PYTHON");
}

/* ---- copies that take turns, and in-out tensors ---- */

/* Of each the results are where they belong at the end, written or returned. */
TEST(copies_take_turns_for_a_function)
{
    static const struct {
        const char *function, *says; /* NULL: it is right */
        bool copied;
    } rows[] = {
        { "writes", NULL, false },
        { "returns", NULL, false },
        { "later", NULL, true },
        { "only_first", "after timing, of a copy: c[0,0] = ", false },
    };

    if (!module_is_here("numpy"))
        skip();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct measurement m = measure_function(rows[i].function, CACHE_ROTATE);
        if (m.outcome != (rows[i].says ? OUTCOME_WRONG : OUTCOME_OK) ||
            (rows[i].says && !strstr(m.message, rows[i].says)))
            fail_msg("%s: %s, %s", rows[i].function, outcome_name(m.outcome),
                     m.message ? m.message : "(nothing)");
        assert_string_equal(m.bench.cache, "rotate");
        assert_true((measurement_telemetry(&m, TELEMETRY_COPY_TIMED) == 1) == rows[i].copied);
        measurement_release(&m);
    }
}

/* A function may leave of them what it likes: each timed call finds what the first one found. */
TEST(in_out_tensors_are_restored_for_a_function)
{
    if (!module_is_here("numpy"))
        skip();
    expect_inout_restored(FUNCTIONS "::moves", "cpu:1", rows_that_rotate());
}

TEST(failures_have_their_words)
{
    static const struct {
        const char *function;
        enum outcome outcome;
        const char *says;
    } rows[] = {
        { "changes", OUTCOME_WRONG, "input a was changed" },
        { "shape", OUTCOME_FAILED, "shape returns shape (6, 1), c is (6, 5)" },
        { "dtype", OUTCOME_FAILED, "dtype returns float64, c is float32" },
        { "nothing", OUTCOME_FAILED, "nothing returns None" },
        { "raises", OUTCOME_FAILED, "ValueError: no luck today (functions.py:" },
        { "raises_later", OUTCOME_FAILED, "RuntimeError: the sixth time (functions.py:" },
        { "one", OUTCOME_FAILED,
          "one takes 1 arrays; gemm/nn has a [6, 4], b [4, 5], c [6, 5] (out)" },
        { "absent", OUTCOME_FAILED, "functions.py has no function absent; it has writes, returns" },
        { "exits", OUTCOME_FAILED, "it calls exit(3)" },
        { "complains", OUTCOME_FAILED, "ended with status 5: the last line" },
        { "crashes", OUTCOME_FAILED, "died by signal 11 (Segmentation fault)" },
        { "closes", OUTCOME_FAILED, "ended with status 6" },
        { "chatters", OUTCOME_FAILED, "descriptor 3, which is not its own" },
    };

    if (!module_is_here("numpy"))
        skip();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct measurement m = measure_function(rows[i].function, CACHE_WARM);
        if (m.outcome != rows[i].outcome || !m.message || !strstr(m.message, rows[i].says))
            fail_msg("%s: %s, \"%s\" is not in: %s", rows[i].function, outcome_name(m.outcome),
                     rows[i].says, m.message ? m.message : "(nothing)");
        assert_int_equal(m.nr_samples, 0);
        measurement_release(&m);
    }
}

TEST(what_cannot_be_asked_for)
{
    static const struct {
        const char *text, *like, *says;
    } rows[] = {
        { FUNCTIONS "::returns", NULL, "--like KERNEL" },
        { FUNCTIONS "::returns", "gemm/nm", "did you mean \"gemm/n" },
        { FUNCTIONS, "gemm/nn", "functions.py::NAME; it has writes, returns, out" },
        { FUNCTIONS "::", "gemm/nn", "which function?" },
        { FUNCTIONS "::a-b", "gemm/nn", "no name of a function" },
        { FUNCTIONS "::a,,b", "gemm/nn", "no name of a function" },
        { FUNCTIONS "::naive", "gemm/nn", "\"naive\" of kernel gemm/nn belongs to this harness" },
        { FUNCTIONS "::a,a", "gemm/nn",
          "the variant name \"a\" of kernel gemm/nn belongs to --python" },
        { "/nonexistent/x.py::a", "gemm/nn", "/nonexistent/x.py: No such file" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err = { "" };
        struct made made;
        assert_int_equal(make(&made, rows[i].text, rows[i].like, NULL, NULL, &err), -1);
        if (!strstr(err.message, rows[i].says))
            fail_msg("\"%s\" is not in: %s", rows[i].says, err.message);
        drop(&made);
    }
}

TEST(types_make_variants_and_a_job_keeps_them)
{
    struct string_list dtypes = none;
    struct python_guest again;
    struct made made;
    struct error err;

    string_list_add(&dtypes, "fp32");
    string_list_add(&dtypes, "bf16");
    assert_int_equal(make(&made, FUNCTIONS "::writes,naive", "gemm/nn", "fast", &dtypes, &err), -1);
    drop(&made);
    assert_ok(make(&made, FUNCTIONS "::naive", "gemm/nn", "fast", &dtypes, &err), &err);
    char *text = json_take_text(python_guest_to_json(&made.guests.python));
    cJSON *job = cJSON_Parse(text);
    assert_string_equal(json_string(job, "device", ""), "cpu");
    assert_ok(python_guest_from_json(&again, registry_builtin(), job, &err), &err);
    assert_int_equal(again.functions.nr, 2);
    assert_string_equal(again.variants[0].name, "fast");
    assert_int_equal(again.variants[0].flags, VARIANT_GUEST);
    assert_string_equal(again.variants[1].name, "fast_bf16");
    assert_int_equal(again.variants[1].dtype, DTYPE_BF16);
    assert_int_equal(again.variants[1].math, MATH_BF16);
    assert_string_equal(again.functions.items[1]->function, "naive");
    assert_null(again.variants[2].name);
    python_guest_close(&again);
    cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItem(job, "functions"), 0);
    cJSON_ReplaceItemInObject(item, "digest", cJSON_CreateString("0"));
    assert_int_equal(python_guest_from_json(&again, registry_builtin(), job, &err), -1);
    assert_non_null(strstr(err.message, "is not the file any more"));
    python_guest_close(&again);
    cJSON_Delete(job);
    free(text);
    drop(&made);
    string_list_release(&dtypes);
}

/* Of a kind that this build lacks it is said by who opens it. */
TEST(it_is_called_where_memory_can_be_lent)
{
    static const struct {
        enum device_kind kind;
        const char *name;
        bool refused;
    } rows[] = {
        { DEVICE_CPU, "cpu", false },
        { DEVICE_CUDA, "cuda", false },
        { DEVICE_HIP, "hip", false },
        { DEVICE_FAKE, "fake", true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct python_guest again;
        struct error err = { "" };
        struct made made;
        const struct python_request request = { &made.list, "gemm/nn", &none, NULL, rows[i].kind };
        int rc = make_of(&made, registry_builtin(), &request, FUNCTIONS "::writes", &err);
        assert_int_equal(rc, rows[i].refused ? -1 : 0);
        if (rows[i].refused) {
            assert_has(err.message,
                       "on a GPU whose memory another process can open: not on "
                       "--device fake");
        } else {
            char *text = json_take_text(python_guest_to_json(&made.guests.python));
            cJSON *job = cJSON_Parse(text);
            assert_string_equal(json_string(job, "device", ""), rows[i].name);
            assert_ok(python_guest_from_json(&again, registry_builtin(), job, &err), &err);
            assert_int_equal(again.variants[0].device, rows[i].kind);
            python_guest_close(&again);
            cJSON_Delete(job);
            free(text);
        }
        drop(&made);
    }
}

TEST(an_interpreter_is_found)
{
    static const struct {
        const char *named, *found, *says;
    } rows[] = {
        { "/bin/sh", "/bin/sh", NULL },
        { "/nonexistent/python3", NULL, "HARNESS_PYTHON: /nonexistent/python3: No such file" },
        { "/nonexistent/libpython0.0.so.1.0", NULL, "no program bin/python0.0" },
        { "libpython0.0.so.1.0", NULL, "there is no program \"python0.0\" on the PATH" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error why = { "" };
        setenv("HARNESS_PYTHON", rows[i].named, 1);
        char *found = python_find(&why);
        if (rows[i].found)
            assert_string_equal(found, rows[i].found);
        else
            assert_ptr_equal(found, NULL);
        if (rows[i].says && !strstr(why.message, rows[i].says))
            fail_msg("\"%s\" is not in: %s", rows[i].says, why.message);
        free(found);
    }
    unsetenv("HARNESS_PYTHON");
}

TEST(without_an_interpreter_it_cannot_be_had)
{
    setenv("HARNESS_PYTHON", "/nonexistent/python3", 1);
    struct measurement m = measure_function("returns", CACHE_WARM);

    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_non_null(strstr(m.message, "HARNESS_PYTHON: /nonexistent/python3"));
    measurement_release(&m);
    unsetenv("HARNESS_PYTHON");
}

RUN_TESTS(NULL, NULL)
