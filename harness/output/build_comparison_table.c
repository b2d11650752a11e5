/* SPDX-License-Identifier: MIT */
/* A comparison as a table that fits a slide: name, both sides, change, interval, verdict. What has
 * one side only is there too. */
#include "output/compare_rows.h"
#include "output/compare_words.h"

#include <math.h>
#include <stdio.h>

enum { LIMIT = 18, ROW_HEIGHT = 27 };

/* Where the columns end, or for the last one begins, as shares of the width. */
static const double base_at = 0.17, head_at = 0.36, change_at = 0.51, interval_at = 0.74,
                    mark_at = 0.80, word_at = 0.825;

struct drawn_table {
    const struct compare_rows *rows;
    struct panel *p;
    struct layer *texts[3]; /* plain, worse, better */
    struct verdict_points points;
};

static struct layer *text_layer(struct panel *p, enum ink ink, bool bold)
{
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);

    texts->style.ink = ink;
    texts->style.bold = bold;
    return texts;
}

/* A grey ground under every second row leads the eye. */
static void add_ground(struct drawn_table *t)
{
    struct layer *ground = panel_layer(t->p, MARK_BARS, NULL);
    struct layer *line = panel_layer(t->p, MARK_RULES, NULL);

    ground->across = true;
    ground->thickness = 1;
    ground->style.ink = INK_LIGHT;
    ground->style.opacity = 0.35;
    for (size_t i = 1; i < t->rows->nr; i += 2)
        layer_add(ground, 1, (double)i)->low = 0;
    line->style.ink = INK_GREY;
    line->style.width = 1;
    layer_add(line, NAN, -0.5);
}

static void add_heads(struct drawn_table *t)
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
    struct layer *texts = text_layer(t->p, INK_DARK, true);

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        layer_add_text(texts, *heads[i].at, -1, heads[i].anchor, heads[i].text);
}

static void add_cell(struct layer *layer, double at, size_t i, enum anchor anchor, const char *text)
{
    layer_add_text(layer, at, (double)i, anchor, *text ? text : "–");
}

static void add_row(struct drawn_table *t, size_t i)
{
    const struct compare_row *row = t->rows->items[i];
    enum ink ink = verdict_ink(row->verdict);
    struct layer *plain = t->texts[0];
    struct layer *toned = t->texts[ink == INK_VERMILLION ? 1 : ink == INK_BLUE ? 2 : 0];
    char text[QUANTITY_TEXT_SIZE], word[64];

    add_cell(plain, base_at, i, ANCHOR_RIGHT, compare_value(row, row->base.value, text));
    add_cell(plain, head_at, i, ANCHOR_RIGHT, compare_value(row, row->head.value, text));
    add_cell(toned, change_at, i, ANCHOR_RIGHT, compare_change(row, text));
    add_cell(plain, interval_at, i, ANCHOR_RIGHT, compare_interval(row, text));
    snprintf(word, sizeof(word), "%s%s", verdict_name(row->verdict),
             row->accepted ? ", accepted" : "");
    add_cell(toned, word_at, i, ANCHOR_LEFT, word);
    layer_add(verdict_points_of(&t->points, row->verdict), mark_at, (double)i);
}

static void add_table(struct drawn_table *t)
{
    axis_names(&t->p->y, (const char *const *)t->rows->labels, t->rows->nr, true);
    t->p->y.bare = true;
    t->p->y.low = -1.5;
    ticks_add(&t->p->y.ticks, -1, "benchmark", false);
    axis_set(&t->p->x, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    t->p->x.low = 0;
    t->p->x.high = 1;
    t->p->x.bare = true;
    ticks_add(&t->p->x.ticks, 0, "", false);
    t->p->plot_height = ROW_HEIGHT * (double)(t->rows->nr + 1) + 4;
    add_ground(t);
    add_heads(t);
    t->texts[0] = text_layer(t->p, INK_DARK, false);
    t->texts[1] = text_layer(t->p, INK_VERMILLION, true);
    t->texts[2] = text_layer(t->p, INK_BLUE, true);
    verdict_points_init(&t->points, t->p);
    for (size_t i = 0; i < t->rows->nr; i++)
        add_row(t, i);
}

static void add_words(const struct compare_rows *rows, struct figure *f)
{
    const size_t *count = rows->comparison->count;
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_addf(&sb,
                "%s of both sides, the mean of their launches; change is head over base. The worst "
                "is on top.",
                rows->metric->label);
    if (sb.data[0] >= 'a' && sb.data[0] <= 'z')
        sb.data[0] = (char)(sb.data[0] - 'a' + 'A');
    compare_rows_caption(rows, true, &sb);
    figure_set(&f->caption, "%s", sb.data);
    strbuf_release(&sb);
    figure_set(&f->alt,
               "Table of %zu benchmark%s: %zu regressed, %zu improved, %zu the same, %zu "
               "undecided; on top is %s, %s.",
               rows->nr, rows->nr == 1 ? "" : "s", count[VERDICT_REGRESSED],
               count[VERDICT_IMPROVED], count[VERDICT_SAME], count[VERDICT_UNDECIDED],
               rows->labels[0], verdict_name(rows->items[0]->verdict));
}

struct figure *build_comparison_table(const struct chart *chart)
{
    struct figure *f = chart_figure(chart);
    struct compare_rows rows;

    if (!chart->comparison || chart->run < 0)
        return chart_absent(f, "there is no base to compare with; name one, or save a baseline");
    compare_rows_init(&rows, chart, chart_limit(chart->preset, LIMIT), true);
    if (compare_rows_any(&rows, f)) {
        struct drawn_table t = { .rows = &rows, .p = figure_panel(f) };
        add_table(&t);
        add_words(&rows, f);
        compare_rows_subtitle(&rows, f, chart);
        compare_rows_banner(&rows, f);
        figure_finish(f);
    }
    compare_rows_release(&rows);
    return f;
}
