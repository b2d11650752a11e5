/* SPDX-License-Identifier: MIT */
/* Batch against sequence length, one map a kernel and variant. */
#include "base/memory.h"
#include "chart/types/map_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEATMAP_LIMIT = 6, SIDE_MAX = 12, HEATMAP_CELL_HEIGHT = 46 };

struct heatmap {
    struct map map;
    const char *x, *y; /* dims */
    size_t drawn, eligible;
    bool *shown; /* of each family; owned */
    struct range seen;
};

/* A map of one row and one column says nothing, nor does one with mostly holes. */
static bool heatmap_is_map(const struct heatmap *h, const struct chart_family *family)
{
    int64_t values[SIDE_MAX];
    size_t columns = chart_dim_values(h->map.items, family, h->x, values, SIDE_MAX);
    size_t rows = chart_dim_values(h->map.items, family, h->y, values, SIDE_MAX);

    return columns > 1 && rows > 1 && (double)family->nr >= MAP_FULL * (double)(columns * rows);
}

static size_t heatmap_item_at(const struct heatmap *h, const struct chart_family *family, int64_t x,
                              int64_t y)
{
    for (size_t i = 0; i < family->nr; i++) {
        const struct benchmark_name *bench = h->map.items->items[family->members[i]].bench;
        if (benchmark_name_dim(bench, h->x, -1) == x && benchmark_name_dim(bench, h->y, -1) == y)
            return family->members[i];
    }
    return h->map.items->nr;
}

static void heatmap_axis(struct axis *axis, const char *dim, const int64_t *values, size_t nr,
                         bool reversed)
{
    char texts[SIDE_MAX][24];
    const char *names[SIDE_MAX];

    for (size_t i = 0; i < nr; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%lld", (long long)values[i]);
        names[i] = texts[i];
    }
    axis_set(axis, dim, QUANTITY_PLAIN, "", AXIS_CATEGORY);
    axis_names(axis, names, nr, reversed);
    axis->bare = true;
}

static void heatmap_add_map(struct heatmap *h, const struct chart_family *family, const char *label)
{
    int64_t columns[SIDE_MAX], rows[SIDE_MAX];
    size_t nr_columns = chart_dim_values(h->map.items, family, h->x, columns, SIDE_MAX);
    size_t nr_rows = chart_dim_values(h->map.items, family, h->y, rows, SIDE_MAX);
    struct panel *p = figure_panel(h->map.f);
    struct layer *cells = panel_layer(p, MARK_CELLS, NULL);

    figure_set(&p->title, "%s", label);
    heatmap_axis(&p->x, h->x, columns, nr_columns, false);
    heatmap_axis(&p->y, h->y, rows, nr_rows, true);
    p->plot_height = fmax(HEATMAP_CELL_HEIGHT * (double)nr_rows, 160);
    for (size_t row = 0; row < nr_rows; row++)
        for (size_t column = 0; column < nr_columns; column++)
            map_add_cell(&h->map, cells, column, row,
                         heatmap_item_at(h, family, columns[column], rows[row]));
    chart_about(h->map.f, NULL);
}

/* In a crowd first the best of each kernel, then others as far as there is room. */
static void heatmap_take(struct heatmap *h, size_t limit, bool leaders)
{
    const struct map *m = &h->map;

    for (size_t i = 0; i < m->families.nr && h->drawn < limit; i++) {
        if (h->shown[i] || !heatmap_is_map(h, &m->families.items[i]) ||
            (leaders && !chart_family_leads(&m->families, m->items, i, &m->metric)))
            continue;
        h->shown[i] = true;
        h->drawn++;
    }
}

/* Which maps will be drawn, and the range of their values. */
static void heatmap_choose(struct heatmap *h, size_t limit)
{
    const struct chart_families *families = &h->map.families;

    h->shown = memory_zeroed(families->nr + 1, sizeof(*h->shown));
    for (size_t i = 0; i < families->nr; i++)
        h->eligible += heatmap_is_map(h, &families->items[i]);
    heatmap_take(h, limit, h->eligible > limit);
    heatmap_take(h, limit, false);
    for (size_t i = 0; i < families->nr; i++)
        for (size_t k = 0; h->shown[i] && k < families->items[i].nr; k++)
            map_include(&h->map, map_value(&h->map, families->items[i].members[k]));
    h->seen = h->map.values;
    map_widen(&h->map);
}

static void heatmap_words(struct heatmap *h)
{
    const struct chart_metric *metric = &h->map.metric;
    bool rate = metric->metric && metric->metric->kind == METRIC_RATE;
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], more[128] = "";
    struct figure *f = h->map.f;

    chart_subtitle(f, h->map.chart, h->map.items);
    char *subtitle = f->subtitle;
    f->subtitle = NULL;
    figure_set(&f->subtitle, "%s in %s  ·  %s", metric->label, map_unit(&h->map).name, subtitle);
    free(subtitle);
    chart_text(metric, h->seen.low, low);
    chart_text(metric, h->seen.high, high);
    if (h->eligible > h->drawn)
        snprintf(
            more, sizeof(more),
            " Showing %zu of %zu maps: first of each kernel the one with most sizes, or the best.",
            h->drawn, h->eligible);
    map_conclude(&h->map);
    chart_caption(f, h->map.items, "",
                  "Each cell is %s%s, from %s to %s; colour runs logarithmically from dark to "
                  "bright over all maps.%s%s",
                  metric->label, rate ? " at the median time" : "", low, high,
                  map_hole_text(&h->map), more);
    figure_set(&f->alt, "Maps of %s over %s and %s, %zu map%s, from %s to %s.", metric->label, h->y,
               h->x, h->drawn, h->drawn == 1 ? "" : "s", low, high);
}

static void heatmap_draw(struct heatmap *h)
{
    const struct chart_families *families = &h->map.families;

    chart_families_name(&h->map.families, h->map.items, h->shown);
    h->map.f->columns = h->drawn > 4 ? 3 : h->drawn > 1 ? 2 : 1;
    for (size_t i = 0, nr = 0; i < families->nr && nr < h->drawn; i++) {
        if (!h->shown[i])
            continue;
        heatmap_add_map(h, &families->items[i], families->labels[i]);
        nr++;
    }
    map_add_scale(&h->map);
    heatmap_words(h);
}

void build_heatmap(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct heatmap h = { .map = map_of(chart, items, f, "p50"),
                         .x = chart->preset->x ? chart->preset->x : "seq",
                         .y = "batch" };

    chart_families_init(&h.map.families, items, h.x, h.y);
    heatmap_choose(&h, chart_limit(chart->preset, HEATMAP_LIMIT));
    if (!h.eligible)
        chart_absent(f,
                     "no benchmark was measured at most pairs of two or more values of %s and %s",
                     h.y, h.x);
    else if (!(h.map.values.high > 0))
        chart_absent(f, "%s does not apply to these benchmarks", h.map.metric.label);
    else
        heatmap_draw(&h);
    free(h.shown);
    chart_families_release(&h.map.families);
    chart_metric_release(&h.map.metric);
}
