/* SPDX-License-Identifier: MIT */
/*
 * The blocks that run at the same time: one to three clusters, of one block in most launches, or
 * all of a cooperative launch. Everything here belongs to one thread of the operating system, which
 * runs the fibers one at a time: no locks.
 */
#ifndef CUDA_HOST_BLOCK_H
#define CUDA_HOST_BLOCK_H

#include "async.h"
#include "cuda_host_api.h"
#include "cuda_host_warp.h"
#include "engine.h"
#include "fiber.h"
#include "random.h"
#include "views.h"

#include <memory>
#include <string>
#include <vector>

namespace cuda_host
{

struct block;
struct cluster;
struct member;
struct warp;

struct launch {
    dim3 grid, block;
    size_t shared_bytes;
    unsigned cluster; /* blocks along x that reach each other's shared memory */
    bool cooperative; /* all blocks run at the same time, not only those of a cluster */
    bool early;       /* may start before the kernel in front of it has ended */
    const void *kernel;
    std::function<void()> thread; /* what every thread runs */
};

enum class state {
    READY,
    AT_BARRIER,
    AT_WARP,
    AT_CLUSTER,
    AT_MBARRIER,
    AT_NAMED,
    AT_PREDECESSOR,
    RETURNED
};

/* What instructions of sm_90 keep of a thread (tests/cuda_asm). */
struct hopper;

struct thread {
    uint3 at; /* threadIdx */
    struct context context;
    struct block *owner;
    struct cluster *cluster;
    struct member *member;
    struct warp *warp;
    unsigned index, lane; /* within all that run, and the warp */
    bool in_cluster;      /* has arrived at the cluster's barrier and not yet waited there */
    unsigned cluster_due; /* the generation it then waits for */
    const void *mbarrier; /* that it waits for */
    enum state state;
    enum cuda_host_kind kind; /* what it waits at, and where */
    struct cuda_host_site site;
    struct async async;
    struct thread_stores stores;
    uint64_t waits; /* at which places it has waited since it met its warp or block */
    std::shared_ptr<struct hopper> hopper;
};

/* Threads that gather at one place of the source. */
struct meeting {
    unsigned arrived;
    enum cuda_host_kind kind;
    struct cuda_host_site site;
};

struct warp {
    struct meeting meeting;
    unsigned first, lanes; /* index of lane 0; fewer than 32 in a last, partial warp */
    unsigned generation;   /* the halves below take turns: who is late still reads the old one */
    uint64_t value[2][32];
    const void *pointer[32];
};

/* Threads that can go on. Which one does is the rule's choice: to take the newest lets one warp run
 * far ahead, the oldest keeps all in step. */
struct ready {
    enum rule { NEWEST, OLDEST, ANY, NR_RULES } rule;
    const struct member *late;  /* stays behind while others can go on; null: none does */
    std::vector<unsigned> ring; /* a power of two */
    unsigned head, tail;
};

struct cluster {
    unsigned first, threads; /* index of its first block's thread 0, and their number */
    struct meeting barrier;  /* arrivals */
    unsigned generation;
    struct member *members;
    unsigned nr_members;
};

/* bar.sync, bar.arrive: threads that have come, of how many. */
struct named {
    unsigned arrived, count;
};

/* One of the blocks. */
struct member {
    unsigned first, threads; /* index of its thread 0, and their number */
    unsigned returned;       /* threads; all: nobody may reach its shared memory */
    struct meeting barrier;
    unsigned votes, votes_before; /* of the barrier that gathers, and of the last one */
    uint3 at;                     /* blockIdx */
    unsigned char *shared;
    std::vector<unsigned char> view;           /* engine.h */
    std::vector<struct shared_writer> writers; /* views.h; empty: nobody */
    struct named named[16];
    int spare_registers;
};

struct block {
    struct context outside;
    std::vector<std::unique_ptr<struct thread>> threads; /* as many as were ever needed */
    std::vector<struct warp> warps;
    unsigned nr_threads, returned, naps;
    struct ready ready;
    std::vector<struct member> members;
    std::vector<struct cluster> clusters;
    std::vector<struct flight> flights;
    std::function<void()> reveal;     /* what the kernel before has written; null: it is there */
    void (*at_end)(struct thread *t); /* a thread that returns; null: nothing is looked at */
    const struct launch *launch;
    uint64_t moment; /* views.h */
    struct random random;
    std::string failure; /* "" while all is well */

    ~block();
};

/* The running thread; only within kernels. */
struct thread *thread_self(void);

/* The block of this thread of the operating system. */
struct block *block_of_thread(void);
/* Makes it ready for the blocks of `launch`, `members` of them at a time: whole clusters. */
void block_prepare(struct block *b, const struct launch *launch, unsigned members, uint64_t seed);
/* Runs as many blocks as it has members, from number `first` of the grid on; afterwards b->failure
 * says how it went. */
void block_run(struct block *b, uint64_t first);

/* Puts the running thread to sleep until someone makes it ready; fails the block where that can
 * never be. */
void block_wait(struct thread *t, enum state state);
/* Lets another thread that is ready run; the caller is ready too. */
void block_yield(struct thread *t);
/* What the kernel before has written is there from now on; false: it was. */
bool block_reveal(struct block *b);
/* Waits for that. */
void block_wait_predecessor(struct thread *t);
/* The same where none other may be. */
void block_pause(struct thread *t);
/* Makes `count` threads from `first` on ready in a random order. */
void block_wake(struct block *b, unsigned first, unsigned count);
/* The running thread has come to a meeting: the one that gathers, or the block fails. */
void block_join(struct thread *t, struct meeting *m, enum cuda_host_kind kind,
                struct cuda_host_site site);
/* A thread that ends: fails the block where cp.async copies of it are under way. */
void async_check_done(struct thread *t);
/* Says what is wrong and goes on: the block has failed when it ends. The first such words count. */
__attribute__((format(printf, 2, 3))) void block_blame(const struct thread *t, const char *format,
                                                       ...);
/* Ends the block: the message names launch, block and thread, then says the words. */
[[noreturn]] __attribute__((format(printf, 2, 3))) void block_fail(const struct thread *t,
                                                                   const char *format, ...);

} // namespace cuda_host

#endif
