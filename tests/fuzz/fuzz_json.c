/* SPDX-License-Identifier: MIT */
/* base/json.h and base/json_source.h: any JSON text, and the places of its values. */
#include "fuzz.h"

#include "base/json_source.h"

#include <stdlib.h>
#include <string.h>

static void look(const struct json_source *s, const cJSON *node)
{
    static const char *const keys[] = { "name", "values", "summary", NULL };
    struct error err;

    for (const cJSON *child = node->child; child; child = child->next) {
        const char *key = child->string ? child->string : "name";
        FUZZ_CHECK(json_source_line(s, child) > 0 && json_source_column(s, child) > 0);
        json_int(node, key, 0);
        json_number(node, key, 0);
        json_string(node, key, "");
        json_is_comment(child);
        look(s, child);
    }
    json_source_only_keys(s, node, keys, &err);
    json_only_keys(node, keys, "text", &err);
}

FUZZ_TARGET(json)
{
    struct json_source source;
    struct error err;

    if (json_source_parse(&source, (const char *)data, size, "text", &err))
        return;
    look(&source, source.root);
    char *text = json_take_text(cJSON_Duplicate(source.root, 1));
    cJSON *again = text ? json_parse(text, strlen(text), "text", &err) : NULL;
    FUZZ_CHECK(again);
    cJSON_Delete(again);
    free(text);
    json_source_release(&source);
}
