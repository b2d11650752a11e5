/* SPDX-License-Identifier: MIT */
#include "reporters/compare_table.h"

#include "base/text.h"
#include "metrics/label.h"
#include "reporters/compare_words.h"
#include "text/escape.h"

#include <string.h>

static const struct table_column columns[] = {
    { "", TABLE_LEFT, TABLE_FIRM, 1 },
    { "verdict", TABLE_LEFT, TABLE_FIRM, 0 },
    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
    { "base", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "head", TABLE_RIGHT, TABLE_FIRM, 2 },
    { "change", TABLE_RIGHT, TABLE_FIRM, 0 },
    { "90 % interval", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "q", TABLE_RIGHT, TABLE_FIRM, 6 },
    { "launches", TABLE_RIGHT, TABLE_FIRM, 8 },
    { "could see", TABLE_RIGHT, TABLE_FIRM, 7 },
    { "why", TABLE_LEFT, TABLE_PROSE, 9 },
};

/* A number with its unit; `firm`: no line is broken inside it. */
static void compare_table_add_number(struct table *t, enum table_tone tone, const char *text,
                                     bool firm)
{
    struct strbuf number;

    strbuf_init(&number);
    if (firm)
        compare_firm(&number, text);
    else
        strbuf_adds(&number, text);
    table_cell(t, tone, "%s", number.data);
    strbuf_release(&number);
}

static void compare_table_add_numbers(struct table *t, const struct compare_row *row, bool firm)
{
    enum table_tone tone = verdict_look(row->verdict)->tone;
    char text[QUANTITY_TEXT_SIZE];

    compare_table_add_number(t, TABLE_PLAIN, compare_value(row, row->base.value, text), firm);
    compare_table_add_number(t, TABLE_PLAIN, compare_value(row, row->head.value, text), firm);
    compare_table_add_number(t, tone, compare_change(row, text), firm);
    compare_table_add_number(t, TABLE_PLAIN, compare_interval(row, text), firm);
    compare_table_add_number(t, TABLE_PLAIN, compare_q(row, text), firm);
    compare_table_add_number(t, TABLE_PLAIN, compare_launches(row, text), firm);
    compare_table_add_number(t, TABLE_DIM, compare_detectable(row->detectable, text), firm);
}

/* A comment is read by those who did not type the command: "slower" as in its title, and a reason
 * that the row above has is not said again. */
static void compare_table_add_row(struct table *t, const struct compare_row *row,
                                  const struct compare_row *above, const char *label, bool firm)
{
    const struct verdict_look *look = verdict_look(row->verdict);
    bool again = firm && above && row->verdict == VERDICT_UNDECIDED &&
                 above->verdict == row->verdict && strcmp(row->why, above->why) == 0;

    table_row(t);
    table_cell(t, look->tone, "%s", look->sign);
    table_cell(t, look->tone, "%s",
               firm ? verdict_word(row->verdict, row->item->metric) : verdict_name(row->verdict));
    table_cell(t, TABLE_PLAIN, "%s%s", label, row->item->vendor ? " (vendor)" : "");
    compare_table_add_numbers(t, row, firm);
    if (row->accepted)
        table_cell(t, TABLE_PLAIN, "accepted: %s", row->accepted);
    else
        table_cell(t, TABLE_PLAIN, "%s", again ? "as above" : row->why);
}

static void compare_table_fill(struct table *t, const struct comparison *c, bool all, bool firm)
{
    char **labels = compare_labels(c);
    const struct compare_row *above = NULL;

    table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
    for (int verdict = 0; verdict < VERDICT_NR; verdict++)
        for (size_t i = 0; i < c->nr; i++) {
            if (c->rows[i].verdict != (enum verdict)verdict || (!all && verdict == VERDICT_SAME))
                continue;
            compare_table_add_row(t, &c->rows[i], above, labels[i], firm);
            above = &c->rows[i];
        }
    labels_free(labels, c->nr);
}

void compare_table_rows(const struct comparison *c, bool all, struct strbuf *out)
{
    struct table t;

    compare_table_fill(&t, c, all, true);
    if (t.nr)
        table_markdown(&t, out);
    table_release(&t);
}

static void compare_table_add_head(const struct comparison *c,
                                   const struct compare_table_options *options, struct strbuf *out)
{
    if (options->base_name && options->head_name) {
        escape_plain(out, options->base_name);
        strbuf_adds(out, " → ");
        escape_plain(out, options->head_name);
        strbuf_adds(out, ": ");
    }
    comparison_summary(c, out);
    /* "  (median latency, ±3 % does not matter)" */
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = comparison_metrics(c, metrics);
    char delta[TEXT_UNIT_SIZE];
    for (size_t i = 0; i < nr; i++) {
        bool united = metrics[i]->number && metrics[i]->unit[0];
        strbuf_addf(out, "%s%s%s%s", i ? ", " : "  (", metrics[i]->label, united ? " in " : "",
                    united ? metrics[i]->unit : "");
    }
    strbuf_addf(out, ", ±%s does not matter%s)", text_about(c->settings.delta, 3, delta),
                c->settings.nr_floors ? " but where told otherwise" : "");
    strbuf_addc(out, '\n');
}

static void compare_table_add_notes(const struct comparison *c, size_t from, size_t to,
                                    struct strbuf *out)
{
    if (to > from)
        strbuf_addc(out, '\n');
    for (size_t i = from; i < to; i++) {
        escape_plain(out, c->notes[i]);
        strbuf_addc(out, '\n');
    }
}

void compare_table_text(const struct comparison *c, const struct compare_table_options *options,
                        struct strbuf *out)
{
    char common[512];
    struct table t;

    compare_table_add_head(c, options, out);
    compare_table_add_notes(c, 0, c->nr_warnings, out);
    compare_table_fill(&t, c, options->all, false);
    compare_common(c, common, sizeof(common));
    if (t.nr) {
        strbuf_addf(out, "\n%s%s%s", common[0] ? "all: " : "", common, common[0] ? "\n" : "");
        table_text(&t, options->width, options->colour, out);
    }
    compare_table_add_notes(c, c->nr_warnings, c->nr_notes, out);
    table_release(&t);
}

void compare_table_markdown(const struct comparison *c, const struct compare_table_options *options,
                            struct strbuf *out)
{
    char common[512];
    struct strbuf head, rows;

    strbuf_init(&rows);
    strbuf_init(&head);
    compare_table_add_head(c, options, &head);
    strbuf_adds(out, "**");
    if (head.length)
        head.data[--head.length] = '\0'; /* its newline */
    escape_markdown(out, head.data);
    strbuf_adds(out, "**\n\n");
    strbuf_release(&head);
    compare_common(c, common, sizeof(common));
    compare_table_rows(c, options->all, &rows);
    if (rows.length && common[0]) {
        strbuf_adds(out, "All: ");
        escape_markdown(out, common);
        strbuf_adds(out, "\n\n");
    }
    strbuf_add(out, rows.data, rows.length);
    for (size_t i = 0; i < c->nr_notes; i++) {
        strbuf_adds(out, i ? "- " : "\n- ");
        escape_markdown(out, c->notes[i]);
        strbuf_addc(out, '\n');
    }
    strbuf_release(&rows);
}
