/* SPDX-License-Identifier: MIT */
#include "base/json_source.h"

#include "base/array.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tree is there already, so the text is only counted along it: it is known to be valid. */
struct walk {
    struct json_source *source;
    const char *at, *end;
    int line, column;
};

static void step_token(struct walk *w)
{
    bool newline = *w->at == '\n';

    w->line += newline;
    w->column = newline ? 1 : w->column + 1;
    w->at++;
}

static void skip_blanks(struct walk *w)
{
    while (w->at < w->end && (unsigned char)*w->at <= ' ')
        step_token(w);
}

static void skip_character(struct walk *w, char c)
{
    skip_blanks(w);
    if (w->at < w->end && *w->at == c)
        step_token(w);
}

static void skip_string(struct walk *w)
{
    skip_character(w, '"');
    while (w->at < w->end && *w->at != '"') {
        if (*w->at == '\\' && w->at + 1 < w->end)
            step_token(w);
        step_token(w);
    }
    skip_character(w, '"');
}

static void skip_word(struct walk *w)
{
    while (w->at < w->end && !strchr(",]} \t\r\n", *w->at))
        step_token(w);
}

static void note_node(struct walk *w, const cJSON *node)
{
    skip_blanks(w);
    *array_push(w->source) = (struct json_line) { node, w->line, w->column };
}

static void skip_value(struct walk *w, const cJSON *node);

static void skip_children(struct walk *w, const cJSON *node, char open, char close)
{
    skip_character(w, open);
    for (const cJSON *child = node->child; child; child = child->next) {
        note_node(w, child);
        if (child->string) {
            skip_string(w);
            skip_character(w, ':');
        }
        skip_value(w, child);
        skip_character(w, ',');
    }
    skip_character(w, close);
}

static void skip_value(struct walk *w, const cJSON *node)
{
    skip_blanks(w);
    if (cJSON_IsObject(node))
        skip_children(w, node, '{', '}');
    else if (cJSON_IsArray(node))
        skip_children(w, node, '[', ']');
    else if (cJSON_IsString(node))
        skip_string(w);
    else
        skip_word(w);
}

int json_source_parse(struct json_source *s, const char *text, size_t length, const char *what,
                      struct error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* what some editors begin UTF-8 with */
    struct walk w = { .source = s, .at = text, .end = text + length, .line = 1, .column = 1 };

    *s = (struct json_source) { .root = json_parse(text, length, what, err) };
    if (!s->root)
        return -1;
    s->what = memory_string(what);
    if (length >= 3 && memcmp(text, mark, 3) == 0)
        w.at += 3;
    note_node(&w, s->root);
    skip_value(&w, s->root);
    return 0;
}

void json_source_release(struct json_source *s)
{
    cJSON_Delete(s->root);
    free(s->what);
    free(s->items);
    *s = (struct json_source) { 0 };
}

static struct json_line line_of_node(const struct json_source *s, const cJSON *node)
{
    for (size_t i = 0; i < s->nr; i++)
        if (s->items[i].node == node)
            return s->items[i];
    return (struct json_line) { node, 1, 1 };
}

int json_source_line(const struct json_source *s, const cJSON *node)
{
    return line_of_node(s, node).line;
}

int json_source_column(const struct json_source *s, const cJSON *node)
{
    return line_of_node(s, node).column;
}

int json_source_error(const struct json_source *s, const cJSON *node, struct error *err,
                      const char *format, ...)
{
    char message[sizeof(err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return error_set(err, "%s:%d: %s", s->what, json_source_line(s, node), message);
}

bool json_is_comment(const cJSON *member)
{
    return member->string && (member->string[0] == '_' || strcmp(member->string, "$schema") == 0);
}

static bool is_listed(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

int json_source_only_keys(const struct json_source *s, const cJSON *object, const char *const *keys,
                          struct error *err)
{
    const cJSON *item;

    if (!cJSON_IsObject(object))
        return json_source_error(s, object, err, "a JSON object { ... } is expected here");
    cJSON_ArrayForEach(item, object)
    {
        if (json_is_comment(item))
            continue;
        if (!is_listed(item->string, keys)) {
            const char *nearest = text_nearest(item->string, keys);
            return json_source_error(s, item, err, "unknown key \"%.100s\"%s%s%s", item->string,
                                     nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                                     nearest ? "\"?" : "");
        }
        if (cJSON_GetObjectItemCaseSensitive(object, item->string) != item)
            return json_source_error(s, item, err, "\"%s\" is there twice", item->string);
    }
    return 0;
}
