/* SPDX-License-Identifier: MIT */
/*
 * Which ordinary stores to shared memory a fence.proxy.async brings to the second view (engine.h).
 * PTX has a store seen by the engine where a proxy fence is on the way from one to the other, a way
 * of program order and of barriers. So a fence brings
 *
 *   - the stores of its own thread;
 *   - those of others that a barrier has brought to it: the writer has come to one behind the
 *     store, and the thread of the fence has gone on behind one since.
 *
 *     writer    store .. barrier                            its own fence would do as well
 *     other                 barrier .. fence .. copy
 *
 * Stores are told by sources that are compiled with -fsanitize=thread (order.h), by asm statements
 * and by cp.async. In a program without such a source nobody knows whose they are, and a fence
 * brings all that there are.
 *
 * Limits: that both have met one another is not looked at, only that each has met somebody, and
 * what a warp does together counts as a meeting; of two bytes the last store counts; that the copy
 * is behind the fence is left to the order in which threads run.
 */
#ifndef CUDA_HOST_VIEWS_H
#define CUDA_HOST_VIEWS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuda_host
{

struct block;
struct member;
struct thread;

/* A thread's turns are what it does between two barriers, counted from 0. */
struct shared_store {
    struct member *to;
    size_t at, bytes;
    size_t turn;
};

/* Of two bytes of shared memory the last store; thread: the index + 1, 0: nobody's, or brought. */
struct shared_writer {
    unsigned thread;
    size_t turn;

    bool operator==(const struct shared_writer &) const = default;
};

struct thread_stores {
    std::vector<struct shared_store> open; /* not brought to the view, the oldest first */
    std::vector<uint64_t> released;        /* when each turn ended */
    uint64_t acquired = 0;                 /* when it last went on behind a barrier */
};

/* A source is watched: whose stores are whose is known from now on. */
void views_watch(void);
/* Blocks begin. */
void views_begin(struct block *b);
/* The running thread stores, to shared memory of `m`, or anywhere; false: not to its block's. */
void views_stored(struct member *m, const void *shared, size_t bytes);
bool views_stored_anywhere(const void *memory, size_t bytes);
/* It comes to a barrier or another place that tells others; goes on behind one. */
void views_release(struct thread *t);
void views_acquire(struct thread *t);
/* fence.proxy.async, for the memory of its own block or of the whole cluster. */
void views_fence(struct thread *t, bool cluster);

} // namespace cuda_host

#endif
