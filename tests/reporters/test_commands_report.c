/* SPDX-License-Identifier: MIT */
/* Commands that were measured in turn: what is said of each, in words, a table and JSON. */
#include "testing.h"

#include "base/json.h"
#include "reporters/commands_report.h"

#include <math.h>
#include <stdlib.h>

static const struct benchmark_name bench = { .key = "command/a/exec/none/-/process/warm" };

/* A report of "./a" and of "./b" with that row; the result of the second. */
static struct command_result *make_report(struct commands_report *r, const struct compare_row *row)
{
    *r = (struct commands_report) { .nr_commands = 2,
                                    .nr = 2,
                                    .delta = 0.03,
                                    .q = 0.05,
                                    .seconds = 9.2,
                                    .metrics = { metric_find("p50", NULL) },
                                    .nr_metrics = 1,
                                    .end = "decided" };
    r->commands = memory_zeroed(2, sizeof(*r->commands));
    r->results = memory_zeroed(2, sizeof(*r->results));
    for (size_t i = 0; i < 2; i++) {
        r->commands[i].name = memory_string(i ? "./b" : "./a");
        string_list_add(&r->commands[i].argv, i ? "./b" : "./a");
        r->results[i] = (struct command_result) { .command = i,
                                                  .setting = memory_string(""),
                                                  .outcome = OUTCOME_OK,
                                                  .runs = 12,
                                                  .median = 1e7,
                                                  .mean = 1e7,
                                                  .min = 9e6,
                                                  .max = 2e7,
                                                  .user_ms = 8,
                                                  .system_ms = 0.5,
                                                  .rss = NAN };
    }
    r->results[1].rows[0] = row;
    return &r->results[1];
}

static struct compare_row make_row(struct compare_item *item, enum verdict verdict, double change,
                                   double low, double high)
{
    struct error err;

    *item = (struct compare_item) { .bench = &bench,
                                    .machine = "",
                                    .metric = metric_find("p50", &err) };
    return (struct compare_row) { .item = item,
                                  .verdict = verdict,
                                  .delta = 0.03,
                                  .change = change,
                                  .worse = change > 0,
                                  .interval = { low, high } };
}

TEST(sentences)
{
    static const struct {
        enum verdict verdict;
        double change, low, high;
        const char *why, *sentence;
    } rows[] = {
        { VERDICT_REGRESSED, 0.24, 0.2, 0.28, "", "./b is 1.24x slower than ./a (1.20 to 1.28)" },
        { VERDICT_REGRESSED, 41, 39, 43.4, "", "./b is 42.0x slower than ./a (40.0 to 44.4)" },
        { VERDICT_REGRESSED, 0.24, 0.2, INFINITY, "",
          "./b is 1.24x slower than ./a (1.20 to any)" },
        { VERDICT_IMPROVED, -0.5, -0.6, -0.4, "", "./b is 2.00x faster than ./a (1.67 to 2.50)" },
        { VERDICT_SAME, 0.002, -0.01, 0.01, "",
          "./b takes as long as ./a, within 3.0 % (-1.0 to +1.0 %)" },
        { VERDICT_UNDECIDED, 0.02, -0.1, 0.2, "noise",
          "./b cannot be told from ./a yet: 1.02x slower (0.90 to 1.20); noise" },
        { VERDICT_UNDECIDED, NAN, NAN, NAN, "nothing was measured",
          "./b cannot be told from ./a; nothing was measured" },
        { VERDICT_BROKEN, NAN, NAN, NAN, "it crashes", "./b failed: it crashes" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_item item;
        struct compare_row row =
            make_row(&item, rows[i].verdict, rows[i].change, rows[i].low, rows[i].high);
        struct commands_report r;
        struct strbuf text;
        snprintf(row.why, sizeof(row.why), "%s", rows[i].why);
        strbuf_init(&text);
        commands_report_sentence(&r, make_report(&r, &row), &row, &text);
        assert_string_equal(text.data, rows[i].sentence);
        strbuf_release(&text);
        commands_report_release(&r);
    }
}

/* A number of theirs is no time: it is larger or smaller, and a word says what that means. */
TEST(sentences_of_numbers)
{
    static const struct {
        enum better better;
        enum verdict verdict;
        double change, low, high;
        const char *sentence;
    } rows[] = {
        { BETTER_HIGHER, VERDICT_REGRESSED, -0.19, -0.22, -0.17,
          "./b has 0.81x the speed of ./a (0.78 to 0.83): worse" },
        { BETTER_HIGHER, VERDICT_IMPROVED, 11, 10, 12.4,
          "./b has 12.0x the speed of ./a (11.0 to 13.4): better" },
        { BETTER_LOWER, VERDICT_REGRESSED, 0.24, 0.2, 0.28,
          "./b has 1.24x the speed of ./a (1.20 to 1.28): worse" },
        { BETTER_LOWER, VERDICT_IMPROVED, -0.969, -0.97, -0.968,
          "./b has 0.031x the speed of ./a (0.03 to 0.032): better" },
        { BETTER_HIGHER, VERDICT_SAME, 0.002, -0.01, 0.01,
          "./b has the same speed as ./a, within 3.0 % (-1.0 to +1.0 %)" },
        { BETTER_HIGHER, VERDICT_UNDECIDED, 0.02, -0.1, 0.2,
          "./b cannot be told from ./a by its speed yet: 1.02x (0.90 to 1.20)" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_item item;
        struct compare_row row =
            make_row(&item, rows[i].verdict, rows[i].change, rows[i].low, rows[i].high);
        struct commands_report r;
        struct strbuf text;
        struct error err;
        const struct number_kind *kind = number_kind_of("speed", "x/s", rows[i].better, &err);
        item.metric = metric_find(kind->id, &err);
        row.worse = (rows[i].change > 0) == (rows[i].better == BETTER_LOWER);
        strbuf_init(&text);
        commands_report_sentence(&r, make_report(&r, &row), &row, &text);
        assert_string_equal(text.data, rows[i].sentence);
        strbuf_clear(&text);
        r.metrics[0] = item.metric;
        r.numbers[r.nr_numbers++] = kind;
        r.results[1].numbers[0] = 7.25;
        commands_report_text(&r, 0, false, &text);
        assert_non_null(strstr(text.data, " speed (x/s) "));
        assert_non_null(strstr(text.data, "7.25"));
        strbuf_release(&text);
        commands_report_release(&r);
    }
}

static void assert_says(const struct strbuf *text, const char *says)
{
    if (!strstr(text->data, says))
        fail_msg("\"%s\" is not in:\n%s", says, text->data);
}

TEST(text_and_markdown)
{
    struct compare_item item;
    struct compare_row row = make_row(&item, VERDICT_REGRESSED, 0.24, 0.2, 0.28);
    struct commands_report r;
    struct strbuf text;

    make_report(&r, &row);
    strbuf_init(&text);
    commands_report_text(&r, 0, false, &text);
    assert_says(&text, "./b is 1.24x slower than ./a (1.20 to 1.28), 9 s of measuring\n");
    assert_says(&text, "10.00 ms");
    assert_null(strstr(text.data, "memory")); /* nobody knows it */
    assert_null(strstr(text.data, "--budget"));
    strbuf_clear(&text);
    r.shell = "sh";
    r.seconds = 75;
    commands_report_text(&r, 0, false, &text);
    assert_says(&text, ", 1:15 of measuring\n");
    assert_says(&text, "The start of sh is part of these times");
    strbuf_release(&text);
    commands_report_release(&r);
}

/* Whatever a command is called: nobody is called, nothing is markup, a line stays one, and neither
 * a terminal nor a CI system that reads logs obeys. */
TEST(names_of_commands_are_words)
{
    static const struct {
        const char *name, *text, *markdown;
    } rows[] = {
        { "./b | tee *x*", "./b | tee *x* is", "- ./b &#124; tee &#42;x&#42; is" },
        { "npx @angular/cli build", "npx @angular/cli build is",
          "- npx @&#8203;angular/cli build is" },
        { "a &amp; ~~b~~ $c$", "a &amp; ~~b~~ $c$ is",
          "- a &amp;amp; &#126;&#126;b&#126;&#126; &#36;c&#36; is" },
        { "make\n- rm #1", "make - rm #1 is", "- make - rm #&#8203;1 is" },
        { "::error::x", ": :error::x is", "- : :&#8203;error::x is" },
        { "\033[31mred", "[31mred is", "-  &#91;31mred is" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_item item;
        struct compare_row row = make_row(&item, VERDICT_REGRESSED, 0.24, 0.2, 0.28);
        struct commands_report r;
        struct strbuf text;
        make_report(&r, &row);
        free(r.commands[1].name);
        r.commands[1].name = memory_string(rows[i].name);
        strbuf_init(&text);
        commands_report_text(&r, 0, false, &text);
        assert_says(&text, rows[i].text);
        assert_null(strchr(text.data, '\033'));
        assert_null(strstr(text.data, "\n::"));
        strbuf_clear(&text);
        commands_report_markdown(&r, &text);
        assert_says(&text, rows[i].markdown);
        assert_null(strstr(text.data, "\n- rm"));
        strbuf_release(&text);
        commands_report_release(&r);
    }
}

/* What a command says when it fails is its words, too. */
TEST(messages_of_commands_are_words)
{
    struct commands_report r;
    struct strbuf text;

    make_report(&r, NULL);
    r.results[0].outcome = OUTCOME_FAILED;
    free(r.results[0].setting);
    r.results[0].setting = memory_string("who=@me");
    r.results[0].message = memory_string("no\n::error::\033[1m*input*");
    strbuf_init(&text);
    commands_report_text(&r, 0, false, &text);
    assert_says(&text, "who=@me: ./a failed: no ::error::");
    assert_null(strchr(text.data, '\033'));
    strbuf_clear(&text);
    commands_report_markdown(&r, &text);
    assert_says(&text, "- who=@&#8203;me: ./a failed: no ");
    assert_says(&text, "&#42;input&#42;\n");
    strbuf_release(&text);
    commands_report_release(&r);
}

/* The first has no row: what it said is told all the same. */
TEST(failures)
{
    struct commands_report r;
    struct strbuf text;

    make_report(&r, NULL);
    r.results[0].outcome = OUTCOME_FAILED;
    r.results[0].message = memory_string("a exited with status 3: no input");
    r.nr = 1;
    strbuf_init(&text);
    commands_report_text(&r, 0, false, &text);
    assert_says(&text, "./a failed: a exited with status 3: no input\n");
    assert_says(&text, "--ignore-status");
    strbuf_release(&text);
    r.nr = 2;
    commands_report_release(&r);
}

TEST(json_has_numbers_and_the_row)
{
    struct compare_item item;
    struct compare_row row = make_row(&item, VERDICT_IMPROVED, -0.5, -0.6, -0.4);
    struct commands_report r;

    make_report(&r, &row);
    char *printed = json_take_text(commands_report_json(&r)); /* as a program reads it */
    cJSON *json = cJSON_Parse(printed);
    assert_non_null(json);
    const cJSON *results = cJSON_GetObjectItem(json, "results");
    const cJSON *first = cJSON_GetArrayItem(results, 0), *second = cJSON_GetArrayItem(results, 1);
    assert_int_equal(json_int(json, "schema_version", 0), 1);
    assert_string_equal(json_string(json, "end", ""), "decided");
    assert_null(cJSON_GetObjectItem(first, "comparison"));
    assert_close(json_number(first, "median_ns", 0), 1e7, 0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(first, "max_rss_bytes")));
    const cJSON *comparison = cJSON_GetObjectItem(second, "comparison");
    assert_string_equal(json_string(comparison, "verdict", ""), "improved");
    assert_close(json_number(comparison, "change", 0), -0.5, 0);
    assert_string_equal(json_string(second, "sentence", ""),
                        "./b is 2.00x faster than ./a (1.67 to 2.50)");
    cJSON_Delete(json);
    free(printed);
    commands_report_release(&r);
}

RUN_TESTS(NULL, NULL)
