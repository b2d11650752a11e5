/* SPDX-License-Identifier: MIT */
#include "chart/preset.h"

#include "base/text.h"
#include "chart/chapter.h"
#include "chart/places.h"

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
    const cJSON *part; /* of a family: its keys go over those of the family; NULL: it is none */
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

static int preset_read_chapter(struct reading *r, const cJSON *value, void *to)
{
    return preset_choose(r, value, chapter_names) < 0 ? -1 : preset_read_string(r, value, to);
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

static int preset_read_where(struct reading *r, const cJSON *value, void *to)
{
    const char *names[PLACES_MAX + 1] = { NULL };

    for (size_t i = 0; place_at(i); i++)
        names[i] = place_at(i)->name;
    int place = preset_choose(r, value, names);
    if (place < 0)
        return -1;
    string_list_add(to, place_at((size_t)place)->filter);
    return 0;
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

static int preset_check_name(struct reading *r, const cJSON *at, const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strlen(name);

    if (length > 0 && length <= NAME_MAX_LENGTH && name[0] != '-' &&
        strspn(name, allowed) == length)
        return 0;
    return json_source_error(r->source, at, r->err,
                             "the name \"%.80s\" will be a file name: use 1 to %d letters, "
                             "digits, '-' and '_', and no '-' first",
                             name, NAME_MAX_LENGTH);
}

static int preset_read_name(struct reading *r, const cJSON *value, void *to)
{
    return preset_read_string(r, value, to) ? -1 : preset_check_name(r, value, value->valuestring);
}

/* "type" comes last: it looks at what the others left. */
static int preset_read_type(struct reading *r, const cJSON *value, void *to)
{
    struct error why;

    if (!cJSON_IsString(value))
        return preset_refuse(r, value, "is not a string");
    const struct plot_type *type = plot_type_find(value->valuestring, &why);
    *(const struct plot_type **)to = type;
    if (type && plot_type_check(r->preset, &why) == 0)
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
    KEY("chapter", chapter, preset_read_chapter),
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
    KEY("where", filter, preset_read_where),
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

static int preset_check_keys(struct reading *r, const cJSON *json, bool family)
{
    const char *names[NR_KEYS + 2] = { NULL };

    for (size_t i = 0; i < NR_KEYS; i++)
        names[i] = keys[i].name;
    if (family)
        names[NR_KEYS] = "split";
    return json_source_only_keys(r->source, json, names, r->err);
}

static const cJSON *preset_value(const struct reading *r, const cJSON *json, const char *key)
{
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(r->part, key);

    return own ? own : cJSON_GetObjectItemCaseSensitive(json, key);
}

static int preset_read_keys(struct reading *r, const cJSON *json)
{
    if (preset_check_keys(r, json, r->part != NULL) ||
        (r->part && preset_check_keys(r, r->part, false)))
        return -1;
    for (size_t i = 0; i < NR_KEYS; i++) {
        const cJSON *value = preset_value(r, json, keys[i].name);
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

/* "{where}" in a text becomes the part's words: "Latency of {where}". */
static void preset_put_where(char **text, const char *words)
{
    static const char mark[] = "{where}";
    char *at = *text ? strstr(*text, mark) : NULL;
    struct strbuf sb;

    if (!at)
        return;
    strbuf_init(&sb);
    strbuf_add(&sb, *text, (size_t)(at - *text));
    strbuf_addf(&sb, "%s%s", words, at + sizeof(mark) - 1);
    free(*text);
    *text = strbuf_detach(&sb);
}

/* A part without a name of its own has that of the family and of where it looks: "latency-decode".
 */
static int preset_name_part(struct reading *r, const cJSON *json)
{
    const char *where = json_string(r->part, "where", NULL);
    const struct place *place = where ? place_named(where) : NULL;
    struct preset *p = r->preset;

    p->family = memory_string(json_string(json, "name", ""));
    if (place) {
        preset_put_where(&p->title, place->words);
        preset_put_where(&p->description, place->words);
    }
    if (cJSON_GetObjectItemCaseSensitive(r->part, "name"))
        return 0;
    if (!where)
        return json_source_error(r->source, r->part, r->err,
                                 "a part of \"split\" needs a \"name\" or a \"where\"");
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "%s-%s", p->name, where);
    free(p->name);
    p->name = strbuf_detach(&name);
    return preset_check_name(r, r->part, p->name);
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
                     const cJSON *part, struct error *err)
{
    struct reading r = { preset, source, part, err };

    *preset = (struct preset) { .show_legend = true, .order = ORDER_USUAL };
    if (preset_read_keys(&r, json) || (part && preset_name_part(&r, json))) {
        preset_release(preset);
        return -1;
    }
    if (!preset->section)
        preset->section = memory_string(usual_section(preset));
    return 0;
}

static void preset_add_list(cJSON *json, const char *key, const struct string_list *list)
{
    if (list->nr > 0)
        json_add_strings(json, key, list->items, list->nr);
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
        { "chapter", p->chapter },
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
    int rc = preset_from_json(preset, &source, source.root, NULL, err);
    json_source_release(&source);
    return rc;
}

void preset_release(struct preset *p)
{
    char *strings[] = { p->name,    p->title, p->description, p->how,     p->section,
                        p->chapter, p->from,  p->x,           p->y,       p->size,
                        p->colour,  p->group, p->x_label,     p->y_label, p->family };

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        free(strings[i]);
    string_list_release(&p->filter);
    string_list_release(&p->formerly);
    string_list_release(&p->panels);
    *p = (struct preset) { 0 };
}
