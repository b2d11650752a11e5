/* SPDX-License-Identifier: MIT */
/* What people type and read: lists, ranges, durations, shares, nearest names, filters, units.
 * Features: U-04, S0-14 (sweep lists), S3-10 (unit scaling). */
#include "testing.h"

#include "base/strbuf.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(lists_and_ranges)
{
    static const struct {
        const char *text, *list; /* as it reads back */
    } cases[] = {
        { "1", "1" },
        { "1,2,4", "1,2,4" },
        { "4,1,4", "4,1,4" }, /* as typed; selections drop repeats */
        { "32:512:*2", "32,64,128,256,512" },
        { "32:511:*2", "32,64,128,256" },
        { "64:256:+64", "64,128,192,256" },
        { "1,8:32:*2,100:300:+100,7", "1,8,16,32,100,200,300,7" },
        { "5:5:+1", "5" },
        { "1000000000", "1000000000" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct int_list list = { 0 };
        struct strbuf got;
        struct error err;
        strbuf_init(&got);
        assert_ok(text_parse_ints(cases[i].text, 1, 1000000000, "--batch", &list, &err), &err);
        for (size_t j = 0; j < list.nr; j++)
            strbuf_addf(&got, "%s%lld", j ? "," : "", (long long)list.items[j]);
        assert_string_equal(got.data, cases[i].list);
        strbuf_release(&got);
        array_release(&list);
    }
}

TEST(bad_lists_are_refused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "0", "--batch: 0 is out of range (1 to 1000000000)" },
        { "-1", "--batch: -1 is out of range" },
        { "x", "--batch: \"x\" is not a whole number" },
        { "0,-1,x", "--batch: 0 is out of range" },
        { "1,2,x", "\"x\" is not a whole number" },
        { "1000000000000", "1000000000000 is out of range" },
        { "99999999999999999999999", "99999999999999999999999 is out of range" },
        { "1.5", "\"1.5\" is not a whole number" },
        { "0x10", "\"0x10\" is not a whole number" },
        { "4 4", "\"4 4\" is not a whole number" },
        { "", "\"\" is not a whole number" },
        { "1,,2", "\"\" is not a whole number" },
        { "1,", "\"\" is not a whole number" },
        { "1:8", "is not a range like 32:512:*2" },
        { "1:8:2", "is not a range" },
        { "1:8:16:*2", "is not a range" },
        { ":8:*2", "\"\" is not a whole number" },
        { "1::*2", "\"\" is not a whole number" },
        { "1:8:*", "\"\" is not a whole number" },
        { "1:8:*1", "1 is out of range (2 to" }, /* would never end */
        { "1:8:+0", "0 is out of range (1 to" },
        { "8:1:*2", "the range 8:1:*2 is empty" },
        { "1:1000000000:+1", "more than 10000 values" },
        { "1:1000000000000:*2", "1000000000000 is out of range" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct int_list list = { 0 };
        struct error err = { "" };
        if (text_parse_ints(bad[i].text, 1, 1000000000, "--batch", &list, &err) != -1)
            fail_msg("\"%s\" was accepted", bad[i].text);
        assert_has(err.message, bad[i].says);
        array_release(&list);
    }
}

/* A range up to the largest number ends without passing it. */
TEST(ranges_end_before_they_overflow)
{
    struct int_list list = { 0 };
    struct error err;

    assert_ok(text_parse_ints("1:9223372036854775807:*1000000", 1, INT64_MAX, "n", &list, &err),
              &err);
    assert_int_equal(list.nr, 4); /* 1, 10^6, 10^12, 10^18 */
    assert_true(list.items[3] == 1000000000000000000);
    list.nr = 0;
    assert_ok(text_parse_ints("9223372036854775800:9223372036854775807:+5", 1, INT64_MAX, "n",
                              &list, &err),
              &err);
    assert_int_equal(list.nr, 2);
    assert_true(list.items[1] == 9223372036854775805);
    list.nr = 0;
    assert_ok(text_parse_ints("-9223372036854775808:9223372036854775807:+9223372036854775807",
                              INT64_MIN, INT64_MAX, "n", &list, &err),
              &err);
    assert_int_equal(list.nr, 3);
    assert_fails(text_parse_ints("0:8:*2", 0, INT64_MAX, "n", &list, &err), &err, "does not end");
    array_release(&list);
}

TEST(single_numbers)
{
    struct error err;
    int64_t whole = 5;
    double number = 5;

    assert_ok(text_parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, "n", &whole, &err),
              &err);
    assert_true(whole == INT64_MIN);
    assert_int_equal(text_parse_int("9223372036854775808", INT64_MIN, INT64_MAX, "n", &whole, &err),
                     -1);
    assert_true(whole == INT64_MIN); /* untouched on error */
    assert_ok(text_parse_double("1e-3", 0, 1, "x", &number, &err), &err);
    assert_true(number == 1e-3);
    assert_int_equal(text_parse_double("nan", 0, 1, "x", &number, &err), -1);
    assert_int_equal(text_parse_double("inf", 0, 1e300, "x", &number, &err), -1);
    assert_fails(text_parse_double("1.01", 0, 1, "x", &number, &err), &err,
                 "x: 1.01 is out of range (0 to 1)");
    assert_int_equal(text_parse_double("", 0, 1, "x", &number, &err), -1);
    assert_fails(text_parse_double("1ms", 0, 1, "x", &number, &err), &err,
                 "x: \"1ms\" is not a number");
    assert_true(number == 1e-3);
}

TEST(durations)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = { { "250ms", 0.25 }, { "90s", 90 },     { "2m", 120 }, { "1h", 3600 },
                 { "90", 90 },      { "1.5h", 5400 },  { "0", 0 },    { "20us", 2e-5 },
                 { "1e3", 1000 },   { "90d", 7776000 } };
    static const char *const bad[] = { "",    "ms",  "5 s",  "-1s", "1w",       "1sec",
                                       "nan", "inf", "1,5s", "abc", "9999999h", "1e12" };
    struct error err;

    for (size_t i = 0; i < COUNT(good); i++) {
        double seconds = -1;
        assert_ok(text_parse_duration(good[i].text, "--budget", &seconds, &err), &err);
        assert_close(seconds, good[i].seconds, 1e-12 * good[i].seconds);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        double seconds = -1;
        if (text_parse_duration(bad[i], "--budget", &seconds, &err) != -1)
            fail_msg("\"%s\" was accepted as %g s", bad[i], seconds);
        assert_has(err.message, "--budget: \"");
        assert_has(err.message, "250ms");
        assert_true(seconds == -1);
    }
}

TEST(sizes)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = { { "0", 0 },
                 { "1500", 1500 },
                 { "7B", 7 },
                 { "2K", 2048 },
                 { "500M", 500 << 20 },
                 { "1.5GiB", INT64_C(3) << 29 },
                 { "2g", INT64_C(2) << 30 },
                 { "3MB", 3000000 },
                 { "1T", INT64_C(1) << 40 } };
    static const char *const bad[] = { "",    "G",    "-1",  "1X",    "1 G",
                                       "nan", "infG", "1Gi", "1GiBs", "1e9T" };
    struct error err;
    int64_t bytes;

    for (size_t i = 0; i < COUNT(good); i++) {
        assert_ok(text_parse_size(good[i].text, 0, "--memory-limit", &bytes, &err), &err);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (text_parse_size(bad[i], 0, "--memory-limit", &bytes, &err) != -1)
            fail_msg("\"%s\" was accepted as %lld", bad[i], (long long)bytes);
        assert_has(err.message, "--memory-limit: \"");
        assert_has(err.message, "500M");
    }
    assert_fails(text_parse_size("15M", 16 << 20, "--memory-limit", &bytes, &err), &err,
                 "--memory-limit: 15M is less than 16.00 MiB");
}

TEST(fractions)
{
    static const char *const bad[] = { "",      "%", "3%%", "-3%", "3 %", "nan",  "inf%", "10",
                                       "1000%", "1", "1.5", "3",   "5",   "9.99", "1e0" };
    struct error err;
    double fraction = -1;

    assert_ok(text_parse_fraction("3%", "--delta", &fraction, &err), &err);
    assert_close(fraction, 0.03, 1e-17);
    assert_ok(text_parse_fraction("0.03", "--delta", &fraction, &err), &err);
    assert_close(fraction, 0.03, 1e-17);
    assert_ok(text_parse_fraction("0", "--delta", &fraction, &err), &err);
    assert_true(fraction == 0);
    assert_ok(text_parse_fraction("150%", "--delta", &fraction, &err), &err);
    assert_close(fraction, 1.5, 1e-17);
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (text_parse_fraction(bad[i], "--delta", &fraction, &err) != -1)
            fail_msg("\"%s\" was accepted as %g", bad[i], fraction);
        assert_has(err.message, "--delta: \"");
    }
}

TEST(nearest_names)
{
    static const char *const models[] = {
        "nano", "micro", "mini", "tile-small", "tile-large", NULL
    };
    static const char *const none[] = { NULL };
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
        "abcdefghijklmnopqrstuvwxyz";

    assert_string_equal(text_nearest("nanno", models), "nano");
    assert_string_equal(text_nearest("mcro", models), "micro");
    assert_string_equal(text_nearest("tilesmall", models), "tile-small");
    assert_string_equal(text_nearest("large", models), "tile-large"); /* part of a name */
    assert_string_equal(text_nearest("mini", models), "mini");
    assert_null(text_nearest("transformer", models));
    assert_null(text_nearest("", models));
    assert_null(text_nearest("nano", none));
    assert_null(text_nearest(letters, models)); /* longer than the table of distances */
}

TEST(words_of_a_list)
{
    static const struct {
        const char *list, *word;
        bool is;
    } words[] = {
        { "prune", "prune", true },
        { "list, verdicts", "list", true },
        { "list, verdicts", "verdicts", true },
        { "list, verdicts", "verdict", false },
        { "unaccept, accept", "accept", true },
        { "unaccept", "accept", false },
        { "accepted", "accept", false },
        { "list", "", false },
    };

    for (size_t i = 0; i < COUNT(words); i++)
        assert_int_equal(text_lists(words[i].list, words[i].word), words[i].is);
}

TEST(filters)
{
    static const char key[] = "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm";
    static const struct {
        const char *filter;
        bool matches;
    } rows[] = {
        { "gemm", true },
        { "gemm/linear", true },
        { key, true },
        { "gemm/*", true },
        { "*simd*", true },
        { "*/warm", true },
        { "gemm/l?near", true },
        { "[ag]emm", true },
        { "[!n]*", true },
        { "*", true },
        { "gemm/*/fp32", true },
        { "gem", false },
        { "linear", false },
        { "gemm/lin", false },
        { "gemm/linear/", false },
        { "[!g]*", false },
        { "", false },
        { "GEMM", false },
        { "*/cold", false },
        { "gemm/linear/simd/fp32/batch=4", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (text_filter_matches(rows[i].filter, key) != rows[i].matches)
            fail_msg("\"%s\" %s", rows[i].filter, rows[i].matches ? "must match" : "matches");
}

TEST(filter_lists)
{
    static const char key[] = "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm";
    static const struct {
        const char *filters[3]; /* to the first NULL */
        bool takes;
    } rows[] = {
        { { NULL }, true },
        { { "gemm" }, true },
        { { "gpt" }, false },
        { { "gpt", "gemm" }, true },
        { { "!gpt" }, true },
        { { "!gemm" }, false },
        { { "!gpt", "!*seq=64/*" }, false },
        { { "gemm", "!*/simd/*" }, false },
        { { "!*/simd/*", "gemm" }, true }, /* the last that matches */
        { { "gpt", "!null" }, false },
        { { "gemm", "!*/simd/*", "*/warm" }, true },
        { { "!" }, true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t nr = 0;
        while (nr < COUNT(rows[i].filters) && rows[i].filters[nr] != NULL)
            nr++;
        if (text_filters_take(rows[i].filters, nr, key) != rows[i].takes)
            fail_msg("row %zu %s", i, rows[i].takes ? "must be taken" : "is taken");
    }
}

typedef char *unit_text(double value, char buffer[TEXT_UNIT_SIZE]);

static char *rate_text(double value, char buffer[TEXT_UNIT_SIZE])
{
    return text_rate(value, "FLOP/s", buffer);
}

TEST(units)
{
    static const struct {
        unit_text *function;
        double value;
        const char *text;
    } rows[] = {
        { text_time, 0, "0.000 ns" },
        { text_time, 0.25, "0.250 ns" },
        { text_time, 9.9994, "9.999 ns" },
        { text_time, 9.9996, "10.00 ns" },
        { text_time, 12300, "12.30 us" },
        { text_time, 99.996, "100.0 ns" },
        { text_time, 999.94, "999.9 ns" },
        { text_time, 999.95, "1.000 us" },
        { text_time, 999949, "999.9 us" },
        { text_time, 999950, "1.000 ms" },
        { text_time, 1e9, "1.000 s" },
        { text_time, 1234e9, "1234 s" },
        { text_time, -12300, "-12.30 us" },
        { text_time, -999.95, "-1.000 us" },
        { text_time, (double)NAN, "n/a" },
        { text_time, (double)INFINITY, "n/a" },
        { text_bytes, 512, "512.0 B" },
        { text_bytes, 1000, "1000 B" },
        { text_bytes, 1023, "1023 B" },
        { text_bytes, 1024, "1.000 KiB" },
        { text_bytes, 1023.4 * 1024, "1023 KiB" },
        { text_bytes, 1023.7 * 1024, "1.000 MiB" },
        { text_bytes, 1.5 * (1 << 30), "1.500 GiB" },
        { text_bytes, (double)INT64_MAX, "8192 PiB" },
        { text_bytes, (double)NAN, "n/a" },
        { rate_text, 3.1e9, "3.100 GFLOP/s" },
        { rate_text, 999.95e9, "1.000 TFLOP/s" },
        { rate_text, 12, "12.00 FLOP/s" },
        { rate_text, (double)NAN, "n/a" },
        { text_percent, 0.032, "+3.2 %" },
        { text_percent, -0.5, "-50.0 %" },
        { text_percent, 0, "+0.0 %" },
        { text_percent, -0.0004, "+0.0 %" },
        { text_percent, -0.0005, "-0.1 %" },
        { text_percent, 0.9994, "+99.9 %" },
        { text_percent, 0.9996, "+100 %" },
        { text_percent, 13.34, "+1334 %" },
        { text_percent, 98.99, "+9899 %" },
        { text_percent, 99, "100x" },
        { text_percent, 998.4, "999x" },
        { text_percent, 998.5, "1,000x" },
        { text_percent, 1896.35, "1,897x" },
        { text_percent, 54321, "54,322x" },
        { text_percent, 2e6, "2e+06x" },
        { text_percent, (double)INFINITY, "n/a" },
        { text_share, 0.032, "3.2 %" },
        { text_share, -0.0001, "0.0 %" },
        { text_share, -0.25, "-25.0 %" },
        { text_share, 2.5, "250 %" },
        { text_share, (double)NAN, "n/a" },
        { text_percent, (double)NAN, "n/a" },
    };
    char buffer[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = rows[i].function(rows[i].value, buffer);
        assert_ptr_equal(text, buffer);
        if (strcmp(text, rows[i].text) != 0)
            fail_msg("%.17g: \"%s\", expected \"%s\"", rows[i].value, text, rows[i].text);
    }
}

/* Whatever the size, the text fits and is a string. */
TEST(units_of_absurd_size_fit)
{
    char buffer[TEXT_UNIT_SIZE];

    assert_true(strlen(text_time(1e300, buffer)) < TEXT_UNIT_SIZE);
    assert_true(strlen(text_bytes(-1e300, buffer)) < TEXT_UNIT_SIZE);
    assert_true(strlen(rate_text(1e300, buffer)) < TEXT_UNIT_SIZE);
    assert_true(strlen(text_percent(1e300, buffer)) < TEXT_UNIT_SIZE);
    assert_string_equal(text_percent_range(-0.456, 1e300, buffer), "0.54x to 1e+300x");
}

TEST(timestamps)
{
    char buffer[TEXT_UNIT_SIZE];

    assert_string_equal(text_timestamp(0, buffer), "1970-01-01 00:00:00Z");
    assert_string_equal(text_timestamp(1794304440999, buffer), "2026-11-10 09:54:00Z");
    assert_string_equal(text_timestamp(951782400000, buffer), "2000-02-29 00:00:00Z");
}

TEST(what_is_known_roughly_has_few_digits)
{
    static const struct {
        double value;
        int figures;
        const char *text;
    } rows[] = {
        { 480, 2, "480" },     { 482, 2, "480" },
        { 99.6, 2, "100" },    { 12.4, 2, "12" },
        { 4.84, 2, "4.8" },    { 3, 2, "3" },
        { 0, 2, "0" },         { 0.0521, 2, "0.052" },
        { 75000, 4, "75000" }, { 75004, 4, "75000" },
        { 1000, 3, "1000" },   { -482, 2, "-480" },
        { 9999.4, 4, "9999" }, { 0.00001, 2, "1e-05" },
        { 1e20, 2, "1e+20" },  { (double)NAN, 2, "nan" },
    };
    char text[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(text_figures(rows[i].value, rows[i].figures, text), rows[i].text);
    assert_string_equal(text_about(4.8, 2, text), "480 %");
    assert_string_equal(text_about(0.0312, 2, text), "3.1 %");
}

RUN_TESTS(NULL, NULL)
