/* SPDX-License-Identifier: MIT */
#include "chart/presets.h"

#include "base/array.h"
#include "base/file.h"
#include "base/resource.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void presets_release(struct presets *presets)
{
    for (size_t i = 0; i < presets->nr; i++)
        preset_release(&presets->items[i]);
    array_release(presets);
}

/* Takes the preset's contents; one of that name is replaced. */
static void presets_add(struct presets *presets, struct preset *preset)
{
    size_t i = 0;

    while (i < presets->nr && strcmp(presets->items[i].name, preset->name) != 0)
        i++;
    if (i == presets->nr)
        array_push(presets);
    else
        preset_release(&presets->items[i]);
    presets->items[i] = *preset;
}

static int presets_add_one(struct presets *presets, const struct json_source *source,
                           const cJSON *json, const cJSON *part, const char *from,
                           struct error *err)
{
    struct preset preset;

    if (preset_from_json(&preset, source, json, part, err))
        return -1;
    preset.from = from ? memory_string(from) : NULL;
    presets_add(presets, &preset);
    return 0;
}

int presets_add_json(struct presets *presets, const struct json_source *source, const cJSON *json,
                     const char *from, struct error *err)
{
    const cJSON *split = cJSON_GetObjectItemCaseSensitive(json, "split"), *part;

    if (!split)
        return presets_add_one(presets, source, json, NULL, from, err);
    if (!cJSON_IsArray(split) || !split->child)
        return json_source_error(source, split, err, "\"split\" is no list of parts");
    cJSON_ArrayForEach(part, split)
    {
        if (presets_add_one(presets, source, json, part, from, err))
            return -1;
    }
    return 0;
}

static int presets_add_text(struct presets *presets, const char *text, size_t length,
                            const char *what, const char *from, struct error *err)
{
    struct json_source source;

    if (json_source_parse(&source, text, length, what, err))
        return -1;
    int rc = presets_add_json(presets, &source, source.root, from, err);
    json_source_release(&source);
    return rc;
}

int presets_load_embedded(struct presets *presets, struct error *err)
{
    for (const struct resource *r = resource_all(); r->name; r++)
        if (strncmp(r->name, "presets/", 8) == 0 &&
            presets_add_text(presets, r->data, r->length, r->name, NULL, err))
            return -1;
    return 0;
}

int presets_load_file(struct presets *presets, const char *path, struct error *err)
{
    size_t length;
    char *text = file_read(path, FILE_SETTINGS_MOST, &length, err);

    if (!text)
        return -1;
    int rc = presets_add_text(presets, text, length, path, path, err);
    free(text);
    return rc;
}

/* How a name means a figure; the smallest that any figure has counts. */
enum naming { BY_NAME, BY_FAMILY, BY_FORMER_NAME, BY_NOTHING };

static enum naming preset_naming(const struct preset *preset, const char *name)
{
    if (strcmp(preset->name, name) == 0)
        return BY_NAME;
    if (preset->family && strcmp(preset->family, name) == 0)
        return BY_FAMILY;
    return string_list_has(&preset->formerly, name) ? BY_FORMER_NAME : BY_NOTHING;
}

static enum naming presets_naming(const struct presets *presets, const char *name)
{
    enum naming best = BY_NOTHING;

    for (size_t i = 0; i < presets->nr; i++) {
        enum naming naming = preset_naming(&presets->items[i], name);
        best = naming < best ? naming : best;
    }
    return best;
}

bool presets_mean(const struct presets *presets, const char *name, const struct preset *preset)
{
    enum naming naming = preset_naming(preset, name);

    return naming != BY_NOTHING && naming == presets_naming(presets, name);
}

bool presets_is_former(const struct presets *presets, const char *name)
{
    return presets_naming(presets, name) == BY_FORMER_NAME;
}

static const struct preset *presets_unknown(const struct presets *presets, const char *name,
                                            struct error *err)
{
    const char **names = memory_zeroed(presets->nr + 1, sizeof(*names));

    for (size_t i = 0; i < presets->nr; i++)
        names[i] = presets->items[i].name;
    const char *nearest = text_nearest(name, names);
    error_set(err, "unknown figure \"%.100s\"%s%s%s; `harness list figures` shows all", name,
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(names);
    return NULL;
}

const struct preset *presets_find(const struct presets *presets, const char *name,
                                  struct error *err)
{
    for (size_t i = 0; i < presets->nr; i++)
        if (presets_mean(presets, name, &presets->items[i]))
            return &presets->items[i];
    return presets_unknown(presets, name, err);
}
