/* SPDX-License-Identifier: MIT */
#include "figure/figure.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCALE_COLOURS = 11 };

static const char *const scales[] = {
    [AXIS_LINEAR] = "linear",
    [AXIS_LOG] = "log",
    [AXIS_CATEGORY] = "category",
    [AXIS_NINES] = "nines",
};
static const char *const anchors[] = {
    [ANCHOR_LEFT] = "left",
    [ANCHOR_CENTRE] = "centre",
    [ANCHOR_RIGHT] = "right",
};
static const char *const roles[] = {
    [TEXT_TITLE] = "title",     [TEXT_SUBTITLE] = "subtitle", [TEXT_BANNER] = "banner",
    [TEXT_PANEL] = "panel",     [TEXT_AXIS] = "axis",         [TEXT_LEGEND] = "legend",
    [TEXT_CAPTION] = "caption",
};

/* Seven digits are beyond what can be seen and short of where compilers differ. */
enum { DIGITS = 7, DIGITS_MOST = 15, DIGITS_WITHIN = 4, SECONDS_OF_A_DAY = 86400 };

/* -0 becomes 0. */
static double round_to_digits(double value, int digits)
{
    char text[32];

    snprintf(text, sizeof(text), "%.*g", digits, value);
    return strtod(text, NULL) + 0.0;
}

/* Of numbers along an axis: where it is narrow beside them, as many more as tell places on it
 * apart; of days, seconds. */
static int axis_digits(const struct axis *axis)
{
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    double digits = ceil(log10(largest / fabs(axis->high - axis->low))) + DIGITS_WITHIN;

    if (axis->since_ms)
        digits = fmax(digits, ceil(log10(largest * SECONDS_OF_A_DAY)) + 1);
    return isfinite(digits) ? (int)fmin(fmax(digits, DIGITS), DIGITS_MOST) : DIGITS;
}

static void figure_json_add_rounded(cJSON *object, const char *key, double value, int digits)
{
    json_add_number(object, key, round_to_digits(value, digits));
}

static void figure_json_add(cJSON *object, const char *key, double value)
{
    figure_json_add_rounded(object, key, value, DIGITS);
}

static void figure_json_add_flag(cJSON *object, const char *key, bool value)
{
    if (value)
        cJSON_AddTrueToObject(object, key);
}

static void figure_json_add_rect(cJSON *object, const struct rect *rect)
{
    figure_json_add(object, "x", rect->x);
    figure_json_add(object, "y", rect->y);
    figure_json_add(object, "width", rect->width);
    figure_json_add(object, "height", rect->height);
}

static void figure_json_add_ticks(cJSON *object, const char *key, const struct ticks *list,
                                  int digits)
{
    cJSON *ticks = cJSON_AddArrayToObject(object, key);

    for (size_t i = 0; i < list->nr; i++) {
        const struct tick *t = &list->items[i];
        cJSON *tick = cJSON_CreateObject();
        figure_json_add_rounded(tick, "at", t->at, digits);
        json_add_string(tick, "text", t->text);
        figure_json_add_flag(tick, "minor", t->minor);
        cJSON_AddItemToArray(ticks, tick);
    }
}

/* What a number means, so that a reader can be told it with its unit: value * factor is in the
 * quantity's base unit. */
static void figure_json_add_quantity(cJSON *json, enum quantity quantity, const char *base)
{
    cJSON_AddStringToObject(json, "quantity", quantity_name(quantity));
    json_add_string(json, "base", base);
}

static cJSON *axis_json(const struct axis *axis)
{
    cJSON *json = cJSON_CreateObject();
    int digits = axis_digits(axis);

    json_add_string(json, "label", axis->label);
    cJSON_AddStringToObject(json, "scale", scales[axis->scale]);
    if (axis->scale != AXIS_CATEGORY) {
        figure_json_add_quantity(json, axis->quantity, axis->base);
        figure_json_add(json, "factor", axis->factor);
    }
    figure_json_add_rounded(json, "low", axis->low, digits);
    figure_json_add_rounded(json, "high", axis->high, digits);
    figure_json_add_flag(json, "reversed", axis->reversed);
    figure_json_add_flag(json, "bare", axis->bare);
    if (axis->tick_angle > 0)
        figure_json_add(json, "tick_angle", axis->tick_angle);
    figure_json_add_ticks(json, "ticks", &axis->ticks, digits);
    if (axis->places.nr)
        figure_json_add_ticks(json, "places", &axis->places, digits);
    if (axis->since_ms)
        json_add_int(json, "since_ms", axis->since_ms);
    return json;
}

static bool is_filled_mark(enum mark mark)
{
    return mark == MARK_BARS || mark == MARK_BOXES;
}

static cJSON *style_json(const struct layer *s)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "colour", palette_ink(s->style.ink));
    if (s->mark == MARK_POINTS) {
        cJSON_AddStringToObject(json, "shape", palette_shape_name(s->style.shape));
        figure_json_add(json, "size", s->style.size);
    }
    if (s->mark != MARK_POINTS && !is_filled_mark(s->mark))
        cJSON_AddStringToObject(json, "dash", palette_dash_name(s->style.dash));
    figure_json_add(json, "width", s->style.width);
    if (s->style.opacity < 1)
        figure_json_add(json, "opacity", s->style.opacity);
    figure_json_add_flag(json, "hollow", s->style.hollow);
    figure_json_add_flag(json, "bold", s->style.bold);
    return json;
}

static void figure_json_add_or_drop(cJSON *json, const char *key, cJSON *item, bool wanted)
{
    if (wanted)
        cJSON_AddItemToObject(json, key, item);
    else
        cJSON_Delete(item);
}

/* One array a member; left out where no datum has it. */
static void figure_json_add_column(cJSON *json, const char *key, const struct layer *s,
                                   size_t offset, int digits)
{
    cJSON *column = cJSON_CreateArray();
    bool any = false;

    for (size_t i = 0; i < s->nr; i++) {
        double value = *(const double *)(const void *)((const char *)&s->items[i] + offset);
        any |= isfinite(value);
        cJSON_AddItemToArray(column, isfinite(value)
                                         ? cJSON_CreateNumber(round_to_digits(value, digits))
                                         : cJSON_CreateNull());
    }
    figure_json_add_or_drop(json, key, column, any);
}

/* Colours of cells, and of those points that have a place on the scale: null is the style's. */
static void figure_json_add_colours(cJSON *json, const struct layer *s)
{
    cJSON *colours = cJSON_CreateArray();
    char colour[COLOUR_SIZE];
    bool any = s->mark == MARK_CELLS;

    for (size_t i = 0; i < s->nr; i++) {
        double share = s->items[i].share;
        bool plain = s->mark == MARK_POINTS && !isfinite(share);
        any |= !plain;
        cJSON_AddItemToArray(colours, plain ? cJSON_CreateNull()
                                            : cJSON_CreateString(palette_scale(share, colour)));
    }
    figure_json_add_or_drop(json, "colour", colours, any);
}

static void figure_json_add_text_places(cJSON *json, const struct layer *s)
{
    figure_json_add_column(json, "dx", s, offsetof(struct datum, dx), DIGITS);
    figure_json_add_column(json, "dy", s, offsetof(struct datum, dy), DIGITS);
    figure_json_add_column(json, "angle", s, offsetof(struct datum, angle), DIGITS);
    figure_json_add_flag(json, "outside", s->outside);
    figure_json_add_flag(json, "follow", s->follow);
}

/* Places in a list of the figure, from 0: one number where all are the same, else an array with
 * null where there is none; left out where nothing has one. `first` is the first of `nr` places
 * from 1, `stride` bytes apart. */
static void figure_json_add_places(cJSON *json, const char *key, const int *first, size_t nr,
                                   size_t stride)
{
    cJSON *column = cJSON_CreateArray();
    bool same = true, any = false;

    for (size_t i = 0; i < nr; i++) {
        int place = *(const int *)(const void *)((const char *)first + i * stride);
        same &= place == *first;
        any |= place > 0;
        cJSON_AddItemToArray(column, place ? cJSON_CreateNumber(place - 1) : cJSON_CreateNull());
    }
    if (any && same)
        cJSON_AddNumberToObject(json, key, *first - 1);
    figure_json_add_or_drop(json, key, column, any && !same);
}

static void figure_json_add_about(cJSON *json, const struct about *about, size_t nr, size_t stride)
{
    if (!nr)
        return;
    figure_json_add_places(json, "benchmark", &about->benchmark, nr, stride);
    figure_json_add_places(json, "run", &about->run, nr, stride);
}

static void figure_json_add_data(cJSON *json, const struct panel *p, const struct layer *s)
{
    int x = axis_digits(&p->x), y = axis_digits(&p->y), ends = x > y ? x : y;

    figure_json_add_column(json, "x", s, offsetof(struct datum, x), x);
    figure_json_add_column(json, "y", s, offsetof(struct datum, y), y);
    figure_json_add_column(json, "low", s, offsetof(struct datum, low), ends);
    figure_json_add_column(json, "high", s, offsetof(struct datum, high), ends);
}

static cJSON *layer_json(const struct panel *p, const struct layer *s)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "mark", mark_name(s->mark));
    json_add_string(json, "label", s->label);
    cJSON_AddItemToObject(json, "style", style_json(s));
    figure_json_add_flag(json, "across", s->across);
    if (is_filled_mark(s->mark) && s->thickness > 0)
        figure_json_add(json, "thickness", s->thickness);
    if (s->shift != 0)
        figure_json_add(json, "shift", s->shift);
    json_add_string(json, "unit", s->unit);
    figure_json_add_data(json, p, s);
    if (s->nr)
        figure_json_add_about(json, &s->items[0].about, s->nr, sizeof(s->items[0]));
    cJSON *texts = cJSON_CreateArray(), *sides = cJSON_CreateArray();
    bool any = false;
    for (size_t i = 0; i < s->nr; i++) {
        const char *text = s->items[i].text;
        any |= text != NULL;
        cJSON_AddItemToArray(texts, text ? cJSON_CreateString(text) : cJSON_CreateNull());
        cJSON_AddItemToArray(sides, cJSON_CreateString(anchors[s->items[i].anchor]));
    }
    figure_json_add_or_drop(json, "text", texts, any);
    figure_json_add_or_drop(json, "anchor", sides, any && s->mark == MARK_TEXT);
    if (s->mark == MARK_CELLS || s->mark == MARK_POINTS)
        figure_json_add_colours(json, s);
    if (s->mark == MARK_POINTS)
        figure_json_add_column(json, "size", s, offsetof(struct datum, size), DIGITS);
    if (s->mark == MARK_TEXT)
        figure_json_add_text_places(json, s);
    return json;
}

static cJSON *panel_json(const struct panel *p)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "title", p->title);
    figure_json_add_rect(cJSON_AddObjectToObject(json, "area"), &p->area);
    cJSON_AddItemToObject(json, "x", axis_json(&p->x));
    cJSON_AddItemToObject(json, "y", axis_json(&p->y));
    if (p->nr_rows)
        figure_json_add_about(cJSON_AddObjectToObject(json, "rows"), p->rows, p->nr_rows,
                              sizeof(*p->rows));
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    for (size_t i = 0; i < p->nr; i++)
        cJSON_AddItemToArray(layers, layer_json(p, p->layers[i]));
    return json;
}

static cJSON *placed_text_json(const struct placed_text *t)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "role", roles[t->role]);
    cJSON_AddStringToObject(json, "text", t->text);
    figure_json_add(json, "x", t->x);
    figure_json_add(json, "y", t->y);
    figure_json_add(json, "size", t->size);
    if (t->angle != 0)
        figure_json_add(json, "angle", t->angle);
    figure_json_add_flag(json, "bold", t->bold);
    if (t->anchor != ANCHOR_LEFT)
        cJSON_AddStringToObject(json, "anchor", anchors[t->anchor]);
    cJSON_AddStringToObject(json, "colour", palette_ink(t->ink));
    return json;
}

/* The box of a legend's sample, and which layer it shows. */
static cJSON *sample_json(const struct figure *f, const struct legend_sample *sample)
{
    cJSON *json = cJSON_CreateObject();

    figure_json_add_rect(json, &sample->box);
    for (size_t i = 0; i < f->nr_panels; i++) {
        for (size_t k = 0; k < f->panels[i]->nr; k++) {
            if (f->panels[i]->layers[k] != sample->layer)
                continue;
            cJSON_AddNumberToObject(json, "panel", (double)i);
            cJSON_AddNumberToObject(json, "layer", (double)k);
        }
    }
    return json;
}

static cJSON *scale_json(const struct scale_bar *bar)
{
    cJSON *json = cJSON_CreateObject();
    char colour[COLOUR_SIZE];

    cJSON_AddStringToObject(json, "label", bar->label);
    figure_json_add_quantity(json, bar->quantity, bar->base);
    figure_json_add(json, "low", bar->low);
    figure_json_add(json, "high", bar->high);
    figure_json_add_flag(json, "log", bar->log);
    figure_json_add_rect(cJSON_AddObjectToObject(json, "box"), &bar->box);
    figure_json_add_ticks(json, "ticks", &bar->ticks, DIGITS);
    cJSON *colours = cJSON_AddArrayToObject(json, "colours");
    for (int i = 0; i < SCALE_COLOURS; i++) {
        double share = (double)i / (SCALE_COLOURS - 1);
        cJSON_AddItemToArray(colours, cJSON_CreateString(palette_scale(share, colour)));
    }
    return json;
}

cJSON *figure_to_json(const struct figure *f)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddNumberToObject(json, "schema_version", 1);
    json_add_string(json, "id", f->id);
    json_add_string(json, "title", f->title);
    json_add_string(json, "subtitle", f->subtitle);
    json_add_string(json, "caption", f->caption);
    json_add_string(json, "alt", f->alt);
    json_add_string(json, "banner", f->banner);
    json_add_string(json, "reason", f->reason);
    if (f->reason)
        return json;
    cJSON_AddBoolToObject(json, "legend", f->nr_samples > 0);
    figure_json_add(json, "width", f->width);
    figure_json_add(json, "height", f->height);
    cJSON_AddNumberToObject(json, "columns", f->columns);
    figure_json_add_flag(json, "aligned", f->aligned);
    json_add_string(json, "view", f->view);
    cJSON *panels = cJSON_AddArrayToObject(json, "panels");
    for (size_t i = 0; i < f->nr_panels; i++)
        cJSON_AddItemToArray(panels, panel_json(f->panels[i]));
    /* What stands around the plot areas, at its place on a sheet of width x height. */
    cJSON *texts = cJSON_AddArrayToObject(json, "texts");
    cJSON *samples = cJSON_AddArrayToObject(json, "samples");
    for (size_t i = 0; i < f->nr_texts; i++)
        cJSON_AddItemToArray(texts, placed_text_json(&f->texts[i]));
    for (size_t i = 0; i < f->nr_samples; i++)
        cJSON_AddItemToArray(samples, sample_json(f, &f->samples[i]));
    if (f->bar.label)
        cJSON_AddItemToObject(json, "scale", scale_json(&f->bar));
    if (f->benchmarks.nr > 0)
        json_add_strings(json, "benchmarks", f->benchmarks.items, f->benchmarks.nr);
    if (f->runs.nr > 0)
        json_add_strings(json, "runs", f->runs.items, f->runs.nr);
    return json;
}
