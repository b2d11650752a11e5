/* SPDX-License-Identifier: MIT */
#include "plugin/guests.h"

#include "base/array.h"
#include "base/json.h"
#include "plugin/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_command(const struct guests *g)
{
    return g->command.argv.nr > 0;
}

bool guests_any(const struct guests *g)
{
    return g->plugins.nr > 0 || has_command(g);
}

bool guests_load(const struct guests *g)
{
    return g && g->plugins.nr > 0;
}

/* ---- the registry ---- */

static size_t count_operations(const struct registry *r)
{
    size_t nr = 0;

    while (r->operations[nr])
        nr++;
    return nr;
}

static size_t count_files(const struct registry *r)
{
    size_t nr = 0;

    while (r->variant_files[nr])
        nr++;
    return nr;
}

/* Those of the build, then one list a guest; `own` begins where the first of these is. */
static void join(struct guests *g, const struct registry *base)
{
    size_t operations = count_operations(base), files = count_files(base);
    size_t guests = g->plugins.nr + has_command(g);

    g->operations = memory_zeroed(operations + guests + 1, sizeof(*g->operations));
    g->variant_files = memory_zeroed(files + guests + 1, sizeof(*g->variant_files));
    g->sources = memory_zeroed(files + guests + 1, sizeof(*g->sources));
    for (size_t i = 0; i < operations; i++)
        g->operations[i] = base->operations[i];
    for (size_t i = 0; i < files + guests; i++)
        g->sources[i] = base->sources && i < files ? base->sources[i] : "";
    for (size_t i = 0; i < files; i++)
        g->variant_files[i] = base->variant_files[i];
    for (size_t i = 0; i < g->plugins.nr; i++) {
        g->operations[operations + i] = g->plugins.items[i].kernels;
        g->variant_files[files + i] = g->plugins.items[i].variants;
    }
    if (has_command(g)) {
        g->operations[operations + g->plugins.nr] = g->command_guest->kernels;
        g->variant_files[files + g->plugins.nr] = g->command_guest->variants;
    }
    g->own_missing = (struct missing_variant) { NULL, NULL, NULL };
    g->all = (struct registry) { g->operations, g->variant_files, base->missing, g->sources, NULL };
    g->own = (struct registry) { g->operations + operations, g->variant_files + files,
                                 &g->own_missing, g->sources + files, NULL };
}

/* Keys of the history must mean one thing. */
static int check_names(const struct guests *g, const struct registry *base, size_t which,
                       struct error *err)
{
    const struct plugin *p = &g->plugins.items[which];

    for (const struct kernel *const *k = p->kernels; *k; k++) {
        bool taken = registry_kernel(base, (*k)->name) != NULL;
        const char *taken_by = "this harness";
        if (strncmp((*k)->name, "command/", 8) == 0) {
            taken = true;
            taken_by = "harness run -- COMMAND";
        }
        for (size_t i = 0; i < which; i++)
            for (const struct kernel *const *o = g->plugins.items[i].kernels; *o; o++)
                if (strcmp((*k)->name, (*o)->name) == 0) {
                    taken = true;
                    taken_by = g->plugins.items[i].file;
                }
        if (taken)
            return error_set(err,
                             "plugin %s: the kernel name \"%s\" belongs to %s: give yours another, "
                             "such as mine/%s",
                             p->file, (*k)->name, taken_by, (*k)->name);
    }
    for (size_t i = 0; i < which; i++)
        if (strcmp(p->file, g->plugins.items[i].file) == 0)
            return error_set(err, "two plugins are called %s: rename one", p->file);
    return 0;
}

static int add_plugin(struct guests *g, const struct registry *base, const char *path,
                      const char *digest, struct error *err)
{
    if (plugin_open(array_push(&g->plugins), path, digest, err))
        return -1;
    return check_names(g, base, g->plugins.nr - 1, err);
}

static void add_command(struct guests *g)
{
    if (!has_command(g))
        return;
    g->command_guest = memory_zeroed(1, sizeof(*g->command_guest));
    command_guest_init(g->command_guest, &g->command);
}

int guests_open(struct guests *g, const struct registry *base, const struct string_list *plugins,
                struct command_spec *command, struct error *err)
{
    int rc = 0;

    *g = (struct guests) { .command_guest = NULL };
    if (command) {
        g->command = *command;
        *command = (struct command_spec) { .name = "" };
    }
    if (has_command(g))
        rc = command_spec_check(&g->command, err);
    for (size_t i = 0; rc == 0 && i < plugins->nr; i++)
        rc = add_plugin(g, base, plugins->items[i], NULL, err);
    if (rc)
        return -1;
    add_command(g);
    join(g, base);
    return 0;
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
    free(g->operations);
    free(g->variant_files);
    free(g->sources);
    *g = (struct guests) { .command_guest = NULL };
}

/* ---- the job ---- */

static cJSON *texts_to_json(const struct string_list *list)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < list->nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(list->items[i]));
    return array;
}

static cJSON *command_texts_to_json(const struct command_spec *spec)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < spec->texts.nr; i++) {
        cJSON *text = cJSON_CreateObject();
        cJSON_AddStringToObject(text, "name", spec->texts.items[i].name);
        cJSON_AddItemToObject(text, "values", texts_to_json(&spec->texts.items[i].values));
        cJSON_AddItemToArray(array, text);
    }
    return array;
}

static cJSON *command_to_json(const struct command_spec *spec)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", spec->name);
    cJSON_AddItemToObject(json, "argv", texts_to_json(&spec->argv));
    cJSON_AddItemToObject(json, "dims", texts_to_json(&spec->dims));
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
    if (has_command(g))
        cJSON_AddItemToObject(job, "command", command_to_json(&g->command));
}

static int read_texts(const cJSON *json, const char *key, struct string_list *list,
                      struct error *err)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item;

    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item))
            return error_set(err, "command: \"%s\" is no list of texts", key);
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
            json_get_string(item, "digest", &digest, err) || add_plugin(g, base, path, digest, err))
            return -1;
    }
    return 0;
}

int guests_from_job(struct guests *g, const struct registry *base, const cJSON *job,
                    struct error *err)
{
    const cJSON *plugins = cJSON_GetObjectItemCaseSensitive(job, "plugins");
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(job, "command");

    *g = (struct guests) { .command_guest = NULL };
    if (read_plugins(plugins, base, g, err) || (command && read_command(command, &g->command, err)))
        return -1;
    add_command(g);
    join(g, base);
    return 0;
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
    if (has_command(g))
        cJSON_AddItemToObject(settings, "command", describe_command(&g->command));
}
