/* SPDX-License-Identifier: MIT */
#include "chart/config.h"

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "chart/default_figures.h"
#include "core/roof_name.h"
#include "figure/paint_gnuplot.h"
#include "verdict/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file on its way in. */
struct reading {
    struct config *config;
    const struct json_source *source;
    struct error *err;
};

static int config_refuse(struct reading *r, const cJSON *at, const struct error *why)
{
    return json_source_error(r->source, at, r->err, "%s", why->message);
}

static void config_set_from(char **from, const char *what)
{
    free(*from);
    *from = memory_string(what);
}

void config_set(struct config_names *to, const struct string_list *names, const char *from)
{
    string_list_release(&to->names);
    for (size_t i = 0; i < names->nr; i++)
        string_list_add(&to->names, names->items[i]);
    config_set_from(&to->from, from);
}

/* Refuses a name that means nothing. */
typedef bool known_fn(const struct config *c, const char *name, struct error *err);

static bool config_is_figure(const struct config *c, const char *name, struct error *err)
{
    return presets_find(&c->presets, name, err) != NULL;
}

static bool config_is_format(const struct config *c, const char *name, struct error *err)
{
    (void)c;
    return picture_format_find(name, err) >= 0;
}

static int config_read_names(struct reading *r, const cJSON *list, known_fn *known,
                             struct config_names *to)
{
    struct string_list names = { 0 };
    const cJSON *item;
    struct error why;
    int rc = 0;

    if (!cJSON_IsArray(list))
        return json_source_error(r->source, list, r->err, "\"%s\" is no list of names",
                                 list->string);
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item))
            rc = json_source_error(r->source, item, r->err,
                                   "\"%s\" holds something that is no "
                                   "name",
                                   list->string);
        else if (!known(r->config, item->valuestring, &why))
            rc = config_refuse(r, item, &why);
        if (rc)
            break;
        string_list_add(&names, item->valuestring);
    }
    if (rc == 0)
        config_set(to, &names, r->source->what);
    string_list_release(&names);
    return rc;
}

static int config_read_defaults(struct reading *r, const cJSON *json)
{
    const char *modes[PLOT_MODE_NR + 1] = { NULL };

    for (int i = 0; i < PLOT_MODE_NR; i++)
        modes[i] = plot_mode_name((enum plot_mode)(1u << i));
    if (json_source_only_keys(r->source, json, modes, r->err))
        return -1;
    for (int i = 0; i < PLOT_MODE_NR; i++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, modes[i]);
        if (list && config_read_names(r, list, config_is_figure, &r->config->defaults[i]))
            return -1;
    }
    return 0;
}

/* A file named in a file: relative to its folder. */
static int load_named(struct reading *r, const cJSON *item)
{
    const char *slash = strrchr(r->source->what, '/'), *name = item->valuestring;
    struct strbuf path;
    struct error why;

    strbuf_init(&path);
    if (*name != '/' && slash)
        strbuf_add(&path, r->source->what, (size_t)(slash - r->source->what + 1));
    strbuf_adds(&path, name);
    int rc = presets_load_file(&r->config->presets, path.data, &why);
    strbuf_release(&path);
    return rc ? config_refuse(r, item, &why) : 0;
}

static int load_object(struct reading *r, const cJSON *item)
{
    return presets_add_json(&r->config->presets, r->source, item, r->source->what, r->err);
}

static int config_read_presets(struct reading *r, const cJSON *json)
{
    const cJSON *item;

    if (!cJSON_IsArray(json))
        return json_source_error(r->source, json, r->err, "\"presets\" is no list");
    cJSON_ArrayForEach(item, json)
    {
        if (cJSON_IsString(item) ? load_named(r, item) : load_object(r, item))
            return -1;
    }
    return 0;
}

static int config_read_formats(struct reading *r, const cJSON *json)
{
    return config_read_names(r, json, config_is_format, &r->config->formats);
}

static int config_read_delta(struct reading *r, const cJSON *json)
{
    double value = json->valuedouble;
    struct error why;

    if (cJSON_IsString(json)) {
        if (text_parse_fraction(json->valuestring, "\"delta\"", &value, &why))
            return config_refuse(r, json, &why);
    } else if (!cJSON_IsNumber(json)) {
        value = NAN;
    }
    if (!(value > 0 && (value < 1 || cJSON_IsString(json))))
        return json_source_error(r->source, json, r->err,
                                 "\"delta\" is no share above 0, such as 0.03 or \"3%%\"");
    r->config->delta = value;
    config_set_from(&r->config->delta_from, r->source->what);
    return 0;
}

static bool config_is_roof_name(const char *name)
{
    static const char *const names[] = { "bandwidth.L1", "bandwidth.L2", "bandwidth.L3",
                                         "bandwidth.dram", NULL };

    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strncmp(name, "flops.", 6) == 0 && name[6] && strlen(name) < 48;
}

static struct config_peak *config_peak_of(struct config *c, const char *device, const char *name)
{
    for (size_t i = 0; i < c->nr_peaks; i++)
        if (strcmp(c->peaks[i].device, device) == 0 && strcmp(c->peaks[i].name, name) == 0)
            return &c->peaks[i];
    c->peaks = array_grow(c->peaks, c->nr_peaks, &c->peaks_capacity, sizeof(*c->peaks));
    struct config_peak *peak = &c->peaks[c->nr_peaks++];
    snprintf(peak->device, sizeof(peak->device), "%s", device);
    snprintf(peak->name, sizeof(peak->name), "%s", name);
    return peak;
}

static int config_read_peak(struct reading *r, const char *device, const cJSON *json)
{
    if (!config_is_roof_name(json->string))
        return json_source_error(r->source, json, r->err,
                                 "\"%.60s\" is no roof: bandwidth.L1, .L2, .L3, .dram (B/s), "
                                 "flops.fp32 and so on (FLOP/s)",
                                 json->string);
    if (!cJSON_IsNumber(json) || !(json->valuedouble > 0) || !isfinite(json->valuedouble))
        return json_source_error(r->source, json, r->err, "\"%s\" is no number above 0",
                                 json->string);
    struct config_peak *peak = config_peak_of(r->config, device, json->string);
    peak->value = json->valuedouble;
    config_set_from(&peak->from, r->source->what);
    return 0;
}

static int config_read_peaks(struct reading *r, const cJSON *json)
{
    const cJSON *device, *peak;

    if (!cJSON_IsObject(json))
        return json_source_error(r->source, json, r->err, "\"peaks\" is no object of devices");
    cJSON_ArrayForEach(device, json)
    {
        if (json_is_comment(device))
            continue;
        if (!cJSON_IsObject(device) || strlen(device->string) >= NAME_SIZE)
            return json_source_error(r->source, device, r->err,
                                     "\"%.60s\": a device label with its roofs is expected, such "
                                     "as \"cpu-2t\": { \"flops.fp32\": 1.5e11 }",
                                     device->string);
        cJSON_ArrayForEach(peak, device)
        {
            if (!json_is_comment(peak) && config_read_peak(r, device->string, peak))
                return -1;
        }
    }
    return 0;
}

/* Presets come first: defaults name them. */
static const struct {
    const char *name;
    int (*read)(struct reading *r, const cJSON *json);
} keys[] = {
    { "presets", config_read_presets }, { "defaults", config_read_defaults },
    { "formats", config_read_formats }, { "peaks", config_read_peaks },
    { "delta", config_read_delta },
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

static int config_read_config(struct reading *r)
{
    const char *names[NR_KEYS + 1] = { NULL };

    for (size_t i = 0; i < NR_KEYS; i++)
        names[i] = keys[i].name;
    if (json_source_only_keys(r->source, r->source->root, names, r->err))
        return -1;
    for (size_t i = 0; i < NR_KEYS; i++) {
        const cJSON *json = cJSON_GetObjectItemCaseSensitive(r->source->root, keys[i].name);
        if (json && keys[i].read(r, json))
            return -1;
    }
    return 0;
}

static int config_read_alone(struct reading *r)
{
    if (load_object(r, r->source->root))
        return -1;
    config_set_from(&r->config->alone, json_string(r->source->root, "name", ""));
    return 0;
}

int config_parse(struct config *c, const char *text, size_t length, const char *what,
                 struct error *err)
{
    struct json_source source;
    struct reading r = { c, &source, err };

    if (json_source_parse(&source, text, length, what, err))
        return -1;
    bool alone =
        cJSON_HasObjectItem(source.root, "type") || cJSON_HasObjectItem(source.root, "split");
    int rc = alone ? config_read_alone(&r) : config_read_config(&r);
    json_source_release(&source);
    return rc;
}

int config_load(struct config *c, const char *path, struct error *err)
{
    size_t length;
    char *text = file_read(path, FILE_SETTINGS_MOST, &length, err);

    if (!text)
        return -1;
    int rc = config_parse(c, text, length, path, err);
    free(text);
    return rc;
}

int config_init(struct config *c, struct error *err)
{
    *c = (struct config) { 0 };
    return presets_load_embedded(&c->presets, err);
}

static void names_release(struct config_names *names)
{
    string_list_release(&names->names);
    free(names->from);
}

void config_release(struct config *c)
{
    presets_release(&c->presets);
    for (int i = 0; i < PLOT_MODE_NR; i++)
        names_release(&c->defaults[i]);
    names_release(&c->formats);
    for (size_t i = 0; i < c->nr_peaks; i++)
        free(c->peaks[i].from);
    free(c->peaks);
    free(c->delta_from);
    free(c->alone);
    *c = (struct config) { 0 };
}

static struct roof *config_roof_of(struct records *records, const struct config_peak *peak)
{
    for (size_t i = 0; i < records->nr_roofs; i++)
        if (strcmp(records->roofs[i].device, peak->device) == 0 &&
            strcmp(records->roofs[i].name, peak->name) == 0)
            return &records->roofs[i];
    records->roofs = array_grow(records->roofs, records->nr_roofs, &records->roofs_capacity,
                                sizeof(*records->roofs));
    struct roof *c = &records->roofs[records->nr_roofs++];
    snprintf(c->name, sizeof(c->name), "%s", peak->name);
    snprintf(c->device, sizeof(c->device), "%s", peak->device);
    snprintf(c->unit, sizeof(c->unit), "%s", roof_unit(peak->name));
    return c;
}

static bool config_is_measured(const struct records *records, const char *device)
{
    for (size_t i = 0; i < records->nr; i++)
        if (strcmp(records->items[i].m.bench.device, device) == 0)
            return true;
    return false;
}

const char *config_apply_peaks(const struct config *c, struct records *records)
{
    const char *from = NULL;

    for (size_t i = 0; i < c->nr_peaks; i++) {
        if (!config_is_measured(records, c->peaks[i].device))
            continue;
        config_roof_of(records, &c->peaks[i])->spec = c->peaks[i].value;
        from = c->peaks[i].from;
    }
    return from;
}

/* The merged configuration as a file that reads back as the same. */

static const char built_in[] = "built in";

static void config_add_from(cJSON *json, const char *key, const char *from)
{
    cJSON *origins = cJSON_GetObjectItem(json, "_from");

    if (!origins)
        origins = cJSON_AddObjectToObject(json, "_from");
    cJSON_AddStringToObject(origins, key, from ? from : built_in);
}

static void config_add_formats(cJSON *json, const struct config *c)
{
    struct string_list usual = { 0 };

    string_list_add(&usual, "png");
    string_list_add(&usual, "svg");
    const struct string_list *names = c->formats.from ? &c->formats.names : &usual;
    json_add_strings(json, "formats", names->items, names->nr);
    string_list_release(&usual);
}

static void config_add_presets(cJSON *json, const struct config *c)
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

    /* What is drawn, said or not said. */
    cJSON *defaults = cJSON_AddObjectToObject(json, "defaults");
    for (int bit = 0; bit < PLOT_MODE_NR; bit++) {
        enum plot_mode mode = (enum plot_mode)(1u << bit);
        struct string_list names = { 0 };
        for (size_t i = 0; i < c->presets.nr; i++)
            if (default_figure_in(c, &c->presets.items[i], mode))
                string_list_add(&names, c->presets.items[i].name);
        json_add_strings(defaults, plot_mode_name(mode), names.items, names.nr);
        string_list_release(&names);
    }
    for (int bit = 0; bit < PLOT_MODE_NR; bit++)
        config_add_from(defaults, plot_mode_name((enum plot_mode)(1u << bit)),
                        c->defaults[bit].from);
    config_add_formats(json, c);
    json_add_number(json, "delta", c->delta > 0 ? c->delta : usual.delta);
    config_add_from(json, "formats", c->formats.from);
    config_add_from(json, "delta", c->delta_from);
    cJSON *peaks = cJSON_AddObjectToObject(json, "peaks");
    for (size_t i = 0; i < c->nr_peaks; i++) {
        const struct config_peak *peak = &c->peaks[i];
        cJSON *device = cJSON_GetObjectItemCaseSensitive(peaks, peak->device);
        if (!device)
            device = cJSON_AddObjectToObject(peaks, peak->device);
        json_add_number(device, peak->name, peak->value);
        config_add_from(device, peak->name, peak->from);
    }
    config_add_presets(json, c);
    return json;
}
