/* SPDX-License-Identifier: MIT */
#include "http/events.h"

#include "base/memory.h"
#include "base/monotonic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct events {
    pthread_mutex_t lock;
    pthread_cond_t news;
    uint64_t told; /* how often */
    int64_t newest;
    bool closed;
    struct events_reader *first, *last; /* as they came */
    size_t readers;
};

struct events_reader {
    struct events *events;
    const void *owner;
    struct events_reader *before, *after;
    uint64_t heard; /* of what was told; 0: nothing yet */
    bool greeted;
    bool parted;    /* it has been told that this is the end */
    bool dismissed; /* no longer among the others */
    char text[128]; /* on its way out */
    size_t length, sent;
};

struct events *events_create(void)
{
    struct events *e = memory_zeroed(1, sizeof(*e));

    pthread_mutex_init(&e->lock, NULL);
    monotonic_condition_init(&e->news);
    return e;
}

void events_free(struct events *e)
{
    if (!e)
        return;
    pthread_cond_destroy(&e->news);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void events_tell(struct events *e, int64_t newest)
{
    pthread_mutex_lock(&e->lock);
    e->told++;
    e->newest = newest;
    pthread_cond_broadcast(&e->news);
    pthread_mutex_unlock(&e->lock);
}

void events_close(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    e->closed = true;
    pthread_cond_broadcast(&e->news);
    pthread_mutex_unlock(&e->lock);
}

/* With the lock held. */
static void events_dismiss(struct events_reader *r)
{
    struct events *e = r->events;

    if (r->dismissed)
        return;
    *(r->before ? &r->before->after : &e->first) = r->after;
    *(r->after ? &r->after->before : &e->last) = r->before;
    r->dismissed = true;
    e->readers--;
}

/* With the lock held. */
static struct events_reader *events_add(struct events *e, const void *owner)
{
    struct events_reader *r = memory_zeroed(1, sizeof(*r));

    r->events = e;
    r->owner = owner;
    r->before = e->last;
    *(e->last ? &e->last->after : &e->first) = r;
    e->last = r;
    e->readers++;
    return r;
}

/* With the lock held: who comes last counts, too. */
static size_t events_readers_of(const struct events *e, const void *owner, const void *last)
{
    size_t nr = owner == last;

    for (const struct events_reader *r = e->first; r; r = r->after)
        nr += r->owner == owner;
    return nr;
}

/* With the lock held. */
static struct events_reader *events_who_has_to_go(const struct events *e, const void *last)
{
    struct events_reader *found = e->first;
    size_t most = 0;

    for (struct events_reader *r = e->first; r; r = r->after) {
        size_t nr = events_readers_of(e, r->owner, last);
        if (nr > most) {
            most = nr;
            found = r;
        }
    }
    return found;
}

struct events_reader *events_join(struct events *e, const void *owner)
{
    struct events_reader *r = NULL;

    pthread_mutex_lock(&e->lock);
    if (!e->closed) {
        if (e->readers == EVENTS_READERS_MAX) {
            events_dismiss(events_who_has_to_go(e, owner));
            pthread_cond_broadcast(&e->news);
        }
        r = events_add(e, owner);
    }
    pthread_mutex_unlock(&e->lock);
    return r;
}

void events_leave(struct events_reader *r)
{
    struct events *e = r->events;

    pthread_mutex_lock(&e->lock);
    events_dismiss(r);
    pthread_mutex_unlock(&e->lock);
    free(r);
}

size_t events_readers(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    size_t readers = e->readers;
    pthread_mutex_unlock(&e->lock);
    return readers;
}

static void events_say(struct events_reader *r, const char *text)
{
    r->length = (size_t)snprintf(r->text, sizeof(r->text), "%s", text);
    r->sent = 0;
}

/* With the lock held. False: it is over. */
static bool events_wait(struct events_reader *r)
{
    struct events *e = r->events;
    struct timespec until = monotonic_until(EVENTS_HEARTBEAT_MS);
    char text[sizeof(r->text)];
    int rc = 0;

    while (!e->closed && !r->dismissed && r->heard == e->told && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&e->news, &e->lock, &until);
    if (r->dismissed || r->parted)
        return false;
    if (e->closed) {
        events_say(r, "event: end\ndata: {}\n\n");
        r->parted = true;
        return true;
    }
    if (r->heard == e->told) {
        events_say(r, ":\n\n"); /* finds out whether the reader is still there */
        return true;
    }
    r->heard = e->told;
    snprintf(text, sizeof(text), "event: runs\ndata: {\"newest\": %" PRId64 "}\n\n", e->newest);
    events_say(r, text);
    return true;
}

size_t events_read(struct events_reader *r, char *out, size_t size)
{
    bool open = true;

    if (r->sent == r->length && !r->greeted) {
        events_say(r, "retry: 2000\n\n"); /* ms until a page tries again */
        r->greeted = true;
    } else if (r->sent == r->length) {
        pthread_mutex_lock(&r->events->lock);
        open = events_wait(r);
        pthread_mutex_unlock(&r->events->lock);
    }
    if (!open)
        return 0;
    size_t nr = r->length - r->sent < size ? r->length - r->sent : size;
    memcpy(out, r->text + r->sent, nr);
    r->sent += nr;
    return nr;
}
