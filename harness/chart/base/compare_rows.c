/* SPDX-License-Identifier: MIT */
#include "chart/base/compare_rows.h"

#include "base/memory.h"
#include "base/text.h"
#include "metrics/label.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_HEIGHT = 27 };

static bool compare_rows_decided(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
}

/* What no axis has room for is in the tables alone: from 0 to more, and from more to 0. */
static bool compare_rows_is_shown(const struct compare_row *row, bool one_sided)
{
    return isfinite(log1p(row->change)) || (one_sided && isnan(row->change));
}

/* What is on top: failures, then changes by how bad they are, then what has one side. */
static int compare_rows_rank(const struct compare_row *row)
{
    if (row->verdict == VERDICT_BROKEN || row->verdict == VERDICT_FAILING)
        return 0;
    return isfinite(row->change) ? 1 : 2;
}

/* Positive is worse, whatever the metric's direction. */
static double compare_rows_badness(const struct compare_row *row)
{
    return row->worse ? fabs(row->change) : -fabs(row->change);
}

static int worst_first(const void *a, const void *b)
{
    const struct compare_row *x = *(const struct compare_row *const *)a;
    const struct compare_row *y = *(const struct compare_row *const *)b;

    if (compare_rows_rank(x) != compare_rows_rank(y))
        return compare_rows_rank(x) - compare_rows_rank(y);
    if (compare_rows_rank(x) == 1 && compare_rows_badness(x) != compare_rows_badness(y))
        return compare_rows_badness(x) < compare_rows_badness(y) ? 1 : -1;
    int order = strcmp(x->item->bench->key, y->item->bench->key);
    return order ? order : strcmp(x->item->machine, y->item->machine);
}

/* What is dropped first where there is no room: undecided before decided, small before large. */
static double compare_rows_importance(const struct compare_row *row)
{
    if (!isfinite(row->change))
        return compare_rows_rank(row) == 0 ? 2000 : 500;
    return fmin(fabs(row->change), 400) + (compare_rows_decided(row) ? 1000 : 0);
}

bool compare_rows_init(struct compare_rows *rows, const struct chart *chart, struct figure *f,
                       size_t limit, bool one_sided)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    const struct comparison *c = chart->comparison;

    *rows = (struct compare_rows) { .comparison = c, .one_sided = one_sided };
    rows->metric = comparison_metrics(c, metrics) > 0 ? metrics[0] : NULL;
    rows->items = memory_zeroed(c->nr + 1, sizeof(*rows->items));
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (compare_rows_is_shown(row, one_sided) && row->item->metric == rows->metric &&
            preset_takes(chart->preset, row->item->bench->key))
            rows->items[rows->nr++] = row;
    }
    rows->all = rows->nr;
    double *weights = memory_zeroed(rows->nr + 1, sizeof(*weights));
    for (size_t i = 0; i < rows->nr; i++)
        weights[i] = compare_rows_importance(rows->items[i]);
    rows->nr = chart_keep_heaviest(rows->items, sizeof(*rows->items), rows->nr, weights, limit);
    free(weights);
    qsort(rows->items, rows->nr, sizeof(*rows->items), worst_first);
    rows->several.machines = compare_several(c).machines;
    rows->labels = compare_row_labels(&rows->several, rows->items, rows->nr);
    if (!rows->nr)
        chart_absent(f, "no benchmark%s has a time on both sides",
                     chart->preset->only ? " in the range" : "");
    return rows->nr > 0;
}

void compare_rows_release(struct compare_rows *rows)
{
    labels_free(rows->labels, rows->nr);
    free(rows->items);
}

/* A comparison under any_machine names none. */
static bool compare_rows_is_on(const struct compare_row *row, const char *machine)
{
    return !row->item->machine[0] || strcmp(row->item->machine, machine) == 0;
}

const struct compare_row *compare_rows_find(const struct comparison *c, const char *key,
                                            const char *machine, const char *metric)
{
    for (size_t i = 0; i < c->nr; i++)
        if (strcmp(c->rows[i].item->bench->key, key) == 0 &&
            strcmp(c->rows[i].item->metric->id, metric) == 0 &&
            compare_rows_is_on(&c->rows[i], machine))
            return &c->rows[i];
    return NULL;
}

void compare_rows_are_about(const struct compare_rows *rows, struct panel *p)
{
    for (size_t i = 0; i < rows->nr; i++)
        panel_row_is_about(p, i, rows->items[i]->item->bench->key, NULL);
}

struct panel *compare_rows_panel(const struct compare_rows *rows, struct figure *f)
{
    struct panel *p = figure_rows(f, (const char *const *)rows->labels, rows->nr, ROW_HEIGHT, 12);

    compare_rows_are_about(rows, p);
    return p;
}

static void compare_rows_add_without_change(const struct compare_rows *rows,
                                            const struct chart *chart, struct strbuf *out)
{
    static const enum verdict verdicts[] = { VERDICT_BROKEN, VERDICT_FAILING, VERDICT_FIXED,
                                             VERDICT_NEW, VERDICT_MISSING };
    size_t count[VERDICT_NR];
    const char *before = " Without a change, so not shown: ";

    compare_rows_count(rows, chart, count);
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        if (!count[verdicts[i]])
            continue;
        strbuf_addf(out, "%s%zu %s", before, count[verdicts[i]], verdict_name(verdicts[i]));
        before = ", ";
    }
    if (*before == ',')
        strbuf_addc(out, '.');
}

size_t compare_rows_count(const struct compare_rows *rows, const struct chart *chart,
                          size_t count[VERDICT_NR])
{
    const struct comparison *c = rows->comparison;
    size_t accepted = 0;

    memset(count, 0, VERDICT_NR * sizeof(*count));
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (row->item->metric != rows->metric ||
            !preset_takes(chart->preset, row->item->bench->key))
            continue;
        count[row->verdict]++;
        accepted += row->accepted != NULL;
    }
    return accepted;
}

/* "2 slower, 40 the same", in the words of the rows. */
static void compare_rows_add_counts(const struct compare_rows *rows, const struct chart *chart,
                                    struct strbuf *out)
{
    size_t count[VERDICT_NR], accepted = compare_rows_count(rows, chart, count);

    for (int v = 0; v < VERDICT_NR; v++)
        if (count[v])
            strbuf_addf(out, "%s%zu %s", out->length ? ", " : "", count[v],
                        verdict_word((enum verdict)v, rows->metric));
    if (accepted)
        strbuf_addf(out, "; %zu accepted", accepted);
}

static const struct compare_row *compare_rows_most(const struct compare_rows *rows,
                                                   enum verdict verdict)
{
    const struct compare_row *most = NULL;

    for (size_t i = 0; i < rows->nr; i++)
        if (rows->items[i]->verdict == verdict &&
            (!most || fabs(log1p(rows->items[i]->change)) > fabs(log1p(most->change))))
            most = rows->items[i];
    return most;
}

/* "3 slower, the most gemm/nn simd by 12.7 %", of several machines "gemm/nn simd on epyc". */
static void compare_rows_conclude_most(const struct compare_rows *rows, const struct chart *chart,
                                       struct figure *f, const char *broken, size_t nr,
                                       const struct compare_row *most)
{
    char change[TEXT_UNIT_SIZE], bench[CHART_NAME_SIZE];
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, chart_name_of(most->item->bench, bench));
    compare_add_which(&rows->several, most, &name);
    chart_conclude(f, chart, "%s%zu %s, the most %s by %s", broken, nr,
                   verdict_word(most->verdict, rows->metric), name.data,
                   text_percent_size(most->change, change));
    strbuf_release(&name);
}

/* The worse, or where nothing got worse the better. */
static void compare_rows_conclude(const struct compare_rows *rows, const struct chart *chart,
                                  struct figure *f)
{
    size_t count[VERDICT_NR];
    char broken[40] = "";

    compare_rows_count(rows, chart, count);
    if (count[VERDICT_BROKEN])
        snprintf(broken, sizeof(broken), "%zu broken, ", count[VERDICT_BROKEN]);
    enum verdict verdict = count[VERDICT_REGRESSED] ? VERDICT_REGRESSED : VERDICT_IMPROVED;
    const struct compare_row *most = compare_rows_most(rows, verdict);
    if (most)
        compare_rows_conclude_most(rows, chart, f, broken, count[verdict], most);
    else if (count[VERDICT_UNDECIDED] && !count[VERDICT_SAME])
        chart_conclude(f, chart, "%snothing is decided, %zu undecided", broken,
                       count[VERDICT_UNDECIDED]);
    else if (count[VERDICT_UNDECIDED])
        chart_conclude(f, chart, "%snothing %s or %s, %zu undecided", broken,
                       verdict_word(VERDICT_REGRESSED, rows->metric),
                       verdict_word(VERDICT_IMPROVED, rows->metric), count[VERDICT_UNDECIDED]);
    else
        chart_conclude(f, chart, "%s%zu the same", broken, count[VERDICT_SAME]);
}

void compare_rows_words(const struct compare_rows *rows, const struct chart *chart,
                        struct figure *f, const char *how, ...)
{
    char words[1024], shift[TEXT_UNIT_SIZE];
    struct strbuf caption;
    va_list args;

    va_start(args, how);
    vsnprintf(words, sizeof(words), how, args);
    va_end(args);
    strbuf_init(&caption);
    strbuf_adds(&caption, words);
    if (rows->all > rows->nr)
        strbuf_addf(&caption, " Showing %zu of %zu: decided ones and the largest changes.",
                    rows->nr, rows->all);
    if (!rows->one_sided)
        compare_rows_add_without_change(rows, chart, &caption);
    chart_take(&f->caption, &caption);
    const struct run *run = &chart->records->runs[chart->run];
    const char *base = chart->base_label ? chart->base_label : "";
    struct strbuf sb;
    strbuf_init(&sb);
    compare_rows_add_counts(rows, chart, &sb);
    const char *machine = run->machine.gpu[0] ? run->machine.gpu : run->machine.cpu;
    figure_set(&f->subtitle, "%s%s%s%s%.9s%s  ·  %s", sb.data, *base ? "  ·  base " : "", base,
               run->build.commit[0] ? "  ·  head " : "", run->build.commit,
               run->build.dirty ? " (dirty)" : "",
               rows->several.machines ? "several machine classes" : machine);
    strbuf_release(&sb);
    compare_rows_conclude(rows, chart, f);
    if (rows->comparison->shifted)
        figure_set(&f->banner,
                   "▲ All benchmarks moved together by %s: suspect the machine before the code.",
                   text_percent(rows->comparison->common_shift, shift));
}

enum ink verdict_ink(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_BROKEN:
        return INK_VERMILLION;
    case VERDICT_IMPROVED:
    case VERDICT_FIXED:
        return INK_BLUE;
    default:
        return INK_GREY;
    }
}

void verdict_points_init(struct verdict_points *points, struct panel *p)
{
    points->worse = panel_points(p, "worse", INK_VERMILLION, SHAPE_TRIANGLE_UP, 12);
    points->better = panel_points(p, "better", INK_BLUE, SHAPE_TRIANGLE_DOWN, 12);
    points->open = panel_points(p, "same or undecided", INK_GREY, SHAPE_CIRCLE, 9);
    points->worse->style.width = points->better->style.width = points->open->style.width = 1;
}

struct layer *verdict_points_of(const struct verdict_points *points, enum verdict verdict)
{
    enum ink ink = verdict_ink(verdict);

    return ink == INK_VERMILLION ? points->worse : ink == INK_BLUE ? points->better : points->open;
}
