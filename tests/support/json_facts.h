/* SPDX-License-Identifier: MIT */
/*
 * What JSON has to say, in a line: "head=3; runs.3.id=4; #runs=4; trends={}; error~fewer; !back".
 * A fact is a path of members and numbers of elements, `=` and the value as it is printed (a text
 * without its quotes; {}: any object), or `~` and what is in the text. `#`: the size of it. `!`:
 * there is none. `id:p50` is the element whose `id` is that.
 */
#ifndef HARNESS_TESTS_JSON_FACTS_H
#define HARNESS_TESTS_JSON_FACTS_H

#include "testing.h"

#include "base/json.h"

#include <stdbool.h>

static inline const cJSON *json_fact_element(const cJSON *array, const char *which)
{
    const char *value = strchr(which, ':');
    const cJSON *element;
    char name[64];

    if (!value)
        return cJSON_GetArrayItem(array, atoi(which));
    snprintf(name, sizeof(name), "%.*s", (int)(value - which), which);
    cJSON_ArrayForEach(element, array)
    {
        if (strcmp(json_string(element, name, ""), value + 1) == 0)
            return element;
    }
    return NULL;
}

static inline const cJSON *json_fact_at(const cJSON *json, const char *path, size_t length)
{
    char copy[256], *rest = copy, *part;

    snprintf(copy, sizeof(copy), "%.*s", (int)length, path);
    while (json && (part = strsep(&rest, ".")))
        json = cJSON_IsArray(json) ? json_fact_element(json, part)
                                   : cJSON_GetObjectItemCaseSensitive(json, part);
    return json;
}

static inline bool json_fact_holds(const cJSON *json, char op, const char *expected)
{
    if (op == '=' && strcmp(expected, "{}") == 0)
        return cJSON_IsObject(json);
    bool is_text = cJSON_IsString(json);
    char *printed = is_text ? NULL : cJSON_PrintUnformatted(json);
    const char *value = is_text ? cJSON_GetStringValue(json) : printed;
    bool holds =
        value && (op == '~' ? strstr(value, expected) != NULL : strcmp(value, expected) == 0);
    cJSON_free(printed);
    return holds;
}

static inline void assert_fact(const cJSON *json, const char *fact)
{
    bool size = fact[0] == '#', nothing = fact[0] == '!';
    const char *path = fact + (size || nothing), *op = path + strcspn(path, "=~");
    const cJSON *value = json_fact_at(json, path, (size_t)(op - path));

    if (nothing ? !value
        : size  ? value && cJSON_GetArraySize(value) == atoi(op + 1)
                : value && json_fact_holds(value, *op, op + 1))
        return;
    char *text = cJSON_PrintUnformatted(value ? value : json);
    fail_msg("%s: but %s %.400s", fact, value ? "it is" : "there is none in", text);
}

static inline void assert_facts(const cJSON *json, const char *facts)
{
    char copy[1024], *rest = copy, *fact;

    assert_true(strlen(facts) < sizeof(copy));
    strcpy(copy, facts);
    while ((fact = strsep(&rest, ";")))
        assert_fact(json, fact + strspn(fact, " "));
}

#endif
