/* SPDX-License-Identifier: MIT */
/*
 * CUDA events by the driver, which is opened at run time as CUPTI is. An event is made once and
 * used again: to make one takes longer than many scopes. $HARNESS_LIBCUDA names the file; else it
 * is looked for as libcuda.so.1.
 */
#ifndef HARNESS_PROFILE_CUDA_EVENT_POOL_H
#define HARNESS_PROFILE_CUDA_EVENT_POOL_H

#include "base/error.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Codes of the driver's API. */
enum { CUDA_DONE = 0, CUDA_NOT_READY = 600 };

struct event_calls {
    int (*create)(void **event, unsigned flags);
    int (*record)(void *event, void *stream);
    int (*query)(void *event);
    int (*elapsed)(float *ms, void *begin, void *end);
    int (*destroy)(void *event);
    int (*synchronise)(void);
};

struct event_pool {
    void *library; /* NULL: there is no driver, and no event is given */
    struct event_calls call;
    pthread_mutex_t lock;
    void **idle;
    size_t nr_idle, capacity, nr_made, nr_refused;
};

/* -1: no driver, or it lacks a function; the pool gives none then. Release it in any case. */
int event_pool_open(struct event_pool *pool, size_t events, struct error *why);
void event_pool_release(struct event_pool *pool);

/* An event that was put into the stream now; NULL: none could be had, which is counted. Any thread
 * with a context. */
void *event_pool_mark(struct event_pool *pool, void *stream);
/* 0 and the ns between two marks; 1: the second is not reached yet; -1: it will never be. */
int event_pool_span(struct event_pool *pool, void *begin, void *end, int64_t *ns);
void event_pool_give_back(struct event_pool *pool, void *event);
/* Waits for all work of the context; its code. */
int event_pool_synchronise(struct event_pool *pool);

#endif
