/* SPDX-License-Identifier: MIT */
#include "serve/handles.h"

#include "base/memory.h"
#include "base/monotonic.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct handle {
    struct store *store;
    uint64_t age; /* of the handles when it was opened */
    bool taken;
};

struct handles {
    char *path;
    struct store_teller tell;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t given;
    uint64_t age;  /* how often they were renewed */
    bool emptying; /* nobody gets one until all are closed */
    struct handle items[HANDLES_MAX];
    size_t nr;
};

/* Nobody waits for an answer as long as for a writer, and one that keeps the others out is of no
 * use. */
static int handle_open(const struct handles *h, struct store **store, struct error *err)
{
    if (store_open_telling(store, h->path, STORE_READ, &h->tell, err))
        return -1;
    store_set_patience(*store, HANDLES_BUSY_MS);
    if (!store_is_alone(*store))
        return 0;
    store_close(*store);
    *store = NULL;
    return error_set(err, "%s: the disk is full; to serve it takes some KiB of room beside it",
                     h->path);
}

int handles_open(const char *path, size_t nr, const struct store_teller *tell, struct handles **out,
                 struct error *err)
{
    struct handles *h = memory_zeroed(1, sizeof(*h));

    h->path = memory_string(path);
    h->tell = *tell;
    pthread_mutex_init(&h->lock, NULL);
    monotonic_condition_init(&h->given);
    *out = h;
    for (; h->nr < nr && h->nr < HANDLES_MAX; h->nr++)
        if (handle_open(h, &h->items[h->nr].store, err)) {
            handles_close(h);
            *out = NULL;
            return -1;
        }
    return 0;
}

void handles_close(struct handles *h)
{
    if (!h)
        return;
    while (h->nr > 0)
        store_close(h->items[--h->nr].store);
    pthread_cond_destroy(&h->given);
    pthread_mutex_destroy(&h->lock);
    free(h->path);
    free(h);
}

/* With the lock held. */
static struct handle *handles_free(struct handles *h)
{
    for (size_t i = 0; i < h->nr && !h->emptying; i++)
        if (!h->items[i].taken)
            return &h->items[i];
    return NULL;
}

/* By whoever has taken it, without the lock. */
static void handle_reopen(struct handles *h, struct handle *handle, uint64_t age)
{
    struct store *store, *old;
    struct error ignored;

    if (handle_open(h, &store, &ignored))
        return;
    pthread_mutex_lock(&h->lock); /* handles_give() looks at all of them */
    old = handle->store;
    handle->store = store;
    handle->age = age;
    pthread_mutex_unlock(&h->lock);
    store_close(old);
}

static void handle_give(struct handles *h, struct handle *handle)
{
    pthread_mutex_lock(&h->lock);
    handle->taken = false;
    pthread_cond_broadcast(&h->given); /* handles_empty() waits for it, too */
    pthread_mutex_unlock(&h->lock);
}

struct store *handles_take(struct handles *h, int patience_ms)
{
    struct timespec until = monotonic_until(patience_ms);
    struct handle *handle;
    int rc = 0;

    pthread_mutex_lock(&h->lock);
    while (!(handle = handles_free(h)) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&h->given, &h->lock, &until);
    uint64_t age = h->age;
    if (handle)
        handle->taken = true;
    pthread_mutex_unlock(&h->lock);
    if (!handle)
        return NULL;
    if (handle->age != age || !handle->store)
        handle_reopen(h, handle, age);
    struct store *store = handle->store;
    if (!store)
        handle_give(h, handle);
    return store;
}

void handles_give(struct handles *h, struct store *store)
{
    struct handle *handle = NULL;

    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->nr; i++)
        if (h->items[i].store == store)
            handle = &h->items[i];
    pthread_mutex_unlock(&h->lock);
    if (handle)
        handle_give(h, handle);
}

/* With the lock held. */
static bool handles_any_taken(const struct handles *h)
{
    for (size_t i = 0; i < h->nr; i++)
        if (h->items[i].taken)
            return true;
    return false;
}

void handles_empty(struct handles *h)
{
    pthread_mutex_lock(&h->lock);
    h->emptying = true;
    while (handles_any_taken(h))
        pthread_cond_wait(&h->given, &h->lock);
    for (size_t i = 0; i < h->nr; i++) {
        store_close(h->items[i].store);
        h->items[i].store = NULL;
    }
    h->emptying = false;
    pthread_mutex_unlock(&h->lock);
}

void handles_renew(struct handles *h)
{
    pthread_mutex_lock(&h->lock);
    h->age++;
    pthread_mutex_unlock(&h->lock);
}
