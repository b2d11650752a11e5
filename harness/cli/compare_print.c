/* SPDX-License-Identifier: MIT */
#include "cli/compare_print.h"

#include "cli/terminal.h"
#include "output/compare_json.h"
#include "output/compare_table.h"
#include "output/ctest.h"
#include "output/junit.h"
#include "output/run_rows.h"

int compare_choose_format(const char *name, const struct compare_comment_options *options,
                          enum compare_format *format, struct error *err)
{
    static const char *const names[] = {
        [COMPARE_TEXT] = "text",
        [COMPARE_MARKDOWN] = "markdown",
        [COMPARE_GITHUB] = "github",
        [COMPARE_JSON] = "json",
        [COMPARE_JUNIT] = "junit",
        [COMPARE_CTEST] = "ctest",
        NULL,
    };
    int chosen = output_choose_format(name, names, err);

    if (chosen < 0)
        return -1;
    *format = (enum compare_format)chosen;
    return compare_comment_check(options, *format == COMPARE_GITHUB, err);
}

static void write_junit(const struct compare_print *p, const struct comparison *c,
                        struct strbuf *text)
{
    const struct history_side *head = p->comment.head;
    int newest = run_newest(&head->records);
    const struct run *run = newest < 0 ? NULL : &head->records.runs[newest];
    const struct junit_options options = {
        .base_name = p->comment.base->what,
        .head_name = head->what,
        .machine = run ? run->machine.class_name : NULL,
        .measured_ms = run ? run->started_ms : 0,
    };

    junit_write(c, &options, text);
}

static void write_table(const struct compare_print *p, const struct comparison *c,
                        struct strbuf *text)
{
    struct compare_table_options table = {
        .all = p->all,
        .base_name = p->comment.base->what,
        .head_name = p->comment.head->what,
    };

    if (p->format == COMPARE_MARKDOWN) {
        compare_table_markdown(c, &table, text);
        return;
    }
    table.width = p->output ? 0 : terminal_width();
    table.colour = !p->output && terminal_colour();
    compare_table_text(c, &table, text);
}

static void write_measurements(const struct compare_print *p, const struct comparison *c,
                               struct strbuf *text)
{
    const struct compare_asked *asked = p->comment.asked;
    const struct ctest_options options = {
        .filters = (const char *const *)asked->filters,
        .nr_filters = asked->nr_filters,
    };

    ctest_write(&p->comment.head->records, c, &options, text);
}

int compare_print(const struct compare_print *p, const struct comparison *c, struct error *err)
{
    struct strbuf text;

    if (p->format == COMPARE_JSON)
        return output_json(compare_to_json(c, p->comment.base->what, p->comment.head->what),
                           p->output, err);
    strbuf_init(&text);
    if (p->format == COMPARE_GITHUB)
        compare_comment_write(&p->comment, c, &text);
    else if (p->format == COMPARE_JUNIT)
        write_junit(p, c, &text);
    else
        write_table(p, c, &text);
    if (p->format == COMPARE_CTEST)
        write_measurements(p, c, &text);
    int rc = output_text(&text, p->output, err);
    strbuf_release(&text);
    return rc;
}

int compare_print_nothing(const struct compare_print *p, const char *reason, struct error *err)
{
    struct strbuf text;

    if (p->format != COMPARE_GITHUB && p->format != COMPARE_CTEST)
        return 0;
    strbuf_init(&text);
    if (p->format == COMPARE_CTEST)
        write_measurements(p, NULL, &text);
    else
        compare_comment_nothing(&p->comment, reason, &text);
    int rc = output_text(&text, p->output, err);
    strbuf_release(&text);
    return rc;
}
