/* SPDX-License-Identifier: MIT */
#include "output/compare_table.h"

#include "analysis/label.h"
#include "base/memory.h"
#include "output/chart.h"
#include "output/escape.h"
#include "output/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* A sign and a tone for each verdict, so that the colour is never alone. */
static const struct {
    const char *sign;
    enum table_tone tone;
} looks[VERDICT_NR] = {
    [VERDICT_REGRESSED] = { "▲", TABLE_BAD }, [VERDICT_BROKEN] = { "✗", TABLE_BAD },
    [VERDICT_FAILING] = { "✗", TABLE_DIM },   [VERDICT_IMPROVED] = { "▼", TABLE_GOOD },
    [VERDICT_FIXED] = { "✓", TABLE_GOOD },    [VERDICT_UNDECIDED] = { "?", TABLE_PLAIN },
    [VERDICT_SAME] = { "●", TABLE_DIM },      [VERDICT_NEW] = { "+", TABLE_DIM },
    [VERDICT_MISSING] = { "-", TABLE_PLAIN },
};

static void add_value(struct table *t, const struct chart_metric *metric, double value)
{
    char text[QUANTITY_TEXT_SIZE] = "";

    if (isfinite(value))
        quantity_text(metric->quantity, metric->base, value * metric->factor, text);
    table_cell(t, TABLE_PLAIN, "%s", text);
}

static void add_change(struct table *t, const struct compare_row *row)
{
    if (isfinite(row->change))
        table_cell(t, looks[row->verdict].tone, "%+.1f %%", row->change * 100);
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
    table_interval(t, &row->interval);
}

static void add_evidence(struct table *t, const struct compare_row *row)
{
    if (isfinite(row->q))
        table_cell(t, TABLE_PLAIN, "%.3f", row->q);
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
    if (row->item->evidence.design == DESIGN_BLOCKS)
        table_cell(t, TABLE_PLAIN, "%zu blocks", evidence_blocks(&row->item->evidence));
    else
        table_cell(t, TABLE_PLAIN, "%zu/%zu", row->base.launches, row->head.launches);
    if (isfinite(row->detectable))
        table_cell(t, TABLE_DIM, "%.1f %%", row->detectable * 100);
    else
        table_cell(t, TABLE_DIM, "%s", isinf(row->detectable) ? "nothing" : "");
}

static void add_row(struct table *t, const struct compare_row *row, const char *label)
{
    struct chart_metric metric = chart_metric_of(row->item->metric);
    enum table_tone tone = looks[row->verdict].tone;

    table_row(t);
    table_cell(t, tone, "%s", looks[row->verdict].sign);
    table_cell(t, tone, "%s", verdict_name(row->verdict));
    table_cell(t, TABLE_PLAIN, "%s%s", label, row->item->vendor ? " (vendor)" : "");
    add_value(t, &metric, row->base.value);
    add_value(t, &metric, row->head.value);
    add_change(t, row);
    add_evidence(t, row);
    if (row->accepted)
        table_cell(t, TABLE_PLAIN, "accepted: %s", row->accepted);
    else
        table_cell(t, TABLE_PLAIN, "%s", row->why);
}

static const struct benchmark_name **collect_names(const struct comparison *c)
{
    const struct benchmark_name **names = memory_zeroed(c->nr + 1, sizeof(*names));

    for (size_t i = 0; i < c->nr; i++)
        names[i] = c->rows[i].item->bench;
    return names;
}

/* The label of each row; with its metric where there are several. */
static char **label_rows(const struct comparison *c)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    bool several = comparison_metrics(c, metrics) > 1;
    const struct benchmark_name **names = collect_names(c);
    char **labels = c->nr ? labels_create(names, c->nr) : NULL;

    for (size_t i = 0; several && i < c->nr; i++) {
        struct strbuf label;
        strbuf_init(&label);
        strbuf_addf(&label, "%s%s%s", labels[i], labels[i][0] ? " " : "",
                    c->rows[i].item->metric->id);
        free(labels[i]);
        labels[i] = strbuf_detach(&label);
    }
    free(names);
    return labels;
}

/* What all rows share is not in their labels: "all: gemm/linear simd fp32 cpu-2t warm". */
static void common_text(const struct comparison *c, char *text, size_t size)
{
    const struct benchmark_name **names = collect_names(c);

    labels_common(names, c->nr, text, size);
    free(names);
}

/* In the order of enum verdict: what needs attention first. */
static void fill(struct table *t, const struct comparison *c, bool all)
{
    char **labels = label_rows(c);

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
    fill(&t, c, options->all);
    common_text(c, common, sizeof(common));
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
    fill(&t, c, options->all);
    common_text(c, common, sizeof(common));
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
