/* SPDX-License-Identifier: MIT */
/*
 * A JSON text that people write, with the line of every value in it, so that a message can name
 * the place of a mistake:
 *
 *     struct json_source source;
 *     if (json_source_parse(&source, text, length, "plots/mine.json", err))
 *         return -1;
 *     if (!cJSON_IsString(item))
 *         rc = json_source_error(&source, item, err, "\"%s\" is not a string", item->string);
 *     json_source_release(&source);            "plots/mine.json:7: "colour" is not a string"
 *
 * Keys that begin with "_" and the key "$schema" are comments: no checker refuses them.
 */
#ifndef HARNESS_BASE_JSON_SOURCE_H
#define HARNESS_BASE_JSON_SOURCE_H

#include "base/json.h"

#include <stddef.h>

struct json_line {
    const cJSON *node;
    int line, column; /* 1-based: of its key, or of its first character where it has none */
};

struct json_source {
    char *what; /* stands in messages: a file name. Owned */
    cJSON *root;
    struct json_line *items; /* in the order of the text; owned */
    size_t nr, capacity;
};

/* Release after success only. */
int json_source_parse(struct json_source *s, const char *text, size_t length, const char *what,
                      struct error *err);
void json_source_release(struct json_source *s);

/* The line of a node of the tree; 1 for any other. */
int json_source_line(const struct json_source *s, const cJSON *node);
int json_source_column(const struct json_source *s, const cJSON *node); /* in bytes */
/* Sets "what:line: message"; always -1. */
int json_source_error(const struct json_source *s, const cJSON *node, struct error *err,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Is the member a comment, or a note of where a value comes from? */
bool json_is_comment(const cJSON *member);
/* Refuses members of `object` that are neither comments nor in the NULL-ended list, naming the
 * nearest valid key, members that are there twice, and whatever is no object at all. */
int json_source_only_keys(const struct json_source *s, const cJSON *object, const char *const *keys,
                          struct error *err);

#endif
