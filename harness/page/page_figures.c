/* SPDX-License-Identifier: MIT */
/* Figures for the page, each finished and thinned. */
#include "base/array.h"
#include "page/figure_thin.h"
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

static struct figure *page_figure_absent(const struct preset *preset, const char *why)
{
    struct figure *f = figure_create(preset->name, preset->title);

    figure_set(&f->reason, "%s", why);
    figure_finish(f);
    return f;
}

struct figure *page_figure(const struct view *view, const struct preset *preset, size_t points)
{
    const char *why = view_absence(view, preset);
    struct chart chart;

    if (why)
        return page_figure_absent(preset, why);
    view_chart(view, preset, &chart);
    struct figure *f = chart_build(&chart);
    if (!f->reason)
        figure_thin_and_tell(f, points);
    return f;
}

static int page_figures_order(const void *a, const void *b)
{
    const struct preset *x = ((const struct page_figure *)a)->preset;
    const struct preset *y = ((const struct page_figure *)b)->preset;

    return x->order != y->order ? x->order - y->order : strcmp(x->name, y->name);
}

/* The order in which the page shows those of a section. */
static void page_figures_sort(struct page_figures *figures)
{
    if (figures->nr)
        qsort(figures->items, figures->nr, sizeof(figures->items[0]), page_figures_order);
}

static char *page_figure_json(const struct figure *f)
{
    struct strbuf json;

    strbuf_init(&json);
    json_take_script(figure_to_json(f), &json);
    return strbuf_detach(&json);
}

/* With as many rows as a figure can have, for those who filter a file. NULL where that is the same,
 * and where rows hold much: lines and shapes of samples would be larger than the samples. */
static char *page_figure_whole(const struct view *view, const struct preset *preset, size_t points,
                               const char *usual)
{
    struct preset whole = *preset;

    if (!preset->type->rows)
        return NULL;
    whole.limit = LIMIT_ROWS_MAX;
    struct figure *f = page_figure(view, &whole, points);
    char *json = page_figure_json(f);
    figure_free(f);
    if (strcmp(json, usual) != 0)
        return json;
    free(json);
    return NULL;
}

void page_figures_build(struct page_figures *figures, const struct view *view,
                        const struct presets *presets, size_t points)
{
    *figures = (struct page_figures) { 0 };
    for (size_t i = 0; i < presets->nr; i++) {
        const struct preset *preset = &presets->items[i];
        struct figure *f = page_figure(view, preset, points);
        char *json = page_figure_json(f);
        *array_push(figures) = (struct page_figure) {
            .preset = preset,
            .json = json,
            .whole = f->reason ? NULL : page_figure_whole(view, preset, points, json),
            .alt = memory_string(f->alt),
            .reason = memory_string(f->reason),
        };
        figure_free(f);
    }
    page_figures_sort(figures);
}

void page_figures_list(struct page_figures *figures, const struct view *view,
                       const struct presets *presets)
{
    *figures = (struct page_figures) { 0 };
    for (size_t i = 0; i < presets->nr; i++)
        *array_push(figures) = (struct page_figure) {
            .preset = &presets->items[i],
            .reason = memory_string(view_absence(view, &presets->items[i])),
        };
    page_figures_sort(figures);
}

void page_figures_release(struct page_figures *figures)
{
    for (size_t i = 0; i < figures->nr; i++) {
        free(figures->items[i].json);
        free(figures->items[i].whole);
        free(figures->items[i].alt);
        free(figures->items[i].reason);
    }
    array_release(figures);
}

void page_figures_text(const struct page_figures *figures, struct strbuf *out)
{
    const char *comma = "";

    strbuf_addc(out, '{');
    for (size_t i = 0; i < figures->nr; i++) {
        if (!figures->items[i].json)
            continue;
        /* The name of a preset has letters, digits, '-' and '_' alone. */
        strbuf_addf(out, "%s\"%s\":", comma, figures->items[i].preset->name);
        strbuf_adds(out, figures->items[i].json);
        comma = ",";
        if (!figures->items[i].whole)
            continue;
        strbuf_addf(out, ",\"%s/all\":", figures->items[i].preset->name);
        strbuf_adds(out, figures->items[i].whole);
    }
    strbuf_addc(out, '}');
}
