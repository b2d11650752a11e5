/* SPDX-License-Identifier: MIT */
/* Records as values and as JSON: every field comes back, what is malformed is refused with its
 * name, copies own what they hold. Features: S0-10, S0-22, U-05. */
#include "legacy_cases.h"
#include "same_records.h"
#include "testing.h"

#include "base/json.h"
#include "base/memory.h"
#include "core/record.h"

#include <stdlib.h>

static const char key[] = "gemm/linear/simd/fp32/batch=4,seq=64,n=192,k=48/cpu-2t/warm";

static void assert_says(const struct error *err, const char *part)
{
    if (!strstr(err->message, part))
        fail_msg("\"%s\" is not in: %s", part, err->message);
}

static struct measurement sample(void)
{
    struct measurement m = {
        .outcome = OUTCOME_OK,
        .vendor = true,
        .max_error = 0x1.23456789abcdep-20,
        .tolerance = 1e-5,
        .checked = 1.0 / 3,
        .flops = 4718592,
        .bytes = 123456.5,
        .tokens = 256,
        .footprint = (1LL << 40) + 1,
        .batch = 64,
        .stop = STOP_TIME,
        .warmups = 17,
        .clock = "CLOCK_MONOTONIC_RAW",
        .started_ms = 1794304440999,
        .seconds = 0.1,
    };
    static const uint64_t samples[] = { 12345, 0, 99999999999, 1, 999999999999999 };
    struct error err;

    assert_ok(benchmark_name_parse(key, &m.bench, &err), &err);
    m.samples = memory_zeroed(5, sizeof(*m.samples));
    memcpy(m.samples, samples, sizeof(samples));
    m.nr_samples = 5;
    measurement_add_telemetry(&m, "cpu_mhz", 2400.123456789);
    measurement_add_telemetry(&m, "steal_percent", 0);
    return m;
}

/* By way of text, as through a pipe or file. Takes the tree. */
static cJSON *through_text(cJSON *json)
{
    struct error err;
    char *text = cJSON_PrintUnformatted(json);
    cJSON *again = json_parse(text, strlen(text), "text", &err);

    if (!again)
        fail_msg("%s", err.message);
    free(text);
    cJSON_Delete(json);
    return again;
}

static void assert_measurement_round_trip(struct measurement *m)
{
    struct measurement back;
    struct error err;
    cJSON *json = through_text(measurement_to_json(m));

    assert_ok(measurement_from_json(json, &back, &err), &err);
    assert_same_measurement(m, &back);
    cJSON_Delete(json);
    measurement_release(&back);
    measurement_release(m);
}

static void measurements_round_trip(void **state)
{
    (void)state;
    struct measurement ok = sample(), failed = sample(), bare = { 0 };
    struct error err;

    assert_measurement_round_trip(&ok);
    measurement_release(&failed);
    failed.outcome = OUTCOME_FAILED;
    failed.message = memory_string("died by signal 11: \"quoted\", line\nbreak, \xc3\xa9");
    failed.max_error = failed.tokens = (double)NAN;
    failed.vendor = false;
    failed.footprint = INT64_MAX; /* would not fit */
    failed.stop = STOP_NONE;
    failed.nr_telemetry = 0;
    assert_measurement_round_trip(&failed);
    assert_ok(benchmark_name_parse("BM_Foreign", &bare.bench, &err), &err);
    assert_measurement_round_trip(&bare);
}

static void every_outcome_and_rule_round_trips(void **state)
{
    (void)state;
    for (int outcome = 0; outcome < OUTCOME_NR; outcome++) {
        assert_int_equal(outcome_find(outcome_name((enum outcome)outcome)), outcome);
        for (int rule = 0; rule < STOP_RULE_NR; rule++) {
            struct measurement m = sample();
            m.outcome = (enum outcome)outcome;
            m.stop = (enum stop_rule)rule;
            assert_int_equal(stop_rule_find(stop_rule_name(m.stop)), rule);
            assert_measurement_round_trip(&m);
        }
    }
    assert_int_equal(outcome_find("ok"), -1);
    assert_int_equal(stop_rule_find("never"), -1);
}

static void malformed_measurements_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "[]", "not a JSON object" },
        { "{}", "\"key\" is missing or not a string" },
        { "{\"key\": 5, \"outcome\": \"OK\"}", "\"key\" is missing or not a string" },
        { "{\"key\": \"k\"}", "\"outcome\" is missing or not a string" },
        { "{\"key\": \"k\", \"outcome\": \"FINE\"}",
          "unknown outcome or stop rule in the "
          "measurement of k" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"stop\": \"x\"}", "unknown outcome or stop" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": \"four\"}",
          "\"batch\" is not a number" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": -1}", "\"batch\" is out of range" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": 1.5}",
          "\"batch\" is not a whole number" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": 1e12}", "\"batch\" is out of range" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"vendor\": 1}",
          "\"vendor\" is not true or false" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"clock\": 1}", "\"clock\" is not a string" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"flops\": \"1\"}", "\"flops\" is not a number" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"samples_ns\": [1, 2]}",
          "k has samples but \"batch\" is 0" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": 1, \"samples_ns\": [1, \"2\"]}",
          "\"samples_ns\" holds something that is not a time in ns" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": 1, \"samples_ns\": [-1]}",
          "\"samples_ns\" holds something" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"batch\": 1, \"samples_ns\": [1e30]}",
          "\"samples_ns\" holds something" },
        { "{\"key\": \"k\", \"outcome\": \"OK\", \"clock\": "
          "\"0123456789012345678901234567890123456789\"}",
          "\"clock\" is longer than 31 characters" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = { "" };
        struct measurement m;
        cJSON *json = json_parse(bad[i].text, strlen(bad[i].text), "bad", &err);
        assert_non_null(json);
        if (measurement_from_json(json, &m, &err) != -1)
            fail_msg("accepted: %s", bad[i].text);
        assert_says(&err, bad[i].says);
        measurement_release(&m);
        cJSON_Delete(json);
    }
    struct measurement m;
    struct error err;
    assert_int_equal(measurement_from_json(NULL, &m, &err), -1);
}

/* Absent numbers are unknown, not 0; a list in place of telemetry brings none. */
static void absent_is_unknown(void **state)
{
    (void)state;
    static const char text[] =
        "{\"key\": \"k\", \"outcome\": \"OK\", \"max_error\": null, "
        "\"telemetry\": [1, 2], \"future_field\": {\"a\": 1}}";
    struct measurement m;
    struct error err;
    cJSON *json = json_parse(text, strlen(text), "text", &err);

    assert_ok(measurement_from_json(json, &m, &err), &err);
    assert_true(isnan(m.max_error) && isnan(m.flops) && isnan(m.tokens) && isnan(m.seconds));
    assert_int_equal(m.nr_telemetry, 0);
    assert_null(m.samples);
    assert_null(m.message);
    measurement_release(&m);
    cJSON_Delete(json);
}

static void telemetry_keeps_what_is_known(void **state)
{
    (void)state;
    struct measurement m = { 0 };
    char name[32];

    measurement_add_telemetry(&m, "absent", (double)NAN);
    measurement_add_telemetry(&m, "endless", (double)INFINITY);
    assert_int_equal(m.nr_telemetry, 0);
    measurement_add_telemetry(&m, "steal_percent", 0);
    assert_true(measurement_telemetry(&m, "steal_percent") == 0);
    assert_true(isnan(measurement_telemetry(&m, "absent")));
    for (int i = 0; i < TELEMETRY_MAX + 5; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        measurement_add_telemetry(&m, name, i);
    }
    assert_int_equal(m.nr_telemetry, TELEMETRY_MAX);
}

static void copies_own_what_they_hold(void **state)
{
    (void)state;
    struct measurement m = sample(), copy, empty = { 0 };
    struct run run = { .environment = memory_string("{\"a\":1}") }, run_again;

    m.message = memory_string("why");
    measurement_copy(&copy, &m);
    assert_same_measurement(&m, &copy);
    assert_ptr_not_equal(copy.samples, m.samples);
    assert_ptr_not_equal(copy.message, m.message);
    copy.samples[0] = 7;
    copy.message[0] = 'W';
    assert_true(m.samples[0] == 12345);
    assert_string_equal(m.message, "why");
    measurement_release(&m);
    assert_string_equal(copy.message, "Why"); /* outlives the original */
    measurement_release(&copy);
    assert_null(copy.samples);
    measurement_copy(&copy, &empty);
    assert_null(copy.samples);
    assert_null(copy.message);
    run_copy(&run_again, &run);
    assert_ptr_not_equal(run_again.environment, run.environment);
    run_release(&run);
    assert_string_equal(run_again.environment, "{\"a\":1}");
    assert_null(run_again.settings);
    run_release(&run_again);
}

static struct run sample_run(void)
{
    return (struct run) {
        .uuid = "123e4567-e89b-42d3-a456-426614174000",
        .started_ms = 1794304440999,
        .ended_ms = 1794304450000,
        .suite = "quick",
        .label = "before the \"change\"",
        .kind = RUN_TRIAL,
        .ab = { "123e4567", "head", 2 },
        .shard = { "monday", 2, 4, "0123456789abcdef" },
        .machine = { .id = "0123456789abcdef",
                     .class_name = "amd-epyc-2c-avx512",
                     .cpu = "AMD EPYC",
                     .cores = 2,
                     .threads = 4,
                     .isa = "avx512",
                     .l1d = 32768,
                     .l2 = 1 << 20,
                     .l3 = 1LL << 33,
                     .l3_shared_by = 8,
                     .memory = 1LL << 40,
                     .gpu = "none" },
        .build = { .version = "0.1.0",
                   .commit = "0123456789012345678901234567890123456789",
                   .branch = "main",
                   .dirty = true,
                   .compiler = "GNU 12.2",
                   .flags = "-O2",
                   .build_type = "Release" },
        .environment = memory_string("{\"governor\":\"performance\",\"load1\":0.5}"),
        .settings = memory_string("{\"launches\":5}"),
    };
}

static void runs_round_trip(void **state)
{
    (void)state;
    struct run run = sample_run(), back;
    struct error err;
    cJSON *json = through_text(run_to_json(&run));

    assert_ok(run_from_json(json, &back, &err), &err);
    assert_same_run(&run, &back);
    cJSON_Delete(json);
    run_release(&back);
    run_release(&run);
}

static void every_kind_round_trips(void **state)
{
    struct error err;

    (void)state;
    for (int kind = 0; kind < RUN_KIND_NR; kind++) {
        struct run run = { .kind = (enum run_kind)kind, .label = "selftest" }, back;
        assert_int_equal(run_kind_find(run_kind_name(run.kind)), kind);
        cJSON *json = through_text(run_to_json(&run));
        assert_false(cJSON_HasObjectItem(json, "ab") || cJSON_HasObjectItem(json, "shard"));
        assert_ok(run_from_json(json, &back, &err), &err);
        assert_same_facts(&back, run.kind, &run.ab, &run.shard); /* whatever the label says */
        cJSON_Delete(json);
        run_release(&back);
    }
    assert_int_equal(run_kind_find(""), -1);
}

/* JSON that does not say it: as it was told then. */
static void older_runs_are_known(void **state)
{
    struct error err;

    (void)state;
    for (size_t i = 0; i < LEGACY_RUNS; i++) {
        const struct legacy_run *c = &legacy_runs[i];
        struct run run = { .settings = memory_string(c->settings) };
        snprintf(run.label, sizeof(run.label), "%s", c->label);
        legacy_run_facts(&run);
        assert_same_facts(&run, c->kind, &c->ab, &c->shard);
        cJSON *json = run_to_json(&run);
        cJSON_DeleteItemFromObject(json, "kind");
        cJSON_DeleteItemFromObject(json, "ab");
        cJSON_DeleteItemFromObject(json, "shard");
        run_release(&run);
        json = through_text(json);
        assert_ok(run_from_json(json, &run, &err), &err);
        assert_same_facts(&run, c->kind, &c->ab, &c->shard);
        cJSON_Delete(json);
        run_release(&run);
    }
}

static void older_forward_passes_are_known(void **state)
{
    struct error err;

    (void)state;
    for (size_t i = 0; i < LEGACY_TOKENS; i++) {
        struct measurement m = { .tokens = 7 }, back;
        assert_ok(benchmark_name_parse(legacy_tokens_of[i].key, &m.bench, &err), &err);
        assert_same_real(legacy_tokens(&m.bench), legacy_tokens_of[i].tokens);
        cJSON *json = through_text(measurement_to_json(&m));
        assert_ok(measurement_from_json(json, &back, &err), &err);
        assert_same_real(back.tokens, 7); /* it says so */
        cJSON_DeleteItemFromObject(json, "tokens");
        assert_ok(measurement_from_json(json, &back, &err), &err);
        assert_same_real(back.tokens, legacy_tokens_of[i].tokens);
        cJSON_Delete(json);
    }
}

static void malformed_runs_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "7", "not a JSON object" },
        { "{\"uuid\": \"u\"}", "\"machine\": not a JSON object" },
        { "{\"machine\": {\"cores\": \"x\"}}", "\"machine\": \"cores\" is not a number" },
        { "{\"machine\": {\"cores\": 9000000000}}", "\"machine\": \"cores\" is out of range" },
        { "{\"machine\": {}, \"build\": []}", "\"build\": not a JSON object" },
        { "{\"machine\": {}, \"build\": {\"dirty\": \"no\"}}",
          "\"build\": \"dirty\" is not true or false" },
        { "{\"machine\": {}, \"build\": {}, \"kind\": \"other\"}", "\"kind\" is not" },
        { "{\"machine\": {}, \"build\": {}, \"kind\": 3}", "\"kind\" is not" },
        { "{\"machine\": {}, \"build\": {}, \"kind\": \"trial\", \"ab\": 3}",
          "\"ab\": not a JSON object" },
        { "{\"machine\": {}, \"build\": {}, \"kind\": \"trial\", \"ab\": {\"id\": 3}}",
          "\"ab\": \"id\" is not a string" },
        { "{\"machine\": {}, \"build\": {}, \"kind\": \"measured\", \"shard\": {\"count\": -1}}",
          "\"shard\": \"count\" is out of range" },
        { "{\"uuid\": \"0123456789012345678901234567890123456789\"}",
          "\"uuid\" is longer than 36 characters" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = { "" };
        struct run run;
        cJSON *json = json_parse(bad[i].text, strlen(bad[i].text), "bad", &err);
        assert_non_null(json);
        if (run_from_json(json, &run, &err) != -1)
            fail_msg("accepted: %s", bad[i].text);
        assert_says(&err, bad[i].says);
        run_release(&run);
        cJSON_Delete(json);
    }
}

static struct roof sample_roof(void)
{
    return (struct roof) {
        .name = "bandwidth.L1",
        .device = "cpu-2t",
        .unit = "B/s",
        .value = 1.1e11,
        .low = 1e11,
        .high = 1.2e11,
        .spec = 0x1.99999p40,
        .measured_ms = 1794304440999,
    };
}

static void assert_same_roof(const struct roof *a, const struct roof *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->unit, b->unit);
    assert_true(a->value == b->value && a->low == b->low && a->high == b->high &&
                a->spec == b->spec && a->measured_ms == b->measured_ms);
}

static void roofs_round_trip(void **state)
{
    (void)state;
    struct roof c = sample_roof(), back;
    struct error err;
    cJSON *json = through_text(roof_to_json(&c));

    assert_ok(roof_from_json(json, &back, &err), &err);
    assert_same_roof(&c, &back);
    cJSON_Delete(json);
    assert_int_equal(roof_from_json(NULL, &back, &err), -1);
}

/* Three runs, the middle one empty; measurements stay with their run and launch. */
static void records_round_trip(void **state)
{
    (void)state;
    struct records r = { 0 }, back;
    struct error err;

    for (int i = 0; i < 3; i++)
        *records_add_run(&r) = sample_run();
    snprintf(r.runs[2].label, sizeof(r.runs[2].label), "third");
    for (int i = 0; i < 20; i++) {
        struct record *record = records_add(&r, i < 10 ? 0 : 2, i % 5);
        assert_null(record->m.samples);
        record->m = sample();
        record->m.samples[0] = (uint64_t)i;
    }
    r.roofs = memory_zeroed(1, sizeof(*r.roofs));
    r.roofs[0] = sample_roof();
    r.nr_roofs = r.roofs_capacity = 1;
    cJSON *json = through_text(records_to_json(&r));
    assert_ok(records_from_json(json, &back, &err), &err);
    assert_int_equal(back.nr_runs, 3);
    assert_int_equal(back.nr, 20);
    assert_int_equal(back.nr_roofs, 1);
    assert_same_roof(&r.roofs[0], &back.roofs[0]);
    for (size_t i = 0; i < 3; i++)
        assert_same_run(&r.runs[i], &back.runs[i]);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(back.items[i].run, r.items[i].run);
        assert_int_equal(back.items[i].launch_seq, r.items[i].launch_seq);
        assert_same_measurement(&r.items[i].m, &back.items[i].m);
    }
    cJSON_Delete(json);
    records_release(&back);
    records_release(&r);
    assert_int_equal(r.nr + r.nr_runs + r.nr_roofs, 0);
}

static void malformed_records_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "[]", "\"schema_version\" is missing" },
        { "{\"schema_version\": \"1\"}", "\"schema_version\" is missing or not a number" },
        { "{\"schema_version\": 2}", "schema_version is 2; this harness reads version 1" },
        { "{\"schema_version\": 1, \"runs\": [5]}", "run 1: not a JSON object" },
        { "{\"schema_version\": 1, \"runs\": [{\"machine\": {}, \"build\": {}, \"measurements\": "
          "[{\"key\": \"k\", \"outcome\": \"OK\"}, {}]}]}",
          "run 1, measurement: \"key\" is missing" },
        { "{\"schema_version\": 1, \"runs\": [], \"ceilings\": [{\"value\": \"fast\"}]}",
          "\"value\" is not a number" },
        { "{\"schema_version\": 1}", "\"runs\" is missing; records are what" },
        { "{\"schema_version\": 1, \"runs\": {}}", "\"runs\" is no list" },
        { "{\"schema_version\": 1, \"benchmarks\": []}", "missing: this looks like a summary" },
        { "{\"schema_version\": 1, \"base\": \"a\", \"rows\": []}",
          "missing: this looks like a comparison" },
        { "{\"schema_version\": 1, \"cards\": []}", "missing: this looks like a trend" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = { "" };
        struct records r;
        cJSON *json = json_parse(bad[i].text, strlen(bad[i].text), "bad", &err);
        assert_non_null(json);
        if (records_from_json(json, &r, &err) != -1)
            fail_msg("accepted: %s", bad[i].text);
        assert_says(&err, bad[i].says);
        records_release(&r);
        cJSON_Delete(json);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(measurements_round_trip),
        cmocka_unit_test(every_outcome_and_rule_round_trips),
        cmocka_unit_test(malformed_measurements_are_refused),
        cmocka_unit_test(absent_is_unknown),
        cmocka_unit_test(telemetry_keeps_what_is_known),
        cmocka_unit_test(copies_own_what_they_hold),
        cmocka_unit_test(every_kind_round_trips),
        cmocka_unit_test(older_runs_are_known),
        cmocka_unit_test(older_forward_passes_are_known),
        cmocka_unit_test(runs_round_trip),
        cmocka_unit_test(malformed_runs_are_refused),
        cmocka_unit_test(roofs_round_trip),
        cmocka_unit_test(records_round_trip),
        cmocka_unit_test(malformed_records_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
