/* SPDX-License-Identifier: MIT */
/* Options from a table: every type, every way to write one, every way to get one wrong.
 * Features: S0-14 (sweep options). */
#include "testing.h"

#include "base/options.h"

#include <stdlib.h>

struct target {
    bool json;
    const char *device;
    struct string_list models, texts;
    int64_t launches, memory;
    struct int_list batch;
    double slow, budget, delta;
};

static const struct option_row rows[] = {
    OPTION_ROW("json", 'j', OPTION_FLAG, struct target, json, NULL, "print JSON"),
    OPTION_ROW("device", 'd', OPTION_STRING, struct target, device, "DEVICE", "cpu or cuda"),
    OPTION_ROW("text", 0, OPTION_TEXTS, struct target, texts, "TEXT", "each as it is"),
    OPTION_ROW("model", 0, OPTION_STRINGS, struct target, models, "NAME,...", "configurations"),
    OPTION_RANGE_ROW("launches", 'l', OPTION_INT, struct target, launches, 1, 1000, "N",
                     "fresh processes"),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct target, batch, 1, 1 << 20, "LIST",
                     "batch sizes"),
    OPTION_RANGE_ROW("slow", 0, OPTION_DOUBLE, struct target, slow, 0, 10, "X", "a factor"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct target, budget, "TIME", "at most so long"),
    OPTION_RANGE_ROW("memory", 0, OPTION_SIZE, struct target, memory, 1 << 20, INT64_MAX, "SIZE",
                     "at most so much"),
    OPTION_ROW("delta", 0, OPTION_FRACTION, struct target, delta, "SHARE", "smallest change"),
    OPTION_END,
};

/* What is like another but for its end, or holds a glob, is another. */
TEST(lists_of_texts)
{
    static const struct {
        const char *text;
        bool has;
    } cases[] = {
        { "gemm/nn", true },      { "gemm/n*", true }, { "add", true },      { "\xc3\xa4", true },
        { "gemm/nn/simd", true }, { "gemm/n", false }, { "gemm/nt", false }, { "", false },
    };
    struct string_list list = { 0 };

    assert_false(string_list_has(&list, ""));
    string_list_sort(&list);
    assert_false(string_list_has_sorted(&list, ""));
    string_list_add_split(&list, "gemm/nn gemm/n* add \xc3\xa4 gemm/nn/simd", ' ');
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(string_list_has(&list, cases[i].text), cases[i].has);
    string_list_sort(&list);
    assert_string_equal(list.items[0], "add");
    assert_string_equal(list.items[4], "\xc3\xa4");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(string_list_has_sorted(&list, cases[i].text), cases[i].has);
    string_list_release(&list);
}

enum { ARGUMENTS_MAX = 24 };

/* Splits at spaces, parses; gives the number of arguments left, -1 on error. */
static int parse(const char *line, struct target *t, char **argv, struct error *err)
{
    static char copy[256];
    char *rest = copy, *word;
    int argc = 0;

    *t = (struct target) { 0 };
    snprintf(copy, sizeof(copy), "%s", line);
    while ((word = strsep(&rest, " ")))
        if (*word && argc < ARGUMENTS_MAX)
            argv[argc++] = word;
    return options_parse(rows, t, &argc, argv, err) ? -1 : argc;
}

TEST(every_type)
{
    char *argv[ARGUMENTS_MAX];
    struct target t, none = { 0 };
    struct error err;
    int argc = parse(
        "--json --device cpu:2 --model nano,micro --launches 7 --batch 1,2:8:*2 "
        "--slow 1.5 --budget 90s --memory 2M --delta 3% --text a,b=1 --text ,",
        &t, argv, &err);

    assert_int_equal(argc, 0);
    assert_true(t.json);
    assert_string_equal(t.device, "cpu:2");
    assert_int_equal(t.models.nr, 2);
    assert_string_equal(t.models.items[0], "nano");
    assert_string_equal(t.models.items[1], "micro");
    assert_int_equal(t.texts.nr, 2);
    assert_string_equal(t.texts.items[0], "a,b=1");
    assert_string_equal(t.texts.items[1], ",");
    assert_int_equal(t.launches, 7);
    assert_int_equal(t.batch.nr, 4);
    assert_int_equal(t.batch.items[3], 8);
    assert_true(t.slow == 1.5);
    assert_true(t.budget == 90);
    assert_int_equal(t.memory, 2 << 20);
    assert_close(t.delta, 0.03, 1e-15);
    for (const struct option_row *row = rows; row->name; row++) {
        assert_true(options_has(row, &t));
        assert_false(options_has(row, &none));
    }
    options_release(rows, &t);
    assert_null(t.models.items);
    assert_null(t.batch.items);
}

TEST(equals_letters_and_repeats)
{
    char *argv[ARGUMENTS_MAX];
    struct target t;
    struct error err;

    assert_int_equal(parse("-j -b 4 --batch=8 -l 2 --device=a=b --model=x --model y,z --delta=0.1",
                           &t, argv, &err),
                     0);
    assert_true(t.json);
    assert_int_equal(t.batch.nr, 2); /* repeats add up */
    assert_int_equal(t.batch.items[0], 4);
    assert_int_equal(t.batch.items[1], 8);
    assert_int_equal(t.launches, 2);
    assert_string_equal(t.device, "a=b");
    assert_int_equal(t.models.nr, 3);
    assert_string_equal(t.models.items[2], "z");
    options_release(rows, &t);
    assert_int_equal(parse("--device=", &t, argv, &err), 0);
    assert_string_equal(t.device, "");
}

/* Where a row takes it, what is behind "--" is no argument. */
TEST(a_row_takes_what_is_behind_the_dashes)
{
    struct with_rest {
        bool json;
        struct option_rest rest;
    } t = { .json = false };
    static const struct option_row table[] = {
        OPTION_ROW("", 0, OPTION_REST, struct with_rest, rest, "COMMAND...", "run it"),
        OPTION_ROW("json", 'j', OPTION_FLAG, struct with_rest, json, NULL, "print JSON"),
        OPTION_END,
    };
    char words[][8] = { "a", "-j", "--", "ls", "--json", "--" };
    char *argv[] = { words[0], words[1], words[2], words[3], words[4], words[5] };
    struct strbuf help;
    struct error err;
    int argc = 6;

    assert_ok(options_parse(table, &t, &argc, argv, &err), &err);
    assert_int_equal(argc, 1);
    assert_string_equal(argv[0], "a");
    assert_true(t.json);
    assert_int_equal(t.rest.argc, 3);
    assert_string_equal(t.rest.argv[0], "ls");
    assert_string_equal(t.rest.argv[1], "--json");
    assert_string_equal(t.rest.argv[2], "--");
    t.rest = (struct option_rest) { 0 };
    argc = 1;
    assert_ok(options_parse(table, &t, &argc, argv, &err), &err);
    assert_null(t.rest.argv); /* there were none */
    char bad[] = "--=x", *only[] = { bad };
    argc = 1;
    assert_int_equal(options_parse(table, &t, &argc, only, &err), -1);
    assert_string_equal(err.message, "unknown option --=x");
    strbuf_init(&help);
    options_help(table, &help);
    assert_non_null(strstr(help.data, "  -- COMMAND...             run it\n"));
    strbuf_release(&help);
}

TEST(the_rest_moves_to_the_front)
{
    char *argv[ARGUMENTS_MAX];
    struct target t;
    struct error err;

    assert_int_equal(parse("gemm --json attention/* - --launches 3 -- --json -x", &t, argv, &err),
                     5);
    assert_string_equal(argv[0], "gemm");
    assert_string_equal(argv[1], "attention/*");
    assert_string_equal(argv[2], "-");
    assert_string_equal(argv[3], "--json"); /* after --: no option */
    assert_string_equal(argv[4], "-x");
    assert_true(t.json);
    assert_int_equal(t.launches, 3);
    assert_int_equal(parse("", &t, argv, &err), 0);
    assert_int_equal(parse("--", &t, argv, &err), 0);
    assert_int_equal(parse("-- --", &t, argv, &err), 1);
}

TEST(mistakes_are_named)
{
    static const struct {
        const char *line, *says;
    } bad[] = {
        { "--lanches 3", "unknown option --lanches; did you mean --launches?" },
        { "--bach=4", "unknown option --bach=4; did you mean --batch?" },
        { "--xyzzy", "unknown option --xyzzy" },
        { "-x", "unknown option -x" },
        { "-b4", "unknown option -b4" },
        { "--jso", "did you mean --json?" }, /* no abbreviations: they break when rows are added */
        { "--batch", "--batch needs a value: LIST" },
        { "--json --launches", "--launches needs a value: N" },
        { "-l", "--launches needs a value: N" },
        { "--json=yes", "--json takes no value" },
        { "--launches 0", "--launches: 0 is out of range (1 to 1000)" },
        { "--launches 1001", "--launches: 1001 is out of range" },
        { "--launches three", "--launches: \"three\" is not a whole number" },
        { "--batch 0,-1,x", "--batch: 0 is out of range (1 to 1048576)" },
        { "--batch 1000000000000", "--batch: 1000000000000 is out of range" },
        { "--batch=", "--batch: \"\" is not a whole number" },
        { "--slow 11", "--slow: 11 is out of range (0 to 10)" },
        { "--budget soon", "--budget: \"soon\" is not a duration" },
        { "--memory much", "--memory: \"much\" is not a size" },
        { "--memory 5", "--memory: 5 is less than 1.000 MiB" },
        { "--model nano,,micro", "--model: \"nano,,micro\" has an empty name" },
        { "--model=", "--model: \"\" has an empty name" }, /* an unset variable is not "all" */
        { "--budget 0", "--budget: 0 is not above zero" },
        { "--delta 0%", "--delta: 0% is not above zero" },
        { "--delta much", "--delta: \"much\" is not a share" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *argv[ARGUMENTS_MAX];
        struct target t;
        struct error err = { "" };
        if (parse(bad[i].line, &t, argv, &err) != -1)
            fail_msg("\"%s\" was accepted", bad[i].line);
        if (!strstr(err.message, bad[i].says))
            fail_msg("\"%s\": %s", bad[i].line, err.message);
        options_release(rows, &t);
    }
}

/* One line an option; the help texts stand in one column. */
TEST(help_is_aligned)
{
    struct strbuf help;
    size_t i = 0;

    strbuf_init(&help);
    options_help(rows, &help);
    char *rest = help.data, *line;
    while ((line = strsep(&rest, "\n")) && *line) {
        char *text = strstr(line, rows[i].help);
        assert_non_null(text);
        assert_int_equal(text - line, 28);
        assert_non_null(strstr(line, rows[i].name));
        assert_true(!rows[i].argument || strstr(line, rows[i].argument));
        i++;
    }
    assert_int_equal(i, sizeof(rows) / sizeof(rows[0]) - 1);
    strbuf_release(&help);
}

/* Too long a name keeps a space before its help. */
TEST(long_names_stay_apart)
{
    static const struct option_row one[] = {
        OPTION_ROW("a-name-that-is-much-too-long", 0, OPTION_STRING, struct target, device,
                   "SOMETHING", "help"),
        OPTION_END,
    };
    struct strbuf help;

    strbuf_init(&help);
    options_help(one, &help);
    assert_string_equal(help.data, "  --a-name-that-is-much-too-long SOMETHING help\n");
    strbuf_release(&help);
}

RUN_TESTS(NULL, NULL)
