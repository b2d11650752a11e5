/* SPDX-License-Identifier: MIT */
/*
 * mbarrier (sm_90): a barrier in shared memory that counts arrivals of threads and bytes of copies
 * under way. A phase ends when both counts are at zero; the next one begins at once. Waiting names
 * the parity of the phase that is to end: 0 for the first one, 1 for the second, and so on in turn,
 * so a waiter may be at most one phase behind.
 *
 * A ring of stages has two of them a stage:
 *
 *     full    producer: cuda_mbarrier_expect(full, bytes), then the copies that complete on it
 *             consumer: cuda_mbarrier_wait(full, round % 2)
 *     empty   consumer: cuda_mbarrier_arrive(empty) when it has read the stage
 *             producer: cuda_mbarrier_wait(empty, round % 2 ^ 1): passes at once in round 0
 *
 * Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
 */
#ifndef HARNESS_KERNELS_CUDA_MBARRIER_H
#define HARNESS_KERNELS_CUDA_MBARRIER_H

#include "kernels/cuda/async.h"

#ifdef CUDA_WATCHDOG
#include <stdio.h>
#endif

struct cuda_mbarrier {
    alignas(8) uint64_t word;
};

/* By one thread; `arrivals` end a phase. */
__device__ __forceinline__ void cuda_mbarrier_init(cuda_mbarrier *b, unsigned arrivals)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(cuda_shared_address(b)),
                 "r"(arrivals)
                 : "memory");
#else
    cuda_host_mbarrier_init(b, arrivals);
#endif
}

/* Behind the inits, by the thread that made them, before the barrier of the block (or cluster): the
 * copy engine and other blocks of the cluster see them initialised. */
__device__ __forceinline__ void cuda_mbarrier_publish(void)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    /* seen at once */
#endif
}

__device__ __forceinline__ void cuda_mbarrier_arrive(cuda_mbarrier *b)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(cuda_shared_address(b))
                 : "memory");
#else
    cuda_host_mbarrier_arrive(b, 0);
#endif
}

/* Arrives at the barrier in the same place of block `rank` of the cluster. */
__device__ __forceinline__ void cuda_mbarrier_arrive_at(cuda_mbarrier *b, unsigned rank)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "{ .reg .b32 there;"
        "mapa.shared::cluster.u32 there, %0, %1;"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
            cuda_shared_address(b)),
        "r"(rank)
        : "memory");
#else
    cuda_host_mbarrier_arrive(cuda_host_cluster_map(b, rank), 0);
#endif
}

/* Arrives, and adds `bytes` that copies will bring to this phase. */
__device__ __forceinline__ void cuda_mbarrier_expect(cuda_mbarrier *b, unsigned bytes)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(cuda_shared_address(b)),
        "r"(bytes)
        : "memory");
#else
    cuda_host_mbarrier_arrive(b, bytes);
#endif
}

#ifndef CUDA_HOST_LAYER
/* Whether the phase of this parity has ended; waits for it for a time that the device chooses. */
template <bool CLUSTER>
__device__ __forceinline__ bool cuda_mbarrier_try(cuda_mbarrier *b, unsigned parity)
{
    unsigned done;

    if constexpr (CLUSTER)
        asm volatile(
            "{ .reg .pred done;"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2;"
            "selp.b32 %0, 1, 0, done; }"
            : "=r"(done)
            : "r"(cuda_shared_address(b)), "r"(parity)
            : "memory");
    else
        asm volatile(
            "{ .reg .pred done;"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;"
            "selp.b32 %0, 1, 0, done; }"
            : "=r"(done)
            : "r"(cuda_shared_address(b)), "r"(parity)
            : "memory");
    return done != 0;
}

#ifdef CUDA_WATCHDOG
/* For bring-up: a wait of more than about two seconds becomes a trap. Which one it was is left in
 * the host's memory, for cuda_watchdog_say(), if cuda_watchdog_open() was called in this file.
 * (printf would do it too, but with a call in a kernel ptxas lets no wgmma overlap with others.) */
struct cuda_watchdog_note {
    int block, thread;
    unsigned parity, barrier; /* its address in shared memory */
    unsigned long long word;
};

static __device__ volatile struct cuda_watchdog_note *cuda_watchdog_notes;
static struct cuda_watchdog_note *cuda_watchdog_read;

static inline void cuda_watchdog_open(void)
{
    cudaHostAlloc(&cuda_watchdog_read, sizeof(*cuda_watchdog_read), cudaHostAllocMapped);
    *cuda_watchdog_read = {};
    cudaMemcpyToSymbol(cuda_watchdog_notes, &cuda_watchdog_read, sizeof(cuda_watchdog_read));
}

static inline void cuda_watchdog_say(void)
{
    const struct cuda_watchdog_note *n = cuda_watchdog_read;

    if (n != nullptr && n->barrier != 0)
        printf("block %d thread %d waits for parity %u of the barrier at %#x: %#llx\n", n->block,
               n->thread, n->parity, n->barrier, n->word);
}

template <bool CLUSTER>
__device__ __forceinline__ void cuda_mbarrier_watch(cuda_mbarrier *b, unsigned parity)
{
    constexpr long long patience = 1ll << 32; /* cycles */
    long long start = clock64();

    while (!cuda_mbarrier_try<CLUSTER>(b, parity))
        if (clock64() - start > patience) {
            volatile struct cuda_watchdog_note *n = cuda_watchdog_notes;
            if (n != nullptr) {
                n->block = (int)blockIdx.x, n->thread = (int)threadIdx.x;
                n->parity = parity, n->word = b->word;
                n->barrier = cuda_shared_address(b);
                __threadfence_system();
            }
            __trap();
        }
}
#endif
#endif

#ifdef CUDA_WATCHDOG_PASS
/* The same without a call or a trap, either of which takes setmaxnreg and the overlap of wgmma from
 * a kernel: such a build can be timed, too. A wait of 2^32 to 2^33 cycles is given up and noted
 * (block, thread, address and parity of the barrier, 1), and so are all others from there on until
 * the host has zeroed the note. */
static __device__ volatile unsigned cuda_mbarrier_late[5];

template <bool CLUSTER>
__device__ __forceinline__ void cuda_mbarrier_wait_or_pass(cuda_mbarrier *b, unsigned parity)
{
    unsigned start, now;

    asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(start));
    while (!cuda_mbarrier_try<CLUSTER>(b, parity)) {
        asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(now));
        if (cuda_mbarrier_late[4] != 0)
            break;
        if (now - start >= 2) {
            cuda_mbarrier_late[0] = blockIdx.x;
            cuda_mbarrier_late[1] = threadIdx.x;
            cuda_mbarrier_late[2] = cuda_shared_address(b);
            cuda_mbarrier_late[3] = parity;
            cuda_mbarrier_late[4] = 1;
            break;
        }
    }
}
#endif

/* Until the phase of this parity has ended. What the copies of the phase brought, and what threads
 * of the block wrote before they arrived, is seen then. */
__device__ __forceinline__ void cuda_mbarrier_wait(cuda_mbarrier *b, unsigned parity)
{
#if defined(CUDA_HOST_LAYER)
    cuda_host_mbarrier_wait(b, parity);
#elif defined(CUDA_WATCHDOG)
    cuda_mbarrier_watch<false>(b, parity);
#elif defined(CUDA_WATCHDOG_PASS)
    cuda_mbarrier_wait_or_pass<false>(b, parity);
#else
    asm volatile(
        "{ .reg .pred done;"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
        "@!done bra again; }" ::"r"(cuda_shared_address(b)),
        "r"(parity)
        : "memory");
#endif
}

/* The same where threads of other blocks of the cluster arrive. */
__device__ __forceinline__ void cuda_mbarrier_wait_cluster(cuda_mbarrier *b, unsigned parity)
{
#if defined(CUDA_HOST_LAYER)
    cuda_host_mbarrier_wait(b, parity);
#elif defined(CUDA_WATCHDOG)
    cuda_mbarrier_watch<true>(b, parity);
#elif defined(CUDA_WATCHDOG_PASS)
    cuda_mbarrier_wait_or_pass<true>(b, parity);
#else
    asm volatile(
        "{ .reg .pred done;"
        "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;"
        "@!done bra again; }" ::"r"(cuda_shared_address(b)),
        "r"(parity)
        : "memory");
#endif
}

/* A stage of a ring of STAGES and the parity of its round. */
template <int STAGES> struct cuda_ring_place {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next(void)
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    /* As next(), `steps` times. */
    __host__ __device__ __forceinline__ void advance(int steps)
    {
        int to = stage + steps;

        stage = to % STAGES;
        parity ^= (unsigned)(to / STAGES) & 1;
    }
};

#endif
