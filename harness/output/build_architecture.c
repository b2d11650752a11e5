/* SPDX-License-Identifier: MIT */
/* What the measured models are built like: layers, heads, width, context, parameters, work. */
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODELS_MAX = 32, PANELS = 6, COLUMNS = 3 };

static double layers_of(const struct plot_model *m)
{
    return (double)m->layers;
}

static double heads_of(const struct plot_model *m)
{
    return (double)m->heads;
}

static double width_of(const struct plot_model *m)
{
    return (double)m->width;
}

static double block_of(const struct plot_model *m)
{
    return (double)m->block;
}

static double flops_of(const struct plot_model *m)
{
    return m->flops_per_token;
}

static double parameters_of(const struct plot_model *m)
{
    return m->parameters;
}

static const struct {
    const char *title;
    double (*of)(const struct plot_model *m);
    enum quantity quantity; /* a rate has a k or M in front of its unit */
    const char *unit;
} panels[PANELS] = {
    { "layers", layers_of, QUANTITY_PLAIN, "" },
    { "attention heads", heads_of, QUANTITY_PLAIN, "" },
    { "width", width_of, QUANTITY_PLAIN, "" },
    { "context (block)", block_of, QUANTITY_PLAIN, "" },
    { "parameters", parameters_of, QUANTITY_RATE, "" },
    { "work of a token", flops_of, QUANTITY_RATE, "FLOP" },
};

/* A model is shown if a benchmark of the run is named after it: "gpt/nano/prefill". */
static bool is_measured(const struct chart *chart, const struct plot_model *model)
{
    char part[96];

    snprintf(part, sizeof(part), "/%s/", model->name);
    for (size_t i = 0; i < chart->records->nr; i++) {
        const struct record *r = &chart->records->items[i];
        if (r->run == chart->run && strstr(r->m.bench.key, part) &&
            preset_takes(chart->preset, r->m.bench.key))
            return true;
    }
    return false;
}

static void add_panel(struct figure *f, size_t which, const struct plot_model *const *models,
                      size_t nr)
{
    struct panel *p = figure_panel(f);
    const char *names[MODELS_MAX];
    enum quantity quantity = panels[which].quantity;

    figure_set(&p->title, "%s", panels[which].title);
    for (size_t i = 0; i < nr; i++)
        names[i] = models[i]->name;
    axis_names(&p->y, names, nr, true);
    p->y.bare = true;
    axis_set(&p->x, NULL, quantity, panels[which].unit, AXIS_LINEAR);
    p->x.bare = true;
    p->joined = which % COLUMNS > 0;
    p->plot_height = 27 * (double)nr + 8;
    struct layer *bars = panel_layer(p, MARK_BARS, NULL);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    bars->across = true;
    bars->style.ink = INK_BLUE;
    for (size_t i = 0; i < nr; i++) {
        char text[QUANTITY_TEXT_SIZE];
        double value = panels[which].of(models[i]);
        layer_add(bars, value, (double)i);
        quantity_text(quantity, panels[which].unit, value, text);
        layer_add_text(texts, value, (double)i, ANCHOR_LEFT, text)->dx = 6;
    }
    ticks_add(&p->x.ticks, 0, "", false); /* the numbers stand at the bars */
}

struct figure *build_architecture(const struct chart *chart)
{
    struct figure *f = chart_figure(chart);
    const struct plot_model *models[MODELS_MAX];
    struct chart_items items = { 0 };
    size_t nr = 0;

    if (chart->run < 0)
        return chart_absent_items(f, chart, &items);
    for (size_t i = 0; i < chart->nr_models && nr < MODELS_MAX; i++)
        if (is_measured(chart, &chart->models[i]))
            models[nr++] = &chart->models[i];
    if (!nr)
        return chart_absent(f, "the run measured no model");
    f->columns = COLUMNS;
    for (size_t i = 0; i < PANELS; i++)
        add_panel(f, i, models, nr);
    chart_subtitle(f, chart, &items);
    figure_set(&f->caption,
               "Of the models that were measured. Parameters are without the head, as "
               "minGPT counts them; work is that of a forward pass, multiply-adds "
               "counted twice.");
    figure_set(
        &f->alt,
        "Layers, heads, width, context, parameters and work per token of %zu model%s, from %s "
        "to %s.",
        nr, nr == 1 ? "" : "s", models[0]->name, models[nr - 1]->name);
    figure_finish(f);
    return f;
}
