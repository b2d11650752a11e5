/* SPDX-License-Identifier: MIT */
/* Files that are cut, wrong or made to hurt: refused with place and reason, or read as what can be
 * believed of them; never a crash. Covers: U-10, S0-10. */
#include "import_testing.h"

#include "base/file.h"
#include "base/strbuf.h"

static const struct import_options plain;

#define GBENCH(entry) "{\"context\":{},\"benchmarks\":[" entry "]}"
#define ENTRY(rest)   "{\"name\":\"x\",\"time_unit\":\"ns\"," rest "}"
#define RECORDS(uuid, label, key)                                                                  \
    "{\"schema_version\":1,\"runs\":[{\"uuid\":\"" uuid "\",\"label\":\"" label                    \
    "\",\"machine\":{},\"build\":{},\"measurements\":[{\"key\":\"" key                             \
    "\",\"outcome\":\"FAILED\"}]}]}"

/* What is refused, where, and in which words. */
static const struct {
    const char *text, *reason;
} refused[] = {
    { "", "t:" },
    { "not JSON",
      "t: this is text, but of none of the programs that are known; --format NAME forces "
      "one of gbench, gbench_csv, nvbench" },
    { "{\"benchmarks\":[{\"name\":\"x",
      "t: truncated: the JSON ends inside a value, after 25 bytes" },
    { "[1,2", "t: truncated" },
    { "{\"results\":[{\"mean\":1}]}",
      "it looks most like hyperfine, but \"results[].command\" is missing" },
    { "{\"a\":1,\"b\\u001b\":2}", "at its top there is \"a\", \"b \"" },
    { "[{\"benchmark\":\"x\",\"mode\":\"avgt\"}]",
      "it looks most like JMH, but \"[].primaryMetric\" is missing" },
    { "{\n \"benchmarks\": [\n  { \"name\": \"x\", ]\n}", "t: not valid JSON at line 3" },
    { "{} trailing", "t: not valid JSON" },
    { "null", "of none of the programs" },
    { "[]", "of none of the programs" },
    { "[1,2,3]", "of none of the programs" },
    { "\"text\"", "of none of the programs" },
    { "{}", "of none of the programs" },
    { "{\"benchmarks\":{}}", "of none of the programs" },
    { "{\"benchmarks\":[],\"context\":{}}", "t: there is no benchmark with a time in it" },
    { "{\"benchmarks\":[],\"context\":[]}", "t:1:18: \"context\" is no object" },
    { "{\"benchmarks\":3,\"context\":{}}", "of none of the programs" },
    { "{\"benchmarks\":[7],\"context\":{}}", "t:1:16: a benchmark is no object" },
    { "{\"context\":{\"date\":\"soon\"},\"benchmarks\":[]}", "t:1:13: \"date\" is no date" },
    { "{\"context\":{\"date\":\"1969-01-01\"},\"benchmarks\":[]}", "before 1970" },
    { "{\"context\":{\"date\":7},\"benchmarks\":[]}", "\"date\" is no date" },
    { GBENCH("{\"name\":\"\"}"), "\"name\" is no text" },
    { GBENCH("{\"name\":7}"), "\"name\" is no text" },
    { GBENCH("{}"), "t:1:29: \"name\" is missing" },
    { GBENCH("{\"name\":\"x\"}"), "\"real_time\" is missing" },
    { GBENCH("{\"name\":\"x\",\"real_time\":1}"), "\"time_unit\" is missing" },
    { GBENCH("{\"name\":\"x\",\"real_time\":1,\"time_unit\":\"h\",\"iterations\":1}"),
      "none of ns, us, ms, s" },
    { GBENCH(ENTRY("\"real_time\":1")), "\"iterations\" is missing" },
    { GBENCH(ENTRY("\"real_time\":1,\"iterations\":0")), "\"iterations\" is 0, less than 1" },
    { GBENCH(ENTRY("\"real_time\":1,\"iterations\":-3")), "\"iterations\" is -3, less than 1" },
    { GBENCH(ENTRY("\"real_time\":-1,\"iterations\":1")), "\"real_time\" is -1, less than 0" },
    { GBENCH(ENTRY("\"real_time\":NaN,\"iterations\":1")), "\"real_time\" is not a finite number" },
    { GBENCH(ENTRY("\"real_time\":-Infinity,\"iterations\":1")), "\"real_time\" is not a finite" },
    { GBENCH(ENTRY("\"real_time\":1e999,\"iterations\":1")), "\"real_time\" is not a finite" },
    { GBENCH(ENTRY("\"real_time\":1e30,\"iterations\":1")), "more than 100 days" },
    { GBENCH(ENTRY("\"real_time\":[1],\"iterations\":1")), "\"real_time\" is not a finite number" },
    { GBENCH(ENTRY("\"real_time\":\"1x\",\"iterations\":1")), "\"real_time\" is not a finite" },
    { GBENCH(ENTRY("\"real_time\":0,\"iterations\":1")), "no benchmark with a time in it" },
    { "{\"context\":{\"harness_launches\":true},\"benchmarks\":[" ENTRY(
          "\"real_time\":1,\"iterations\":1,\"repetition_index\":1e9") "]}",
      "\"repetition_index\" is not in 0 to 100000" },
    { "{\"context\":{\"harness_launches\":true},\"benchmarks\":[" ENTRY(
          "\"real_time\":1,\"iterations\":1,\"repetition_index\":-1") "]}",
      "\"repetition_index\" is not in 0 to 100000" },
    { "{\"results\":[{\"command\":7}]}", "t:1:14: \"command\" is no text" },
    { "{\"results\":[{\"command\":\"x\"}, 7]}", "t:1:13: there is no time in it" },
    { "{\"results\":[{\"command\":\"x\",\"times\":7}]}", "t:1:28: \"times\" is no list" },
    { "{\"results\":[{\"command\":\"x\",\"times\":[1,\"\"]}]}", "a sample is no finite number" },
    { "{\"results\":[{\"command\":\"x\",\"times\":[-1]}]}", "is no time" },
    { "{\"results\":[{\"command\":\"x\",\"times\":[1e12]}]}", "more than 100 days" },
    { "{\"machine_info\":7}", "most like pytest-benchmark, but \"benchmarks\" is missing" },
    { "{\"machine_info\":7,\"benchmarks\":[7]}", "a benchmark is no object" },
    { "{\"machine_info\":{},\"benchmarks\":[{\"name\":\"x\"}]}", "\"stats\" is missing" },
    { "{\"benchmarks\":[{\"name\":\"x\",\"stats\":{\"data\":7}}]}", "\"data\" is no list" },
    { "{\"benchmarks\":[{\"name\":\"x\",\"stats\":{\"data\":[1],\"iterations\":0}}]}",
      "\"iterations\" is no number of 1 or more" },
    { "{\"benchmarks\":[{\"name\":\"x\",\"stats\":{\"data\":[]}}]}", "there is no time in it" },
    { "{\"benchmarks\":[{\"name\":\"x\",\"states\":7}]}", "\"states\" is missing or no list" },
    { "{\"benchmarks\":[{\"name\":\"x\",\"states\":[7]}]}", "a state is no object" },
    { "{\"benchmarks\":[{\"states\":[]}]}", "\"name\" is missing" },
    { "{\"reason\":\"benchmark-complete\"}", "t, message 1:1:1: \"id\" is missing" },
    { "{\"reason\":\"x\"}\n\n{\"reason\":\"benchmark-complete\",\"id\":\"y\"}",
      "t, message 3:1:1: there are neither samples nor estimates" },
    { "{\"reason\":\"x\"}\n{\"reason\"", "t, message 2: truncated" },
    { "{\"reason\":\"x\"}\n7", "a message is no object" },
    { "{\"reason\":\"benchmark-complete\",\"id\":\"y\",\"unit\":\"cycles\",\"iteration_count\":[1],"
      "\"measured_values\":[1]}",
      "times alone can be imported" },
    { "{\"reason\":\"benchmark-complete\",\"id\":\"y\",\"iteration_count\":[1,2],"
      "\"measured_values\":[1]}",
      "1 measured values, but 2 iteration counts" },
    { "{\"reason\":\"benchmark-complete\",\"id\":\"y\",\"iteration_count\":[0],"
      "\"measured_values\":[1]}",
      "an iteration count is no number of 1 or more" },
    { "{\"reason\":\"benchmark-complete\",\"id\":\"y\",\"iteration_count\":[1],"
      "\"measured_values\":[\"\"]}",
      "a measured value is no finite number" },
    { "{\"metadata\":7,\"benchmarks\":{\"x\":{\"timing\":{\"mean\":1}}}}", "is no object" },
    { "{\"metadata\":{},\"benchmarks\":{\"x\":7}}", "t:1:30: a benchmark is no object" },
    { "{\"metadata\":{},\"benchmarks\":{\"x\":{\"timing\":7}}}", "\"timing\" is missing or no" },
    { "{\"metadata\":{},\"benchmarks\":{\"x\":{\"timing\":{}}}}", "\"mean\" is missing" },
    { "{\"metadata\":{},\"benchmarks\":{\"x\":{\"timing\":{\"unit\":\"s\",\"mean\":1}}}}",
      "\"unit\" of a timing is not ms" },
    { "{\"metadata\":{},\"benchmarks\":[{\"timing\":{}}]}", "\"name\" is missing" },
    { "{\"metadata\":{},\"benchmarks\":[{\"name\":\"x\",\"outcome\":\"FINE\"}]}",
      "\"outcome\" is" },
    { "{\"comparisons\":{\"x\":7}}", "a comparison is no object" },
    { "[{}]", "of none of the programs" },
    { "[{\"name\":\"x\"}]", "of none of the programs" },
    { "[{\"name\":\"x\",\"M\":1}]", "neither a time" },
    { "[{\"name\":\"x\",\"tflops\":1}]", "only with M, N and K" },
    { "[{\"name\":\"x\",\"tflops\":0,\"M\":1,\"N\":1,\"K\":1}]", "above 0" },
    { "[{\"name\":\"x\",\"time_us\":-1}]", "\"time_us\" is -1, less than 0" },
    { "[{\"name\":\"x\",\"time_us\":1}, 7]", "a kernel is no object" },
    { "{\"schema_version\":2,\"runs\":[]}", "schema_version is 2" },
    { "{\"schema_version\":1,\"runs\":[]}", "there is no measurement in it" },
    { "{\"schema_version\":1,\"runs\":[{\"machine\":{},\"build\":{},\"measurements\":[{\"key\":"
      "\"x\","
      "\"outcome\":\"FAILED\"}]}]}",
      "run 1 has no uuid" },
    { RECORDS("'0000000-0000-4000-8000-000000000000", "x", "x"), "run 1 has no uuid" },
    { RECORDS("00000000-0000-4000-8000-000000000000", "a\\u001b[2J", "x"),
      "a name of run 1 has control characters" },
    { RECORDS("00000000-0000-4000-8000-000000000000", "x", "a\\nb"),
      "a \"key\" has control characters" },
    { "{\"schema_version\":1,\"runs\":[{\"uuid\":\"00000000-0000-4000-8000-000000000000\","
      "\"machine\":{},\"build\":{},\"measurements\":[{\"key\":\"x\",\"outcome\":\"FAILED\","
      "\"launch\":-1}]}]}",
      "\"launch\" of a measurement is not in 0 to" },
};

TEST(the_wrong_is_refused_with_its_place)
{
    size_t bad = 0;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct imported in;
        struct error err = { "" };
        int rc = import_parse(refused[i].text, strlen(refused[i].text), "t", &plain, &in, &err);
        if (rc != -1 || !strstr(err.message, refused[i].reason)) {
            print_error("%s\ngives %d: %s\nexpected: %s\n", refused[i].text, rc, err.message,
                        refused[i].reason);
            bad++;
        }
        imported_release(&in);
    }
    assert_int_equal(bad, 0);
}

/* By force, whatever the content is. */
TEST(a_forced_format_refuses_all_others)
{
    static const char *const texts[] = { "{}", "[]", "null", "7", "{\"benchmarks\":[{}]}" };

    for (int format = 1; format < IMPORT_FORMAT_NR; format++)
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            const struct import_options forced = { .format = (enum import_format)format };
            struct imported in;
            struct error err = { "" };
            assert_int_equal(import_parse(texts[i], strlen(texts[i]), "t", &forced, &in, &err), -1);
            assert_int_equal(strncmp(err.message, "t", 1), 0);
            imported_release(&in);
        }
}

static const char *const fixtures[] = {
    "google-benchmark/test3_run0.json", "import/gbench_counters.json",
    "import/gbench_aggregates.json",    "import/nvbench_bin.json",
    "import/cargo_criterion.jsonl",     "import/hyperfine_two.json",
    "import/hyperfine_parameters.json", "import/pytest_params.json",
    "import/summary_models.json",       "import/summary_comparison.json",
    "import/summary_list.json",         "import/kernels.json",
    "import/jmh_sorting.json",          "import/asv_sorting.json",
    "import/bmf_sorting.json",          "import/benchmarkdotnet_sorting.json",
    "import/vitest_sorting.json",       "import/nanobench_sorting.json",
    "import/custom_sorting.json",       "import/hyperfine_scan.json",
    "import/catch2_sorting.xml",
};

static char *read_fixture(size_t i, size_t *length)
{
    char path[512];
    struct error err;

    snprintf(path, sizeof(path), IMPORT_FIXTURES "%s", fixtures[i]);
    char *text = file_read(path, FILE_RECORDS_MOST, length, &err);
    assert_non_null(text);
    return text;
}

/* A text of exactly this length in memory of its own, so that sanitizers see who reads beyond. */
static int parse_part(const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    struct imported in;
    struct error err = { "" };

    memcpy(copy, text, length);
    int rc = import_parse(copy, length, "t", &plain, &in, &err);
    if (rc)
        assert_true(err.message[0] != '\0');
    else
        assert_true(in.records.nr > 0);
    imported_release(&in);
    free(copy);
    return rc;
}

TEST(cut_files_are_refused)
{
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        size_t length;
        char *text = read_fixture(i, &length);
        bool lines = strstr(fixtures[i], ".jsonl") != NULL;
        for (size_t nr = 0; nr < length; nr += 1 + nr / 400) {
            int rc = parse_part(text, nr);
            bool end = strspn(text + nr, " \t\r\n") == length - nr;
            if (rc == 0 && !lines && !end)
                fail_msg("%s is taken when cut to %zu bytes", fixtures[i], nr);
        }
        assert_int_equal(parse_part(text, length), 0);
        free(text);
    }
}

/* Each byte in turn becomes another one: refused or read, whatever it is. */
TEST(changed_bytes_do_no_harm)
{
    static const char other[] = "\"{}[]:,0-9eNx\\\n\0\xff";

    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        size_t length;
        char *text = read_fixture(i, &length);
        for (size_t at = 0; at < length; at += 1 + length / 1500) {
            char kept = text[at];
            text[at] = other[(at + i) % (sizeof(other) - 1)];
            parse_part(text, length);
            text[at] = kept;
        }
        free(text);
    }
}

TEST(deep_and_wide_files_end)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "{\"context\":{},\"benchmarks\":");
    for (int i = 0; i < 200000; i++)
        strbuf_addc(&text, '[');
    assert_int_equal(parse_part(text.data, text.length), -1);
    strbuf_clear(&text);
    strbuf_adds(&text, "{\"results\":[{\"command\":\"x\",\"times\":[");
    for (int i = 0; i < 300000; i++)
        strbuf_addf(&text, "%s0.00%d", i ? "," : "", i);
    strbuf_adds(&text, "]}]}");
    assert_int_equal(parse_part(text.data, text.length), 0);
    strbuf_clear(&text);
    strbuf_adds(&text, "[");
    for (int i = 0; i < 50000; i++)
        strbuf_addf(&text, "%s{\"name\":\"k%d\",\"time_us\":1}", i ? "," : "", i);
    strbuf_adds(&text, "]");
    assert_int_equal(parse_part(text.data, text.length), 0);
    strbuf_release(&text);
}

/* Many runs of one benchmark are many samples. */
TEST(a_million_samples_of_one_are_taken)
{
    struct strbuf text;

    strbuf_init(&text);
    for (int i = 0; i < 1000000; i++)
        strbuf_adds(&text, "BenchmarkA 1 2 ns/op\n");
    assert_int_equal(parse_part(text.data, text.length), 0);
    strbuf_release(&text);
}

/* What texts are refused for, and what is told of those that are taken. */
TEST(texts_that_are_cut)
{
    static const struct {
        const char *text, *refused, *noted;
    } rows[] = {
        { "goos: linux\nBenchmarkA-2 10 5 ns/op\nPASS\n", NULL, NULL },
        { "goos: linux\nBenchmarkA-2 10 5 ns/op\n", NULL, "ends before go's last word" },
        { "goos: linux\nBenchmarkA-2 10 5 ns/op 3", "t:2: \"3\" is no number with a unit", NULL },
        { "goos: linux\nBenchmarkA-2   \t     100\t 5", "t:2: \"5\" is no number with a unit",
          NULL },
        { "goos: linux\nPASS\n", "no benchmark with a time", NULL },
        { "test a ... bench: 12", "t:1: ", NULL },
        { "test a ... bench: 1,200 ns/iter (+/- 3)", NULL, "truncated" },
        { "<Catch><TestCase name='a'><BenchmarkResults name='b'><mean value='1'/>",
          "t:1: truncated XML", NULL },
        { "<Catch><TestCase></Catch>", "t:1: not valid XML: mismatched tag", NULL },
        { "<!DOCTYPE a [<!ENTITY x 'y'>]><Catch/>", "a DOCTYPE declaration", NULL },
        { "<Catch><BenchmarkResults name='b'><mean value='x'/></BenchmarkResults></Catch>",
          "the mean of \"b\" is no number", NULL },
        { "command,mean,stddev,median,user,system,min,max\na,1,1,1,1", "truncated", NULL },
        { "command,mean,stddev,median,user,system,min,max\na,1,1,1,1,1,1,1,1\n",
          "t:2: more cells than the head line names", NULL },
        { "name,iterations,real_time,cpu_time,time_unit,\n\"a\",1,2,3,h,\n",
          "none of ns, us, ms, s", NULL },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct imported in;
        struct error err = { "" };
        int rc = import_parse(rows[i].text, strlen(rows[i].text), "t", &plain, &in, &err);
        bool noted = !rows[i].noted;
        for (size_t k = 0; rc == 0 && rows[i].noted && k < in.notes.nr; k++)
            noted |= strstr(in.notes.items[k], rows[i].noted) != NULL;
        if (rows[i].refused ? rc == 0 || !strstr(err.message, rows[i].refused) : rc || !noted)
            fail_msg("%s\ngives %d: %s", rows[i].text, rc, err.message);
        imported_release(&in);
    }
}

/* Failures, and results that do not stand behind their names. */
TEST(what_texts_say_otherwise)
{
#define GO(lines) "goos: linux\n" lines "PASS\n"
    static const struct {
        const char *text, *key;
        enum outcome outcome;
        double median;
        const char *note; /* the only one; NULL: there is none */
    } rows[] = {
        { "test a ... bench: 10 ns/iter (+/- 1)\ntest b::c/8   ... FAILED\n\ntest result: FAILED. "
          "0\n",
          "b::c/arg=8", OUTCOME_FAILED, NAN,
          "no raw samples of 1 benchmark: the median stands for them, so percentiles say nothing" },
        { GO("BenchmarkA-2   \thello\n3 of 5\n     100\t        10.50 ns/op\t  8 B/op\n"),
          "BenchmarkA/procs=2", OUTCOME_OK, 10.5, NULL },
        { GO("BenchmarkA-2   \t3 of 5\n     100\t        10.50 ns/op\n"), "BenchmarkA/procs=2",
          OUTCOME_OK, 10.5, NULL },
        { GO("BenchmarkA-2   \t2026/01/02 03:04:05 start\n     100\t 10.50 ns/op\n"),
          "BenchmarkA/procs=2", OUTCOME_OK, 10.5, NULL },
        { GO("BenchmarkA-2   \t42\n     100\t 10.50 ns/op\n"), "BenchmarkA/procs=2", OUTCOME_OK,
          10.5, NULL },
        { GO("BenchmarkA-2\t100\t10.50 ns/op\n"), "BenchmarkA/procs=2", OUTCOME_OK, 10.5, NULL },
        { GO("BenchmarkA   \t\n 1000000\t        10 ns/op\nBenchmarkB  100  5 ns/op\n"),
          "BenchmarkA", OUTCOME_OK, 10, NULL },
        { GO("BenchmarkA   \thello     100\t 10 ns/op\nBenchmarkB   100  5 ns/op\n"), "BenchmarkB",
          OUTCOME_OK, 5,
          "1 benchmark left out: there is no result in what was printed (BenchmarkA)" },
        { GO("BenchmarkB   100  5 ns/op\nBenchmarkA-2   \t--- FAIL: BenchmarkA-2\n  a.go:1: no\n"),
          "BenchmarkA/procs=2", OUTCOME_FAILED, NAN, NULL },
        { GO("BenchmarkB   100  5 ns/op\nBenchmarkA-2   \thello\n--- SKIP: BenchmarkA-2\n"),
          "BenchmarkA/procs=2", OUTCOME_UNSUPPORTED, NAN, NULL },
        { GO("BenchmarkB   100  5 ns/op\nBenchmarkA-2   \t--- FAIL: BenchmarkA\n"), "BenchmarkA",
          OUTCOME_FAILED, NAN, NULL },
        { GO("BenchmarkB   100  5 ns/op\nBenchmarkA-2   \thello\n--- FAIL: BenchmarkC-2\n"),
          "BenchmarkC/procs=2", OUTCOME_FAILED, NAN,
          "1 benchmark left out: there is no result in what was printed (BenchmarkA-2)" },
        { GO("BenchmarkA\nBenchmarkA-2   \t     100\t 10 ns/op\n"), "BenchmarkA/procs=2",
          OUTCOME_OK, 10, NULL },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct imported in;
        struct error err;
        assert_ok(import_parse(rows[i].text, strlen(rows[i].text), "t", &plain, &in, &err), &err);
        const struct measurement *m = import_measurement(&in, rows[i].key, 0);
        assert_int_equal(m->outcome, rows[i].outcome);
        if (!isnan(rows[i].median))
            assert_close(import_median(m), rows[i].median, 1e-9);
        assert_int_equal(in.notes.nr, rows[i].note != NULL);
        if (rows[i].note)
            assert_string_equal(in.notes.items[0], rows[i].note);
        imported_release(&in);
    }
}

/* Members that are no part of a format: numbers stand beside, of all else there is a note. */
TEST(members_that_are_not_known)
{
    static const struct {
        const char *text, *beside;
        double value;
        const char *note; /* the first */
    } rows[] = {
        { "[{\"name\":\"k\",\"time_us\":1,\"M\":2,\"efficiency\":0.5,\"gbps\":7,\"tflops\":3,"
          "\"ok\":true,\"author\":\"me\",\"tile\":[1,2]}]",
          "efficiency", 0.5, "2 values of benchmarks not taken: author (1), tile (1)" },
        { "[{\"name\":\"k\",\"time_us\":1,\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,"
          "\"h\":8,\"i\":9,\"gbps\":7}]",
          "gbps", 7, "1 value of benchmarks not taken: i (1)" },
        { "{\"metadata\":{},\"benchmarks\":{\"k\":{\"timing\":{\"median\":2,\"p5\":1,\"n\":9,"
          "\"mode\":3,"
          "\"intervals\":{}},\"throughput\":{\"gflops\":1,\"qps\":2},\"author\":\"me\"}}}",
          "summary_p5_ns", 1e6,
          "3 values of benchmarks not taken: author (1), timing.mode (1), throughput.qps (1)" },
        { "{\"comparisons\":{\"k\":{\"a\":{\"mean_ms\":2,\"p5_ms\":1,\"mode_ms\":1},\"speedup\":2,"
          "\"winner\":\"a\"}}}",
          "summary_p5_ns", 1e6,
          "2 values of benchmarks not taken: timing.mode_ms (1), winner (1)" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct imported in;
        struct error err;
        assert_ok(import_parse(rows[i].text, strlen(rows[i].text), "t", &plain, &in, &err), &err);
        const struct measurement *m = &in.records.items[0].m;
        assert_close(measurement_telemetry(m, rows[i].beside), rows[i].value, 0);
        assert_string_equal(in.notes.items[0], rows[i].note);
        imported_release(&in);
    }
}

/* Names that are there twice are one benchmark with all samples, and a note. */
TEST(twins_are_told)
{
    static const char text[] =
        "{\"results\":[{\"command\":\"x\",\"times\":[1,2]},"
        "{\"command\":\"x\",\"times\":[3]}]}";
    struct imported in;
    struct error err;

    assert_ok(import_parse(text, sizeof(text) - 1, "t", &plain, &in, &err), &err);
    assert_int_equal(in.records.nr, 1);
    assert_int_equal(in.records.items[0].m.nr_samples, 3);
    assert_int_equal(in.notes.nr, 1);
    assert_non_null(strstr(in.notes.items[0], "more than once"));
    imported_release(&in);
}

/* A file from elsewhere names no others of ours. */
static int remember(void *context, const char *name, struct strbuf *content)
{
    (void)content;
    snprintf(context, 100, "%s", name);
    return -1;
}

TEST(samples_that_do_not_fit_are_refused)
{
    static const char text[] =
        "{\"benchmarks\":[{\"name\":\"x\",\"states\":[{\"summaries\":[{\"tag\":\"nv/cold/time/gpu/"
        "mean\",\"data\":[{\"name\":\"value\",\"value\":\"1e-3\"}]},{\"tag\":\"nv/json/bin:nv/cold/"
        "sample_times\",\"data\":[{\"name\":\"filename\",\"value\":\"/etc/passwd\"},{\"name\":"
        "\"size\",\"value\":\"4\"}]}]}]}]}";
    char asked[100] = "";
    const struct import_options options = { .samples = remember, .context = asked };
    struct imported in;
    struct error err;
    char path[200];

    assert_ok(import_parse(text, sizeof(text) - 1, "t", &options, &in, &err), &err);
    assert_string_equal(asked, "/etc/passwd");
    imported_release(&in);
    /* Of a file, nothing outside its folder is read: the summary stays. */
    snprintf(path, sizeof(path), HARNESS_TEST_DIR "/nvbench_outside.json");
    assert_ok(file_write(path, text, sizeof(text) - 1, &err), &err);
    assert_ok(import_file(path, &plain, &in, &err), &err);
    assert_int_equal(in.notes.nr, 2);
    assert_int_equal(in.records.items[0].m.nr_samples, 1);
    imported_release(&in);
}

/* Nothing is read behind the end of a text. */
TEST(blank_ends_are_no_messages)
{
    static const char message[] =
        "{\"reason\":\"benchmark-complete\",\"id\":\"y\",\"iteration_count\":[1],"
        "\"measured_values\":[1]}\n \t \r ";

    assert_int_equal(parse_part(message, sizeof(message) - 1), 0);
}

RUN_TESTS(NULL, NULL)
