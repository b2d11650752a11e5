/* SPDX-License-Identifier: MIT */
/*
 * Models of what sm_90 does beside its threads, for the interpreter: boxes of tensors, bulk stores,
 * products of warpgroups, named barriers. Stricter than the hardware where that finds mistakes:
 *
 *   - what copies and products read is shared memory's second view (engine.h), to which ordinary
 *     stores come by fence.proxy.async alone: where they are watched (views.h) the thread's own
 *     and those that a barrier has brought to it, and no others;
 *   - a box is NaN until it arrives, at a random moment before its barrier has its bytes; a store
 *     reads and writes at random moments, the first before wait_group.read, the second before
 *     wait_group;
 *   - the sums of a product are NaN in their registers until wait_group, and its operands are read
 *     at a random moment up to then, those in registers too;
 *   - registers go to the unit behind wgmma.fence, and come back through an empty asm statement
 *     that names them, with what they had: without the compiler could move their use in front of
 *     the wait;
 *   - lanes come to a barrier.cluster that is .aligned in step: where one has waited for an
 *     mbarrier or named barrier that another one has not, they have met since;
 *   - a barrier on which copies end, or at which other blocks arrive, has been published by
 *     fence.mbarrier_init; where other blocks arrive, waiting acquires at their scope;
 *   - a thread or block that ends has nothing under way in its registers and shared memory, and no
 *     named barrier half met;
 *   - nobody reaches the shared memory of a block that has returned, by an access or by a copy that
 *     is under way.
 */
#ifndef CUDA_ASM_HOPPER_H
#define CUDA_ASM_HOPPER_H

#include "block.h"
#include "engine.h"

#include <vector>

namespace cuda_host
{

/* Shared memory begins here, as on a device, and block `rank` of the cluster at (rank + 1) << 24
 * more; 0 is the own block. */
enum : uint32_t { SHARED_BEGIN = 1024, SHARED_OF_RANK = 1u << 24 };

struct shared_place {
    struct member *member;
    unsigned char *at;
};

/* What lies there, `bytes` of it, aligned to `align`; fails the block where that is not shared
 * memory. `own`: of this block. */
struct shared_place shared_at(struct thread *t, uint32_t address, size_t bytes, size_t align,
                              bool own, struct cuda_host_site site);

/* ---- Barriers ---- */

void hopper_mbarrier_init(struct thread *t, uint32_t barrier, unsigned arrivals,
                          struct cuda_host_site site);
void hopper_mbarrier_publish(struct thread *t);
/* A thread of any block of the cluster; `remote`: it has said so. */
void hopper_mbarrier_arrive(struct thread *t, uint32_t barrier, unsigned bytes, bool remote,
                            struct cuda_host_site site);
void hopper_mbarrier_wait(struct thread *t, uint32_t barrier, unsigned parity, bool cluster,
                          struct cuda_host_site site);
void hopper_named(struct thread *t, unsigned barrier, unsigned threads, bool waits,
                  struct cuda_host_site site);
void hopper_publish(struct thread *t, bool cluster);
/* An instruction that a warp executes as one. */
void hopper_aligned(struct thread *t, struct cuda_host_site site);

/* ---- Copies ---- */

enum { MOST_RANK = 3 };

struct tensor_box {
    const void *map;
    int at[MOST_RANK]; /* columns first */
    unsigned rank;
};

/* A map that the kernel got: fails the block where it is none. */
void hopper_check_map(struct thread *t, const void *map, struct cuda_host_site site);
/* To the same place of the blocks in `ranks`, each with its barrier; 0: to `to` as it is. */
void hopper_load_box(struct thread *t, uint32_t to, const struct tensor_box &box, uint32_t barrier,
                     uint16_t ranks, struct cuda_host_site site);
void hopper_store_box(struct thread *t, const struct tensor_box &box, uint32_t from,
                      struct cuda_host_site site);
void hopper_load_bytes(struct thread *t, uint32_t to, const void *from, unsigned bytes,
                       uint32_t barrier, struct cuda_host_site site);
void hopper_store_bytes(struct thread *t, void *to, uint32_t from, unsigned bytes,
                        struct cuda_host_site site);
/* Of this block's shared memory to another's. */
void hopper_copy_bytes(struct thread *t, uint32_t to, uint32_t from, unsigned bytes,
                       uint32_t barrier, struct cuda_host_site site);
/* Registers to another block's shared memory. */
void hopper_send(struct thread *t, uint32_t to, const void *data, unsigned bytes, uint32_t barrier,
                 struct cuda_host_site site);
void hopper_stores_commit(struct thread *t);
void hopper_stores_wait(struct thread *t, unsigned allow, bool read);

/* ---- Products ---- */

enum class factors { BF16, TF32, E4M3 };

struct product_call {
    int n, k;
    enum factors type;
    bool b_transposed;
    std::vector<float *> sums;     /* n / 2 registers */
    const uint32_t *a_register[4]; /* null: a is a descriptor */
    uint64_t a, b;
    bool add;
    struct cuda_host_site site;
};

void hopper_product(struct thread *t, const struct product_call &call);
void hopper_product_fence(struct thread *t);
void hopper_product_commit(struct thread *t);
void hopper_product_wait(struct thread *t, unsigned allow, struct cuda_host_site site);
/* An empty statement that names the register. */
void hopper_keep(struct thread *t, const void *place, struct cuda_host_site site);
/* setmaxnreg */
void hopper_registers(struct thread *t, unsigned registers, struct cuda_host_site site);

} // namespace cuda_host

#endif
