/* SPDX-License-Identifier: MIT */
/*
 * Looks after a history in a thread of its own: sees once a second whether others have written to
 * it or put another file in its place, and makes the class histories (serve/class_history.h) that
 * were asked for. Until the new ones are made, the old ones stand; so does the old file while there
 * is no other that can be read.
 */
#ifndef HARNESS_SERVE_WATCHER_H
#define HARNESS_SERVE_WATCHER_H

#include "http/events.h"
#include "serve/cache.h"
#include "serve/class_history.h"
#include "serve/handles.h"

#include <stdint.h>

enum {
    WATCHER_LOOK_MS = 1000,
    WATCHER_START_MS = 3000,   /* that watcher_open() waits for the first class history, at most */
    WATCHER_PATIENCE_MS = 100, /* that a request waits for one, at most */
    WATCHER_TRIM = 4 << 20,    /* bytes let go of that are worth giving back */
    WATCHER_CLASSES_MAX = 8,   /* machine classes whose histories are kept: those asked for last */
};

struct watcher_options {
    const char *path;         /* of the history */
    struct store_teller tell; /* of what lay beside it */
    bool public_only;         /* see struct serve_options */
    size_t window;            /* see class_history_maker_create() */
    /* Opened anew when another file stands at the path. */
    struct handles *handles;
    /* Told of the newest run at the beginning, and when finished runs have come or gone; may be
     * NULL. */
    struct events *events;
    /* Freed of what is older than the history, and of the room that class histories take; may be
     * NULL. */
    struct cache *cache;
};

struct watcher;

/* With the class history of the newest run, unless that takes long. */
int watcher_open(const struct watcher_options *options, struct watcher **watcher,
                 struct error *err);
void watcher_close(struct watcher *k); /* NULL is fine */

/* Grows with everything that can change an answer. */
uint64_t watcher_version(struct watcher *k);
/* When it grew last, in ms since the epoch. */
int64_t watcher_changed_ms(struct watcher *k);
/* The history of a machine class; drop it. NULL where it is not made yet, after WATCHER_PATIENCE_MS
 * at most, or, as *failed says, cannot be made. */
struct class_history *watcher_history(struct watcher *k, const char *machine_class, bool *failed);

#endif
