/* SPDX-License-Identifier: MIT */
/* Batch against sequence length, one map a kernel and variant. */
#include "base/memory.h"
#include "chart/types/map_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEATMAP_LIMIT = 6, SIDE_MAX = 12, HEATMAP_CELL_HEIGHT = 46 };

/* Sorted values of a dim in one map: the largest, where there are more than it has room for. */
struct heatmap_side {
    int64_t values[SIDE_MAX];
    size_t nr, all;
};

struct heatmap_grid {
    struct heatmap_side columns, rows;
};

struct heatmap {
    struct map map;
    const char *x, *y; /* dims */
    size_t drawn, eligible;
    bool *shown; /* of each family; owned */
    struct range seen;
};

static struct heatmap_grid heatmap_grid_of(const struct heatmap *h,
                                           const struct chart_family *family)
{
    struct heatmap_grid grid;
    struct heatmap_side *columns = &grid.columns, *rows = &grid.rows;

    columns->nr =
        chart_dim_values(h->map.items, family, h->x, columns->values, SIDE_MAX, &columns->all);
    rows->nr = chart_dim_values(h->map.items, family, h->y, rows->values, SIDE_MAX, &rows->all);
    return grid;
}

static bool heatmap_is_drawn(const struct heatmap *h, const struct heatmap_grid *grid, size_t item)
{
    const struct benchmark_name *bench = h->map.items->items[item].bench;

    return benchmark_name_dim(bench, h->x, -1) >= grid->columns.values[0] &&
           benchmark_name_dim(bench, h->y, -1) >= grid->rows.values[0];
}

/* A map of one row and one column says nothing, nor does one with mostly holes. */
static bool heatmap_is_map(const struct heatmap *h, const struct chart_family *family)
{
    struct heatmap_grid grid = heatmap_grid_of(h, family);
    size_t columns = grid.columns.nr, rows = grid.rows.nr, drawn = 0;

    for (size_t i = 0; i < family->nr; i++)
        drawn += heatmap_is_drawn(h, &grid, family->members[i]);
    return columns > 1 && rows > 1 && (double)drawn >= MAP_FULL * (double)(columns * rows);
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

static void heatmap_axis(struct axis *axis, const char *dim, const struct heatmap_side *side,
                         bool reversed)
{
    char texts[SIDE_MAX][24];
    const char *names[SIDE_MAX];

    for (size_t i = 0; i < side->nr; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%lld", (long long)side->values[i]);
        names[i] = texts[i];
    }
    axis_set(axis, dim, QUANTITY_PLAIN, "", AXIS_CATEGORY);
    axis_names(axis, names, side->nr, reversed);
    axis->bare = true;
}

static void heatmap_add_map(struct heatmap *h, const struct chart_family *family, const char *label)
{
    struct heatmap_grid grid = heatmap_grid_of(h, family);
    const struct heatmap_side *columns = &grid.columns, *rows = &grid.rows;
    struct panel *p = figure_panel(h->map.f);
    struct layer *cells = panel_layer(p, MARK_CELLS, NULL);

    figure_set(&p->title, "%s", label);
    heatmap_axis(&p->x, h->x, columns, false);
    heatmap_axis(&p->y, h->y, rows, true);
    p->plot_height = fmax(HEATMAP_CELL_HEIGHT * (double)rows->nr, 160);
    for (size_t row = 0; row < rows->nr; row++)
        for (size_t column = 0; column < columns->nr; column++)
            map_add_cell(&h->map, cells, column, row,
                         heatmap_item_at(h, family, columns->values[column], rows->values[row]));
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

/* The range of what is drawn of a map. */
static void heatmap_include(struct heatmap *h, const struct chart_family *family)
{
    struct heatmap_grid grid = heatmap_grid_of(h, family);

    for (size_t i = 0; i < family->nr; i++)
        if (heatmap_is_drawn(h, &grid, family->members[i]))
            map_include(&h->map, map_value(&h->map, family->members[i]));
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
        if (h->shown[i])
            heatmap_include(h, &families->items[i]);
    h->seen = h->map.values;
    map_widen(&h->map);
}

/* " Showing 12 of 14 values of seq: the largest.", of the map that has most of them. */
static void heatmap_say_left_out(const struct heatmap *h, struct strbuf *out)
{
    const struct chart_families *families = &h->map.families;
    size_t columns = 0, rows = 0;

    for (size_t i = 0; i < families->nr; i++) {
        if (!h->shown[i])
            continue;
        struct heatmap_grid grid = heatmap_grid_of(h, &families->items[i]);
        columns = grid.columns.all > columns ? grid.columns.all : columns;
        rows = grid.rows.all > rows ? grid.rows.all : rows;
    }
    if (columns > SIDE_MAX)
        strbuf_addf(out, " Showing %d of %zu values of %s: the largest.", SIDE_MAX, columns, h->x);
    if (rows > SIDE_MAX)
        strbuf_addf(out, " Showing %d of %zu values of %s: the largest.", SIDE_MAX, rows, h->y);
}

static void heatmap_words(struct heatmap *h)
{
    const struct chart_metric *metric = &h->map.metric;
    bool rate = metric->metric && metric->metric->kind == METRIC_RATE;
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    struct figure *f = h->map.f;
    struct strbuf more;

    chart_subtitle(f, h->map.chart, h->map.items);
    char *subtitle = f->subtitle;
    f->subtitle = NULL;
    figure_set(&f->subtitle, "%s in %s  ·  %s", metric->label, map_unit(&h->map).name, subtitle);
    free(subtitle);
    chart_text(metric, h->seen.low, low);
    chart_text(metric, h->seen.high, high);
    strbuf_init(&more);
    heatmap_say_left_out(h, &more);
    if (h->eligible > h->drawn)
        strbuf_addf(
            &more,
            " Showing %zu of %zu maps: first of each kernel the one with most sizes, or the best.",
            h->drawn, h->eligible);
    map_conclude(&h->map);
    chart_caption(f, h->map.items, "",
                  "Each cell is %s%s, from %s to %s; colour runs logarithmically from dark to "
                  "bright over all maps.%s%s",
                  metric->label, rate ? " at the median time" : "", low, high,
                  map_hole_text(&h->map), more.data);
    strbuf_release(&more);
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
