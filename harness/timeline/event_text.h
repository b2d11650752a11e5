/* SPDX-License-Identifier: MIT */
/*
 * Inside timeline/: walks through the text of a trace file, one event at a time, so that the tree
 * of a large file never stands in memory and every event is known by its place. cJSON reads each
 * value; numbers that a double cannot hold are read from the text.
 */
#ifndef HARNESS_TIMELINE_EVENT_TEXT_H
#define HARNESS_TIMELINE_EVENT_TEXT_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_ID_SIZE = 256 };

struct event_text {
    const char *what; /* stands in messages */
    const char *text, *end;
    const char *at; /* the value in hand */
};

/* An element of "traceEvents" (or of the array form), or another member of the outermost object,
 * whose name is `key`; NULL for events. `value_end` is behind its text. */
typedef int event_fn(void *ctx, const struct event_text *t, const char *key, const cJSON *value,
                     const char *value_end, struct error *err);
/* How many events a text has at most, told before it is parsed. */
size_t event_text_count(const char *text, size_t length);
/* The array form may end without its bracket, as the format allows. -1: no JSON there, or `use`
 * returned it. */
int event_text_walk(struct event_text *t, event_fn *use, void *ctx, struct error *err);

/* "what: line 3, column 7: reason"; returns -1. */
int event_text_failed(const struct event_text *t, const char *at, const char *reason,
                      struct error *err);

/* The decimal number at `text` times 10^places, halves away from 0. False: none, or too large. */
bool event_number(const char *text, const char *end, int places, int64_t *value);
/* By which events of one name belong together: their "id" or "id2", as text. `process` (or NULL)
 * stands in front where the id holds within one process alone. False: they have none. */
bool event_id(const cJSON *event, const int64_t *process, char id[EVENT_ID_SIZE]);
/* The text of a member of the object at `text`, which is valid JSON; NULL where it has none. */
const char *event_member(const char *text, const char *end, const char *key);

#endif
