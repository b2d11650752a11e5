/* SPDX-License-Identifier: MIT */
/*
 * What is under way while threads go on: copies of the bulk engine, boxes of tensors, stores to
 * other blocks, products of warpgroups. Each arrives at a random moment: some while threads run
 * (engine_tick), the others when nobody can go on without them. What has not arrived is 0xff, NaN.
 */
#ifndef CUDA_HOST_ENGINE_H
#define CUDA_HOST_ENGINE_H

#include "cuda_host.h"

#include <functional>

namespace cuda_host
{

struct block;
struct member;
struct thread;

struct flight {
    const char *what;             /* "bulk copy", for messages */
    const struct thread *starter; /* or the warpgroup's first thread */
    struct cuda_host_site site;
    uint64_t group;             /* of the starter's stores or products, as it counts them */
    bool ordered;               /* behind the starter's earlier ones that are */
    bool must_read;             /* shared memory that it has yet to read */
    std::function<void()> read; /* null: it arrives in one step */
    std::function<void()> arrive;
    bool lazy = false; /* the engine's: not while somebody can go on without it */
};

void engine_start(struct block *b, struct flight flight);
/* At some place of a running thread: perhaps something arrives, perhaps another thread goes on. */
void engine_tick(struct thread *t);
/* Something arrives, or has read; false: nothing is under way. */
bool engine_step(struct block *b);
/* All of `starter` up to `group` (and of this `what`) have read or, with `arrived`, arrived. */
void engine_finish(struct block *b, const struct thread *starter, const char *what, uint64_t group,
                   bool arrived);
/* The last thread of all: fails the block where something would still touch shared memory. */
void engine_check_done(const struct thread *t);

/* Fails where all of the block's threads have returned: its shared memory is another's by now. */
void engine_check_there(const struct member *m, const char *where);

/* The second view of shared memory: what copies and products read. Ordinary stores come to it by
 * views_fence() alone (views.h); what the engine itself writes is in both. */
unsigned char *engine_view(struct member *m, const void *shared);
/* Writes to both views. */
void engine_write(struct member *m, void *shared, const void *from, size_t bytes);
void engine_poison(struct member *m, void *shared, size_t bytes);

} // namespace cuda_host

#endif
