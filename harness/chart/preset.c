/* SPDX-License-Identifier: MIT */
#include "chart/preset.h"

#include "base/array.h"
#include "base/file.h"
#include "base/resource.h"
#include "base/text.h"
#include "chart/chart.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A preset as JSON, both ways. */

enum {
    LIMIT_MAX = 64,
    WINDOW_MAX = 100000,
    NAME_MAX_LENGTH = 60,
    ORDER_MAX = 99,
    ORDER_USUAL = 50,
};

const char *const preset_sections[] = { "verdict", "trend",  "speed",   "distribution", "roofline",
                                        "sizes",   "models", "profile", "run",          NULL };

static const char *const modes[] = { "single", "multi", "compare", "trend", "profile", NULL };
static const char *const scales[] = { "auto", "linear", "log", NULL };

const char *plot_mode_name(enum plot_mode mode)
{
    int bit = 0;

    while (bit < PLOT_MODE_NR - 1 && !(mode & 1u << bit))
        bit++;
    return modes[bit];
}

/* One preset on its way from JSON: what is read, from where, into what. */
struct reading {
    struct preset *preset;
    const struct json_source *source;
    struct error *err;
};

typedef int read_fn(struct reading *r, const cJSON *value, void *to);

static int preset_refuse(struct reading *r, const cJSON *value, const char *what)
{
    return json_source_error(r->source, value, r->err, "\"%s\" %s", value->string, what);
}

/* A word of a NULL-ended list; its index, or -1 and the error. */
static int preset_choose(struct reading *r, const cJSON *value, const char *const *words)
{
    if (!cJSON_IsString(value))
        return json_source_error(r->source, value, r->err, "a string is expected here");
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value->valuestring) == 0)
            return i;
    const char *nearest = text_nearest(value->valuestring, words);
    return json_source_error(r->source, value, r->err,
                             "\"%.100s\" is unknown; did you mean \"%s\"?", value->valuestring,
                             nearest ? nearest : words[0]);
}

static int preset_read_string(struct reading *r, const cJSON *value, void *to)
{
    char **text = to;

    if (!cJSON_IsString(value))
        return preset_refuse(r, value, "is not a string");
    *text = memory_string(value->valuestring);
    return 0;
}

static int preset_read_section(struct reading *r, const cJSON *value, void *to)
{
    return preset_choose(r, value, preset_sections) < 0 ? -1 : preset_read_string(r, value, to);
}

static int preset_read_scale(struct reading *r, const cJSON *value, void *to)
{
    int scale = preset_choose(r, value, scales);

    *(enum scale_choice *)to = scale < 0 ? SCALE_AUTO : (enum scale_choice)scale;
    return scale < 0 ? -1 : 0;
}

static int preset_read_count(struct reading *r, const cJSON *value, int most, int *to)
{
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= most) ||
        value->valuedouble != (int)value->valuedouble)
        return json_source_error(r->source, value, r->err, "\"%s\" is no whole number from 0 to %d",
                                 value->string, most);
    *to = (int)value->valuedouble;
    return 0;
}

static int preset_read_limit(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_count(r, value, LIMIT_MAX, to);
}

static int preset_read_order(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_count(r, value, ORDER_MAX, to);
}

static int preset_read_window(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_count(r, value, WINDOW_MAX, to);
}

static int preset_read_flag(struct reading *r, const cJSON *value, void *to)
{
    if (!cJSON_IsBool(value))
        return preset_refuse(r, value, "is neither true nor false");
    *(bool *)to = cJSON_IsTrue(value);
    return 0;
}

/* A string, or each of a list. */
static int preset_read_each(struct reading *r, const cJSON *value, read_fn *read, void *to)
{
    const cJSON *item;

    if (cJSON_IsString(value))
        return read(r, value, to);
    if (!cJSON_IsArray(value))
        return preset_refuse(r, value, "is neither a string nor a list of strings");
    cJSON_ArrayForEach(item, value)
    {
        if (!cJSON_IsString(item))
            return preset_refuse(r, value, "holds something that is not a string");
        if (read(r, item, to))
            return -1;
    }
    return 0;
}

static int preset_take_mode(struct reading *r, const cJSON *value, void *to)
{
    int mode = preset_choose(r, value, modes);

    if (mode < 0)
        return -1;
    *(unsigned *)to |= 1u << mode;
    return 0;
}

static int preset_read_modes(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_each(r, value, preset_take_mode, to);
}

static int preset_take_text(struct reading *r, const cJSON *value, void *to)
{
    (void)r;
    string_list_add(to, value->valuestring);
    return 0;
}

static int preset_read_texts(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_each(r, value, preset_take_text, to);
}

/* A metric, parameter or expression; a word such as "variant" stands on an x axis alone. */
static int check_metric(struct reading *r, const cJSON *value)
{
    struct chart_metric metric;
    struct error why;

    if (chart_metric_init(&metric, value->valuestring, &why))
        return json_source_error(r->source, value, r->err, "%s", why.message);
    bool misplaced = metric.category && (!value->string || strcmp(value->string, "x") != 0);
    chart_metric_release(&metric);
    return misplaced ? json_source_error(r->source, value, r->err,
                                         "\"%.60s\" is no number: it can stand in \"x\" and "
                                         "\"group\"",
                                         value->valuestring)
                     : 0;
}

static int preset_read_metric(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_string(r, value, to) || check_metric(r, value) ? -1 : 0;
}

static int preset_take_panel(struct reading *r, const cJSON *value, void *to)
{
    return check_metric(r, value) || preset_take_text(r, value, to) ? -1 : 0;
}

static int preset_read_panels(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_each(r, value, preset_take_panel, to);
}

static int preset_read_group(struct reading *r, const cJSON *value, void *to)
{
    struct error why;

    if (preset_read_string(r, value, to))
        return -1;
    return chart_group_check(value->valuestring, &why)
               ? json_source_error(r->source, value, r->err, "%s", why.message)
               : 0;
}

static int preset_read_name(struct reading *r, const cJSON *value, void *to)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (preset_read_string(r, value, to))
        return -1;
    size_t length = strlen(value->valuestring);
    if (length > 0 && length <= NAME_MAX_LENGTH && value->valuestring[0] != '-' &&
        strspn(value->valuestring, allowed) == length)
        return 0;
    return json_source_error(r->source, value, r->err,
                             "the name \"%.80s\" will be a file name: use 1 to %d letters, "
                             "digits, '-' and '_', and no '-' first",
                             value->valuestring, NAME_MAX_LENGTH);
}

/* "type" comes last: it looks at what the others left. */
static int preset_read_type(struct reading *r, const cJSON *value, void *to)
{
    struct error why;

    if (!cJSON_IsString(value))
        return preset_refuse(r, value, "is not a string");
    const struct plot_type *type = plot_type_find(value->valuestring, &why);
    *(const struct plot_type **)to = type;
    if (type && (!type->check || type->check(r->preset, &why) == 0))
        return 0;
    return json_source_error(r->source, value, r->err, "%s", why.message);
}

#define KEY(name, member, read)                                                                    \
    {                                                                                              \
        name, offsetof(struct preset, member), read                                                \
    }

static const struct {
    const char *name;
    size_t offset;
    read_fn *read;
} keys[] = {
    KEY("name", name, preset_read_name),
    KEY("title", title, preset_read_string),
    KEY("description", description, preset_read_string),
    KEY("how", how, preset_read_string),
    KEY("mode", modes, preset_read_modes),
    KEY("section", section, preset_read_section),
    KEY("order", order, preset_read_order),
    KEY("x", x, preset_read_metric),
    KEY("y", y, preset_read_metric),
    KEY("panels", panels, preset_read_panels),
    KEY("size", size, preset_read_metric),
    KEY("colour", colour, preset_read_metric),
    KEY("group", group, preset_read_group),
    KEY("x_label", x_label, preset_read_string),
    KEY("y_label", y_label, preset_read_string),
    KEY("x_scale", x_scale, preset_read_scale),
    KEY("y_scale", y_scale, preset_read_scale),
    KEY("filter", filter, preset_read_texts),
    KEY("formerly", formerly, preset_read_texts),
    KEY("limit", limit, preset_read_limit),
    KEY("rolling_window", rolling_window, preset_read_window),
    KEY("highlight_pareto", highlight_pareto, preset_read_flag),
    KEY("show_legend", show_legend, preset_read_flag),
    KEY("answers", answers, preset_read_flag),
    KEY("type", type, preset_read_type),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

static int check_keys(struct reading *r, const cJSON *json)
{
    const char *names[NR_KEYS + 1] = { NULL };

    for (size_t i = 0; i < NR_KEYS; i++)
        names[i] = keys[i].name;
    return json_source_only_keys(r->source, json, names, r->err);
}

static int preset_read_preset(struct reading *r, const cJSON *json)
{
    if (check_keys(r, json))
        return -1;
    for (size_t i = 0; i < NR_KEYS; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, keys[i].name);
        if (value && keys[i].read(r, value, (char *)r->preset + keys[i].offset))
            return -1;
    }
    if (!r->preset->name || !r->preset->title || !r->preset->type)
        return json_source_error(r->source, json, r->err,
                                 "\"name\", \"title\" and \"type\" must be there");
    if (!r->preset->modes)
        r->preset->modes = PLOT_SINGLE;
    return 0;
}

/* Where a figure belongs that does not say it. */
static const char *usual_section(const struct preset *p)
{
    return p->modes & PLOT_PROFILE   ? "profile"
           : p->modes & PLOT_TREND   ? "trend"
           : p->modes & PLOT_COMPARE ? "verdict"
                                     : "speed";
}

int preset_from_json(struct preset *preset, const struct json_source *source, const cJSON *json,
                     struct error *err)
{
    struct reading r = { preset, source, err };

    *preset = (struct preset) { .show_legend = true, .order = ORDER_USUAL };
    if (preset_read_preset(&r, json)) {
        preset_release(preset);
        return -1;
    }
    if (!preset->section)
        preset->section = memory_string(usual_section(preset));
    return 0;
}

static void preset_add_list(cJSON *json, const char *key, const struct string_list *list)
{
    if (list->nr == 0)
        return;
    cJSON *array = cJSON_AddArrayToObject(json, key);
    for (size_t i = 0; i < list->nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(list->items[i]));
}

static void preset_add_choices(cJSON *json, const struct preset *p)
{
    if (p->x_scale != SCALE_AUTO)
        cJSON_AddStringToObject(json, "x_scale", scales[p->x_scale]);
    if (p->y_scale != SCALE_AUTO)
        cJSON_AddStringToObject(json, "y_scale", scales[p->y_scale]);
    if (p->order != ORDER_USUAL)
        json_add_int(json, "order", p->order);
    if (p->limit)
        json_add_int(json, "limit", p->limit);
    if (p->rolling_window)
        json_add_int(json, "rolling_window", p->rolling_window);
    if (p->highlight_pareto)
        cJSON_AddTrueToObject(json, "highlight_pareto");
    if (p->answers)
        cJSON_AddTrueToObject(json, "answers");
    if (!p->show_legend)
        cJSON_AddFalseToObject(json, "show_legend");
}

cJSON *preset_to_json(const struct preset *p)
{
    const struct {
        const char *key, *text;
    } rows[] = {
        { "name", p->name },
        { "title", p->title },
        { "description", p->description },
        { "type", p->type->name },
        { "section", p->section },
        { "x", p->x },
        { "y", p->y },
        { "size", p->size },
        { "colour", p->colour },
        { "group", p->group },
        { "x_label", p->x_label },
        { "y_label", p->y_label },
        { "how", p->how },
    };
    cJSON *json = cJSON_CreateObject();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].text)
            cJSON_AddStringToObject(json, rows[i].key, rows[i].text);
    cJSON *array = cJSON_AddArrayToObject(json, "mode");
    for (int i = 0; i < PLOT_MODE_NR; i++)
        if (p->modes & 1u << i)
            cJSON_AddItemToArray(array, cJSON_CreateString(modes[i]));
    preset_add_list(json, "panels", &p->panels);
    preset_add_list(json, "filter", &p->filter);
    preset_add_list(json, "formerly", &p->formerly);
    preset_add_choices(json, p);
    return json;
}

int preset_parse(struct preset *preset, const char *text, size_t length, const char *what,
                 struct error *err)
{
    struct json_source source;

    *preset = (struct preset) { 0 };
    if (json_source_parse(&source, text, length, what, err))
        return -1;
    int rc = preset_from_json(preset, &source, source.root, err);
    json_source_release(&source);
    return rc;
}

void preset_release(struct preset *p)
{
    char *strings[] = { p->name, p->title, p->description, p->how,   p->section, p->from,   p->x,
                        p->y,    p->size,  p->colour,      p->group, p->x_label, p->y_label };

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        free(strings[i]);
    string_list_release(&p->filter);
    string_list_release(&p->formerly);
    string_list_release(&p->panels);
    *p = (struct preset) { 0 };
}

void presets_release(struct presets *presets)
{
    for (size_t i = 0; i < presets->nr; i++)
        preset_release(&presets->items[i]);
    array_release(presets);
}

const struct preset *presets_add(struct presets *presets, struct preset *preset)
{
    size_t i = 0;

    while (i < presets->nr && strcmp(presets->items[i].name, preset->name) != 0)
        i++;
    if (i == presets->nr)
        array_push(presets);
    else
        preset_release(&presets->items[i]);
    presets->items[i] = *preset;
    *preset = (struct preset) { 0 };
    return &presets->items[i];
}

int presets_load_embedded(struct presets *presets, struct error *err)
{
    struct preset preset;

    for (const struct resource *r = resource_all(); r->name; r++) {
        if (strncmp(r->name, "presets/", 8) != 0)
            continue;
        if (preset_parse(&preset, r->data, r->length, r->name, err))
            return -1;
        presets_add(presets, &preset);
    }
    return 0;
}

int presets_load_file(struct presets *presets, const char *path, struct error *err)
{
    struct preset preset;
    size_t length;
    char *text = file_read(path, FILE_SETTINGS_MOST, &length, err);

    if (!text)
        return -1;
    int rc = preset_parse(&preset, text, length, path, err);
    free(text);
    if (rc)
        return -1;
    preset.from = memory_string(path);
    presets_add(presets, &preset);
    return 0;
}

/* The figure that one of an earlier version became part of, or NULL. */
static const struct preset *presets_find_heir(const struct presets *presets, const char *name)
{
    for (size_t i = 0; i < presets->nr; i++)
        for (size_t k = 0; k < presets->items[i].formerly.nr; k++)
            if (strcmp(presets->items[i].formerly.items[k], name) == 0)
                return &presets->items[i];
    return NULL;
}

const struct preset *presets_find(const struct presets *presets, const char *name,
                                  struct error *err)
{
    const char **names = memory_zeroed(presets->nr + 1, sizeof(*names));
    const struct preset *found = NULL;

    for (size_t i = 0; i < presets->nr; i++) {
        names[i] = presets->items[i].name;
        if (strcmp(names[i], name) == 0)
            found = &presets->items[i];
    }
    if (!found && presets_find_heir(presets, name)) {
        error_set(err, "the figure \"%.100s\" is part of \"%s\" now", name,
                  presets_find_heir(presets, name)->name);
    } else if (!found) {
        const char *nearest = text_nearest(name, names);
        error_set(err, "unknown figure \"%.100s\"%s%s%s; `harness list figures` shows all", name,
                  nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    }
    free(names);
    return found;
}
