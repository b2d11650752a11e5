/* SPDX-License-Identifier: MIT */
/* A preset as JSON, both ways. */
#include "output/preset.h"

#include "base/text.h"
#include "output/chart.h"

#include <stddef.h>
#include <string.h>

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

static int refuse(struct reading *r, const cJSON *value, const char *what)
{
    return json_source_error(r->source, value, r->err, "\"%s\" %s", value->string, what);
}

/* A word of a NULL-ended list; its index, or -1 and the error. */
static int choose(struct reading *r, const cJSON *value, const char *const *words)
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

static int read_string(struct reading *r, const cJSON *value, void *to)
{
    char **text = to;

    if (!cJSON_IsString(value))
        return refuse(r, value, "is not a string");
    *text = memory_string(value->valuestring);
    return 0;
}

static int read_section(struct reading *r, const cJSON *value, void *to)
{
    return choose(r, value, preset_sections) < 0 ? -1 : read_string(r, value, to);
}

static int read_scale(struct reading *r, const cJSON *value, void *to)
{
    int scale = choose(r, value, scales);

    *(enum scale_choice *)to = scale < 0 ? SCALE_AUTO : (enum scale_choice)scale;
    return scale < 0 ? -1 : 0;
}

static int read_count(struct reading *r, const cJSON *value, int most, int *to)
{
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= most) ||
        value->valuedouble != (int)value->valuedouble)
        return json_source_error(r->source, value, r->err, "\"%s\" is no whole number from 0 to %d",
                                 value->string, most);
    *to = (int)value->valuedouble;
    return 0;
}

static int read_limit(struct reading *r, const cJSON *value, void *to)
{
    return read_count(r, value, LIMIT_MAX, to);
}

static int read_order(struct reading *r, const cJSON *value, void *to)
{
    return read_count(r, value, ORDER_MAX, to);
}

static int read_window(struct reading *r, const cJSON *value, void *to)
{
    return read_count(r, value, WINDOW_MAX, to);
}

static int read_flag(struct reading *r, const cJSON *value, void *to)
{
    if (!cJSON_IsBool(value))
        return refuse(r, value, "is neither true nor false");
    *(bool *)to = cJSON_IsTrue(value);
    return 0;
}

/* A string, or each of a list. */
static int read_each(struct reading *r, const cJSON *value, read_fn *read, void *to)
{
    const cJSON *item;

    if (cJSON_IsString(value))
        return read(r, value, to);
    if (!cJSON_IsArray(value))
        return refuse(r, value, "is neither a string nor a list of strings");
    cJSON_ArrayForEach(item, value)
    {
        if (!cJSON_IsString(item))
            return refuse(r, value, "holds something that is not a string");
        if (read(r, item, to))
            return -1;
    }
    return 0;
}

static int take_mode(struct reading *r, const cJSON *value, void *to)
{
    int mode = choose(r, value, modes);

    if (mode < 0)
        return -1;
    *(unsigned *)to |= 1u << mode;
    return 0;
}

static int read_modes(struct reading *r, const cJSON *value, void *to)
{
    return read_each(r, value, take_mode, to);
}

static int take_text(struct reading *r, const cJSON *value, void *to)
{
    (void)r;
    string_list_add(to, value->valuestring);
    return 0;
}

static int read_texts(struct reading *r, const cJSON *value, void *to)
{
    return read_each(r, value, take_text, to);
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

static int read_metric(struct reading *r, const cJSON *value, void *to)
{
    return read_string(r, value, to) || check_metric(r, value) ? -1 : 0;
}

static int take_panel(struct reading *r, const cJSON *value, void *to)
{
    return check_metric(r, value) || take_text(r, value, to) ? -1 : 0;
}

static int read_panels(struct reading *r, const cJSON *value, void *to)
{
    return read_each(r, value, take_panel, to);
}

static int read_group(struct reading *r, const cJSON *value, void *to)
{
    struct error why;

    if (read_string(r, value, to))
        return -1;
    return chart_group_check(value->valuestring, &why)
               ? json_source_error(r->source, value, r->err, "%s", why.message)
               : 0;
}

static int read_name(struct reading *r, const cJSON *value, void *to)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (read_string(r, value, to))
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
static int read_type(struct reading *r, const cJSON *value, void *to)
{
    struct error why;

    if (!cJSON_IsString(value))
        return refuse(r, value, "is not a string");
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
    KEY("name", name, read_name),
    KEY("title", title, read_string),
    KEY("description", description, read_string),
    KEY("how", how, read_string),
    KEY("mode", modes, read_modes),
    KEY("section", section, read_section),
    KEY("order", order, read_order),
    KEY("x", x, read_metric),
    KEY("y", y, read_metric),
    KEY("panels", panels, read_panels),
    KEY("size", size, read_metric),
    KEY("colour", colour, read_metric),
    KEY("group", group, read_group),
    KEY("x_label", x_label, read_string),
    KEY("y_label", y_label, read_string),
    KEY("x_scale", x_scale, read_scale),
    KEY("y_scale", y_scale, read_scale),
    KEY("filter", filter, read_texts),
    KEY("limit", limit, read_limit),
    KEY("rolling_window", rolling_window, read_window),
    KEY("highlight_pareto", highlight_pareto, read_flag),
    KEY("show_legend", show_legend, read_flag),
    KEY("type", type, read_type),
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

static int check_keys(struct reading *r, const cJSON *json)
{
    const char *names[NR_KEYS + 1] = { NULL };

    for (size_t i = 0; i < NR_KEYS; i++)
        names[i] = keys[i].name;
    return json_source_only_keys(r->source, json, names, r->err);
}

static int read_preset(struct reading *r, const cJSON *json)
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
    if (read_preset(&r, json)) {
        preset_release(preset);
        return -1;
    }
    if (!preset->section)
        preset->section = memory_string(usual_section(preset));
    return 0;
}

static void add_list(cJSON *json, const char *key, const struct string_list *list)
{
    if (list->nr == 0)
        return;
    cJSON *array = cJSON_AddArrayToObject(json, key);
    for (size_t i = 0; i < list->nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(list->items[i]));
}

static void add_modes(cJSON *json, unsigned bits)
{
    cJSON *array = cJSON_AddArrayToObject(json, "mode");

    for (int i = 0; i < PLOT_MODE_NR; i++)
        if (bits & 1u << i)
            cJSON_AddItemToArray(array, cJSON_CreateString(modes[i]));
}

static void add_choices(cJSON *json, const struct preset *p)
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
    add_modes(json, p->modes);
    add_list(json, "panels", &p->panels);
    add_list(json, "filter", &p->filter);
    add_choices(json, p);
    return json;
}
