/* SPDX-License-Identifier: MIT */
#include "output/figure.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const scales[] = {
    [AXIS_LINEAR] = "linear",
    [AXIS_LOG] = "log",
    [AXIS_CATEGORY] = "category",
};
static const char *const anchors[] = {
    [ANCHOR_LEFT] = "left",
    [ANCHOR_CENTRE] = "centre",
    [ANCHOR_RIGHT] = "right",
};

/* Seven digits are beyond what can be seen and short of where compilers differ. */
static double rounded(double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.7g", value);
    return strtod(text, NULL);
}

static void add(cJSON *object, const char *key, double value)
{
    json_add_number(object, key, rounded(value));
}

static cJSON *axis_json(const struct axis *axis)
{
    cJSON *json = cJSON_CreateObject(), *ticks = cJSON_AddArrayToObject(json, "ticks");

    json_add_string(json, "label", axis->label);
    cJSON_AddStringToObject(json, "scale", scales[axis->scale]);
    add(json, "low", axis->low);
    add(json, "high", axis->high);
    if (axis->reversed)
        cJSON_AddTrueToObject(json, "reversed");
    for (size_t i = 0; i < axis->ticks.nr; i++) {
        const struct tick *t = &axis->ticks.items[i];
        cJSON *tick = cJSON_CreateObject();
        add(tick, "at", t->at);
        json_add_string(tick, "text", t->text);
        cJSON_AddItemToArray(ticks, tick);
    }
    return json;
}

static cJSON *style_json(const struct layer *s)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "colour", palette_ink(s->style.ink));
    if (s->mark == MARK_POINTS) {
        cJSON_AddStringToObject(json, "shape", palette_shape_name(s->style.shape));
        add(json, "size", s->style.size);
    }
    if (s->mark != MARK_POINTS && s->mark != MARK_BARS)
        cJSON_AddStringToObject(json, "dash", palette_dash_name(s->style.dash));
    add(json, "width", s->style.width);
    if (s->style.opacity < 1)
        add(json, "opacity", s->style.opacity);
    if (s->style.hollow)
        cJSON_AddTrueToObject(json, "hollow");
    return json;
}

/* One array a member; left out where no datum has it. */
static void add_column(cJSON *json, const char *key, const struct layer *s, size_t offset)
{
    cJSON *column = cJSON_CreateArray();
    bool any = false;

    for (size_t i = 0; i < s->nr; i++) {
        double value = *(const double *)(const void *)((const char *)&s->items[i] + offset);
        any |= isfinite(value);
        cJSON_AddItemToArray(column, isfinite(value) ? cJSON_CreateNumber(rounded(value))
                                                     : cJSON_CreateNull());
    }
    if (any)
        cJSON_AddItemToObject(json, key, column);
    else
        cJSON_Delete(column);
}

static void add_texts(cJSON *json, const struct layer *s)
{
    cJSON *texts = cJSON_CreateArray(), *sides = cJSON_CreateArray();
    bool any = false;

    for (size_t i = 0; i < s->nr; i++) {
        const char *text = s->items[i].text;
        any |= text != NULL;
        cJSON_AddItemToArray(texts, text ? cJSON_CreateString(text) : cJSON_CreateNull());
        cJSON_AddItemToArray(sides, cJSON_CreateString(anchors[s->items[i].anchor]));
    }
    if (any)
        cJSON_AddItemToObject(json, "text", texts);
    else
        cJSON_Delete(texts);
    if (any && s->mark == MARK_TEXT)
        cJSON_AddItemToObject(json, "anchor", sides);
    else
        cJSON_Delete(sides);
}

static void add_colours(cJSON *json, const struct layer *s)
{
    cJSON *colours = cJSON_AddArrayToObject(json, "colour");
    char colour[COLOUR_SIZE];

    for (size_t i = 0; i < s->nr; i++)
        cJSON_AddItemToArray(colours, cJSON_CreateString(palette_scale(s->items[i].share, colour)));
}

static cJSON *layer_json(const struct layer *s)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "mark", mark_name(s->mark));
    json_add_string(json, "label", s->label);
    cJSON_AddItemToObject(json, "style", style_json(s));
    if (s->across)
        cJSON_AddTrueToObject(json, "across");
    add_column(json, "x", s, offsetof(struct datum, x));
    add_column(json, "y", s, offsetof(struct datum, y));
    add_column(json, "low", s, offsetof(struct datum, low));
    add_column(json, "high", s, offsetof(struct datum, high));
    add_texts(json, s);
    if (s->mark == MARK_CELLS)
        add_colours(json, s);
    if (s->mark == MARK_TEXT) {
        add_column(json, "dx", s, offsetof(struct datum, dx));
        add_column(json, "dy", s, offsetof(struct datum, dy));
        add_column(json, "angle", s, offsetof(struct datum, angle));
    }
    return json;
}

static cJSON *panel_json(const struct panel *p)
{
    cJSON *json = cJSON_CreateObject(), *area = cJSON_AddObjectToObject(json, "area");

    json_add_string(json, "title", p->title);
    add(area, "x", p->area.x);
    add(area, "y", p->area.y);
    add(area, "width", p->area.width);
    add(area, "height", p->area.height);
    cJSON_AddItemToObject(json, "x", axis_json(&p->x));
    cJSON_AddItemToObject(json, "y", axis_json(&p->y));
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    for (size_t i = 0; i < p->nr; i++)
        cJSON_AddItemToArray(layers, layer_json(p->layers[i]));
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
    add(json, "width", f->width);
    add(json, "height", f->height);
    cJSON *panels = cJSON_AddArrayToObject(json, "panels");
    for (size_t i = 0; i < f->nr_panels; i++)
        cJSON_AddItemToArray(panels, panel_json(f->panels[i]));
    return json;
}
