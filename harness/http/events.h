/* SPDX-License-Identifier: MIT */
/*
 * News for pages that are open: a number that grows, and readers that wait until it does
 * (server-sent events). Each reader sits in a thread of its own, so waiting is plain waiting.
 */
#ifndef HARNESS_HTTP_EVENTS_H
#define HARNESS_HTTP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    EVENTS_READERS_MAX = 16,
    EVENTS_HEARTBEAT_MS = 15000, /* silence after which a reader gets a comment */
};

struct events;
struct events_reader;

struct events *events_create(void);
void events_free(struct events *e); /* after the last reader has gone */
/* Tells all readers, and each that joins later: event "runs" with data {"newest": id}. */
void events_tell(struct events *e, int64_t newest);
/* Ends all readers, after an event "end" with data {}, and every later one at once. */
void events_close(struct events *e);

/* It is told at once what was told last, so that nothing is missed between a page and its joining.
 * Where there are too many, one of those whose owner (anything that tells owners apart) has most
 * has to go, of these the one that came first: it may be a page that was closed, which only shows
 * when something is sent to it; a page that is open comes again. NULL where it is closed. */
struct events_reader *events_join(struct events *e, const void *owner);
void events_leave(struct events_reader *r);
/* Waits for the next text, and copies what fits; the rest comes with the next call. 0: the end. */
size_t events_read(struct events_reader *r, char *out, size_t size);
size_t events_readers(struct events *e);

#endif
