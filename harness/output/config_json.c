/* SPDX-License-Identifier: MIT */
/* The merged configuration as a file that reads back as the same. */
#include "output/config.h"

#include "analysis/compare.h"

#include <string.h>

static const char built_in[] = "built in";

static void add_from(cJSON *json, const char *key, const char *from)
{
    cJSON *origins = cJSON_GetObjectItem(json, "_from");

    if (!origins)
        origins = cJSON_AddObjectToObject(json, "_from");
    cJSON_AddStringToObject(origins, key, from ? from : built_in);
}

static void add_names(cJSON *json, const char *key, const struct string_list *names)
{
    cJSON *array = cJSON_AddArrayToObject(json, key);

    for (size_t i = 0; i < names->nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(names->items[i]));
}

/* What is drawn, said or not said. */
static void add_defaults(cJSON *json, const struct config *c)
{
    cJSON *defaults = cJSON_AddObjectToObject(json, "defaults");

    for (int bit = 0; bit < PLOT_MODE_NR; bit++) {
        enum plot_mode mode = (enum plot_mode)(1u << bit);
        struct string_list names = { 0 };
        for (size_t i = 0; i < c->presets.nr; i++)
            if (config_takes(c, &c->presets.items[i], mode))
                string_list_add(&names, c->presets.items[i].name);
        add_names(defaults, plot_mode_name(mode), &names);
        string_list_release(&names);
    }
    for (int bit = 0; bit < PLOT_MODE_NR; bit++)
        add_from(defaults, plot_mode_name((enum plot_mode)(1u << bit)), c->defaults[bit].from);
}

static void add_formats(cJSON *json, const struct config *c)
{
    struct string_list usual = { 0 };

    string_list_add(&usual, "png");
    string_list_add(&usual, "svg");
    add_names(json, "formats", c->formats.from ? &c->formats.names : &usual);
    string_list_release(&usual);
}

static void add_peaks(cJSON *json, const struct config *c)
{
    cJSON *peaks = cJSON_AddObjectToObject(json, "peaks");

    for (size_t i = 0; i < c->nr_peaks; i++) {
        const struct config_peak *peak = &c->peaks[i];
        cJSON *device = cJSON_GetObjectItemCaseSensitive(peaks, peak->device);
        if (!device)
            device = cJSON_AddObjectToObject(peaks, peak->device);
        json_add_number(device, peak->name, peak->value);
        add_from(device, peak->name, peak->from);
    }
}

static void add_presets(cJSON *json, const struct config *c)
{
    cJSON *presets = cJSON_AddArrayToObject(json, "presets");

    for (size_t i = 0; i < c->presets.nr; i++) {
        cJSON *preset = preset_to_json(&c->presets.items[i]);
        const char *from = c->presets.items[i].from;
        cJSON_AddStringToObject(preset, "_from", from ? from : built_in);
        cJSON_AddItemToArray(presets, preset);
    }
}

cJSON *config_to_json(const struct config *c)
{
    const struct compare_settings usual = COMPARE_DEFAULTS;
    cJSON *json = cJSON_CreateObject();

    add_defaults(json, c);
    add_formats(json, c);
    json_add_number(json, "delta", c->delta > 0 ? c->delta : usual.delta);
    add_from(json, "formats", c->formats.from);
    add_from(json, "delta", c->delta_from);
    add_peaks(json, c);
    add_presets(json, c);
    return json;
}
