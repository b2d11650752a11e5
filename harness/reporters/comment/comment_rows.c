/* SPDX-License-Identifier: MIT */
/* The numbers of the comment: tables and the chart. */
#include "base/memory.h"
#include "chart/base/chart_base.h"
#include "reporters/comment/comment_parts.h"
#include "reporters/compare_table.h"
#include "reporters/compare_words.h"
#include "stats/stats.h"
#include "text/escape.h"
#include "text/mermaid.h"
#include "text/sparkline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARKLINE_POINTS = 20, TABLE_ROWS = 8 };

/* Of a change no more than this is noise: the least that a sparkline's height stands for. */
static const double sparkline_least = 4; /* floors */

static const struct table_column columns[] = {
    { .title = "" },
    { .title = "benchmark" },
    { .title = "change", .align = TABLE_RIGHT },
    { .title = "base\u00a0→\u00a0head", .align = TABLE_RIGHT },
    { .title = "history, base, head" },
};

/* The head as a point of its history: the median of its launches, as the others are. What a table
 * shows of it is their geometric mean. */
static double head_point(const struct compare_row *row)
{
    const struct evidence_side *head = &row->item->evidence.head;

    if (head->nr == 0)
        return row->head.value;
    double *values = memory_zeroed(head->nr, sizeof(*values));
    for (size_t i = 0; i < head->nr; i++)
        values[i] = head->values[i].value;
    double median = stats_median(values, head->nr);
    free(values);
    return median;
}

/* The newest `most` points of the history, the head as the last; free() it. */
static double *points_of(const struct comment_history *history, const struct compare_row *row,
                         size_t most, size_t *nr)
{
    size_t before = history->nr < most - 1 ? history->nr : most - 1;
    double *points = memory_zeroed(before + 1, sizeof(*points));

    memcpy(points, history->values + history->nr - before, before * sizeof(*points));
    points[before] = head_point(row);
    *nr = before + 1;
    return points;
}

/* The history, then the base, then the head; the base is the middle of the height. */
static void add_history(struct table *t, const struct comment *k, const struct compare_row *row)
{
    const struct comment_history *history = comment_history_of(k->o->histories, row);
    struct strbuf line;
    size_t nr;

    strbuf_init(&line);
    if (history && history->nr > 0) {
        double *points = points_of(history, row, SPARKLINE_POINTS, &nr);
        double head = points[nr - 1], base = row->base.value;
        sparkline_add(&line, points, nr - 1, base,
                      fmax(fabs(row->change), sparkline_least * row->delta));
        sparkline_add(&line, (double[]) { base, head }, 2, base,
                      fmax(fabs(row->change), sparkline_least * row->delta));
        free(points);
    }
    table_cell(t, TABLE_PLAIN, "%s", line.data);
    strbuf_release(&line);
}

static void add_cell(struct table *t, const char *text)
{
    struct strbuf firm;

    strbuf_init(&firm);
    compare_firm(&firm, text);
    table_cell(t, TABLE_PLAIN, "%s", firm.data);
    strbuf_release(&firm);
}

/* "1.000 ms → 1.100 ms" */
static void add_values(struct table *t, const struct compare_row *row)
{
    char text[QUANTITY_TEXT_SIZE];
    struct strbuf values;

    strbuf_init(&values);
    compare_firm(&values, compare_value(row, row->base.value, text));
    strbuf_adds(&values, " → ");
    compare_firm(&values, compare_value(row, row->head.value, text));
    table_cell(t, TABLE_PLAIN, "%s", values.data);
    strbuf_release(&values);
}

/* "+10.0 % (+9.0 to +11.0 %)" */
static void add_change_cell(struct table *t, const struct compare_row *row)
{
    char text[QUANTITY_TEXT_SIZE];
    struct strbuf cell;

    strbuf_init(&cell);
    compare_firm(&cell, compare_change(row, text));
    if (*compare_interval(row, text)) {
        strbuf_adds(&cell, " (");
        compare_firm(&cell, text);
        strbuf_addc(&cell, ')');
    }
    table_cell(t, TABLE_PLAIN, "%s", cell.data);
    strbuf_release(&cell);
}

static void add_change(struct table *t, const struct comment *k, const struct compare_row *row)
{
    char text[QUANTITY_TEXT_SIZE];

    table_row(t);
    snprintf(text, sizeof(text), "%s %s", verdict_look(row->verdict)->sign,
             verdict_word(row->verdict, row->item->metric));
    add_cell(t, text);
    table_cell(t, TABLE_PLAIN, "%s%s%s%s%s", comment_label(k, row),
               row->item->vendor ? " (vendor)" : "", row->accepted ? " (accepted: " : "",
               row->accepted ? row->accepted : "", row->accepted ? ")" : "");
    add_change_cell(t, row);
    add_values(t, row);
    add_history(t, k, row);
}

void comment_table(const struct comment *k)
{
    size_t most = k->level->changes, nr = k->nr_changes < most ? k->nr_changes : most;
    struct table t;

    /* One screen before it folds, as long as the others stand further down. */
    if (k->level->rows != ROWS_NONE && nr > TABLE_ROWS)
        nr = TABLE_ROWS;
    if (nr == 0)
        return;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < nr; i++)
        add_change(&t, k, k->changes[i]);
    table_markdown(&t, k->out);
    strbuf_addc(k->out, '\n');
    if (k->level->rows != ROWS_NONE && nr < k->nr_changes)
        strbuf_addf(k->out, "%zu more changes stand below, in all rows.\n\n", k->nr_changes - nr);
    table_release(&t);
}

/* The first of the changes that has enough of a history; NULL: none has. */
static const struct compare_row *row_with_trend(const struct comment *k)
{
    for (size_t i = 0; i < k->nr_changes; i++) {
        const struct comment_history *h = comment_history_of(k->o->histories, k->changes[i]);
        if (h && h->nr + 1 >= MERMAID_POINTS_MIN)
            return k->changes[i];
    }
    return NULL;
}

void comment_trend(const struct comment *k)
{
    const struct compare_row *row = k->level->charts ? row_with_trend(k) : NULL;

    if (!row || comment_is_shown(k, k->o->picture))
        return;
    const struct comment_history *history = comment_history_of(k->o->histories, row);
    struct chart_metric metric = chart_metric_of(row->item->metric);
    struct mermaid_trend trend = { .label = metric.label,
                                   .quantity = metric.quantity,
                                   .base = metric.base };
    double *points = points_of(history, row, MERMAID_POINTS_MAX, &trend.nr);
    for (size_t i = 0; i < trend.nr; i++)
        points[i] *= metric.factor;
    trend.values = points;
    trend.origin = row->base.value * metric.factor;
    strbuf_addf(k->out, "The %s%s, ",
                row->verdict == VERDICT_IMPROVED ? "largest gain" : "worst change",
                row == k->changes[0] ? "" : " with a history");
    escape_markdown(k->out, comment_label(k, row));
    strbuf_addf(k->out,
                ", over %zu runs, oldest first, each the median of its launches; the bar at the "
                "end is this head, held against the base of ",
                trend.nr);
    char base[QUANTITY_TEXT_SIZE];
    compare_firm(k->out, compare_value(row, row->base.value, base));
    strbuf_adds(k->out, ":\n\n");
    mermaid_trend_add(&trend, k->out);
    strbuf_addc(k->out, '\n');
    free(points);
}

void comment_all_rows(const struct comment *k)
{
    const struct comparison *c = k->c;
    bool all = k->level->rows == ROWS_ALL;
    size_t same = c->count[VERDICT_SAME];

    if (k->level->rows == ROWS_NONE || c->nr == 0 || (!all && same == c->nr))
        return;
    if (all)
        comment_open(k, "All rows: %zu", c->nr);
    else
        comment_open(k, "Rows that are not the same: %zu", c->nr - same);
    compare_table_rows(c, all, k->out);
    comment_close(k);
}
