/* SPDX-License-Identifier: MIT */
/*
 * Empties the caches of the host's processors: a buffer of twice what they hold is read and
 * written, a part of it from each place where a thread of OpenMP's team runs, because an L2 and an
 * L3 are filled by their own cores alone.
 *
 * When a launch is to be cold decides measure/case.c, how much is flushed host/host_cache.c; a GPU
 * flushes its own in device_cuda_time.cu.
 *
 * By threads of its own, which sleep in between. The team itself would spin for milliseconds
 * afterwards, on the cores of whoever is timed with other threads.
 */
#ifndef HARNESS_DEVICE_CACHE_FLUSH_H
#define HARNESS_DEVICE_CACHE_FLUSH_H

#include "base/error.h"

#include <stddef.h>

struct cache_flush;

/* For a team of so many threads; the caller is the first of them. NULL: there is no memory. */
struct cache_flush *cache_flush_begin(int threads, struct error *err);
/* Bytes that it holds, from its first run on. */
size_t cache_flush_bytes(const struct cache_flush *f);
void cache_flush_run(struct cache_flush *f);
void cache_flush_end(struct cache_flush *f); /* NULL is allowed */

#endif
