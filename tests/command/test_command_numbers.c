/* SPDX-License-Identifier: MIT */
/* The numbers that a program prints: what finds them, and what is said where they are not there. */
#include "testing.h"

#include "base/error.h"
#include "base/memory.h"
#include "command/command_numbers.h"
#include "command/command_pattern.h"
#include "command/json_path.h"

/* ---- patterns ---- */

static const struct {
    const char *pattern, *line, *value; /* NULL: no match */
} patterns[] = {
    { "GFLOPs: (\\S+)", "x GFLOPs: 812.5 total", "812.5" },
    { "GFLOPs: (\\S+)", "gflops: 812.5", NULL },
    { "[0-9.]+ MB/s", "at 12.5 MB/s now", "12.5 MB/s" }, /* no group: the whole match */
    { "(?:a|b)=(\\d+)", "b=17", "17" },
    { "([\\d.]+)\\s+ops\\/s", "took 9\t 123.4   ops/s", "123.4" },
    { "^(\\w+)$", "one_2", "one_2" },
    { "\\((\\d+)\\)", "f(12)", "12" },
    { "a{2,3}:(\\d)", "xaa:4", "4" },
    { "colou?r (\\d)", "color 5", "5" },
    { "total|sum: (\\d)", "sum: 5", "5" },
    { "[^,]+,([^,]+),", "a,1e3,b", "1e3" },
    { "x\\ty(\\d)", "x\ty7", "7" },
    { "[[:digit:]]+", "ab12", "12" },
    { "\\<(\\d+)\\>", "<5>", "5" }, /* a mark is a mark, not a border of words */
    { "\xc2\xb5s: (\\d)", "\xc2\xb5s: 3", "3" },
};

TEST(a_pattern_finds_its_value)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct pattern p;
        struct error err = { "" };
        size_t begin = 0, length = 0;
        char value[64] = "";
        if (pattern_compile(patterns[i].pattern, &p, &err))
            fail_msg("%s: %s", patterns[i].pattern, err.message);
        bool found = pattern_find(&p, patterns[i].line, &begin, &length);
        if (found)
            snprintf(value, sizeof(value), "%.*s", (int)length, patterns[i].line + begin);
        pattern_free(&p);
        assert_int_equal(found, patterns[i].value != NULL);
        if (found)
            assert_string_equal(value, patterns[i].value);
    }
}

/* What would mean something else here than where it was learnt. */
static const struct {
    const char *pattern, *why;
} refused[] = {
    { "", "1 to 256 characters" },      { "(.*?)x", "lazy" },         { "a++", "lazy" },
    { "(?=x)", "look-around" },         { "(?<n>x)", "look-around" }, { "\\bx", "backslashes" },
    { "(a)\\1", "backslashes" },        { "[a", "not closed" },       { "a{2", "not closed" },
    { "(a", "the pattern is none" },    { "[\\]]", "in brackets" },   { "a\\", "backslashes" },
    { "[z-a]", "the pattern is none" },
};

TEST(a_pattern_that_is_none_is_refused)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct pattern p;
        struct error err = { "" };
        assert_int_equal(pattern_compile(refused[i].pattern, &p, &err), -1);
        if (!strstr(err.message, refused[i].why))
            fail_msg("%s: %s", refused[i].pattern, err.message);
    }
}

/* ---- --metric ---- */

static const struct {
    const char *text, *why; /* NULL: fine */
} specs[] = {
    { "tflops=/GFLOPs: (\\S+)/", NULL },
    { "rate=/(\\S+) req\\/s/mean", NULL },
    { "rate=/a/b (\\S+)/max", NULL }, /* the last slash ends it */
    { "iops=$.jobs[0].read.iops", NULL },
    { "iops=$['a b'][-1]", NULL },
    { "iops=$", NULL },
    { "/x/", "is not NAME=/PATTERN/" },
    { "=/x/", "is not NAME=/PATTERN/" },
    { "a b=/x/", "cannot be the name" },
    { "2x=/x/", "cannot be the name" },
    { "x=y", "behind the \"=\"" },
    { "x=/y", "no \"/\" at its end" },
    { "x=/y/meen", "did you mean mean?" },
    { "x=$.", "column 2 of the path" },
    { "x=$.a[x]", "column 4 of the path" },
    { "x=$a", "column 2 of the path" },
    { "x=/(/", "x: the pattern is none" },
    { "a_name_that_is_longer_than_any_needs=/x/", "at most 31 characters" },
    { "sort:rate=/a: (\\S+)/min", NULL }, /* of one program of several */
    { "my-sort.2:rate=$.a", NULL },
    { ":rate=/x/", "before the \":\"" },
    { "sort:=/x/", "is not NAME=/PATTERN/" },
};

/* What only one prints comes before what each does, and in its place. */
TEST(numbers_of_one_program_of_several)
{
    static const char *const texts[] = { "rate=/a/", "nr=/b/", "sort:rate=/c/", "copy:size=/d/" };
    static const struct {
        const char *name, *patterns;
    } cases[] = { { "sort", "cb" }, { "copy", "dab" }, { "other", "ab" } };
    struct number_specs all = { .nr = 0 }, own;
    struct error err;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_ok(number_spec_parse(texts[i], array_push(&all), &err), &err);
    assert_ok(number_specs_check(&all, &err), &err);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char said[8] = "";
        number_specs_of(&all, cases[i].name, &own);
        for (size_t n = 0; n < own.nr && n < sizeof(said) - 1; n++)
            said[n] = own.items[n].pattern[0];
        assert_string_equal(said, cases[i].patterns);
        array_release(&own);
    }
    assert_ok(number_spec_parse("sort:rate=/e/", array_push(&all), &err), &err);
    assert_int_equal(number_specs_check(&all, &err), -1); /* twice */
    number_specs_release(&all);
}

TEST(a_metric_as_it_is_typed)
{
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct number_spec spec;
        struct error err = { "" };
        int rc = number_spec_parse(specs[i].text, &spec, &err);
        if (specs[i].why ? !strstr(err.message, specs[i].why) : rc != 0)
            fail_msg("%s: %s", specs[i].text, err.message);
        assert_int_equal(rc, specs[i].why ? -1 : 0);
        if (rc == 0) {
            char *again = number_spec_text(&spec);
            assert_string_equal(again, specs[i].text);
            free(again);
        }
        number_spec_release(&spec);
    }
}

/* ---- a run ---- */

static void spec_of(struct number_specs *all, const char *text)
{
    struct error err = { "" };

    all->items = memory_zeroed(1, sizeof(*all->items));
    all->nr = all->capacity = 1;
    if (number_spec_parse(text, &all->items[0], &err))
        fail_msg("%s: %s", text, err.message);
}

/* 0 or -1 as number_hearing_end(); in pieces of every size. */
static int hear(const char *metric, const char *out, const char *errors, size_t piece,
                double *value, struct error *err)
{
    struct number_specs all = { 0 };
    spec_of(&all, metric);
    struct number_hearing *h = number_hearing_create(&all, err);
    size_t nr = strlen(out);

    number_hearing_begin(h);
    for (size_t at = 0; at < nr; at += piece)
        number_hearing_add(h, NUMBER_OUTPUT, out + at, nr - at < piece ? nr - at : piece);
    number_hearing_add(h, NUMBER_ERRORS, errors, strlen(errors));
    int rc = number_hearing_end(h, value, err);
    number_hearing_free(h);
    number_specs_release(&all);
    return rc;
}

static const struct {
    const char *metric, *out, *errors;
    double value;
    const char *why; /* of what has none */
} runs[] = {
    { "x=/v (\\S+)/", "v 1\nv 2\nv 3\n", "", 3, NULL }, /* the last counts */
    { "x=/v (\\S+)/first", "v 1\nv 2\nv 3\n", "", 1, NULL },
    { "x=/v (\\S+)/min", "v 2\nv 1\nv 3\n", "", 1, NULL },
    { "x=/v (\\S+)/max", "v 2\nv 9\nv 3\n", "", 9, NULL },
    { "x=/v (\\S+)/sum", "v 2\nv 9\nv 3\n", "", 14, NULL },
    { "x=/v (\\S+)/mean", "v 2\nv 9\nv 4\n", "", 5, NULL },
    { "x=/v (\\S+)/", "v -1.5e-3", "", -1.5e-3, NULL }, /* without an end */
    { "x=/v (\\S+)/", "v 1\rv 2\r\n", "", 2, NULL },    /* progress on one line */
    { "x=/v (\\S+)/", "nothing\n", "v 7\n", 7, NULL },  /* only where nothing else matches */
    { "x=/v (\\S+)/", "v 1\n", "v 7\n", 1, NULL },
    { "x=/v (\\S+)/", "v fast\n", "v 7\n", 0, "\"fast\" is no number, in the line \"v fast\"" },
    { "x=/v (\\S+)/", "v 0x10\n", "", 0, "is no number" },
    { "x=/v (\\S+)/", "v inf\n", "", 0, "is no number" },
    { "x=/v (\\S+)/", "v 1e999\n", "", 0, "is no number" },
    { "x=/v (\\S+)/", "v 12.5k\n", "", 0, "put the parentheses round the digits alone" },
    { "x=/v (\\S*)/", "v \n", "", 0, "is no number" },
    { "x=/v (\\S+)/", "w 1\n\n", "", 0, "matches /v (\\S+)/; its last line is \"w 1\"" },
    { "x=/v (\\S+)/", "", "bad\n", 0, "its last line is \"bad\"" },
    { "x=/v (\\S+)/", "", "", 0, "the program printed nothing" },
    { "x=$.a[1].b", "{\"a\":[0,{\"b\":2.5}]}", "", 2.5, NULL },
    { "x=$.a[-1]", "{\"a\":[1,2,3]}", "", 3, NULL },
    { "x=$['a.b']", "{\"a.b\":\"4.5\"}", "", 4.5, NULL }, /* a number in quotes */
    { "x=$", "7", "", 7, NULL },
    { "x=$.v", "warming up\n{\"v\":1}\n", "", 1, NULL },  /* words before it */
    { "x=$.v", "[INFO] start\n{\"v\": 5}", "", 5, NULL }, /* that begin as it does */
    { "x=$.v", "[1/3] a\n[2/3] b\n{}\n{\n\"v\": 6\n}\n\n", "", 6, NULL },
    { "x=$.v", "[12 of 30, \"done\n{\"v\":7}\n", "", 7, NULL }, /* and are never closed */
    { "x=$.v", "{\"v\":1}\n{\"v\":2}\n", "", 2, NULL },         /* one a line: the last */
    { "x=$[1].v", "[\n{\"v\":1},\n{\"v\":2}\n]\n", "", 2, NULL },
    { "x=$.v", "[INFO] start\n{\"v\": }", "", 0, "not valid JSON at line 1, column" },
    { "x=$.v", "[INFO] start\n", "", 0, "not valid JSON at line 1, column" },
    { "x=$.b", "{\"a\":1,\"c\":2}", "", 0, "there is no $.b; there are a, c" },
    { "x=$.a[5]", "{\"a\":[1]}", "", 0, "there is no $.a[5]; the list has 1 items" },
    { "x=$.a", "{\"a\":null}", "", 0, "what is at $.a is no number" },
    { "x=$.a", "{\"a\":", "", 0, "what it printed" },
    { "x=$.a", "", "", 0, "printed nothing where JSON was expected" },
};

TEST(what_a_run_says)
{
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        for (size_t piece = 1; piece < 8; piece += 3) {
            struct error err = { "" };
            double value = NAN;
            int rc = hear(runs[i].metric, runs[i].out, runs[i].errors, piece, &value, &err);
            if (rc != (runs[i].why ? -1 : 0) || (runs[i].why && !strstr(err.message, runs[i].why)))
                fail_msg("%s of \"%s\": %d %s", runs[i].metric, runs[i].out, rc, err.message);
            if (rc == 0)
                assert_close(value, runs[i].value, 1e-12);
        }
}

/* ---- much of it ---- */

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, resident = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
    fclose(file);
    return resident * 4;
}

/* 100 MB in short lines, in one line, and of bytes that are no text: no more memory than for a
 * line. */
TEST(a_hundred_megabytes)
{
    enum { BLOCK = 1 << 16, BLOCKS = 100 << 4 };
    static const char fills[][8] = { "x 1.5 y", "aaaaaaa", { 0, 1, 2, 3, 0, 5, 6, 7 } };
    char *block = memory_zeroed(1, BLOCK);

    for (size_t f = 0; f < sizeof(fills) / sizeof(fills[0]); f++) {
        struct number_specs all = { 0 };
        struct error err = { "" };
        double value = NAN;
        spec_of(&all, "x=/total: (\\S+)/");
        struct number_hearing *h = number_hearing_create(&all, &err);
        for (size_t i = 0; i < BLOCK; i++)
            block[i] = f == 0 && i % 8 == 7 ? '\n' : fills[f][i % (f == 2 ? 8 : 7)];
        number_hearing_begin(h);
        long before = resident_kib();
        for (int i = 0; i < BLOCKS; i++)
            number_hearing_add(h, NUMBER_OUTPUT, block, BLOCK);
        assert_in_range(resident_kib() - before + 1024, 0, 4096);
        number_hearing_add(h, NUMBER_OUTPUT, "\ntotal: 5\n", 10);
        assert_int_equal(number_hearing_end(h, &value, &err), 0);
        assert_close(value, 5, 0);
        number_hearing_free(h);
        number_specs_release(&all);
    }
    free(block);
}

/* JSON is kept as a whole, and no more than it may be. */
TEST(a_hundred_megabytes_of_json)
{
    enum { BLOCK = 1 << 20, BLOCKS = 100 };
    struct number_specs all = { 0 };
    struct error err = { "" };
    char *block = memset(memory_zeroed(1, BLOCK), ' ', BLOCK);
    double value;

    spec_of(&all, "x=$.a");
    struct number_hearing *h = number_hearing_create(&all, &err);
    number_hearing_begin(h);
    for (int i = 0; i < BLOCKS; i++)
        number_hearing_add(h, NUMBER_OUTPUT, block, BLOCK);
    assert_int_equal(number_hearing_end(h, &value, &err), -1);
    assert_non_null(strstr(err.message, "more than 16 MiB"));
    number_hearing_free(h);
    number_specs_release(&all);
    free(block);
}

/* A million lines before it that begin like it: it is found behind those that are closed; of those
 * that are not a few are looked at. */
TEST(a_log_in_brackets)
{
    enum { LINES = 1 << 20 };
    static const struct {
        const char *line;
        int rc;
    } cases[] = { { "[1] x\n", 0 }, { "[1 x\n", -1 } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct number_specs all = { 0 };
        struct error err = { "" };
        double value = NAN;
        spec_of(&all, "x=$.a");
        struct number_hearing *h = number_hearing_create(&all, &err);
        number_hearing_begin(h);
        for (int n = 0; n < LINES; n++)
            number_hearing_add(h, NUMBER_OUTPUT, cases[i].line, strlen(cases[i].line));
        number_hearing_add(h, NUMBER_OUTPUT, "{\"a\":5}\n", 8);
        assert_int_equal(number_hearing_end(h, &value, &err), cases[i].rc);
        if (cases[i].rc == 0)
            assert_close(value, 5, 0);
        number_hearing_free(h);
        number_specs_release(&all);
    }
}

RUN_TESTS(NULL, NULL)
