/* SPDX-License-Identifier: MIT */
#include "output/compare_rows.h"

#include "analysis/label.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_HEIGHT = 27 };

static bool decided(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
}

/* What is on top: failures, then changes by how bad they are, then what has one side. */
static int rank(const struct compare_row *row)
{
    if (row->verdict == VERDICT_BROKEN || row->verdict == VERDICT_FAILING)
        return 0;
    return isfinite(row->change) ? 1 : 2;
}

/* Positive is worse, whatever the metric's direction. */
static double badness(const struct compare_row *row)
{
    return row->worse ? fabs(row->change) : -fabs(row->change);
}

static int worst_first(const void *a, const void *b)
{
    const struct compare_row *x = *(const struct compare_row *const *)a;
    const struct compare_row *y = *(const struct compare_row *const *)b;

    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    if (rank(x) == 1 && badness(x) != badness(y))
        return badness(x) < badness(y) ? 1 : -1;
    return strcmp(x->item->bench->key, y->item->bench->key);
}

/* What is dropped first where there is no room: undecided before decided, small before large. */
static double importance(const struct compare_row *row)
{
    if (!isfinite(row->change))
        return rank(row) == 0 ? 2000 : 500;
    return fmin(fabs(row->change), 400) + (decided(row) ? 1000 : 0);
}

static void keep_rows(struct compare_rows *rows, size_t limit)
{
    double *weights = memory_zeroed(rows->nr + 1, sizeof(*weights));
    bool *keep = memory_zeroed(rows->nr + 1, sizeof(*keep));
    size_t kept = 0;

    for (size_t i = 0; i < rows->nr; i++)
        weights[i] = importance(rows->items[i]);
    chart_mark_heaviest(weights, rows->nr, limit, keep);
    for (size_t i = 0; i < rows->nr; i++)
        if (keep[i])
            rows->items[kept++] = rows->items[i];
    rows->nr = kept;
    free(weights);
    free(keep);
}

static void name_rows(struct compare_rows *rows)
{
    const struct benchmark_name **names = memory_zeroed(rows->nr + 1, sizeof(*names));

    for (size_t i = 0; i < rows->nr; i++)
        names[i] = rows->items[i]->item->bench;
    rows->labels = rows->nr ? labels_create(names, rows->nr) : NULL;
    free(names);
}

void compare_rows_init(struct compare_rows *rows, const struct chart *chart, size_t limit,
                       bool one_sided)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    const struct comparison *c = chart->comparison;

    *rows = (struct compare_rows) { .comparison = c };
    rows->metric = comparison_metrics(c, metrics) > 0 ? metrics[0] : NULL;
    rows->items = memory_zeroed(c->nr + 1, sizeof(*rows->items));
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if ((isfinite(row->change) || one_sided) && row->item->metric == rows->metric &&
            preset_takes(chart->preset, row->item->bench->key))
            rows->items[rows->nr++] = row;
    }
    rows->all = rows->nr;
    keep_rows(rows, limit);
    qsort(rows->items, rows->nr, sizeof(*rows->items), worst_first);
    name_rows(rows);
}

void compare_rows_release(struct compare_rows *rows)
{
    labels_free(rows->labels, rows->nr);
    free(rows->items);
}

const struct compare_row *compare_rows_find(const struct comparison *c, const char *key,
                                            const char *metric)
{
    for (size_t i = 0; i < c->nr; i++)
        if (strcmp(c->rows[i].item->bench->key, key) == 0 &&
            strcmp(c->rows[i].item->metric->id, metric) == 0)
            return &c->rows[i];
    return NULL;
}

bool compare_rows_any(const struct compare_rows *rows, struct figure *f)
{
    if (!rows->nr)
        chart_absent(f, "no benchmark has a time on both sides");
    return rows->nr > 0;
}

void compare_rows_axis(const struct compare_rows *rows, struct panel *p)
{
    axis_names(&p->y, (const char *const *)rows->labels, rows->nr, true);
    p->y.bare = true;
    p->plot_height = ROW_HEIGHT * (double)rows->nr + 12;
}

void compare_rows_subtitle(const struct compare_rows *rows, struct figure *f,
                           const struct chart *chart)
{
    const struct run *run = &chart->records->runs[chart->run];
    const char *base = chart->base_label ? chart->base_label : "";
    struct strbuf sb;

    strbuf_init(&sb);
    comparison_summary(rows->comparison, &sb);
    figure_set(&f->subtitle, "%s%s%s%s%.9s%s  ·  %s", sb.data, *base ? "  ·  base " : "", base,
               run->build.commit[0] ? "  ·  head " : "", run->build.commit,
               run->build.dirty ? " (dirty)" : "",
               run->machine.gpu[0] ? run->machine.gpu : run->machine.cpu);
    strbuf_release(&sb);
}

static void add_without_change(const struct comparison *c, struct strbuf *out)
{
    static const enum verdict verdicts[] = { VERDICT_BROKEN, VERDICT_FAILING, VERDICT_FIXED,
                                             VERDICT_NEW, VERDICT_MISSING };
    const char *before = " Without a change, so not shown: ";

    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        if (!c->count[verdicts[i]])
            continue;
        strbuf_addf(out, "%s%zu %s", before, c->count[verdicts[i]], verdict_name(verdicts[i]));
        before = ", ";
    }
    if (*before == ',')
        strbuf_addc(out, '.');
}

void compare_rows_caption(const struct compare_rows *rows, bool one_sided, struct strbuf *out)
{
    if (rows->all > rows->nr)
        strbuf_addf(out, " Showing %zu of %zu: decided ones and the largest changes.", rows->nr,
                    rows->all);
    if (!one_sided)
        add_without_change(rows->comparison, out);
}

void compare_rows_banner(const struct compare_rows *rows, struct figure *f)
{
    char shift[TEXT_UNIT_SIZE];

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

static struct layer *add_layer(struct panel *p, const char *label, enum ink ink,
                               enum shape_kind shape, double size)
{
    struct layer *layer = panel_layer(p, MARK_POINTS, label);

    layer->style =
        (struct style) { .ink = ink, .shape = shape, .width = 1, .size = size, .opacity = 1 };
    return layer;
}

void verdict_points_init(struct verdict_points *points, struct panel *p)
{
    points->worse = add_layer(p, "worse", INK_VERMILLION, SHAPE_TRIANGLE_UP, 12);
    points->better = add_layer(p, "better", INK_BLUE, SHAPE_TRIANGLE_DOWN, 12);
    points->open = add_layer(p, "same or undecided", INK_GREY, SHAPE_CIRCLE, 9);
}

struct layer *verdict_points_of(const struct verdict_points *points, enum verdict verdict)
{
    enum ink ink = verdict_ink(verdict);

    return ink == INK_VERMILLION ? points->worse : ink == INK_BLUE ? points->better : points->open;
}
