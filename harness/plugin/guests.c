/* SPDX-License-Identifier: MIT */
#include "plugin/guests.h"

#include "base/array.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "plugin/guest_settings.h"
#include "text/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_command(const struct guests *g)
{
    return g->command.argv.nr > 0;
}

bool guests_any(const struct guests *g)
{
    return g->plugins.nr > 0 || has_command(g) || python_guest_any(&g->python);
}

bool guests_to_be_told(const struct guests *g)
{
    return guests_any(g) || g->settings.nr > 0;
}

bool guests_load(const struct guests *g)
{
    return g && g->plugins.nr > 0;
}

bool guests_run_apart(const struct guests *g)
{
    return (g->command_guest || python_guest_any(&g->python)) && !guests_load(g);
}

/* ---- the registry ---- */

/* A line for each of the guests, plugins first; `names` holds what they are called. */
static struct registry_guest *list_guests(const struct guests *g, struct string_list *names,
                                          size_t *nr)
{
    struct registry_guest *list = memory_zeroed(g->plugins.nr + 3, sizeof(*list));
    struct strbuf name;

    strbuf_init(&name);
    for (size_t i = 0; i < g->plugins.nr; i++) {
        strbuf_clear(&name);
        strbuf_addf(&name, "plugin %s", g->plugins.items[i].file);
        string_list_add(names, name.data);
        list[i].kernels = g->plugins.items[i].kernels;
        list[i].variants = g->plugins.items[i].variants;
    }
    *nr = g->plugins.nr;
    if (has_command(g)) {
        string_list_add(names, "command");
        list[*nr].kernels = g->command_guest->kernels;
        list[(*nr)++].variants = g->command_guest->variants;
    }
    if (python_guest_any(&g->python)) {
        string_list_add(names, "--python");
        list[(*nr)++].variants = g->python.variants;
    }
    if (g->builtin.nr > 0) {
        string_list_add(names, "--param");
        list[(*nr)++].variants = g->builtin.variants;
    }
    for (size_t i = 0; i < *nr; i++)
        list[i].name = names->items[i];
    strbuf_release(&name);
    return list;
}

/* Settings are of what was brought; where nothing was, of the build. */
static bool settings_are_of_build(const struct guests *g)
{
    return !guests_any(g);
}

static int join_guests(struct guests *g, const struct registry *base, struct error *err)
{
    static const struct string_list none;

    g->base = base;
    if (builtin_settings_open(&g->builtin, base, settings_are_of_build(g) ? &g->settings : &none,
                              err))
        return -1;
    struct string_list names = { 0 };
    size_t nr;
    struct registry_guest *list = list_guests(g, &names, &nr);

    int rc = registry_join(&g->joined, base, list, nr, err);
    g->all = g->joined.all;
    g->own = g->joined.own;
    free(list);
    string_list_release(&names);
    return rc;
}

static int check_plugin(const struct guests *g, size_t which, struct error *err)
{
    const struct plugin *p = &g->plugins.items[which];

    for (const struct kernel *const *k = p->kernels; *k; k++)
        if (strncmp((*k)->name, "command/", 8) == 0)
            return error_set(err,
                             "plugin %s: the kernel name \"%s\" belongs to harness run -- COMMAND: "
                             "give yours another, such as mine/%s",
                             p->file, (*k)->name, (*k)->name);
    for (size_t i = 0; i < which; i++)
        if (strcmp(p->file, g->plugins.items[i].file) == 0 &&
            strcmp(p->path, g->plugins.items[i].path) != 0)
            return error_set(err, "two plugins are called %s: rename one", p->file);
    return 0;
}

static int add_plugin(struct guests *g, const struct registry *base, const char *path,
                      const char *digest, plugin_confine *confine, struct error *err)
{
    if (plugin_open(array_push(&g->plugins), base, path, digest, confine, &g->settings, err))
        return -1;
    return check_plugin(g, g->plugins.nr - 1, err);
}

bool guests_setting(const struct guests *g, const struct variant *v, struct guest_setting *out)
{
    for (size_t i = 0; i < g->plugins.nr; i++)
        if (plugin_setting(&g->plugins.items[i], v, out))
            return true;
    return settings_are_of_build(g) &&
           (builtin_settings_find(&g->builtin, v, out) || builtin_setting_none(g->base, v, out));
}

static bool names_have(const struct string_list *names, const char *param)
{
    for (size_t i = 0; i < names->nr; i++)
        if (guest_param_same(names->items[i], param))
            return true;
    return false;
}

static int unknown_param_error(const struct string_list *names, const char *param,
                               struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    for (size_t i = 0; i < names->nr; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", names->items[i]);
    if (names->nr > 0)
        error_set(err, "--param %.*s: no variant has such a parameter; there are %s",
                  (int)strcspn(param, "="), param, list.data);
    else
        error_set(err,
                  "--param %.*s: no variant has a parameter; what the code of a plugin asks for "
                  "stands in `params` of its struct harness_variant",
                  (int)strcspn(param, "="), param);
    strbuf_release(&list);
    return -1;
}

static void add_builtin_params(const struct registry *base, struct string_list *names)
{
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(base, i)); i++)
        for (const char *const *p = registry_forced(base, v)->params; p && *p; p++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(*p, "="), *p);
            if (!names_have(names, name))
                string_list_add(names, name);
        }
}

/* All settings are of the same parameters. */
static int check_params(const struct guests *g, const struct registry *base, struct error *err)
{
    struct string_list names = { 0 };
    bool told = true;
    int rc = 0;

    for (size_t i = 0; i < g->plugins.nr; i++)
        told &= plugin_param_names(&g->plugins.items[i], &names);
    if (settings_are_of_build(g))
        add_builtin_params(base, &names);
    for (size_t s = 0; rc == 0 && told && s < g->settings.nr; s++) {
        if (strcmp(g->settings.items[s], BUILTIN_SETTINGS_EVERY) == 0)
            continue;
        char **params = guest_setting_split(g->settings.items[s]);
        for (size_t i = 0; rc == 0 && params[i]; i++)
            if (!names_have(&names, params[i]))
                rc = unknown_param_error(&names, params[i], err);
        guest_setting_free(params);
    }
    string_list_release(&names);
    return rc;
}

static void add_command(struct guests *g)
{
    if (!has_command(g))
        return;
    g->command_guest = memory_zeroed(1, sizeof(*g->command_guest));
    command_guest_init(g->command_guest, &g->command);
}

int guests_open(struct guests *g, const struct registry *base, const struct guests_asked *asked,
                struct error *err)
{
    int rc = 0;

    *g = (struct guests) { .command_guest = NULL };
    if (asked->command) {
        g->command = *asked->command;
        *asked->command = (struct command_spec) { .name = "" };
    }
    for (size_t i = 0; asked->settings && i < asked->settings->nr; i++)
        string_list_add(&g->settings, asked->settings->items[i]);
    if (has_command(g))
        rc = command_spec_check(&g->command, err);
    if (rc == 0 && asked->python)
        rc = python_guest_open(&g->python, base, asked->python, err);
    for (size_t i = 0; rc == 0 && asked->plugins && i < asked->plugins->nr; i++)
        rc = add_plugin(g, base, asked->plugins->items[i], NULL, asked->confine, err);
    if (rc == 0)
        rc = check_params(g, base, err);
    if (rc)
        return -1;
    add_command(g);
    return join_guests(g, base, err);
}

void guests_close(struct guests *g)
{
    for (size_t i = 0; i < g->plugins.nr; i++)
        plugin_close(&g->plugins.items[i]);
    array_release(&g->plugins);
    command_spec_release(&g->command);
    if (g->command_guest)
        command_guest_release(g->command_guest);
    free(g->command_guest);
    python_guest_close(&g->python);
    registry_joined_release(&g->joined);
    builtin_settings_close(&g->builtin);
    string_list_release(&g->settings);
    *g = (struct guests) { .command_guest = NULL };
}

/* ---- the job ---- */

static cJSON *command_texts_to_json(const struct command_spec *spec)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < spec->texts.nr; i++) {
        cJSON *text = cJSON_CreateObject();
        cJSON_AddStringToObject(text, "name", spec->texts.items[i].name);
        json_add_strings(text, "values", spec->texts.items[i].values.items,
                         spec->texts.items[i].values.nr);
        cJSON_AddItemToArray(array, text);
    }
    return array;
}

static cJSON *command_to_json(const struct command_spec *spec)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", spec->name);
    json_add_strings(json, "argv", spec->argv.items, spec->argv.nr);
    json_add_strings(json, "dims", spec->dims.items, spec->dims.nr);
    if (spec->texts.nr)
        cJSON_AddItemToObject(json, "texts", command_texts_to_json(spec));
    json_add_string(json, "prepare", spec->prepare);
    if (spec->conclude)
        json_add_string(json, "conclude", spec->conclude);
    if (spec->input)
        json_add_string(json, "input", spec->input);
    json_add_string(json, "expect", spec->expect);
    cJSON_AddBoolToObject(json, "ignore_status", spec->ignore_status);
    cJSON *ignored = spec->ignored.nr ? cJSON_AddArrayToObject(json, "ignored") : NULL;
    for (size_t i = 0; i < spec->ignored.nr; i++)
        cJSON_AddItemToArray(ignored, cJSON_CreateNumber((double)spec->ignored.items[i]));
    if (spec->numbers.nr > 0)
        cJSON_AddItemToObject(json, "metrics", number_specs_to_json(&spec->numbers));
    return json;
}

void guests_to_job(const struct guests *g, cJSON *job)
{
    cJSON *plugins = g->plugins.nr ? cJSON_AddArrayToObject(job, "plugins") : NULL;

    for (size_t i = 0; i < g->plugins.nr; i++) {
        cJSON *plugin = cJSON_CreateObject();
        cJSON_AddStringToObject(plugin, "path", g->plugins.items[i].path);
        cJSON_AddStringToObject(plugin, "digest", g->plugins.items[i].digest);
        cJSON_AddItemToArray(plugins, plugin);
    }
    if (g->settings.nr)
        json_add_strings(job, "settings", g->settings.items, g->settings.nr);
    if (has_command(g))
        cJSON_AddItemToObject(job, "command", command_to_json(&g->command));
    if (python_guest_any(&g->python))
        cJSON_AddItemToObject(job, "python", python_guest_to_json(&g->python));
}

static int read_texts(const cJSON *json, const char *key, struct string_list *list,
                      struct error *err)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item;

    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item))
            return error_set(err, "\"%s\" is no list of texts", key);
        string_list_add(list, item->valuestring);
    }
    return 0;
}

static int read_command_texts(const cJSON *array, struct command_spec *spec, struct error *err)
{
    const cJSON *item;
    const char *name;

    cJSON_ArrayForEach(item, array)
    {
        struct command_text *text = array_push(&spec->texts);
        if (json_get_string(item, "name", &name, err) ||
            read_texts(item, "values", &text->values, err))
            return -1;
        snprintf(text->name, sizeof(text->name), "%s", name);
    }
    return 0;
}

static int read_number_specs(const cJSON *array, struct number_specs *specs, struct error *err)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        struct number_spec *spec = array_push(specs);
        int better = better_find(json_string(item, "better", ""));
        if (number_spec_parse(json_string(item, "metric", ""), spec, err))
            return error_prefix(err, "command");
        snprintf(spec->unit, sizeof(spec->unit), "%s", json_string(item, "unit", ""));
        spec->better = better < 0 ? BETTER_NONE : (enum better)better;
    }
    return 0;
}

static void read_ignored(const cJSON *array, struct command_spec *spec)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        if (cJSON_IsNumber(item))
            *array_push(&spec->ignored) = (int64_t)item->valuedouble;
    }
}

static int read_command(const cJSON *json, struct command_spec *spec, struct error *err)
{
    const char *name;

    if (json_get_string(json, "name", &name, err) || read_texts(json, "argv", &spec->argv, err) ||
        read_texts(json, "dims", &spec->dims, err) ||
        read_command_texts(cJSON_GetObjectItemCaseSensitive(json, "texts"), spec, err))
        return -1;
    snprintf(spec->name, sizeof(spec->name), "%s", name);
    spec->prepare = memory_string(json_string(json, "prepare", NULL));
    spec->conclude = memory_string(json_string(json, "conclude", NULL));
    spec->input = memory_string(json_string(json, "input", NULL));
    spec->expect = memory_string(json_string(json, "expect", NULL));
    read_ignored(cJSON_GetObjectItemCaseSensitive(json, "ignored"), spec);
    spec->ignore_status = json_bool(json, "ignore_status", false);
    if (read_number_specs(cJSON_GetObjectItemCaseSensitive(json, "metrics"), &spec->numbers, err))
        return -1;
    return command_spec_check(spec, err);
}

static int read_plugins(const cJSON *array, const struct registry *base, struct guests *g,
                        struct error *err)
{
    const cJSON *item;
    const char *path, *digest;

    cJSON_ArrayForEach(item, array)
    {
        if (json_get_string(item, "path", &path, err) ||
            json_get_string(item, "digest", &digest, err) ||
            add_plugin(g, base, path, digest, NULL, err))
            return -1;
    }
    return 0;
}

int guests_from_job(struct guests *g, const struct registry *base, const cJSON *job,
                    struct error *err)
{
    const cJSON *plugins = cJSON_GetObjectItemCaseSensitive(job, "plugins");
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(job, "command");
    const cJSON *python = cJSON_GetObjectItemCaseSensitive(job, "python");

    *g = (struct guests) { .command_guest = NULL };
    if (read_texts(job, "settings", &g->settings, err) || read_plugins(plugins, base, g, err) ||
        (command && read_command(command, &g->command, err)) ||
        python_guest_from_json(&g->python, base, python, err))
        return -1;
    add_command(g);
    return join_guests(g, base, err);
}

/* ---- the history ---- */

/* As it was given, without what looks like a secret. */
static cJSON *shown_command(const struct command_spec *spec)
{
    struct command_spec shown = *spec; /* the rest is borrowed */

    shown.argv = (struct string_list) { 0 };
    redact_words(&spec->argv, &shown.argv);
    shown.prepare = redact_text(spec->prepare);
    shown.conclude = redact_text(spec->conclude);
    cJSON *json = command_to_json(&shown);
    string_list_release(&shown.argv);
    free(shown.prepare);
    free(shown.conclude);
    return json;
}

static cJSON *describe_command(const struct command_spec *spec)
{
    cJSON *json = shown_command(spec);
    char digest[DIGEST_TEXT_SIZE];
    struct error ignored; /* a program whose name depends on a size */
    char *program = command_find_program(spec->argv.items[0], &ignored);

    if (program && file_digest(program, digest, &ignored) == 0)
        cJSON_AddStringToObject(json, "digest", digest);
    free(program);
    return json;
}

void guests_describe(const struct guests *g, cJSON *settings)
{
    cJSON *plugins = g->plugins.nr ? cJSON_AddObjectToObject(settings, "plugins") : NULL;

    for (size_t i = 0; i < g->plugins.nr; i++)
        cJSON_AddStringToObject(plugins, g->plugins.items[i].file, g->plugins.items[i].digest);
    if (g->settings.nr)
        json_add_strings(settings, "params", g->settings.items, g->settings.nr);
    if (has_command(g))
        cJSON_AddItemToObject(settings, "command", describe_command(&g->command));
    if (python_guest_any(&g->python))
        cJSON_AddItemToObject(settings, "python", python_guest_describe(&g->python));
}
