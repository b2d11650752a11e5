/* SPDX-License-Identifier: MIT */
/* Batch against sequence length, one map a kernel and variant; the value stands in each cell and
 * sets its colour. A size that was not measured is a grey cell that says so. */
#include "output/map_cells.h"

#include <math.h>
#include <stdio.h>

enum { LIMIT = 6, SIDE_MAX = 12, CELL_HEIGHT = 46 };

struct heatmap {
    const struct chart *chart;
    struct chart_items items;
    struct chart_families families;
    struct chart_metric metric;
    struct figure *f;
    const char *x, *y; /* dims */
    struct map_scale scale;
    size_t drawn, eligible;
    bool crowded;
};

/* A map of one row and one column says nothing. */
static bool is_map(const struct heatmap *h, const struct chart_family *family)
{
    int64_t values[SIDE_MAX];

    return chart_dim_values(&h->items, family, h->x, values, SIDE_MAX) > 1 &&
           chart_dim_values(&h->items, family, h->y, values, SIDE_MAX) > 1;
}

static double value_at(const struct heatmap *h, const struct chart_family *family, int64_t x,
                       int64_t y)
{
    for (size_t i = 0; i < family->nr; i++) {
        const struct chart_item *item = &h->items.items[family->members[i]];
        if (benchmark_name_dim(item->bench, h->x, -1) == x &&
            benchmark_name_dim(item->bench, h->y, -1) == y)
            return chart_value_of(&h->metric, item, &h->items.context).value;
    }
    return NAN;
}

static void name_side(struct axis *axis, const int64_t *values, size_t nr, bool reversed)
{
    char texts[SIDE_MAX][24];
    const char *names[SIDE_MAX];

    for (size_t i = 0; i < nr; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%lld", (long long)values[i]);
        names[i] = texts[i];
    }
    axis_names(axis, names, nr, reversed);
    axis->bare = true;
}

static void add_map(struct heatmap *h, const struct chart_family *family, const char *label)
{
    int64_t columns[SIDE_MAX], rows[SIDE_MAX];
    size_t nr_columns = chart_dim_values(&h->items, family, h->x, columns, SIDE_MAX);
    size_t nr_rows = chart_dim_values(&h->items, family, h->y, rows, SIDE_MAX);
    struct panel *p = figure_panel(h->f);
    struct layer *cells = panel_layer(p, MARK_CELLS, NULL);

    figure_set(&p->title, "%s", label);
    axis_set(&p->x, h->x, QUANTITY_PLAIN, "", AXIS_CATEGORY);
    axis_set(&p->y, h->y, QUANTITY_PLAIN, "", AXIS_CATEGORY);
    name_side(&p->x, columns, nr_columns, false);
    name_side(&p->y, rows, nr_rows, true);
    p->plot_height = fmax(CELL_HEIGHT * (double)nr_rows, 160);
    for (size_t row = 0; row < nr_rows; row++)
        for (size_t column = 0; column < nr_columns; column++)
            map_cell_add(cells, &h->scale, column, row,
                         value_at(h, family, columns[column], rows[row]));
}

/* In a crowd, of each kernel the best alone. */
static bool is_chosen(const struct heatmap *h, size_t nth, bool crowded)
{
    return is_map(h, &h->families.items[nth]) &&
           (!crowded || chart_family_leads(&h->families, &h->items, nth, &h->metric));
}

static void include_values(struct heatmap *h, const struct chart_family *family)
{
    for (size_t i = 0; i < family->nr; i++) {
        const struct chart_item *item = &h->items.items[family->members[i]];
        map_scale_include(&h->scale, chart_value_of(&h->metric, item, &h->items.context).value);
    }
}

/* Which maps will be drawn, and the range of their values. */
static void choose(struct heatmap *h, size_t limit)
{
    h->scale = (struct map_scale) { .metric = &h->metric, .least = INFINITY };
    for (size_t i = 0; i < h->families.nr; i++)
        h->eligible += is_map(h, &h->families.items[i]);
    h->crowded = h->eligible > limit;
    for (size_t i = 0; i < h->families.nr && h->drawn < limit; i++) {
        if (!is_chosen(h, i, h->crowded))
            continue;
        include_values(h, &h->families.items[i]);
        h->drawn++;
    }
}

static bool is_rate(const struct heatmap *h)
{
    return h->metric.metric && h->metric.metric->kind == METRIC_RATE;
}

static void add_words(struct heatmap *h)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], how[400], more[128] = "";
    char *subtitle = h->f->subtitle;

    h->f->subtitle = NULL;
    figure_set(&h->f->subtitle, "%s in %s  ·  %s", h->metric.label, map_scale_unit(&h->scale).name,
               subtitle);
    free(subtitle);
    quantity_text(h->metric.quantity, h->metric.base, h->scale.least, low);
    quantity_text(h->metric.quantity, h->metric.base, h->scale.most, high);
    if (h->eligible > h->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu maps: of each kernel the one with most sizes, or the best.",
                 h->drawn, h->eligible);
    snprintf(how, sizeof(how),
             "Each cell is %s%s; colour runs logarithmically from dark (%s) to bright (%s) over "
             "all maps. Grey n/a: not measured.%s",
             h->metric.label, is_rate(h) ? " at the median time" : "", low, high, more);
    chart_caption(h->f, &h->items, how, "");
    figure_set(&h->f->alt, "Maps of %s over %s and %s, %zu map%s, from %s to %s.", h->metric.label,
               h->y, h->x, h->drawn, h->drawn == 1 ? "" : "s", low, high);
}

static void draw(struct heatmap *h)
{
    h->f->columns = h->drawn > 4 ? 3 : h->drawn > 1 ? 2 : 1;
    for (size_t i = 0, nr = 0; i < h->families.nr && nr < h->drawn; i++) {
        if (!is_chosen(h, i, h->crowded))
            continue;
        add_map(h, &h->families.items[i], h->families.labels[i]);
        nr++;
    }
    chart_subtitle(h->f, h->chart, &h->items);
    map_scale_add_bar(&h->scale, h->f);
    add_words(h);
    figure_finish(h->f);
}

struct figure *build_heatmap(const struct chart *chart)
{
    struct heatmap h = { .chart = chart,
                         .metric = chart_metric_chosen(chart->preset->y, "p50"),
                         .f = chart_figure(chart),
                         .x = chart->preset->x ? chart->preset->x : "seq",
                         .y = "batch" };
    size_t limit = chart_limit(chart->preset, LIMIT);

    chart_items_init(&h.items, chart);
    chart_families_init(&h.families, &h.items, h.x, h.y);
    choose(&h, limit);
    if (!h.items.nr)
        chart_absent_items(h.f, chart, &h.items);
    else if (!h.eligible)
        chart_absent(h.f, "no benchmark was measured at two or more values of both %s and %s", h.y,
                     h.x);
    else if (!(h.scale.most > 0))
        chart_absent(h.f, "%s does not apply to these benchmarks", h.metric.label);
    else
        draw(&h);
    chart_families_release(&h.families);
    chart_items_release(&h.items);
    chart_metric_release(&h.metric);
    return h.f;
}
