/* SPDX-License-Identifier: MIT */
/*
 * JSON for files under tests/fixtures: as many members in a line as fit, so that an axis or a mark
 * is a few lines, and a changed number shows in one of them.
 */
#ifndef HARNESS_TESTS_GOLDEN_JSON_H
#define HARNESS_TESTS_GOLDEN_JSON_H

#include "base/json.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { GOLDEN_JSON_LINE = 100 };

static inline void golden_json_value(struct strbuf *out, const cJSON *json, size_t depth);

/* Of numbers and words alone, however many: one line. */
static inline bool golden_json_is_row(const cJSON *json)
{
    for (const cJSON *child = json->child; child; child = child->next)
        if (child->child)
            return false;
    return true;
}

static inline size_t golden_json_column(const struct strbuf *out)
{
    const char *line = strrchr(out->data, '\n');

    return line ? strlen(line + 1) : out->length;
}

static inline void golden_json_child(struct strbuf *out, const cJSON *child, size_t depth)
{
    char *compact = cJSON_PrintUnformatted(child);
    size_t width = strlen(compact) + (child->string ? strlen(child->string) + 3 : 0);

    if (child->prev->next) { /* not the first, whose `prev` is the last */
        strbuf_addc(out, ',');
        if (golden_json_column(out) + width >= GOLDEN_JSON_LINE)
            strbuf_addf(out, "\n%*s", (int)depth, "");
    }
    if (child->string)
        strbuf_addf(out, "\"%s\":", child->string);
    golden_json_value(out, child, depth);
    free(compact);
}

static inline void golden_json_value(struct strbuf *out, const cJSON *json, size_t depth)
{
    char *compact = cJSON_PrintUnformatted(json);

    if (golden_json_column(out) + strlen(compact) < GOLDEN_JSON_LINE || golden_json_is_row(json)) {
        strbuf_adds(out, compact);
    } else {
        strbuf_addc(out, cJSON_IsObject(json) ? '{' : '[');
        for (const cJSON *child = json->child; child; child = child->next)
            golden_json_child(out, child, depth + 1);
        strbuf_addc(out, cJSON_IsObject(json) ? '}' : ']');
    }
    free(compact);
}

/* The caller frees it. */
static inline char *golden_json(const cJSON *json)
{
    struct strbuf out;

    strbuf_init(&out);
    golden_json_value(&out, json, 0);
    strbuf_addc(&out, '\n');
    return strbuf_detach(&out);
}

#endif
