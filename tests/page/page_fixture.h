/* SPDX-License-Identifier: MIT */
/* A view filled by hand, and ways to look into what a page makes of it. */
#ifndef HARNESS_TESTS_PAGE_FIXTURE_H
#define HARNESS_TESTS_PAGE_FIXTURE_H

#include "testing.h"

#include "output_records.h"

#include "base/json.h"
#include "base/pack.h"
#include "page/page.h"

#include <stdlib.h>

enum { PAGE_TEXT_MOST = 1 << 28 };

/* A run asked for, as view_load() would give it; its records are to be filled in. */
static inline void view_made(struct view *view, int run)
{
    *view = (struct view) { .head = run };
    view->runs = memory_zeroed(1, sizeof(*view->runs));
    view->runs[0] = run;
    view->nr_runs = 1;
    view->run_names = memory_zeroed(1, sizeof(*view->run_names));
    view->run_names[0] = memory_string("the run");
}

/* A JSON text, parsed as another program would. */
static inline cJSON *parsed(const char *text)
{
    struct error err;
    cJSON *json = json_parse(text, strlen(text), "page", &err);

    if (!json)
        fail_msg("%s: %.200s", err.message, text);
    return json;
}

static inline cJSON *core_of(const struct page *page, const struct page_figures *figures)
{
    struct strbuf text;

    strbuf_init(&text);
    json_take_script(page_core(page, figures), &text);
    cJSON *json = parsed(text.data);
    strbuf_release(&text);
    return json;
}

static inline cJSON *table_of(const struct page *page)
{
    struct strbuf text;

    strbuf_init(&text);
    page_table(page, &text);
    cJSON *json = parsed(text.data);
    strbuf_release(&text);
    return json;
}

static inline const cJSON *member(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

    if (!item)
        fail_msg("there is no \"%s\"", key);
    return item;
}

/* The item of an array whose `key` is `value`. */
static inline const cJSON *item_with(const cJSON *array, const char *key, const char *value)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        if (strcmp(json_string(item, key, ""), value) == 0)
            return item;
    }
    fail_msg("there is no item with %s \"%s\"", key, value);
    return NULL;
}

static inline const cJSON *at(const cJSON *array, int index)
{
    const cJSON *item = cJSON_GetArrayItem(array, index);

    if (!item)
        fail_msg("there is no item %d of %d", index, cJSON_GetArraySize(array));
    return item;
}

/* What lies between the tags of the data block in a document; NULL if it is not there. */
static inline char *block_of(const char *html, const char *id)
{
    char tag[64];

    snprintf(tag, sizeof(tag), "id=\"harness-%s\">", id);
    const char *begin = strstr(html, tag);
    if (!begin)
        return NULL;
    begin += strlen(tag);
    const char *end = strstr(begin, "</script>");
    assert_non_null(end);
    return strndup(begin, (size_t)(end - begin));
}

/* The same of a packed block, as a tree. */
static inline cJSON *unpacked_block(const char *html, const char *id)
{
    char *packed = block_of(html, id);
    struct strbuf bytes, text;
    struct error err;

    assert_non_null(packed);
    strbuf_init(&bytes);
    strbuf_init(&text);
    assert_ok(base64_undo(&bytes, packed, strlen(packed), &err), &err);
    assert_ok(gzip_undo(&text, bytes.data, bytes.length, PAGE_TEXT_MOST, &err), &err);
    cJSON *json = parsed(text.data);
    strbuf_release(&bytes);
    strbuf_release(&text);
    free(packed);
    return json;
}

#endif
