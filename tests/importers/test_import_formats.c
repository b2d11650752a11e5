/* SPDX-License-Identifier: MIT */
/* Every format, with a file of each: all that becomes of it, value by value, and all notes.
 * tests/fixtures/import/README.md says which files the tools themselves wrote. Covers: U-10. */
#include "import_testing.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "golden.h"
#include "importers/base/import_base.h"

static const struct import_options plain;

/* Each format is here at least once: the test says if one is missing. */
static const struct {
    const char *file;
    enum import_format format;
} rows[] = {
    { "gbench_sorting.json", IMPORT_GBENCH },
    { "gbench_sorting.csv", IMPORT_GBENCH_CSV },
    { "nvbench_bin.json", IMPORT_NVBENCH },
    { "criterion/parse", IMPORT_CRITERION },
    { "criterion_sorting", IMPORT_CRITERION },
    { "cargo_criterion.jsonl", IMPORT_CRITERION },
    { "hyperfine_scan.json", IMPORT_HYPERFINE },
    { "hyperfine_scan.csv", IMPORT_HYPERFINE_CSV },
    { "pytest_sorting.json", IMPORT_PYTEST },
    { "jmh_sorting.json", IMPORT_JMH },
    { "go_sorting.txt", IMPORT_GO },
    { "libtest_sorting.txt", IMPORT_LIBTEST },
    { "catch2_sorting.xml", IMPORT_CATCH2 },
    { "asv_sorting.json", IMPORT_ASV },
    { "bmf_sorting.json", IMPORT_BMF },
    { "benchmarkdotnet_sorting.json", IMPORT_BENCHMARKDOTNET },
    { "vitest_sorting.json", IMPORT_VITEST },
    { "nanobench_sorting.json", IMPORT_NANOBENCH },
    { "deno_sorting.json", IMPORT_DENO },
    { "custom_sorting.json", IMPORT_CUSTOM },
    { "gungraun_sorting.json", IMPORT_GUNGRAUN },
    { "summary_models.json", IMPORT_SUMMARY },
    { "kernels.json", IMPORT_KERNELS },
    { "report_small.html", IMPORT_REPORT },
};

static void tell_measurement(const struct record *r, struct strbuf *out)
{
    const struct measurement *m = &r->m;

    strbuf_addf(out, "%s launch %d: %s", m->bench.key, r->launch_seq, outcome_name(m->outcome));
    if (m->message)
        strbuf_addf(out, " (%s)", m->message);
    if (m->nr_samples)
        strbuf_addf(out, ", %s, ns:", m->clock);
    for (size_t i = 0; i < m->nr_samples; i++)
        strbuf_addf(out, " %.12g", (double)m->samples[i] / m->batch);
    if (m->nr_samples)
        strbuf_addf(out, "; batch %u", m->batch);
    if (m->bytes > 0)
        strbuf_addf(out, "; %.9g bytes", m->bytes);
    if (m->flops > 0)
        strbuf_addf(out, "; %.9g FLOP", m->flops);
    strbuf_addc(out, '\n');
    for (int i = 0; i < m->nr_telemetry; i++)
        strbuf_addf(out, "    %s %.12g\n", m->telemetry[i].name, m->telemetry[i].value);
    for (int i = 0; i < m->nr_numbers; i++) {
        const struct number *number = &m->numbers[i];
        strbuf_addf(out, "    %s in \"%s\", %s is better:", number->kind->name, number->kind->unit,
                    better_name(number->kind->better));
        for (size_t v = 0; v < number->nr; v++)
            strbuf_addf(out, " %.12g", number->values[v]);
        strbuf_addc(out, '\n');
    }
}

static void tell_all(const struct imported *in, struct strbuf *out)
{
    const struct run *run = &in->records.runs[0];

    strbuf_addf(out, "%s, machine %s, commit \"%s\", branch \"%s\", at %lld\n%s\n",
                import_format_title(in->format), run->machine.class_name, run->build.commit,
                run->build.branch, (long long)run->started_ms, run->environment);
    for (size_t i = 0; i < in->records.nr; i++)
        tell_measurement(&in->records.items[i], out);
    for (size_t i = 0; i < in->notes.nr; i++)
        strbuf_addf(out, "note: %s\n", in->notes.items[i]);
}

TEST(every_value_of_every_format)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct imported in;
        struct strbuf text;
        char path[200];
        print_message("%s\n", rows[i].file);
        snprintf(path, sizeof(path), "import/%s", rows[i].file);
        import_fixture(path, &plain, &in);
        assert_int_equal(in.format, rows[i].format);
        strbuf_init(&text);
        tell_all(&in, &text);
        snprintf(path, sizeof(path), "%s.txt", rows[i].file);
        for (char *p = path; *p; p++)
            if (*p == '/')
                *p = '-';
        assert_golden(text.data, "import/expected", path);
        strbuf_release(&text);
        imported_release(&in);
    }
}

TEST(every_format_has_a_file)
{
    for (int format = 1; format < IMPORT_FORMAT_NR; format++) {
        bool there = import_is_ours((enum import_format)format); /* cli.older, test_import.c */
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            there |= rows[i].format == (enum import_format)format;
        if (!there)
            fail_msg("%s has no row here", import_format_name((enum import_format)format));
    }
}

/* A metric of its own, or what stands beside. */
static double beside_of(const struct measurement *m, const char *name)
{
    for (int i = 0; i < m->nr_numbers; i++)
        if (strcmp(m->numbers[i].kind->name, name) == 0)
            return number_median(&m->numbers[i]);
    return measurement_telemetry(m, name);
}

/* By hand, from the files. */
TEST(values_that_the_files_say)
{
    static const struct {
        const char *file, *key, *beside;
        int launch;
        double median, value;
    } values[] = {
        { "go_sorting.txt", "example.com/sorting/BenchmarkSort/how=quick/n=64,procs=2",
          "allocated_bytes", 0, 584874.5, 536 },
        { "libtest_sorting.txt", "tests::sort_64", "summary_range_ns", 0, 218.05, 52138.93 },
        { "catch2_sorting.xml", "sorting/small/sort 64", "summary_std_ns", 0, 245.591, 3.49554 },
        { "catch2_sorting.xml", "sorting/large & slow/sort <4096>", "summary_mean_upper_ns", 0,
          96902.4, 358319 },
        { "jmh_sorting.json", "org.example.Sorting.sort/avgt/how=quick/threads=1,n=64",
          "allocated_bytes", 0, 1250, 536 },
        { "jmh_sorting.json", "org.example.Sorting.sort/avgt/how=quick/threads=1,n=64",
          "allocated_bytes", 1, 1250, 537 },
        { "jmh_sorting.json", "org.example.Sorting.sort/avgt/how=quick/threads=1,n=64",
          "gc.count counts", 1, 1250, 3 },
        { "jmh_sorting.json", "org.example.Sorting.sort/thrpt/threads=2", "none", 0, 225000, NAN },
        { "gbench_sorting.csv", "BM_Sort/arg=64", "items_per_second", 0, 10742.1, 2.5616e8 },
        { "gbench_sorting.csv", "BM_Copy/repeats:3", "summary_max_ns", 0, 92.6681, 20564.7 },
        { "hyperfine_scan.csv", "./tool -j{threads} {how} {threads}/how=2.5/threads=2",
          "user_seconds", 0, 0.07207080824e9, 0.00159268 },
        { "hyperfine_scan.json", "./tool -j3 {how}/how=quick/threads=1", "user_seconds", 0,
          0.3480373117400001e9, 0.00142668 },
        { "asv_sorting.json", "sorting.time_plain", "none", 0, 2000, NAN },
        { "asv_sorting.json", "sorting.Suite.time_scale/param1=0.5", "none", 0, 3000, NAN },
        { "asv_sorting.json", "sorting.Suite.time_scale/param1=a.csv", "none", 0, 4000, NAN },
        { "custom_sorting.json", "requests", "none", 0, 500000, NAN },
        { "nanobench_sorting.json", "sorting/sort 64", "instructions", 0, 1250, 5000.5 },
        { "benchmarkdotnet_sorting.json",
          "Example.Sorting.Sort/Runtime=.NET 8.0, LaunchCount=2/How=Quick/N=64", "none", 1, 1200,
          NAN },
        { "gungraun_sorting.json", "sorting::group::sort/sort/small", "instructions", 0, NAN,
          5120 },
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct imported in;
        char path[200];
        snprintf(path, sizeof(path), "import/%s", values[i].file);
        import_fixture(path, &plain, &in);
        const struct measurement *m = import_measurement(&in, values[i].key, values[i].launch);
        if (isnan(values[i].median))
            assert_int_equal(m->nr_samples, 0);
        else
            assert_close(import_median(m), values[i].median, 1e-6 * values[i].median);
        double beside = beside_of(m, values[i].beside);
        if (isnan(values[i].value))
            assert_true(isnan(beside));
        else
            assert_close(beside, values[i].value, 1e-9 * values[i].value);
        imported_release(&in);
    }
}

#define PYTEST                                                                                     \
    "{\"machine_info\":{},\"benchmarks\":[{\"name\":\"t[8-quick]\",\"fullname\":\"b.py::t[8-"      \
    "quick]\","                                                                                    \
    "\"params\":{\"n\":8,\"fn\":\"UNSERIALIZABLE[<function quick at 0x7f3a>]\"},"                  \
    "\"stats\":{\"data\":[1],\"iterations\":1,\"rounds\":1}}]}"
#define JMH                                                                                        \
    "[{\"benchmark\":\"x\",\"mode\":\"avgt\",\"primaryMetric\":{\"score\":1,\"scoreUnit\":\"s/"    \
    "op\"},"                                                                                       \
    "\"secondaryMetrics\":{\"·gc.alloc.rate.norm\":{\"score\":7,\"scoreUnit\":\"B/op\"}}}]"
#define SKIPPED                                                                                    \
    "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,"        \
    "error_occurred,error_message\n\"BM_A\",10,5,4,ns,,,,,\n"

/* What versions of a program write in their own ways. */
TEST(ways_of_versions)
{
    static const struct {
        const char *text, *key, *message, *beside;
        enum outcome outcome;
        double value;
    } ways[] = {
        { PYTEST, "b.py::t[8-quick]", NULL, "none", OUTCOME_OK, NAN },
        { JMH, "x/avgt", NULL, "allocated_bytes", OUTCOME_OK, 7 },
        { SKIPPED "\"B\",,,,,,,,false,\"no device\"\n", "B", "no device", "none",
          OUTCOME_UNSUPPORTED, NAN },
        { SKIPPED "\"B\",,,,,,,,false,\"\"\n", "B", "skipped", "none", OUTCOME_UNSUPPORTED, NAN },
        { SKIPPED "\"B\",,,,,,,,true,\"no file\"\n", "B", "no file", "none", OUTCOME_FAILED, NAN },
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct imported in;
        struct error err;
        assert_ok(import_parse(ways[i].text, strlen(ways[i].text), "t", &plain, &in, &err), &err);
        const struct measurement *m = import_measurement(&in, ways[i].key, 0);
        assert_int_equal(m->outcome, ways[i].outcome);
        assert_int_equal(m->message != NULL, ways[i].message != NULL);
        if (m->message)
            assert_string_equal(m->message, ways[i].message);
        double beside = beside_of(m, ways[i].beside);
        assert_true(isnan(ways[i].value) ? isnan(beside) : beside == ways[i].value);
        imported_release(&in);
    }
}

static bool is_test_word(const char *name)
{
    return strcmp(name, "max") == 0;
}

/* Numbers that stand for a time: which way is better the file leaves open. */
TEST(what_the_user_says_of_numbers)
{
    static const char custom[] =
        "[{\"name\":\"a\",\"unit\":\"points\",\"value\":7},"
        "{\"name\":\"b\",\"unit\":\"°\",\"value\":8}]";
    static const char bmf[] =
        "{\"a\":{\"max\":{\"value\":7},\"l1-accesses\":{\"value\":8},"
        "\"file-size\":{\"value\":9}}}";
    static const struct {
        const char *text, *better[2], *number, *unit;
        enum better way;
        double value;
        const char *note; /* NULL: there is none of that kind */
    } cases[] = {
        { custom, { "higher" }, "value", "points", BETTER_HIGHER, 7, NULL },
        { custom,
          { "points=lower" },
          "value",
          "points",
          BETTER_LOWER,
          7,
          "1 number kept and not judged, because nobody says which way is better (°)" },
        { custom, { "points=none", "higher" }, "", "", BETTER_NONE, 0, NULL },
        { custom, { NULL }, "", "", BETTER_NONE, 0, "2 numbers kept and not judged" },
        { bmf, { NULL }, "file_size", "B", BETTER_LOWER, 9, "2 numbers kept and not judged" },
        { bmf, { "file-size=higher" }, "file_size", "B", BETTER_HIGHER, 9, "2 numbers kept" },
        { bmf, { "lower", "max=higher" }, "own_max", "", BETTER_HIGHER, 7, NULL },
        { bmf, { "l1-accesses=lower" }, "l1_accesses", "", BETTER_LOWER, 8, "1 number kept" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct string_list betters = { 0 };
        const struct import_options said = { .betters = &betters, .is_word = is_test_word };
        struct imported in;
        struct error err;
        for (size_t b = 0; b < 2 && cases[i].better[b]; b++)
            string_list_add(&betters, cases[i].better[b]);
        assert_ok(import_parse(cases[i].text, strlen(cases[i].text), "x", &said, &in, &err), &err);
        const struct measurement *m = &in.records.items[0].m;
        int found = -1;
        for (int n = 0; n < m->nr_numbers; n++)
            found = strcmp(m->numbers[n].kind->name, cases[i].number) == 0 ? n : found;
        assert_int_equal(found >= 0, cases[i].way != BETTER_NONE);
        if (found >= 0) {
            assert_string_equal(m->numbers[found].kind->unit, cases[i].unit);
            assert_int_equal(m->numbers[found].kind->better, cases[i].way);
            assert_close(number_median(&m->numbers[found]), cases[i].value, 0);
        }
        bool noted = false;
        for (size_t n = 0; n < in.notes.nr; n++)
            noted |=
                strstr(in.notes.items[n], cases[i].note ? cases[i].note : "not judged") != NULL;
        assert_int_equal(noted, cases[i].note != NULL);
        imported_release(&in);
        string_list_release(&betters);
    }
}

/* Values of all numbers of a benchmark, in ascending order: "1 2 3", a metric's in brackets. */
static void tell_numbers(const struct measurement *m, struct strbuf *out)
{
    for (int value = 1; value <= 9; value++) {
        for (int i = 0; i < m->nr_telemetry; i++)
            if (m->telemetry[i].value == value)
                strbuf_addf(out, "%d ", value);
        for (int i = 0; i < m->nr_numbers; i++)
            if (m->numbers[i].values[0] == value)
                strbuf_addf(out, "[%d,%zu] ", value, m->numbers[i].nr);
    }
}

#define COUNTED          "{\"name\":\"x\",\"iterations\":1,\"real_time\":1,\"time_unit\":\"ns\","
#define FILE_OF(entries) "{\"context\":{},\"benchmarks\":[" entries "]}"
#define OFFCORE          "OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_"
#define LONG             "a_name_of_a_counter_that_is_longer_than_any_room_that_there_is_for_names_of_a_"
static const struct {
    const char *text;
    const char *better[2];
    const char *numbers, *note; /* NULL: there is none */
} like_names[] = {
    { FILE_OF(COUNTED "\"" OFFCORE "HIT\":1,\"" OFFCORE "MISS\":2}"), { NULL }, "1 2 ", NULL },
    { FILE_OF(COUNTED "\"" OFFCORE "HIT\":1,\"" OFFCORE "MISS\":2}"),
      { OFFCORE "HIT", OFFCORE "MISS" },
      "[1,1] [2,1] ",
      NULL },
    { FILE_OF(COUNTED "\"" LONG "1\":1,\"" LONG "2\":2}"), { NULL }, "1 2 ", NULL },
    { FILE_OF(COUNTED "\"" LONG "1\":1,\"" LONG "2\":2}"),
      { LONG "1", LONG "2" },
      "[1,1] [2,1] ",
      NULL },
    { FILE_OF(COUNTED "\"a-b\":3,\"a.b\":4}"), { NULL }, "3 4 ", NULL },
    { FILE_OF(COUNTED "\"a-b\":3,\"a.b\":4}"),
      { "a-b", "a.b" },
      "[3,1] 4 ",
      "1 number kept beside the times alone, because another one has its name as a metric "
      "(a.b)" },
    { FILE_OF(COUNTED "\"a-b\":3}," COUNTED "\"a-b\":4}"), { "a-b" }, "[3,2] ", NULL },
    { FILE_OF(COUNTED "\"a-b\":3}," COUNTED "\"a-b\":4}"), { NULL }, "3 ", NULL },
    { FILE_OF(COUNTED "\"c d\":5,\"c\\td\":6}"),
      { NULL },
      "5 ",
      "1 number beside the times left out, because another one has its name (c d)" },
    { "[{\"benchmark\":\"x\",\"mode\":\"avgt\",\"primaryMetric\":{\"score\":1,\"scoreUnit\":"
      "\"s/op\"},\"secondaryMetrics\":{\"" LONG "1\":{\"score\":7,\"scoreUnit\":\"#\"},\"" LONG
      "2\":{\"score\":8,\"scoreUnit\":\"#\"}}}]",
      { NULL },
      "7 8 ",
      NULL },
};

/* Names that are alike as far as there is room, or but for signs, are those of two numbers. */
TEST(numbers_of_like_names_are_two)
{
    for (size_t i = 0; i < sizeof(like_names) / sizeof(like_names[0]); i++) {
        struct string_list betters = { 0 };
        const struct import_options said = { .betters = &betters, .is_word = is_test_word };
        struct strbuf told, better;
        struct imported in;
        struct error err;
        strbuf_init(&told);
        for (size_t b = 0; b < 2 && like_names[i].better[b]; b++) {
            strbuf_init(&better);
            strbuf_addf(&better, "%s=lower", like_names[i].better[b]);
            string_list_add(&betters, better.data);
            strbuf_release(&better);
        }
        assert_ok(
            import_parse(like_names[i].text, strlen(like_names[i].text), "x", &said, &in, &err),
            &err);
        tell_numbers(&in.records.items[0].m, &told);
        assert_string_equal(told.data, like_names[i].numbers);
        bool noted = false;
        for (size_t n = 0; n < in.notes.nr; n++)
            noted |= strstr(in.notes.items[n],
                            like_names[i].note ? like_names[i].note : "another") != NULL;
        assert_int_equal(noted, like_names[i].note != NULL);
        strbuf_release(&told);
        imported_release(&in);
        string_list_release(&betters);
    }
}

/* Of a member whose numbers are taken, what is none is told. */
TEST(what_is_no_number_is_told)
{
    static const char text[] =
        "{\"machine_info\":{},\"benchmarks\":[{\"name\":\"t\",\"stats\":{\"data\":[1],"
        "\"iterations\":1,"
        "\"rounds\":1},\"extra_info\":{\"n\":3,\"model\":\"large\",\"as_text\":\"4\",\"none\":NaN,"
        "\"gpu\":{\"name\":\"x\",\"sms\":132}}}]}";
    struct imported in;
    struct error err;

    assert_ok(import_parse(text, strlen(text), "x", &plain, &in, &err), &err);
    const struct measurement *m = import_measurement(&in, "t", 0);
    assert_close(measurement_telemetry(m, "n"), 3, 0);
    assert_close(measurement_telemetry(m, "as_text"), 4, 0);
    assert_int_equal(m->nr_telemetry, 2);
    assert_int_equal(in.notes.nr, 1);
    assert_string_equal(in.notes.items[0],
                        "3 values of benchmarks not taken: extra_info.model (1), "
                        "extra_info.gpu.name (1), extra_info.gpu.sms (1)");
    imported_release(&in);
}

/* Line ends and quotes in cells, and the mark that some programs begin a text with. */
TEST(tables_as_programs_write_them)
{
#define HYPERFINE "command,mean,stddev,median,user,system,min,max\n"
#define GBENCH    "name,iterations,real_time,cpu_time,time_unit,label\n"
#define MARK      "\xef\xbb\xbf"
    static const struct {
        const char *text, *key; /* NULL: it is refused */
        const char *reason;
        double median;
    } tables[] = {
        { HYPERFINE "\"for i in 1 2\ndo \"\"x\"\"; done\",1,0,2,0,0,1,3\n",
          "for i in 1 2 do \"x\"; done", NULL, 2e9 },
        { HYPERFINE "\"a\r\nb\",1,0,2,0,0,1,3\r\n\nc,1,0,3,0,0,1,3\r\n", "c", NULL, 3e9 },
        { MARK HYPERFINE "a,1,0,2,0,0,1,3", "a", NULL, 2e9 },
        { MARK GBENCH "\"BM_A<\"\"x\"\">\",10,5,4,ns,\"of\ntwo lines\"\n", "BM_A<\"x\">", NULL, 5 },
        { "2026-01-02T10:00:00+00:00\nRun on (8 X 2000 MHz CPU s)\n" GBENCH
          "\"BM_A\",10,5,4,ns,\"of\ntwo lines\"\n\"BM_B\",10,6,4,h,\n",
          NULL, "t:6:1: \"time_unit\"", 0 },
        { MARK "goos: linux\nBenchmarkA-2 10 5 ns/op\nPASS\n", "BenchmarkA/procs=2", NULL, 5 },
        { MARK "{\"results\":[{\"command\":\"x\",\"times\":[1,2,3]}]}", "x", NULL, 2e9 },
        { MARK "{\"results\":[{\"command\":7}]}", NULL, "t:1:14: \"command\" is no text", 0 },
        { HYPERFINE "a,1,0,2,0,0,1,3\n\"b\n,1,0,2,0,0,1,3\n", NULL,
          "t:3:1: the quote is never closed", 0 },
        { HYPERFINE "\"a\nb\",1,0,2,0,0,1,3,4\n", NULL, "t:2: more cells than the head line names",
          0 },
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct imported in;
        struct error err = { "" };
        int rc = import_parse(tables[i].text, strlen(tables[i].text), "t", &plain, &in, &err);
        if (tables[i].key && !rc)
            assert_close(import_median(import_measurement(&in, tables[i].key, 0)), tables[i].median,
                         1e-6 * tables[i].median);
        else if (tables[i].key || !rc || !strstr(err.message, tables[i].reason))
            fail_msg("%s\ngives %d: %s", tables[i].text, rc, err.message);
        imported_release(&in);
    }
}

TEST(units_are_times_rates_or_others)
{
    static const struct {
        const char *text;
        enum import_unit_kind kind;
        double ns, bytes;
    } units[] = {
        { "ns", IMPORT_UNIT_TIME, 1, 0 },
        { "us/op", IMPORT_UNIT_TIME, 1e3, 0 },
        { "µs", IMPORT_UNIT_TIME, 1e3, 0 },
        { "ms/iter", IMPORT_UNIT_TIME, 1e6, 0 },
        { "seconds", IMPORT_UNIT_TIME, 1e9, 0 },
        { "s per run", IMPORT_UNIT_TIME, 1e9, 0 },
        { "ops/s", IMPORT_UNIT_RATE, 1e9, 0 },
        { "ops/us", IMPORT_UNIT_RATE, 1e3, 0 },
        { "MB/s", IMPORT_UNIT_RATE, 1e9, 1e6 },
        { "GiB/sec", IMPORT_UNIT_RATE, 1e9, 0x1p30 },
        { "Hz", IMPORT_UNIT_RATE, 1e9, 0 },
        { "B/op", IMPORT_UNIT_OTHER, 0, 0 },
        { "Percent", IMPORT_UNIT_OTHER, 0, 0 },
        { "", IMPORT_UNIT_OTHER, 0, 0 },
        { "Megabytes", IMPORT_UNIT_OTHER, 0, 0 },
        { "/s", IMPORT_UNIT_RATE, 1e9, 0 },
        { "instructions", IMPORT_UNIT_OTHER, 0, 0 },
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        struct import_unit u = import_unit_of(units[i].text);
        if (u.kind != units[i].kind || u.ns != units[i].ns || u.bytes != units[i].bytes)
            fail_msg("\"%s\": kind %d, %g ns, %g bytes", units[i].text, (int)u.kind, u.ns, u.bytes);
    }
}

/* The table of the docs is that of the program. */
TEST(the_docs_list_every_format)
{
    struct error err;
    size_t length;
    char *page = file_read(HARNESS_SOURCE_DIR "/docs/import.md", FILE_SETTINGS_MOST, &length, &err);

    assert_non_null(page);
    for (int i = 1; i < IMPORT_FORMAT_NR; i++) {
        enum import_format format = (enum import_format)i;
        char row[300];
        snprintf(row, sizeof(row), "\n| `%s` | %s: %s |", import_format_name(format),
                 import_format_title(format), import_format_reads(format));
        if (!strstr(page, row))
            fail_msg("docs/import.md lacks the row%s", row);
    }
    free(page);
}

RUN_TESTS(NULL, NULL)
