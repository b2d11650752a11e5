/* SPDX-License-Identifier: MIT */
/* Tables in any width: no line is longer, no name is lost, no two look alike. Covers: S0-26. */
#include "testing.h"

#include "base/clean.h"
#include "text/table.h"

#include <stdlib.h>

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        size_t columns = clean_columns(line);
        widest = columns > widest ? columns : widest;
        free(line);
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void tables_fit_the_terminal(void **state)
{
    static const struct table_column columns[] = {
        { "name", TABLE_LEFT, TABLE_NAME, 0 },
        { "value", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "never used", TABLE_LEFT, TABLE_FIRM, 0 },
    };
    struct table t;
    struct strbuf out;

    table_init(&t, columns, 3);
    table_row(&t);
    table_cell(&t, TABLE_PLAIN, "%s",
               "a name of some length, with \xe4\xb8\xad\xe6\x96\x87 inside, "
               "that goes on and on");
    table_cell(&t, TABLE_BAD, "%d", 12345);
    table_row(&t);
    table_cell(&t, TABLE_PLAIN, "short\x1b[31m\nline");
    strbuf_init(&out);
    for (size_t width = 30; width < 90; width++) {
        strbuf_clear(&out);
        table_text(&t, width, false, &out);
        assert_true(widest_line(out.data) <= width);
        assert_null(strchr(out.data, '\x1b'));
        assert_lacks(out.data, "never used");
        assert_has(out.data, "12345\n");
    }
    strbuf_clear(&out);
    table_text(&t, 0, true, &out);
    assert_has(out.data, "\x1b[31m12345\x1b[0m");
    assert_int_equal(table_rows(&t), 2);
    strbuf_release(&out);
    table_release(&t);
}

/* The title of the first column stands above the rows, which are set in, and cells keep their
 * length. */
static void rows_are_set_in(void **state)
{
    static const struct table_column columns[] = {
        { "things", TABLE_LEFT, TABLE_NAME, 0 },
        { "what", TABLE_LEFT, TABLE_PROSE, 1 },
    };
    char long_text[3000];
    struct table t;
    struct strbuf out;

    table_init(&t, columns, 2);
    t.indent = 2;
    table_row(&t);
    table_cell(&t, TABLE_PLAIN, "one/name");
    table_cell(&t, TABLE_PLAIN, "is the first");
    strbuf_init(&out);
    table_text(&t, 0, false, &out);
    assert_string_equal(out.data, "things      what\n  one/name  is the first\n");
    memset(long_text, 'x', sizeof(long_text) - 1);
    for (size_t i = 9; i < sizeof(long_text); i += 10)
        long_text[i] = ' ';
    long_text[sizeof(long_text) - 1] = '\0';
    table_row(&t);
    table_cell(&t, TABLE_PLAIN, "two");
    table_cell(&t, TABLE_PLAIN, "%s", long_text);
    for (size_t width = 60; width < 130; width += 7) {
        strbuf_clear(&out);
        table_text(&t, width, false, &out);
        assert_true(widest_line(out.data) <= width);
        assert_true(out.length > 2000);
    }
    strbuf_release(&out);
    table_release(&t);
}

static void markdown_cells_hold(void **state)
{
    static const struct table_column columns[] = { { "a|b", TABLE_LEFT, TABLE_NAME, 0 },
                                                   { "n", TABLE_RIGHT, TABLE_FIRM, 0 } };
    struct table t;
    struct strbuf out;

    table_init(&t, columns, 2);
    table_row(&t);
    table_cell(&t, TABLE_PLAIN, "%s", "x | `y` <img> @team\nz");
    table_cell(&t, TABLE_PLAIN, "1");
    strbuf_init(&out);
    table_markdown(&t, &out);
    assert_string_equal(out.data,
                        "| a&#124;b | n |\n| --- | ---: |\n"
                        "| x &#124; &#96;y&#96; &lt;img&gt; @&#8203;team z | 1 |\n");
    strbuf_release(&out);
    table_release(&t);
}

/* Twelve benchmarks whose names differ at their beginning, in the middle and at their end. */
static void made_benchmark(char *name, size_t size, int i)
{
    static const char *const kernels[] = { "gemm/linear", "gemm/linear_bias", "attention/causal" };
    static const int batches[] = { 1, 16 }, widths[] = { 768, 3072 };

    snprintf(name, size, "%s/cuda_cluster_bf16/batch=%d,seq=1024,n=%d,k=768/cuda-h100/warm",
             kernels[i % 3], batches[i / 3 % 2], widths[i / 6]);
}

enum { BENCHMARKS = 12 };

static const struct table_column judged[] = {
    { "", TABLE_LEFT, TABLE_FIRM, 2 },          { "verdict", TABLE_LEFT, TABLE_FIRM, 0 },
    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 }, { "base", TABLE_RIGHT, TABLE_FIRM, 4 },
    { "head", TABLE_RIGHT, TABLE_FIRM, 3 },     { "change", TABLE_RIGHT, TABLE_FIRM, 1 },
    { "interval", TABLE_RIGHT, TABLE_FIRM, 5 }, { "why", TABLE_LEFT, TABLE_PROSE, 6 },
};

static void judged_table(struct table *t)
{
    char name[128];

    table_init(t, judged, sizeof(judged) / sizeof(judged[0]));
    for (int i = 0; i < BENCHMARKS; i++) {
        made_benchmark(name, sizeof(name), i);
        table_row(t);
        table_cell(t, TABLE_PLAIN, "?");
        table_cell(t, TABLE_PLAIN, "undecided");
        table_cell(t, TABLE_PLAIN, "%s", name);
        table_cell(t, TABLE_PLAIN, "12.%02d µs", i);
        table_cell(t, TABLE_PLAIN, "13.%02d µs", i);
        table_cell(t, TABLE_PLAIN, "+8.1 %%");
        table_cell(t, TABLE_PLAIN, "+1.0 to +15.2 %%");
        table_cell(t, TABLE_PLAIN, "it may be 1 to 15 %% slower: 6 more launches would tell");
    }
}

/* The whole of what stands in the column of names, line by line of each row: a row begins where
 * its verdict stands. Returns how many rows there are. */
static int shown_names(const char *text, char names[BENCHMARKS][128])
{
    const char *title = strstr(text, "benchmark"), *first = text;
    size_t begin = (size_t)(title - first), end = begin + strcspn(title, " ");
    int nr = 0;

    end +=
        strspn(text + end, " "); /* names are to the left of their column, numbers to the right */
    for (const char *line = strchr(text, '\n') + 1; *line && *line != '('; nr++) {
        names[nr][0] = '\0';
        do {
            char cells[512];
            size_t length = strcspn(line, "\n");
            snprintf(cells, sizeof(cells), "%.*s", (int)length, line);
            size_t from = clean_fitting(cells, begin), room = strcspn(cells + from, " ");
            snprintf(names[nr] + strlen(names[nr]), 128 - strlen(names[nr]), "%.*s", (int)room,
                     cells + from);
            line += length + (line[length] == '\n');
        } while (*line == ' ');
    }
    return nr;
}

static void names_stay_apart_at_any_width(void **state)
{
    char names[BENCHMARKS][128];
    struct strbuf out;
    struct table t;

    judged_table(&t);
    strbuf_init(&out);
    for (size_t width = 30; width < 240; width++) {
        strbuf_clear(&out);
        table_text(&t, width, false, &out);
        if (widest_line(out.data) > width)
            fail_msg("wider than %zu:\n%s", width, out.data);
        assert_int_equal(shown_names(out.data, names), BENCHMARKS);
        for (int i = 0; i < BENCHMARKS; i++)
            for (int k = 0; k < i; k++)
                if (!names[i][0] || strcmp(names[i], names[k]) == 0)
                    fail_msg("%d and %d look alike in %zu:\n%s", i, k, width, out.data);
    }
    strbuf_release(&out);
    table_release(&t);
}

static void columns_go_by_rank(void **state)
{
    static const struct {
        size_t width;
        const char *kept, *lost;
    } rows[] = {
        { 200, "why", NULL },     { 120, "interval", "why" },  { 80, "change", "interval" },
        { 60, "change", "base" }, { 40, "verdict", "change" },
    };
    struct strbuf out, title;
    struct table t;

    judged_table(&t);
    strbuf_init(&out);
    strbuf_init(&title);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        strbuf_clear(&out);
        table_text(&t, rows[i].width, false, &out);
        strbuf_clear(&title);
        strbuf_add(&title, out.data, strcspn(out.data, "\n"));
        assert_has(title.data, "benchmark");
        assert_has(title.data, rows[i].kept);
        if (!rows[i].lost)
            continue;
        assert_lacks(title.data, rows[i].lost);
        assert_has(strstr(out.data, "(no room here for: "), rows[i].lost);
    }
    strbuf_release(&title);
    strbuf_release(&out);
    table_release(&t);
}

static void sentences_go_on_below(void **state)
{
    static const struct table_column columns[] = { { .title = "check" },
                                                   { .title = "found", .fit = TABLE_PROSE },
                                                   { .title = "mend", .fit = TABLE_PROSE } };
    struct strbuf out;
    struct table t;

    table_init(&t, columns, 3);
    table_row(&t);
    table_cell(&t, TABLE_PLAIN, "governor");
    table_cell(&t, TABLE_BAD, "powersave on 2 of 2 processors");
    table_cell(&t, TABLE_PLAIN, "set it to performance");
    strbuf_init(&out);
    table_text(&t, 44, true, &out);
    assert_string_equal(
        out.data,
        "\x1b[2mcheck\x1b[0m     \x1b[2mfound\x1b[0m             \x1b[2mmend\x1b[0m\n"
        "governor  \x1b[31mpowersave on 2\x1b[0m    set it to\n"
        "          \x1b[31mof 2 processors\x1b[0m   performance\n");
    strbuf_release(&out);
    table_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_fit_the_terminal),       cmocka_unit_test(markdown_cells_hold),
        cmocka_unit_test(names_stay_apart_at_any_width), cmocka_unit_test(columns_go_by_rank),
        cmocka_unit_test(sentences_go_on_below),         cmocka_unit_test(rows_are_set_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
