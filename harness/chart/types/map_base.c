/* SPDX-License-Identifier: MIT */
#include "chart/types/map_base.h"

#include <math.h>

double map_value(const struct map *m, size_t item)
{
    return item == m->items->nr ? NAN : chart_value_at(m->items, &m->metric, item);
}

void map_include(struct map *m, double value)
{
    if (value > 0 && isfinite(value))
        range_include(&m->values, value);
}

/* The whole range of colours for 15.6 to 18.9 would make a large difference of a small one. */
static const double least_span = 2;

void map_widen(struct map *m)
{
    double middle = sqrt(m->values.low * m->values.high);

    if (m->values.high >= least_span * m->values.low)
        return;
    m->values.low = middle / sqrt(least_span);
    m->values.high = middle * sqrt(least_span);
}

struct unit map_unit(const struct map *m)
{
    return unit_for(m->metric.quantity, m->metric.base, sqrt(m->values.low * m->values.high));
}

void map_add_scale(const struct map *m)
{
    figure_scale_bar(m->f, m->metric.label, m->metric.quantity, m->metric.base, m->values.low,
                     m->values.high, true);
}

void map_conclude(const struct map *m)
{
    const struct metric *metric = m->metric.metric;
    char most[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];

    if (m->largest && metric && metric->kind == METRIC_RATE)
        chart_conclude(m->f, m->chart, "%s reaches %s", chart_name_of(m->largest->bench, name),
                       chart_text(&m->metric, m->seen, most));
}

const char *map_hole_text(const struct map *m)
{
    return m->holes ? " Grey n/a: not measured." : "";
}

void map_add_cell(struct map *m, struct layer *cells, size_t column, size_t row, size_t item)
{
    double value = map_value(m, item);

    chart_about(m->f, item < m->items->nr ? &m->items->items[item] : NULL);
    struct datum *d = layer_add(cells, (double)column, (double)row);
    double shown = value / map_unit(m).factor, span = log(m->values.high / m->values.low);

    if (!isfinite(value)) {
        figure_set(&d->text, "n/a");
        m->holes = true;
        return;
    }
    if (value >= m->seen)
        m->largest = &m->items->items[item];
    m->seen = fmax(m->seen, value);
    if (value > 0)
        d->share = span > 0 ? log(value / m->values.low) / span : 0.5;
    else
        d->share = 0;
    if (shown < 0.1) /* two decimals would leave nothing of it */
        figure_set(&d->text, "%.2g", shown);
    else
        figure_set(&d->text, "%.*f", shown < 10 ? 2 : shown < 100 ? 1 : 0, shown);
}

struct map map_of(const struct chart *chart, struct chart_items *items, struct figure *f,
                  const char *metric)
{
    return (struct map) { .chart = chart,
                          .items = items,
                          .metric = chart_metric_chosen(chart->preset->y, metric),
                          .values = { INFINITY, 0 },
                          .f = f };
}
