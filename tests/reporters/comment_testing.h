/* SPDX-License-Identifier: MIT */
/*
 * What must hold of any Markdown that goes to a forge, whatever names are in it: fences and
 * <details> are closed, tables keep their columns, nobody is called, nothing of a name is markup.
 */
#ifndef HARNESS_TESTS_COMMENT_TESTING_H
#define HARNESS_TESTS_COMMENT_TESTING_H

#include "testing.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>

struct markdown_check {
    bool fence;
    int details;      /* open */
    size_t columns;   /* of the table at hand; 0: none */
    size_t table_row; /* of it */
    size_t fences, tables, rows;
};

static inline size_t count_of(const char *text, size_t length, char c)
{
    size_t nr = 0;

    for (size_t i = 0; i < length; i++)
        nr += text[i] == c;
    return nr;
}

static inline bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static inline void check_table_line(struct markdown_check *k, const char *line, size_t length)
{
    size_t pipes = count_of(line, length, '|');

    if (k->columns == 0) {
        k->columns = pipes;
        k->table_row = 0;
        k->tables++;
    }
    if (pipes != k->columns)
        fail_msg("a table row with %zu bars instead of %zu: %.*s", pipes, k->columns, (int)length,
                 line);
    if (k->table_row == 1)
        assert_true(begins(line, "| ---"));
    k->rows += k->table_row > 1;
    k->table_row++;
    assert_true(line[length - 1] == '|');
}

/* Only tags and links that the program itself writes. */
static inline void check_words(const char *line, size_t length)
{
    static const char *const tags[] = { "<!-- harness:", "<details><summary>", "</summary>",
                                        "</details>", NULL };

    for (size_t i = 0; i < length; i++) {
        const char *at = line + i;
        bool own = false;
        for (const char *const *tag = tags; *tag; tag++)
            own |= begins(at, *tag);
        if (*at == '<' && !own && !begins(at, "<summary>"))
            fail_msg("a tag of somebody else: %.*s", (int)length, line);
        if (*at == '`')
            fail_msg("code of somebody else: %.*s", (int)length, line);
        if (*at == '@' && !begins(at, "@&#8203;"))
            fail_msg("somebody is called: %.*s", (int)length, line);
        if (*at == '#' && isdigit((unsigned char)at[1]) && (i == 0 || at[-1] != '&'))
            fail_msg("an issue is named: %.*s", (int)length, line);
        if (begins(at, "](") && !begins(at, "](http"))
            fail_msg("a link of somebody else: %.*s", (int)length, line);
        if (*at == '$')
            fail_msg("a formula: %.*s", (int)length, line);
    }
}

static inline void check_line(struct markdown_check *k, const char *line, size_t length)
{
    if (length >= 3 && begins(line, "```")) {
        k->fence = !k->fence;
        k->fences += k->fence;
        assert_int_equal(length == 3, !k->fence); /* the end has nothing behind it */
        return;
    }
    if (k->fence)
        return;
    if (length > 0 && line[0] == '|') {
        check_table_line(k, line, length);
    } else {
        k->columns = 0;
    }
    k->details += begins(line, "<details>");
    k->details -= begins(line, "</details>");
    assert_in_range(k->details, 0, 1);
    check_words(line, length);
}

static inline struct markdown_check check_markdown(const char *text)
{
    struct markdown_check k = { .fence = false };

    for (const char *c = text; *c; c++)
        assert_true((unsigned char)*c >= ' ' || *c == '\n');
    while (*text) {
        size_t length = strcspn(text, "\n");
        check_line(&k, text, length);
        assert_true(text[length] == '\n'); /* the last line is whole, too */
        text += length + 1;
    }
    assert_false(k.fence);
    assert_int_equal(k.details, 0);
    return k;
}

/* A made comparison: rows of verdicts in turn. */
struct made_comparison {
    struct comparison c;
    struct compare_row *rows;
    struct compare_item *items;
    struct benchmark_name *names;
    struct comment_histories histories;
};

static inline void made_row(struct made_comparison *m, size_t i, enum verdict verdict,
                            double change)
{
    bool base = verdict != VERDICT_NEW, head = verdict != VERDICT_MISSING;
    bool judged = verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED ||
                  verdict == VERDICT_SAME || verdict == VERDICT_UNDECIDED;
    struct error err;

    m->items[i] = (struct compare_item) {
        .bench = &m->names[i],
        .machine = "class-a",
        .metric = metric_find("p50", &err),
    };
    m->rows[i] = (struct compare_row) {
        .item = &m->items[i],
        .verdict = verdict,
        .delta = 0.03,
        .base = { .value = base ? 1e6 : NAN, .launches = base ? 5 : 0 },
        .head = { .value = judged ? 1e6 * (1 + change) : NAN, .launches = head ? 5 : 0 },
        .change = judged ? change : NAN,
        .interval = { judged ? change - 0.01 : NAN, judged ? change + 0.01 : NAN },
        .worse = change > 0,
        .p = judged ? 0.001 : NAN,
        .q = judged ? 0.004 : NAN,
        .detectable = judged ? 0.02 : NAN,
    };
    if (verdict == VERDICT_BROKEN || verdict == VERDICT_FAILING)
        snprintf(m->rows[i].why, sizeof(m->rows[i].why), "WRONG in 5 of its 5 launches");
}

static inline void made_comparison_init(struct made_comparison *m, size_t nr)
{
    *m = (struct made_comparison) { 0 };
    m->rows = calloc(nr, sizeof(*m->rows));
    m->items = calloc(nr, sizeof(*m->items));
    m->names = calloc(nr, sizeof(*m->names));
    m->c = (struct comparison) { .settings = COMPARE_DEFAULTS,
                                 .rows = m->rows,
                                 .nr = nr,
                                 .items = m->items,
                                 .nr_items = nr,
                                 .family = nr,
                                 .chance = 0.1,
                                 .common_shift = NAN };
}

static inline void made_comparison_count(struct made_comparison *m)
{
    for (size_t i = 0; i < m->c.nr; i++)
        m->c.count[m->rows[i].verdict]++;
    bool alarm = m->c.count[VERDICT_REGRESSED] + m->c.count[VERDICT_BROKEN] > 0;
    bool told = m->c.count[VERDICT_SAME] + m->c.count[VERDICT_IMPROVED] > 0;
    m->c.exit_status = alarm ? EXIT_REGRESSION : told ? EXIT_SAME : EXIT_UNDECIDED;
}

static inline void made_comparison_release(struct made_comparison *m)
{
    comment_histories_release(&m->histories);
    free(m->rows);
    free(m->items);
    free(m->names);
}

#endif
