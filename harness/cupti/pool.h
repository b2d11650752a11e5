/* SPDX-License-Identifier: MIT */
/*
 * Inside cupti/: the buffers that CUPTI fills. Taking and giving back are a few atomic steps
 * over a fixed number of places, without lock, allocation or system call: they happen inside the
 * program's own CUDA calls. One other thread empties full buffers and adds memory when few are
 * free.
 */
#ifndef HARNESS_CUPTI_POOL_H
#define HARNESS_CUPTI_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { POOL_MOST = 256 };

struct pool_place {
    atomic_int state;
    uint8_t *bytes; /* aligned to 64 bytes */
    size_t valid;   /* of a full one */
};

struct pool {
    size_t bytes;       /* of each buffer */
    unsigned nr_places; /* at most so many buffers */
    struct pool_place places[POOL_MOST];
    atomic_uint nr_refused; /* requests while none was free */
};

/* `buffers` are made at once, up to `most` later. */
void pool_init(struct pool *pool, size_t bytes, unsigned buffers, unsigned most);
/* A buffer that was not given back is left alone: CUPTI may still write to it. */
void pool_release(struct pool *pool);

/* Any thread. NULL where none is free. */
uint8_t *pool_take(struct pool *pool);
/* Any thread; `valid` bytes of it are filled. What is none of the pool's is ignored. */
void pool_give(struct pool *pool, uint8_t *buffer, size_t valid);

/* One thread: hands each full buffer to `use`, after which it is free again. Their number. */
typedef void pool_use_fn(void *ctx, uint8_t *bytes, size_t valid);
unsigned pool_drain(struct pool *pool, pool_use_fn *use, void *ctx);
/* The same thread: adds buffers until a quarter of them is free, or there are as many as may be. */
void pool_grow(struct pool *pool);
unsigned pool_buffers(const struct pool *pool); /* how many there are */

#endif
