/* SPDX-License-Identifier: MIT */
#include "output/preset.h"

#include "base/array.h"
#include "base/file.h"
#include "base/resource.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

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
