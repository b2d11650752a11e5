/* SPDX-License-Identifier: MIT */
#include "output/preset.h"

#include "base/file.h"
#include "base/json.h"
#include "base/resource.h"
#include "output/chart.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT_MAX = 64 };

static const char *const keys[] = {
    "name",
    "title",
    "description",
    "type",
    "mode",
    "x",
    "y",
    "x_label",
    "y_label",
    "y_scale",
    "filter",
    "limit",
    "rolling_window",
    "highlight_pareto",
    "show_legend",
    NULL,
};

/* A word of a NULL-ended list; its index, or -1 and the error. */
static int choose(const char *word, const char *const *words, const char *key, struct error *err)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    const char *nearest = text_nearest(word, words);
    return error_set(err, "\"%s\": \"%.100s\" is unknown; did you mean \"%s\"?", key, word,
                     nearest ? nearest : words[0]);
}

/* An optional string, or list of strings, handed one by one to `take`. */
typedef int take_fn(struct preset *preset, const char *text, struct error *err);

static int each_string(const cJSON *json, const char *key, struct preset *preset, take_fn *take,
                       struct error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key), *item;

    if (!value)
        return 0;
    if (cJSON_IsString(value))
        return take(preset, value->valuestring, err);
    if (!cJSON_IsArray(value))
        return error_set(err, "\"%s\" is neither a string nor a list of strings", key);
    cJSON_ArrayForEach(item, value)
    {
        if (!cJSON_IsString(item))
            return error_set(err, "\"%s\" holds something that is not a string", key);
        if (take(preset, item->valuestring, err))
            return -1;
    }
    return 0;
}

static int take_mode(struct preset *preset, const char *text, struct error *err)
{
    static const char *const modes[] = { "single", "compare", "trend", NULL };
    int mode = choose(text, modes, "mode", err);

    if (mode < 0)
        return -1;
    preset->modes |= 1u << mode;
    return 0;
}

static int take_filter(struct preset *preset, const char *text, struct error *err)
{
    (void)err;
    string_list_add(&preset->filter, text);
    return 0;
}

static int read_string(const cJSON *json, const char *key, char **to, struct error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    if (!value)
        return 0;
    if (!cJSON_IsString(value))
        return error_set(err, "\"%s\" is not a string", key);
    *to = memory_string(value->valuestring);
    return 0;
}

static int read_count(const cJSON *json, const char *key, int *to, struct error *err)
{
    int64_t value = 0;

    if (!cJSON_HasObjectItem(json, key))
        return 0;
    if (json_get_int(json, key, &value, err))
        return -1;
    if (value < 0 || value > LIMIT_MAX)
        return error_set(err, "\"%s\" is not within 0 and %d", key, LIMIT_MAX);
    *to = (int)value;
    return 0;
}

static int read_flag(const cJSON *json, const char *key, bool *to, struct error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    if (value && !cJSON_IsBool(value))
        return error_set(err, "\"%s\" is neither true nor false", key);
    if (value)
        *to = cJSON_IsTrue(value);
    return 0;
}

static int read_strings(struct preset *p, const cJSON *json, struct error *err)
{
    const struct {
        const char *key;
        char **to;
    } rows[] = {
        { "name", &p->name },
        { "title", &p->title },
        { "description", &p->description },
        { "x", &p->x },
        { "y", &p->y },
        { "x_label", &p->x_label },
        { "y_label", &p->y_label },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (read_string(json, rows[i].key, rows[i].to, err))
            return -1;
    return 0;
}

static int read_scale(struct preset *p, const cJSON *json, struct error *err)
{
    static const char *const scales[] = { "auto", "linear", "log", NULL };
    char *text = NULL;
    int scale = 0;

    if (read_string(json, "y_scale", &text, err))
        return -1;
    if (text)
        scale = choose(text, scales, "y_scale", err);
    free(text);
    if (scale < 0)
        return -1;
    p->y_scale = (enum scale_choice)scale;
    return 0;
}

static int read_type(struct preset *p, const cJSON *json, struct error *err)
{
    const char *type;

    if (json_get_string(json, "type", &type, err))
        return -1;
    p->type = plot_type_find(type, err);
    if (!p->type)
        return -1;
    return p->type->check ? p->type->check(p, err) : 0;
}

static int read_preset(struct preset *p, const cJSON *json, struct error *err)
{
    if (!cJSON_IsObject(json))
        return error_set(err, "a preset is a JSON object");
    if (json_only_keys(json, keys, "preset", err) || read_strings(p, json, err) ||
        each_string(json, "mode", p, take_mode, err) ||
        each_string(json, "filter", p, take_filter, err) || read_scale(p, json, err) ||
        read_count(json, "limit", &p->limit, err) ||
        read_count(json, "rolling_window", &p->rolling_window, err) ||
        read_flag(json, "highlight_pareto", &p->highlight_pareto, err) ||
        read_flag(json, "show_legend", &p->show_legend, err))
        return -1;
    if (!p->name || !p->title)
        return error_set(err, "\"name\" and \"title\" must be there");
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strlen(p->name);
    if (length == 0 || length > 60 || strspn(p->name, allowed) != length)
        return error_set(err,
                         "the name \"%.80s\" will be a file name: use 1 to 60 letters, "
                         "digits, '-' and '_'",
                         p->name);
    if (!p->modes)
        p->modes = PLOT_SINGLE;
    return read_type(p, json, err);
}

int preset_parse(struct preset *preset, const char *text, size_t length, const char *what,
                 struct error *err)
{
    cJSON *json = json_parse(text, length, what, err);

    *preset = (struct preset) { .show_legend = true };
    if (!json)
        return -1;
    int rc = read_preset(preset, json, err);
    if (rc) {
        error_prefix(err, "%s", what);
        preset_release(preset);
    }
    cJSON_Delete(json);
    return rc;
}

void preset_release(struct preset *p)
{
    char *strings[] = { p->name, p->title, p->description, p->x, p->y, p->x_label, p->y_label };

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        free(strings[i]);
    string_list_release(&p->filter);
    *p = (struct preset) { 0 };
}

void presets_release(struct presets *presets)
{
    for (size_t i = 0; i < presets->nr; i++)
        preset_release(&presets->items[i]);
    array_release(presets);
}

static int load(struct presets *presets, const char *text, size_t length, const char *what,
                struct error *err)
{
    struct preset preset;

    if (preset_parse(&preset, text, length, what, err))
        return -1;
    for (size_t i = 0; i < presets->nr; i++) {
        if (strcmp(presets->items[i].name, preset.name) == 0) {
            preset_release(&presets->items[i]);
            presets->items[i] = preset;
            return 0;
        }
    }
    *array_push(presets) = preset;
    return 0;
}

int presets_load_embedded(struct presets *presets, struct error *err)
{
    for (const struct resource *r = resource_all(); r->name; r++)
        if (strncmp(r->name, "presets/", 8) == 0 && load(presets, r->data, r->length, r->name, err))
            return -1;
    return 0;
}

int presets_load_file(struct presets *presets, const char *path, struct error *err)
{
    size_t length;
    char *text = file_read(path, &length, err);

    if (!text)
        return -1;
    int rc = load(presets, text, length, path, err);
    free(text);
    return rc;
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
    if (!found) {
        const char *nearest = text_nearest(name, names);
        error_set(err, "unknown figure \"%.100s\"%s%s%s; `harness list figures` shows all", name,
                  nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    }
    free(names);
    return found;
}

bool preset_takes(const struct preset *preset, const char *key)
{
    bool taken = true;

    for (size_t i = 0; i < preset->filter.nr; i++)
        if (preset->filter.items[i][0] != '!')
            taken = false; /* there is a positive glob: one of them must match */
    for (size_t i = 0; i < preset->filter.nr; i++) {
        const char *glob = preset->filter.items[i];
        if (text_filter_matches(glob + (*glob == '!'), key))
            taken = *glob != '!';
    }
    return taken;
}
