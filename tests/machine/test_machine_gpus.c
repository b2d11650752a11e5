/* SPDX-License-Identifier: MIT */
/*
 * The GPUs of a machine as the driver tells them, against a stand-in for NVML (tests/nvml): they
 * are part of the machine's identity and of the environment, and nothing changes where there are
 * none. Features: U-02, S1-50.
 */
#include "testing.h"

#include "base/json.h"
#include "machine/datasheet.h"
#include "machine/environment.h"
#include "machine/nvml.h"

#include <stdlib.h>

static void use(const char *library, const char *words)
{
    setenv("HARNESS_NVML", library, 1);
    setenv("NVML_STUB", words, 1);
}

TEST(alike_are_counted)
{
    struct gpus g;

    use(NVML_STUB_PATH, "");
    gpus_find(&g);
    assert_int_equal(g.nr, 2);
    assert_string_equal(g.names, "2 x NVIDIA H200");
    assert_string_equal(g.driver, "580.95.05");
    assert_string_equal(g.uuids, "GPU-0,GPU-1");
    assert_string_equal(g.ecc, "on,off");
    assert_string_equal(g.mig, "off");
}

TEST(different_ones_are_listed)
{
    struct gpus g;

    use(NVML_STUB_PATH, "mixed");
    gpus_find(&g);
    assert_string_equal(g.names, "NVIDIA H200,NVIDIA L4");
}

/* On this machine there may be a GPU that /proc tells of; but not these two. */
TEST(none_where_the_driver_fails)
{
    static const char *const words[] = { "no-init", "refuse" };
    struct gpus g;

    for (int i = 0; i < 2; i++) {
        use(NVML_STUB_PATH, words[i]);
        gpus_find(&g);
        assert_null(strstr(g.uuids, "GPU-0,"));
    }
    use("/nonexistent/libnvidia-ml.so.1", "");
    gpus_find(&g);
    assert_null(strstr(g.uuids, "GPU-0,"));
}

TEST(they_are_part_of_the_machine)
{
    struct machine without, with, other;
    static const char ending[] = "-2-x-nvidia-h200";
    struct error err;

    use("/nonexistent/libnvidia-ml.so.1", "");
    assert_ok(environment_machine(&without, &err), &err);
    use(NVML_STUB_PATH, "");
    assert_ok(environment_machine(&with, &err), &err);
    use(NVML_STUB_PATH, "mixed");
    assert_ok(environment_machine(&other, &err), &err);
    assert_string_equal(with.gpu, "2 x NVIDIA H200");
    assert_string_not_equal(with.id, without.id);
    assert_string_not_equal(with.id, other.id);
    size_t length = strlen(with.class_name);
    assert_true(length > strlen(ending));
    assert_string_equal(with.class_name + length - strlen(ending), ending);
    if (!without.gpu[0]) { /* what a machine without a GPU was called, it is called still */
        assert_int_equal(strlen(without.class_name), length - strlen(ending));
        assert_memory_equal(without.class_name, with.class_name, length - strlen(ending));
    }
}

static const char *fact(const cJSON *json, const char *name)
{
    return json_string(json, name, NULL);
}

TEST(they_are_facts_of_the_environment)
{
    use(NVML_STUB_PATH, "");
    char *text = environment_json();
    cJSON *json = cJSON_Parse(text);
    assert_string_equal(fact(json, "gpu_driver"), "580.95.05");
    assert_string_equal(fact(json, "gpu_uuid"), "GPU-0,GPU-1");
    assert_string_equal(fact(json, "gpu_ecc"), "on,off");
    assert_string_equal(fact(json, "gpu_mig"), "off");
    cJSON_Delete(json);
    free(text);
}

/* What the doctor looks at: it may differ from one moment to the next. */
TEST(the_moment)
{
    struct nvml_gpu list[2];
    char driver[32];

    use(NVML_STUB_PATH, "");
    assert_int_equal(nvml_list(list, 2, driver), 2);
    assert_int_equal(list[0].persistence, 1);
    assert_int_equal(list[1].persistence, 0);
    assert_int_equal(list[0].processes, 0);
    assert_int_equal(list[1].processes, 2); /* told by the refusal to list them */
    assert_true(list[0].limits & NVML_LIMIT_HARDWARE && list[0].limits & NVML_LIMIT_THERMAL);
}

TEST(data_sheets_of_gpus)
{
    struct datasheet_gpu h200 = datasheet_find_gpu("NVIDIA H200");

    assert_true(h200.bandwidth == 4.8e12);
    assert_true(h200.flops[MATH_BF16] > h200.flops[MATH_TF32] &&
                h200.flops[MATH_TF32] > h200.flops[MATH_FP32]);
    assert_true(datasheet_find_gpu("NVIDIA H200 NVL").flops[MATH_BF16] < h200.flops[MATH_BF16]);
    assert_true(h200.flops[MATH_FP8] > 1.9 * h200.flops[MATH_BF16]);
    assert_true(datasheet_find_gpu("NVIDIA A10").flops[MATH_FP8] == 0);
    assert_true(datasheet_find_gpu("NVIDIA L4").bandwidth == 0.3e12);
    assert_true(datasheet_find_gpu("NVIDIA L40").bandwidth == 0); /* is no L4 */
    assert_true(datasheet_find_gpu("").flops[MATH_FP32] == 0);
}

RUN_TESTS(NULL, NULL)
