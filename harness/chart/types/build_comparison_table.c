/* SPDX-License-Identifier: MIT */
/* A comparison as a table that fits a slide: name, both sides, change, interval, verdict. What has
 * one side only is there too. */
#include "chart/base/compare_rows.h"
#include "chart/types/chart_types.h"
#include "reporters/compare_words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { LIMIT = 18, ROW_HEIGHT = 27 };

/* Where the columns end, or for the last one begins, as shares of the width. */
static const double base_at = 0.17, head_at = 0.36, change_at = 0.51, interval_at = 0.74,
                    mark_at = 0.80, word_at = 0.825;

struct comparison_table {
    const struct compare_rows *rows;
    struct panel *p;
    struct layer *texts[3]; /* plain, worse, better */
    struct verdict_points points;
};

static void comparison_add_heads(struct comparison_table *t)
{
    static const struct {
        const char *text;
        const double *at;
        enum anchor anchor;
    } heads[] = {
        { "base", &base_at, ANCHOR_RIGHT },     { "head", &head_at, ANCHOR_RIGHT },
        { "change", &change_at, ANCHOR_RIGHT }, { "90 % interval", &interval_at, ANCHOR_RIGHT },
        { "verdict", &word_at, ANCHOR_LEFT },
    };
    struct layer *texts = panel_texts(t->p, INK_DARK, true);

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        layer_add_text(texts, *heads[i].at, -1, heads[i].anchor, heads[i].text);
}

static void comparison_add_cell(struct layer *layer, double at, size_t i, enum anchor anchor,
                                const char *text)
{
    layer_add_text(layer, at, (double)i, anchor, *text ? text : "–");
}

static void comparison_add_row(struct comparison_table *t, size_t i)
{
    const struct compare_row *row = t->rows->items[i];
    enum ink ink = verdict_ink(row->verdict);
    struct layer *plain = t->texts[0];
    struct layer *toned = t->texts[ink == INK_VERMILLION ? 1 : ink == INK_BLUE ? 2 : 0];
    char text[QUANTITY_TEXT_SIZE], word[64];

    comparison_add_cell(plain, base_at, i, ANCHOR_RIGHT, compare_value(row, row->base.value, text));
    comparison_add_cell(plain, head_at, i, ANCHOR_RIGHT, compare_value(row, row->head.value, text));
    comparison_add_cell(toned, change_at, i, ANCHOR_RIGHT, compare_change(row, text));
    comparison_add_cell(plain, interval_at, i, ANCHOR_RIGHT, compare_interval(row, text));
    snprintf(word, sizeof(word), "%s%s", verdict_word(row->verdict, row->item->metric),
             row->accepted ? ", accepted" : "");
    comparison_add_cell(toned, word_at, i, ANCHOR_LEFT, word);
    layer_add(verdict_points_of(&t->points, row->verdict), mark_at, (double)i);
}

static void comparison_add_table(struct comparison_table *t)
{
    comparison_add_heads(t);
    t->texts[0] = panel_texts(t->p, INK_DARK, false);
    t->texts[1] = panel_texts(t->p, INK_VERMILLION, true);
    t->texts[2] = panel_texts(t->p, INK_BLUE, true);
    verdict_points_init(&t->points, t->p);
    for (size_t i = 0; i < t->rows->nr; i++)
        comparison_add_row(t, i);
}

static void comparison_table_words(const struct compare_rows *rows, const struct chart *chart,
                                   struct figure *f)
{
    size_t count[VERDICT_NR];
    char drawn[32] = "";

    compare_rows_count(rows, chart, count);
    if (rows->all > rows->nr)
        snprintf(drawn, sizeof(drawn), "%zu of ", rows->nr);
    compare_rows_words(rows, chart, f,
                       "%c%s of both sides, the mean of their launches; change is head over base. "
                       "The worst is on top.",
                       toupper((unsigned char)rows->metric->label[0]), rows->metric->label + 1);
    figure_set(&f->alt,
               "Table of %s%zu benchmark%s: %zu worse, %zu better, %zu the same, %zu "
               "undecided; on top is %s, %s.",
               drawn, rows->all, rows->all == 1 ? "" : "s", count[VERDICT_REGRESSED],
               count[VERDICT_IMPROVED], count[VERDICT_SAME], count[VERDICT_UNDECIDED],
               rows->labels[0], verdict_word(rows->items[0]->verdict, rows->metric));
}

void build_comparison_table(const struct chart *chart, struct figure *f)
{
    struct compare_rows rows;

    if (compare_rows_init(&rows, chart, f, chart_limit(chart->preset, LIMIT), true)) {
        struct comparison_table t = {
            .rows = &rows,
            .p =
                figure_table(f, "benchmark", (const char *const *)rows.labels, rows.nr, ROW_HEIGHT),
        };
        compare_rows_are_about(&rows, t.p);
        comparison_add_table(&t);
        comparison_table_words(&rows, chart, f);
    }
    compare_rows_release(&rows);
}
