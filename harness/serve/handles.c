/* SPDX-License-Identifier: MIT */
#include "serve/handles.h"

#include "base/memory.h"
#include "serve/waiting.h"

#include <errno.h>
#include <stdlib.h>

struct handles {
    pthread_mutex_t lock;
    pthread_cond_t given;
    struct store *free[HANDLES_MAX];
    size_t nr;
};

int handles_open(const char *path, size_t nr, struct handles **out, struct error *err)
{
    struct handles *h = memory_zeroed(1, sizeof(*h));

    pthread_mutex_init(&h->lock, NULL);
    waiting_init(&h->given);
    *out = h;
    for (; h->nr < nr && h->nr < HANDLES_MAX; h->nr++)
        if (store_open(&h->free[h->nr], path, STORE_READ, err)) {
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
        store_close(h->free[--h->nr]);
    pthread_cond_destroy(&h->given);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

struct store *handles_take(struct handles *h, int patience_ms)
{
    struct timespec until = waiting_until(patience_ms);
    int rc = 0;

    pthread_mutex_lock(&h->lock);
    while (h->nr == 0 && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&h->given, &h->lock, &until);
    struct store *store = h->nr > 0 ? h->free[--h->nr] : NULL;
    pthread_mutex_unlock(&h->lock);
    return store;
}

void handles_give(struct handles *h, struct store *store)
{
    pthread_mutex_lock(&h->lock);
    h->free[h->nr++] = store;
    pthread_cond_signal(&h->given);
    pthread_mutex_unlock(&h->lock);
}
