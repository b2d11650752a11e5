/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libcuda.so.1 with events alone: each has the time at which it was recorded, in
 * ticks of 1 us a call. EVENT_STUB holds what it is told: "context=0" (no event can be made),
 * "pending=1" (none is reached until the context is waited for).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, NO_CONTEXT = 201, NOT_READY = 600 };

struct event {
    long at, epoch;
};

int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
int cuEventElapsedTime(float *ms, void *begin, void *end);
int cuEventDestroy_v2(void *event);
int cuCtxSynchronize(void);
long event_stub_alive(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long now, waits, alive;

static long told(const char *word, long otherwise)
{
    const char *words = getenv("EVENT_STUB"), *at = words ? strstr(words, word) : NULL;

    return at ? strtol(at + strlen(word), NULL, 10) : otherwise;
}

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    if (!told("context=", 1))
        return NO_CONTEXT;
    *event = calloc(1, sizeof(struct event));
    __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED);
    return DONE;
}

int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    pthread_mutex_lock(&lock);
    *(struct event *)event = (struct event) { ++now, waits };
    pthread_mutex_unlock(&lock);
    return DONE;
}

int cuEventQuery(void *event)
{
    const struct event *e = event;

    return told("pending=", 0) && e->epoch == waits ? NOT_READY : DONE;
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
    const struct event *from = begin, *to = end;

    *ms = (float)(to->at - from->at) / 1000;
    return DONE;
}

int cuEventDestroy_v2(void *event)
{
    free(event);
    __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED);
    return DONE;
}

int cuCtxSynchronize(void)
{
    pthread_mutex_lock(&lock);
    waits++;
    pthread_mutex_unlock(&lock);
    return DONE;
}

long event_stub_alive(void)
{
    return __atomic_load_n(&alive, __ATOMIC_RELAXED);
}
