/* SPDX-License-Identifier: MIT */
/* What the measured models are built like: layers, heads, width, context, parameters, work. */
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS_MAX = 32, PANELS = 6, COLUMNS = 3 };

/* What of a model: an integer unless it is `real`. */
static const struct {
    const char *title;
    size_t offset;
    bool real;
    enum quantity quantity; /* a rate has a k or M in front of its unit */
    const char *unit;
} panels[PANELS] = {
    { "layers", offsetof(struct plot_model, layers), false, QUANTITY_PLAIN, "" },
    { "attention heads", offsetof(struct plot_model, heads), false, QUANTITY_PLAIN, "" },
    { "width", offsetof(struct plot_model, width), false, QUANTITY_PLAIN, "" },
    { "context (block)", offsetof(struct plot_model, block), false, QUANTITY_PLAIN, "" },
    { "parameters", offsetof(struct plot_model, parameters), true, QUANTITY_RATE, "" },
    { "work of a token", offsetof(struct plot_model, flops_per_token), true, QUANTITY_RATE,
      "FLOP" },
};

static double architecture_value(const struct plot_model *model, size_t which)
{
    const void *at = (const char *)model + panels[which].offset;

    return panels[which].real ? *(const double *)at : (double)*(const int64_t *)at;
}

/* A model is shown if a benchmark of the run is a forward pass of it. */
static bool architecture_is_measured(const struct chart *chart, const struct plot_model *model)
{
    for (size_t i = 0; i < chart->records->nr; i++) {
        const struct record *r = &chart->records->items[i];
        if (r->run == chart->run && plot_model_has(model, &r->m.bench) &&
            preset_takes(chart->preset, r->m.bench.key))
            return true;
    }
    return false;
}

static int architecture_by_parameters(const void *a, const void *b)
{
    const struct plot_model *const *x = a, *const *y = b;

    return ((*x)->parameters > (*y)->parameters) - ((*x)->parameters < (*y)->parameters);
}

static void architecture_panel(struct figure *f, size_t which,
                               const struct plot_model *const *models, size_t nr)
{
    const char *names[MODELS_MAX];
    enum quantity quantity = panels[which].quantity;

    for (size_t i = 0; i < nr; i++)
        names[i] = models[i]->name;
    struct panel *p = figure_rows(f, names, nr, 27, 8);
    figure_set(&p->title, "%s", panels[which].title);
    axis_set(&p->x, NULL, quantity, panels[which].unit, AXIS_LINEAR);
    p->x.bare = true;
    p->joined = which % COLUMNS > 0;
    struct layer *bars = panel_bars(p, NULL, INK_BLUE);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    for (size_t i = 0; i < nr; i++) {
        char text[QUANTITY_TEXT_SIZE];
        double value = architecture_value(models[i], which);
        layer_add(bars, value, (double)i);
        quantity_text(quantity, panels[which].unit, value, text);
        layer_add_text(texts, value, (double)i, ANCHOR_LEFT, text)->dx = 6;
    }
    ticks_add(&p->x.ticks, 0, "", false); /* the numbers stand at the bars */
}

void build_architecture(const struct chart *chart, struct figure *f)
{
    const struct plot_model *models[MODELS_MAX];
    const struct chart_items items = { 0 };
    size_t nr = 0;

    for (size_t i = 0; i < chart->nr_models && nr < MODELS_MAX; i++)
        if (architecture_is_measured(chart, &chart->models[i]))
            models[nr++] = &chart->models[i];
    if (!nr) {
        chart_absent(f, "the run measured no model");
        return;
    }
    if (nr == 1) {
        chart_absent(f, "one model alone was measured, %s: there is none to compare it with",
                     models[0]->name);
        return;
    }
    qsort(models, nr, sizeof(models[0]), architecture_by_parameters);
    f->columns = COLUMNS;
    for (size_t i = 0; i < PANELS; i++)
        architecture_panel(f, i, models, nr);
    chart_subtitle(f, chart, &items);
    figure_set(&f->caption,
               "Of the models that were measured. Parameters are without the head, as "
               "minGPT counts them; work is that of a forward pass, multiply-adds "
               "counted twice.");
    figure_set(&f->alt,
               "Layers, heads, width, context, parameters and work per token of %zu models, from "
               "%s to %s.",
               nr, models[0]->name, models[nr - 1]->name);
}
