/* SPDX-License-Identifier: MIT */
/* Files a hundred times as large as anybody has: refused with the limit, or read within a budget of
 * memory. Covers: U-10, S0-10. */
#include "import_testing.h"

#include "base/file.h"
#include "base/json.h"
#include "base/pack.h"
#include "base/strbuf.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const struct import_options plain;

/* A hundred times what anybody has: refused with the limit, before it takes memory. */
static void assert_refused_at_scale(const char *head, const char *row, const char *tail,
                                    const char *reason)
{
    struct strbuf text;
    struct imported in;
    struct error err = { "" };

    strbuf_init(&text);
    strbuf_adds(&text, head);
    for (int i = 0; i < 1000000; i++)
        strbuf_addf(&text, row, i);
    strbuf_adds(&text, tail);
    assert_int_equal(import_parse(text.data, text.length, "t", &plain, &in, &err), -1);
    if (!strstr(err.message, reason))
        fail_msg("%s\nexpected: %s", err.message, reason);
    imported_release(&in);
    strbuf_release(&text);
}

/* Ten columns with their names, and a row of them. */
#define TENS(a) "," a "0," a "1," a "2," a "3," a "4," a "5," a "6," a "7," a "8," a "9"
#define ONES    ",1,1,1,1,1,1,1,1,1,1"

TEST(a_million_benchmarks_are_refused)
{
    static const char most[] = "more than 65536 benchmarks", values[] = "more than 2097152 values";

    assert_refused_at_scale("goos: linux\n", "BenchmarkA%d 1 2 ns/op\n", "PASS\n", most);
    assert_refused_at_scale("", "test a%d ... bench: 1 ns/iter (+/- 1)\n", "", most);
    assert_refused_at_scale("<Catch><TestCase name='a'>",
                            "<BenchmarkResults name='%d'><mean value='1'/></BenchmarkResults>",
                            "</TestCase></Catch>", most);
    assert_refused_at_scale("command,mean,stddev,median,user,system,min,max\n",
                            "a%d,1,1,1,1,1,1,1\n", "", "more than 65536 lines");
    assert_refused_at_scale("command,mean,stddev,median,user,system,min,max" TENS("a") TENS("b")
                                TENS("c") TENS("d") "\n",
                            "a%d,1,1,1,1,1,1,1" ONES ONES ONES ONES "\n", "", values);
    assert_refused_at_scale("{\"files\":[{\"groups\":[{\"fullName\":\"g\",\"benchmarks\":[",
                            "{\"name\":\"a%d\",\"mean\":1},", "{}]}]}]}", values);
    assert_refused_at_scale("[", "{\"name\":\"a%d\",\"unit\":\"ns\",\"value\":1},", "{}]", values);
}

static void read_in_seconds(const struct strbuf *text, const char *note)
{
    struct imported in;
    struct error err;
    clock_t begin = clock();
    bool noted = false;

    assert_ok(import_parse(text->data, text->length, "t", &plain, &in, &err), &err);
    assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
    assert_close(import_median(import_measurement(&in, "BM_A", 0)), 5, 0);
    for (size_t i = 0; i < in.notes.nr; i++)
        noted |= strstr(in.notes.items[i], note) != NULL;
    assert_true(noted);
    imported_release(&in);
}

/* Each name is looked for once, not among all those before it. */
TEST(hundreds_of_thousands_of_names_are_read)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "name,iterations,real_time,cpu_time,time_unit,label");
    for (int i = 0; i < 300000; i++)
        strbuf_addf(&text, ",c%d", i);
    strbuf_adds(&text, "\nBM_A,10,5,4,ns,");
    for (int i = 0; i < 300000; i++)
        strbuf_adds(&text, ",1");
    strbuf_adds(&text, "\n");
    read_in_seconds(&text, "beside the times left out: too many of one benchmark");
    strbuf_clear(&text);
    strbuf_adds(&text, "{\"context\":{");
    for (int i = 0; i < 300000; i++)
        strbuf_addf(&text, "%s\"c%d\":\"1\"", i ? "," : "", i);
    strbuf_adds(&text,
                "},\"benchmarks\":[{\"name\":\"BM_A\",\"iterations\":10,\"real_time\":5,"
                "\"cpu_time\":4,\"time_unit\":\"ns\"}]}");
    read_in_seconds(&text, "299744 facts of \"context\" not taken");
    strbuf_release(&text);
}

/* What a few bytes of gzip unfold to in the page of a report. */
TEST(values_without_end_in_a_page_are_refused)
{
    struct rusage before, after;
    struct strbuf block, packed, text;
    struct imported in;
    struct error err;

    for (int is_packed = 0; is_packed < 2; is_packed++) {
        strbuf_init(&block);
        strbuf_init(&packed);
        strbuf_init(&text);
        strbuf_adds(&block, "{\"runs\":[");
        for (size_t i = 0; i < 3 * JSON_VALUES_MOST; i++)
            strbuf_adds(&block, "0,");
        strbuf_adds(&block, "0]}");
        gzip_add(&packed, block.data, block.length, 9);
        strbuf_adds(&text, "<html><script id=\"harness-core\">");
        if (is_packed)
            base64_add(&text, packed.data, packed.length);
        else
            strbuf_add(&text, block.data, block.length);
        strbuf_adds(&text, "</script></html>");
        getrusage(RUSAGE_SELF, &before);
        assert_int_equal(import_parse(text.data, text.length, "t", &plain, &in, &err), -1);
        getrusage(RUSAGE_SELF, &after);
        assert_non_null(strstr(err.message,
                               "t:1:1: this is the page of a report, cut short or "
                               "damaged: its block \"core\" cannot be read: core: "
                               "more than 2097152 values"));
        assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10); /* KiB */
        imported_release(&in);
        strbuf_release(&block);
        strbuf_release(&packed);
        strbuf_release(&text);
    }
}

TEST(a_hundred_megabytes_are_refused)
{
    static const char path[] = HARNESS_TEST_DIR "/large.json";
    struct imported in;
    struct error err = { "" };

    assert_ok(file_write(path, "[", 1, &err), &err);
    assert_int_equal(truncate(path, 100 << 20), 0);
    assert_int_equal(import_file(path, &plain, &in, &err), -1);
    assert_non_null(strstr(err.message, "64 MiB"));
    imported_release(&in);
}

/* Cases move in memory as they become more; a benchmark that is read stays the one that it is. */
TEST(forks_are_of_their_benchmark)
{
    for (int nr = 1; nr <= 100; nr++) {
        struct strbuf text;
        struct imported in;
        struct error err;
        strbuf_init(&text);
        strbuf_adds(&text,
                    "[{\"benchmark\":\"b\",\"mode\":\"avgt\",\"primaryMetric\":{\"score\":1,"
                    "\"scoreUnit\":\"s/op\",\"rawData\":[");
        for (int i = 0; i < nr; i++)
            strbuf_addf(&text, "%s[1,2,3,4,5,6,7,8,9]", i ? "," : "");
        strbuf_adds(&text, "]}}]");
        assert_ok(import_parse(text.data, text.length, "t", &plain, &in, &err), &err);
        assert_int_equal(in.records.nr, nr);
        for (int i = 0; i < nr; i++)
            assert_int_equal(import_measurement(&in, "b/avgt", i)->nr_samples, 9);
        imported_release(&in);
        strbuf_release(&text);
    }
}

/* JMH's -bm sample as it is by default, five forks of five iterations, of `benchmarks`, with `each`
 * times in an iteration: of `nr` values up to 100, as often each. */
static void add_jmh_samples(struct strbuf *text, int benchmarks, int nr, int each)
{
    for (int i = 0; i < benchmarks * 25; i++) {
        if (i % 25 == 0)
            strbuf_addf(
                text,
                "%s{\"benchmark\":\"b%d\",\"mode\":\"sample\",\"primaryMetric\":{\"score\":50,"
                "\"scoreUnit\":\"us/op\",\"rawDataHistogram\":[[",
                i ? "]]}}," : "[", i / 25);
        else
            strbuf_adds(text, i % 5 == 0 ? "],[" : ",");
        for (int value = 1; value <= nr; value++)
            strbuf_addf(text, "%s[%d,%d]", value > 1 ? "," : "[", value * 100 / nr, each / nr);
        strbuf_adds(text, "]");
    }
    strbuf_adds(text, "]]}}]");
}

/* Eighty benchmarks of JMH have hundreds of millions of times: of each fork so many are kept that
 * its percentiles stay, and all of them fit into memory. */
TEST(millions_of_jmh_samples_are_thinned)
{
    static const struct {
        int benchmarks, values, each;
        size_t kept; /* of a fork */
        bool noted;
    } rows[] = {
        { 2, 100, 1000, 5000, false },       { 2, 100, 2000, 10000, false },
        { 2, 100, 100000, 10000, true },     { 80, 100, 100000, 10000, true },
        { 80, 100, 100000000, 10000, true }, { 800, 10, 10000, 1000, true },
    };
    struct rusage before, after;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf text;
        struct imported in;
        struct error err;
        strbuf_init(&text);
        add_jmh_samples(&text, rows[i].benchmarks, rows[i].values, rows[i].each);
        getrusage(RUSAGE_SELF, &before);
        assert_ok(import_parse(text.data, text.length, "t", &plain, &in, &err), &err);
        getrusage(RUSAGE_SELF, &after);
        assert_true(after.ru_maxrss - before.ru_maxrss < 512 << 10); /* KiB */
        assert_int_equal(in.records.nr, rows[i].benchmarks * 5);
        for (size_t k = 0; k < in.records.nr; k++) {
            const struct measurement *m = &in.records.items[k].m;
            assert_int_equal(m->nr_samples, rows[i].kept);
            assert_close(import_median(m), 50000 + 50000 / rows[i].values,
                         50000 / rows[i].values + 1);
        }
        assert_int_equal(in.notes.nr, rows[i].noted);
        imported_release(&in);
        strbuf_release(&text);
    }
}

RUN_TESTS(NULL, NULL)
