/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/resource.h"
#include "base/strbuf.h"
#include "core/names.h"
#include "launch/selection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int read_strings(const cJSON *json, const char *key, struct string_list *list,
                        struct error *err)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item;

    if (array && !cJSON_IsArray(array))
        return error_set(err, "\"%s\" must be a list of strings", key);
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item) || !item->valuestring[0])
            return error_set(err, "\"%s\" must be a list of strings", key);
        string_list_add(list, item->valuestring);
    }
    return 0;
}

static bool is_size(const cJSON *item)
{
    double x = cJSON_IsNumber(item) ? item->valuedouble : 0;

    return x >= 1 && x <= DIM_LIMIT && x == floor(x);
}

static int read_dim(const cJSON *array, struct selection *s, struct error *err)
{
    struct int_list values = { 0 };
    const cJSON *item;
    bool right = cJSON_IsArray(array) && array->child;

    cJSON_ArrayForEach(item, array)
    {
        right = right && is_size(item);
        if (right)
            *array_push(&values) = (int64_t)item->valuedouble;
    }
    int rc = right ? 0
                   : error_set(err, "dim \"%s\" must be a list of sizes from 1 to %d",
                               array->string, DIM_LIMIT);
    if (rc == 0)
        rc = selection_add_dim(s, array->string, &values, err);
    array_release(&values);
    return rc;
}

static int read_dims(const cJSON *dims, struct selection *s, struct error *err)
{
    const cJSON *dim;

    if (dims && !cJSON_IsObject(dims))
        return error_set(err, "\"dims\" must be an object of lists of sizes");
    cJSON_ArrayForEach(dim, dims)
    {
        if (read_dim(dim, s, err))
            return -1;
    }
    return 0;
}

static int read_caches(const cJSON *json, struct selection *s, struct error *err)
{
    struct string_list caches = { 0 };
    int rc = read_strings(json, "cache", &caches, err);

    for (size_t i = 0; rc == 0 && i < caches.nr; i++) {
        rc = selection_add_cache(s, caches.items[i], err);
        if (rc)
            error_prefix(err, "\"cache\"");
    }
    string_list_release(&caches);
    return rc;
}

/* No files: a suite says all that is measured, and a file may be another one tomorrow. */
static int read_fills(const cJSON *json, struct selection *s, struct error *err)
{
    struct string_list fills = { 0 };
    int rc = read_strings(json, "fill", &fills, err);

    for (size_t i = 0; rc == 0 && i < fills.nr; i++)
        if (fill_is_file(fills.items[i]))
            rc =
                error_set(err,
                          "\"fill\": \"%.60s\" is a file; in a suite inputs are normal, uniform or "
                          "zeros, a file is given as `harness run --fill FILE.npy`",
                          fills.items[i]);
    if (rc == 0 && fills.nr > 0) {
        s->fills = s->own_fills = memory_zeroed(1, sizeof(*s->own_fills));
        rc = fill_list_parse(s->own_fills, "\"fill\"", &fills, err);
    }
    string_list_release(&fills);
    return rc;
}

static int read_selection(const cJSON *json, struct selection *s, struct error *err)
{
    static const char *const keys[] = { "filters", "models", "variants", "dtypes",
                                        "dims",    "cache",  "fill",     NULL };

    if (json_only_keys(json, keys, "select", err) ||
        read_strings(json, "filters", &s->filters, err) ||
        read_strings(json, "models", &s->models, err) ||
        read_strings(json, "variants", &s->variants, err) ||
        read_strings(json, "dtypes", &s->maths, err) || read_caches(json, s, err) ||
        read_fills(json, s, err))
        return -1;
    return read_dims(cJSON_GetObjectItemCaseSensitive(json, "dims"), s, err);
}

static int read_suite(const cJSON *json, struct suite *s, struct error *err)
{
    static const char *const keys[] = { "name", "summary", "launches", "sampling", "select", NULL };
    const cJSON *sampling = cJSON_GetObjectItemCaseSensitive(json, "sampling"), *item;
    int64_t launches = 3;
    const char *name;

    *s = (struct suite) { .sampling = sampling_default };
    if (json_only_keys(json, keys, "suite", err) || json_get_string(json, "name", &name, err) ||
        (sampling && sampling_from_json(sampling, &s->sampling, err)))
        return -1;
    snprintf(s->name, sizeof(s->name), "%s", name);
    snprintf(s->summary, sizeof(s->summary), "%s", json_string(json, "summary", ""));
    if (cJSON_HasObjectItem(json, "launches") && json_get_int(json, "launches", &launches, err))
        return -1;
    if (launches < 1 || launches > 1000)
        return error_set(err, "\"launches\" must be from 1 to 1000");
    s->launches = (int)launches;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "select"))
    {
        s->selections = array_grow(s->selections, s->nr, &s->capacity, sizeof(*s->selections));
        if (read_selection(item, &s->selections[s->nr++], err))
            return -1;
    }
    return s->nr > 0 ? 0 : error_set(err, "\"select\" must list at least one selection");
}

static int unknown_suite(const char *name, struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    for (const struct resource *r = resource_all(); r->name; r++)
        if (strncmp(r->name, "suites/", 7) == 0)
            strbuf_addf(&list, "%s%.*s", list.length ? ", " : "",
                        (int)(strlen(r->name) - strlen("suites/.json")), r->name + 7);
    error_set(err, "unknown suite \"%s\"; there are %s, or give a file", name, list.data);
    strbuf_release(&list);
    return -1;
}

int suite_load(struct suite *s, const char *name, struct error *err)
{
    bool file = strchr(name, '/') || name_has_ending(name, ".json");
    char resource[96];
    cJSON *json;

    *s = (struct suite) { 0 };
    if (file) {
        json = json_parse_file(name, FILE_SETTINGS_MOST, err);
    } else {
        snprintf(resource, sizeof(resource), "suites/%.64s.json", name);
        const struct resource *r = resource_find(resource);
        if (!r)
            return unknown_suite(name, err);
        json = json_parse(r->data, r->length, resource, err);
    }
    int rc = json ? read_suite(json, s, err) : -1;
    if (rc && json)
        error_prefix(err, "suite %s", name);
    cJSON_Delete(json);
    return rc;
}

void suite_release(struct suite *s)
{
    for (size_t i = 0; i < s->nr; i++)
        selection_release(&s->selections[i]);
    free(s->selections);
    *s = (struct suite) { 0 };
}
