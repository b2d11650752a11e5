/* SPDX-License-Identifier: MIT */
/* Batch against sequence length, one map a kernel and variant; the value stands in each cell and
 * sets its colour. A size that was not measured is a grey cell that says so. */
#include "output/chart.h"

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
    double least, most;
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

/* Numbers without unit: the unit stands in the subtitle, once. */
static void add_cell(const struct heatmap *h, struct layer *cells, const struct unit *unit,
                     size_t column, size_t row, double value)
{
    struct datum *d = layer_add(cells, (double)column, (double)row);
    char text[32];

    if (!isfinite(value)) {
        figure_set(&d->text, "n/a");
        return;
    }
    double low = log(h->least), high = log(h->most), scaled = value / unit->factor;
    d->share = high > low ? (log(value) - low) / (high - low) : 0.5;
    snprintf(text, sizeof(text), "%.*f", scaled < 10 ? 2 : scaled < 100 ? 1 : 0, scaled);
    figure_set(&d->text, "%s", text);
}

static void add_map(struct heatmap *h, const struct chart_family *family, const char *label,
                    const struct unit *unit)
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
    p->plot_height = fmax(CELL_HEIGHT * (double)nr_rows, 110);
    for (size_t row = 0; row < nr_rows; row++)
        for (size_t column = 0; column < nr_columns; column++)
            add_cell(h, cells, unit, column, row, value_at(h, family, columns[column], rows[row]));
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
        double value = chart_value_of(&h->metric, item, &h->items.context).value;
        if (value > 0 && isfinite(value)) {
            h->least = fmin(h->least, value);
            h->most = fmax(h->most, value);
        }
    }
}

/* Which maps will be drawn, and the range of their values. */
static void choose(struct heatmap *h, size_t limit)
{
    h->least = INFINITY;
    h->most = 0;
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

static void add_words(struct heatmap *h, const struct unit *unit)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], how[400], more[128] = "";
    char *subtitle = h->f->subtitle;

    h->f->subtitle = NULL;
    figure_set(&h->f->subtitle, "%s in %s  ·  %s", h->metric.metric->label, unit->name, subtitle);
    free(subtitle);
    quantity_text(h->metric.quantity, h->metric.base, h->least, low);
    quantity_text(h->metric.quantity, h->metric.base, h->most, high);
    if (h->eligible > h->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu maps: of each kernel the one with most sizes, or the best.",
                 h->drawn, h->eligible);
    snprintf(how, sizeof(how),
             "Each cell is %s%s; colour runs logarithmically from dark (%s) to bright (%s) over "
             "all maps. Grey n/a: not measured.%s",
             h->metric.metric->label,
             h->metric.metric->kind == METRIC_RATE ? " at the median time" : "", low, high, more);
    chart_caption(h->f, &h->items, how, "");
    figure_set(&h->f->alt, "Maps of %s over %s and %s, %zu map%s, from %s to %s.",
               h->metric.metric->label, h->y, h->x, h->drawn, h->drawn == 1 ? "" : "s", low, high);
}

static void draw(struct heatmap *h)
{
    struct unit unit = unit_for(h->metric.quantity, h->metric.base, sqrt(h->least * h->most));

    h->f->columns = h->drawn > 4 ? 3 : h->drawn > 1 ? 2 : 1;
    for (size_t i = 0, nr = 0; i < h->families.nr && nr < h->drawn; i++) {
        if (!is_chosen(h, i, h->crowded))
            continue;
        add_map(h, &h->families.items[i], h->families.labels[i], &unit);
        nr++;
    }
    chart_subtitle(h->f, h->chart, &h->items);
    add_words(h, &unit);
    figure_finish(h->f);
}

struct figure *build_heatmap(const struct chart *chart)
{
    struct heatmap h = { .chart = chart, .f = chart_figure(chart), .x = "seq", .y = "batch" };
    const struct metric *metric = metric_find(chart->preset->y, &(struct error) { 0 });
    size_t limit = chart_limit(chart->preset, LIMIT);

    if (chart->preset->x)
        h.x = chart->preset->x;
    if (!metric)
        return chart_absent(h.f, "there is no metric \"%s\"", chart->preset->y);
    h.metric = chart_metric_of(metric);
    chart_items_init(&h.items, chart);
    chart_families_init(&h.families, &h.items, h.x, h.y);
    choose(&h, limit);
    if (!h.items.nr)
        chart_absent_items(h.f, chart, &h.items);
    else if (!h.eligible)
        chart_absent(h.f, "no benchmark was measured at two or more values of both %s and %s", h.y,
                     h.x);
    else if (!(h.most > 0))
        chart_absent(h.f, "%s does not apply to these benchmarks", metric->label);
    else
        draw(&h);
    chart_families_release(&h.families);
    chart_items_release(&h.items);
    return h.f;
}
