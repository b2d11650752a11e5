/* SPDX-License-Identifier: MIT */
/*
 * Whether what a thread reads of another block's is ordered by fences. A store is seen beyond its
 * block from a __threadfence() on, a load may be older than the reader's last one, and atomics tell
 * who has come: so one fence is due in front of the writer's, and one behind the reader's.
 *
 *     block 0    store .. __threadfence .. barrier .. atomic                (a ticket)
 *     block 1                                            atomic .. barrier .. __threadfence .. load
 *
 * Fibers have one memory, in which every store is seen at once; so the accesses themselves are
 * watched. A source that is compiled with -fsanitize=thread calls __tsan_write4() and the like,
 * which are here and not in the compiler's library; a program without one watches nothing.
 *
 * A fence counts for its thread, and for what its block wrote before the barrier in front of it;
 * one that a barrier follows counts for all of the block's loads behind that.
 *
 * Limits: what asm statements and cp.async load and store is not watched, nor what blocks of a
 * cluster leave for each other; where a flag that is no atomic tells who has come, all is found
 * wrong; and of tickets that a block takes one after the other the last one counts.
 */
#ifndef CUDA_HOST_ORDER_H
#define CUDA_HOST_ORDER_H

namespace cuda_host
{

struct launch;
struct member;

/* A launch begins: what was written before is seen by all. */
void order_begin(const struct launch *l);
/* One of the block's threads does an atomic. */
void order_atomic(const struct member *m);
/* All threads of the block have come to its barrier. */
void order_barrier(const struct member *m);

} // namespace cuda_host

#endif
