/* SPDX-License-Identifier: MIT */
/* Exports: our JSON, Google Benchmark's, CSV. Covers: S0-10. */
#include "testing.h"

#include "output_records.h"

#include "base/json.h"
#include "reporters/export.h"
#include "stats/stats.h"

#include <stdlib.h>

static const char key[] = "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm";

static void made(struct records *r)
{
    int run = made_run(r, 0, "feedbeef", "gcc");
    r->runs[run].environment = memory_string("{\"governor\":\"schedutil\",\"load1\":0.25}");
    for (int launch = 0; launch < 3; launch++) {
        struct measurement *m =
            made_measurement(r, 0, launch, key, 2e6, 0.02, 50, (uint64_t)launch);
        made_work(m, 4e9, 1e8);
        measurement_add_telemetry(m, "cpu_mhz", 2400.3);
        measurement_add_telemetry(m, "cpu_seconds_per_second", 3.5);
    }
    made_failure(r, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=1,n=1,k=1/cpu-4t/warm", OUTCOME_FAILED,
                 "signal 11, \"quoted\", with comma\nand line");
}

/* As another program sees it: through the text. */
static cJSON *reread(cJSON *json)
{
    char *text = cJSON_Print(json);
    struct error err;
    cJSON *again = json_parse(text, strlen(text), "export", &err);

    assert_non_null(again);
    free(text);
    cJSON_Delete(json);
    return again;
}

static const cJSON *entry(const cJSON *benchmarks, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, benchmarks)
    {
        if (strcmp(json_string(item, "name", ""), name) == 0)
            return item;
    }
    fail_msg("%s is not there", name);
    return NULL;
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(own_json_has_config_timing_throughput)
{
    static const char *const times[] = { "mean", "std", "min", "max", "median", "p95", "p99" };

    made(r);
    cJSON *json = reread(export_json(r, -1));
    assert_int_equal(json_int(json, "schema_version", 0), 1);
    assert_string_equal(json_string(cJSON_GetObjectItem(json, "metadata"), "commit", ""),
                        "feedbeef");
    const cJSON *item = entry(cJSON_GetObjectItem(json, "benchmarks"), key);
    const cJSON *timing = cJSON_GetObjectItem(item, "timing");
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        assert_true(json_number(timing, times[i], -1) >= 0);
    double median = json_number(timing, "median", 0);
    assert_true(median > 1.9 && median < 2.2); /* ms */
    assert_true(json_number(timing, "min", 9) <= median && median <= json_number(timing, "max", 0));
    const cJSON *interval = cJSON_GetObjectItem(cJSON_GetObjectItem(timing, "intervals"), "median");
    assert_true(json_number(interval, "low", 9) <= median);
    assert_true(json_number(interval, "high", 0) >= median);
    assert_true(cJSON_IsArray(cJSON_GetObjectItem(timing, "too_few_samples_for")));
    const cJSON *throughput = cJSON_GetObjectItem(item, "throughput");
    assert_close(json_number(throughput, "tokens_per_second", 0), 256 / (median / 1e3),
                 1e-6 * 256e3);
    assert_close(json_number(throughput, "gflops", 0), 4 / (median / 1e3), 1e-6 * 4e3);
    const cJSON *config = cJSON_GetObjectItem(item, "config");
    assert_int_equal(json_int(config, "batch", 0), 4);
    assert_string_equal(json_string(config, "kernel", ""), "gpt/nano/prefill");
    item = entry(cJSON_GetObjectItem(json, "benchmarks"),
                 "gemm/nn/simd/fp32/batch=1,seq=1,n=1,k=1/cpu-4t/warm");
    assert_false(cJSON_HasObjectItem(item, "timing"));
    assert_string_equal(json_string(item, "outcome", ""), "FAILED");
    cJSON_Delete(json);
}

/* The members that Google Benchmark's own compare tool reads. */
RECORDS_TEST(gbench_json_has_its_members)
{
    double medians[3];
    size_t nr = 0;
    const cJSON *item;
    char name[300];

    made(r);
    cJSON *json = reread(export_gbench(r, -1, "harness"));
    const cJSON *context = cJSON_GetObjectItem(json, "context");
    assert_string_equal(json_string(context, "library_build_type", ""), "release");
    assert_true(json_int(context, "num_cpus", 0) == 4);
    assert_non_null(strchr(json_string(context, "date", ""), 'T'));
    assert_int_equal(json_int(context, "json_schema_version", 0), 1);
    assert_string_equal(json_string(context, "library_version", ""), "harness 0.1.0");
    assert_int_equal(json_int(context, "mhz_per_cpu", 0), 2400);
    assert_true(json_bool(context, "cpu_scaling_enabled", false));
    const cJSON *load = cJSON_GetObjectItem(context, "load_avg");
    assert_close(cJSON_GetArrayItem(load, 0)->valuedouble, 0.25, 1e-9);
    const cJSON *benchmarks = cJSON_GetObjectItem(json, "benchmarks");
    cJSON_ArrayForEach(item, benchmarks)
    {
        assert_true(cJSON_HasObjectItem(item, "run_name"));
        assert_string_equal(json_string(item, "time_unit", ""), "ns");
        assert_true(json_number(item, "cpu_time", -1) >= 0);
        if (strcmp(json_string(item, "name", ""), key) == 0 && nr < 3) {
            assert_string_equal(json_string(item, "run_type", ""), "iteration");
            assert_int_equal(json_int(item, "repetition_index", -1), (int64_t)nr);
            assert_int_equal(json_int(item, "iterations", 0), 50);
            assert_int_equal(json_int(item, "threads", 0), 4);
            medians[nr] = json_number(item, "real_time", 0);
            assert_close(json_number(item, "cpu_time", 0), 3.5 * medians[nr], 1e-3);
            assert_close(json_number(item, "items_per_second", 0), 256e9 / medians[nr], 1e-3);
            nr++;
        }
    }
    assert_int_equal(nr, 3);
    snprintf(name, sizeof(name), "%s_median", key);
    item = entry(benchmarks, name);
    assert_string_equal(json_string(item, "run_type", ""), "aggregate");
    assert_close(json_number(item, "real_time", 0), stats_median(medians, 3), 1e-6);
    snprintf(name, sizeof(name), "%s_cv", key);
    item = entry(benchmarks, name);
    assert_close(json_number(item, "real_time", 0), stats_sd(medians, 3) / stats_mean(medians, 3),
                 1e-9);
    assert_string_equal(json_string(item, "aggregate_unit", ""), "percentage");
    assert_close(json_number(item, "cpu_time", 0), json_number(item, "real_time", 1), 1e-12);
    item = entry(benchmarks, "gemm/nn/simd/fp32/batch=1,seq=1,n=1,k=1/cpu-4t/warm");
    assert_true(json_bool(item, "error_occurred", false));
    assert_has(json_string(item, "error_message", ""), "signal 11");
    cJSON_Delete(json);
}

/* Where nobody read the clock or the load, nothing is made up; what its readers need is 0. */
RECORDS_TEST(gbench_json_leaves_out_what_is_not_known)
{
    made_run(r, 0, "feedbeef", "gcc");
    made_measurement(r, 0, 0, "BM_Sort", 2e6, 0.02, 50, 1);
    cJSON *json = reread(export_gbench(r, -1, "harness"));
    const cJSON *context = cJSON_GetObjectItem(json, "context");
    assert_false(cJSON_HasObjectItem(context, "mhz_per_cpu"));
    assert_false(cJSON_HasObjectItem(context, "cpu_scaling_enabled"));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(context, "load_avg")), 0);
    const cJSON *item = entry(cJSON_GetObjectItem(json, "benchmarks"), "BM_Sort");
    assert_false(cJSON_HasObjectItem(item, "items_per_second"));
    assert_int_equal(json_int(item, "threads", 0), 1);
    assert_close(json_number(item, "cpu_time", -1), 0, 0);
    cJSON_Delete(json);
}

/* A launch whose numbers are `n`, of n samples; 0: one that failed. */
static void gbench_add_launch(struct records *r, int launch, int n)
{
    char numbers[256];
    struct error err;

    if (n == 0) {
        made_failure(r, 0, launch, key, OUTCOME_FAILED, "signal 11");
        return;
    }
    struct measurement *m = made_measurement(r, 0, launch, key, 1e6, 0, (size_t)n, 1);
    made_work(m, 1e6 * n, 2e6 * n);
    measurement_add_telemetry(m, "cpu_seconds_per_second", n);
    snprintf(numbers, sizeof(numbers),
             "{\"hits\":{\"better\":\"none\",\"values\":[%d]},\"iterations\":{\"better\":\"none\","
             "\"values\":[%d]},"
             "\"iterations_\":{\"better\":\"none\",\"values\":[%d]},\"real_time\":{\"better\":"
             "\"none\",\"values\":[%d]}}",
             n, 10 * n, 100 * n, 1000 * n);
    cJSON *json = json_parse(numbers, strlen(numbers), "numbers", &err);
    assert_ok(numbers_from_json(json, m->numbers, &m->nr_numbers, &err), &err);
    cJSON_Delete(json);
}

static size_t count_members(const cJSON *object, const char *name)
{
    const cJSON *item;
    size_t nr = 0;

    cJSON_ArrayForEach(item, object)
    {
        nr += strcmp(item->string, name) == 0;
    }
    return nr;
}

/* What a launch counted is told of that launch, also behind one that failed, which is told, too;
 * and a number that is called as a member is does not take its place. */
RECORDS_TEST(gbench_json_has_each_launch_by_itself)
{
    static const int launches[] = { 40, 0, 50, 90 };

    made_run(r, 0, "feedbeef", "gcc");
    for (int launch = 0; launch < 4; launch++)
        gbench_add_launch(r, launch, launches[launch]);
    cJSON *json = reread(export_gbench(r, -1, "harness"));
    const cJSON *benchmarks = cJSON_GetObjectItem(json, "benchmarks");
    for (int i = 0; i < 4; i++) {
        const cJSON *item = cJSON_GetArrayItem(benchmarks, i);
        double ns = json_number(item, "real_time", 0), n = launches[i];
        assert_int_equal(json_int(item, "repetition_index", -1), i);
        assert_int_equal(json_int(item, "repetitions", 0), 4);
        assert_int_equal(json_int(item, "iterations", -1), launches[i]);
        assert_int_equal(json_bool(item, "error_occurred", false), launches[i] == 0);
        if (launches[i] == 0) {
            assert_string_equal(json_string(item, "error_message", ""), "FAILED: signal 11");
            continue;
        }
        assert_close(ns, 1e6, 1e4);
        assert_close(json_number(item, "cpu_time", 0), n * ns, 1e-3);
        assert_close(json_number(item, "FLOPS", 0), 1e15 * n / ns, 1);
        assert_close(json_number(item, "bytes_per_second", 0), 2e15 * n / ns, 1);
        assert_close(json_number(item, "hits", 0), n, 0);
        assert_close(json_number(item, "iterations_", 0), 10 * n, 0);
        assert_close(json_number(item, "iterations__", 0), 100 * n, 0);
        assert_close(json_number(item, "real_time_", 0), 1000 * n, 0);
        assert_int_equal(count_members(item, "iterations"), 1);
        assert_int_equal(count_members(item, "real_time"), 1);
    }
    const cJSON *mean = cJSON_GetArrayItem(benchmarks, 4), *cv = cJSON_GetArrayItem(benchmarks, 7);
    assert_string_equal(json_string(mean, "aggregate_name", ""), "mean");
    assert_close(json_number(mean, "cpu_time", 0), 6e7, 6e5);
    assert_int_equal(json_int(mean, "iterations", 0), 3);
    assert_string_equal(json_string(cv, "aggregate_name", ""), "cv");
    assert_close(json_number(cv, "cpu_time", 0), 0.441, 0.01); /* of 40, 50, 90 */
    cJSON_Delete(json);
}

/* What has numbers and no time, as of valgrind, is no failure, and its numbers are there. */
RECORDS_TEST(gbench_json_has_numbers_without_a_time)
{
    static const char numbers[] = "{\"cycles\":{\"better\":\"lower\",\"values\":[9]}}";
    struct error err;

    made_run(r, 0, "feedbeef", "gcc");
    for (int launch = 0; launch < 2; launch++) {
        struct measurement *m = made_measurement(r, 0, launch, key, 1e6, 0, 0, 1);
        made_work(m, 1e6, 2e6);
        measurement_add_telemetry(m, "instructions", 5120 + launch);
        cJSON *json = json_parse(numbers, strlen(numbers), "numbers", &err);
        assert_ok(numbers_from_json(json, m->numbers, &m->nr_numbers, &err), &err);
        cJSON_Delete(json);
    }
    cJSON *json = reread(export_gbench(r, -1, "harness"));
    const cJSON *benchmarks = cJSON_GetObjectItem(json, "benchmarks");
    assert_int_equal(cJSON_GetArraySize(benchmarks), 2);
    for (int launch = 0; launch < 2; launch++) {
        const cJSON *item = cJSON_GetArrayItem(benchmarks, launch);
        assert_false(cJSON_HasObjectItem(item, "error_occurred"));
        assert_false(cJSON_HasObjectItem(item, "FLOPS"));
        assert_close(json_number(item, "real_time", -1), 0, 0);
        assert_int_equal(json_int(item, "iterations", -1), 0);
        assert_close(json_number(item, "cycles", 0), 9, 0);
        assert_close(json_number(item, "instructions", 0), 5120 + launch, 0);
    }
    cJSON_Delete(json);
}

/* Fields of one RFC 4180 line; returns how many, and moves to the next line. */
static int count_fields(const char **at)
{
    int fields = 1;
    bool quoted = false;

    for (; **at && (quoted || **at != '\n'); (*at)++) {
        if (**at == '"')
            quoted = !quoted;
        fields += !quoted && **at == ',';
    }
    *at += **at == '\n';
    return fields;
}

RECORDS_TEST(csv_lines_agree)
{
    struct strbuf out;
    int lines = 0;

    made(r);
    strbuf_init(&out);
    export_csv(r, &out);
    const char *at = out.data;
    int titles = count_fields(&at);
    while (*at) {
        assert_int_equal(count_fields(&at), titles);
        lines++;
    }
    assert_int_equal(lines, 4);
    assert_has(out.data, "\"signal 11, \"\"quoted\"\", with comma and line\"");
    assert_has(out.data, "\"gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm\"");
    strbuf_release(&out);
}

TEST(nothing_is_still_valid)
{
    struct records r = { 0 };

    cJSON *json = export_json(&r, -1), *gbench = export_gbench(&r, -1, "harness");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "benchmarks")), 0);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(gbench, "benchmarks")), 0);
    cJSON_Delete(json);
    cJSON_Delete(gbench);
}

RUN_TESTS(NULL, NULL)
