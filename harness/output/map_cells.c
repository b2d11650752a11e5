/* SPDX-License-Identifier: MIT */
#include "output/map_cells.h"

#include <math.h>

void map_scale_include(struct map_scale *scale, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    scale->least = fmin(scale->least, value);
    scale->most = fmax(scale->most, value);
}

struct unit map_scale_unit(const struct map_scale *scale)
{
    return unit_for(scale->metric->quantity, scale->metric->base, sqrt(scale->least * scale->most));
}

void map_scale_add_bar(const struct map_scale *scale, struct figure *f)
{
    const struct chart_metric *m = scale->metric;

    figure_scale_bar(f, m->label, m->quantity, m->base, scale->least, scale->most, true);
}

void map_cell_add(struct layer *cells, const struct map_scale *scale, size_t column, size_t row,
                  double value)
{
    struct datum *d = layer_add(cells, (double)column, (double)row);
    double shown = value / map_scale_unit(scale).factor, span = log(scale->most / scale->least);

    if (!isfinite(value)) {
        figure_set(&d->text, "n/a");
        return;
    }
    if (value > 0)
        d->share = span > 0 ? log(value / scale->least) / span : 0.5;
    else
        d->share = 0;
    figure_set(&d->text, "%.*f", shown < 10 ? 2 : shown < 100 ? 1 : 0, shown);
}
