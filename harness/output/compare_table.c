/* SPDX-License-Identifier: MIT */
#include "output/compare_table.h"

#include "analysis/label.h"
#include "output/compare_words.h"
#include "output/escape.h"

#include <math.h>

static const struct table_column columns[] = {
    { "", TABLE_LEFT, false },
    { "verdict", TABLE_LEFT, false },
    { "benchmark", TABLE_LEFT, true },
    { "base", TABLE_RIGHT, false },
    { "head", TABLE_RIGHT, false },
    { "change", TABLE_RIGHT, false },
    { "90 % interval", TABLE_RIGHT, false },
    { "q", TABLE_RIGHT, false },
    { "launches", TABLE_RIGHT, false },
    { "could see", TABLE_RIGHT, false },
    { "why", TABLE_LEFT, true },
};

static void add_change(struct table *t, const struct compare_row *row)
{
    char text[QUANTITY_TEXT_SIZE];

    table_cell(t, verdict_look(row->verdict)->tone, "%s", compare_change(row, text));
    table_cell(t, TABLE_PLAIN, "%s", compare_interval(row, text));
}

static void add_evidence(struct table *t, const struct compare_row *row)
{
    char text[QUANTITY_TEXT_SIZE];

    if (isfinite(row->q))
        table_cell(t, TABLE_PLAIN, "%.3f", row->q);
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
    table_cell(t, TABLE_PLAIN, "%s", compare_launches(row, text));
    if (isfinite(row->detectable))
        table_cell(t, TABLE_DIM, "%.1f %%", row->detectable * 100);
    else
        table_cell(t, TABLE_DIM, "%s", isinf(row->detectable) ? "nothing" : "");
}

static void add_row(struct table *t, const struct compare_row *row, const char *label)
{
    const struct verdict_look *look = verdict_look(row->verdict);
    char text[QUANTITY_TEXT_SIZE];

    table_row(t);
    table_cell(t, look->tone, "%s", look->sign);
    table_cell(t, look->tone, "%s", verdict_name(row->verdict));
    table_cell(t, TABLE_PLAIN, "%s%s", label, row->item->vendor ? " (vendor)" : "");
    table_cell(t, TABLE_PLAIN, "%s", compare_value(row, row->base.value, text));
    table_cell(t, TABLE_PLAIN, "%s", compare_value(row, row->head.value, text));
    add_change(t, row);
    add_evidence(t, row);
    if (row->accepted)
        table_cell(t, TABLE_PLAIN, "accepted: %s", row->accepted);
    else
        table_cell(t, TABLE_PLAIN, "%s", row->why);
}

void compare_table_fill(struct table *t, const struct comparison *c, bool all)
{
    char **labels = compare_labels(c);

    table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
    for (int verdict = 0; verdict < VERDICT_NR; verdict++)
        for (size_t i = 0; i < c->nr; i++)
            if (c->rows[i].verdict == (enum verdict)verdict && (all || verdict != VERDICT_SAME))
                add_row(t, &c->rows[i], labels[i]);
    labels_free(labels, c->nr);
}

/* "  (median latency, ±3 % does not matter)" */
static void add_metrics(const struct comparison *c, struct strbuf *out)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = comparison_metrics(c, metrics);

    for (size_t i = 0; i < nr; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "  (", metrics[i]->label);
    strbuf_addf(out, ", ±%.3g %% does not matter%s)", c->settings.delta * 100,
                c->settings.nr_floors ? " but where told otherwise" : "");
}

static void add_head(const struct comparison *c, const struct compare_table_options *options,
                     struct strbuf *out)
{
    if (options->base_name && options->head_name) {
        escape_plain(out, options->base_name);
        strbuf_adds(out, " → ");
        escape_plain(out, options->head_name);
        strbuf_adds(out, ": ");
    }
    comparison_summary(c, out);
    add_metrics(c, out);
    strbuf_addc(out, '\n');
}

void compare_table_text(const struct comparison *c, const struct compare_table_options *options,
                        struct strbuf *out)
{
    char common[512];
    struct table t;

    add_head(c, options, out);
    compare_table_fill(&t, c, options->all);
    compare_common(c, common, sizeof(common));
    if (t.nr) {
        strbuf_addf(out, "\n%s%s%s", common[0] ? "all: " : "", common, common[0] ? "\n" : "");
        table_text(&t, options->width, options->colour, out);
    }
    if (c->nr_notes)
        strbuf_addc(out, '\n');
    for (size_t i = 0; i < c->nr_notes; i++) {
        escape_plain(out, c->notes[i]);
        strbuf_addc(out, '\n');
    }
    table_release(&t);
}

void compare_table_markdown(const struct comparison *c, const struct compare_table_options *options,
                            struct strbuf *out)
{
    char common[512];
    struct strbuf head;
    struct table t;

    strbuf_init(&head);
    add_head(c, options, &head);
    strbuf_adds(out, "**");
    if (head.length)
        head.data[--head.length] = '\0'; /* its newline */
    escape_markdown(out, head.data);
    strbuf_adds(out, "**\n\n");
    strbuf_release(&head);
    compare_table_fill(&t, c, options->all);
    compare_common(c, common, sizeof(common));
    if (t.nr && common[0]) {
        strbuf_adds(out, "All: ");
        escape_markdown(out, common);
        strbuf_adds(out, "\n\n");
    }
    if (t.nr)
        table_markdown(&t, out);
    for (size_t i = 0; i < c->nr_notes; i++) {
        strbuf_adds(out, i ? "- " : "\n- ");
        escape_markdown(out, c->notes[i]);
        strbuf_addc(out, '\n');
    }
    table_release(&t);
}
