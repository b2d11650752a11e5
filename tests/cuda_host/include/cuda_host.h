/* SPDX-License-Identifier: MIT */
/*
 * The host layer's own functions: what the wrappers in kernels/cuda call in place of PTX, and what
 * tests use to look at the layer and to make it fail.
 *
 * How it runs. A launch runs at once in the calling thread of the operating system, two or three
 * blocks at a time (one, where they are large) in a pseudo-random order; the blocks of a cluster
 * run at the same time, and all blocks of a cooperative launch do, as many as they are. The threads
 * of a block are fibers; one runs until it waits, and the next one is chosen pseudo-randomly, by
 * another rule after every barrier; a block that did an atomic may stay behind as long as others
 * can go on. So code that lacks a barrier does not get away with it for long. CUDA_HOST_SEED=N
 * chooses another order; the same seed gives the same order. Shared memory is filled with 0xff
 * (NaN) before every block, device memory when it is allocated. A spinning thread spins for ever,
 * unless it calls cuda_host_poll() or __nanosleep(): then all others that can go on do so first.
 *
 * What it finds, each with a message on stderr that names the launch; the launch then fails with
 * cudaErrorLaunchFailure, which stays as on a device, and cudaGetErrorString() repeats the message:
 *   - a barrier or warp function that not all threads of the block or lanes of the warp reach, or
 *     that they reach at different places of the source; masks other than all 32 lanes;
 *   - a thread that ends while it has cp.async copies under way; cp.async with a wrong alignment
 *     or outside shared memory; the same of bulk copies when the blocks of a cluster end;
 *   - writes just behind the shared memory of the block or behind an allocation (AddressSanitizer
 *     finds reads and writes, at the place).
 *   - with AddressSanitizer: host code that reads or writes device memory (use-after-poison).
 * A launch outside the device's limits fails with the code that CUDA has for it, with a message; so
 * does one whose shared memory is as long as its data and no whole vectors of 16 bytes: code that
 * nvcc makes of a loop over floats reads beyond it (no source shows it; memcheck on a device does).
 *
 * CUDA_HOST=SPEC in the environment, or cuda_host_inject(SPEC): words separated by commas.
 *   devices=N          so many devices (default 1); 0: cudaErrorNoDevice
 *   no-driver          cudaErrorInsufficientDriver everywhere, driver version 0
 *   driver=N           driver version, such as 12040; below the runtime's: as no-driver
 *   capability=M.N     default 9.0; below 8.0 no kernel can be launched. lag: streams, see lag.h
 *   memory=SIZE        device memory in bytes, or with K, M or G (default 8G)
 *   fail=CALL:N:CODE   the Nth call of CALL from now on (first is 1) returns the CUDA error CODE;
 *                      CALL is a function of the runtime API, or launch for kernel launches, or
 *                      cublasLtMatmulAlgoGetHeuristic (801: not supported, 98: finds none).
 *                      Codes that spoil a context stay; a launch with such a code is enqueued, and
 *                      the error shows in what comes after, as on a device.
 */
#ifndef CUDA_HOST_H
#define CUDA_HOST_H

#include <stddef.h>
#include <stdint.h>

/* A place in the source, taken where it is a default argument. */
struct cuda_host_site {
    const char *file;
    int line;

    static constexpr cuda_host_site here(const char *file_ = __builtin_FILE(),
                                         int line_ = __builtin_LINE())
    {
        return { file_, line_ };
    }
};

/* ---- Within kernels ---- */

/* The block's dynamic shared memory, aligned to 1024 bytes, and its size in bytes. */
void *cuda_host_shared(void);
size_t cuda_host_shared_size(void);

/* Each lane gives a pointer to its own data; when all 32 have met, each gets all 32 pointers. The
 * data must stay until all have met again in cuda_host_warp_done(). */
const void *const *cuda_host_warp_publish(const void *mine,
                                          struct cuda_host_site site = cuda_host_site::here());
void cuda_host_warp_done(struct cuda_host_site site = cuda_host_site::here());

/*
 * cp.async of `bytes` (4, 8 or 16, both pointers aligned to it): `from_global` bytes are copied and
 * the rest is zeros, not now but in the cp_wait() that waits for its group. Until then the target
 * holds 0xff, for a device may write there from now on.
 */
void cuda_host_cp_async(void *shared, const void *global, unsigned bytes, unsigned from_global,
                        struct cuda_host_site site = cuda_host_site::here());
/* Ends a group of the calling thread. */
void cuda_host_cp_commit(void);
/* Waits until at most `allow` of its groups are under way. */
void cuda_host_cp_wait(int allow, struct cuda_host_site site = cuda_host_site::here());

/* In a loop that waits for what another thread writes to global memory. */
void cuda_host_poll(void);

/* ---- Clusters: blocks that run at the same time ---- */

/* This block within its cluster, and what lies at the place of `shared` in block `rank` of it. */
unsigned cuda_host_cluster_rank(void);
void *cuda_host_cluster_map(const void *shared, unsigned rank,
                            struct cuda_host_site site = cuda_host_site::here());
/* The barrier of all threads of the cluster, in two halves that take turns. */
void cuda_host_cluster_arrive(struct cuda_host_site site = cuda_host_site::here());
void cuda_host_cluster_wait(struct cuda_host_site site = cuda_host_site::here());

/* An mbarrier is 8 bytes of shared memory. A phase ends when `arrivals` have come and as many bytes
 * as were expected; waiting is for the phase of a parity. */
void cuda_host_mbarrier_init(void *barrier, unsigned arrivals);
void cuda_host_mbarrier_arrive(void *barrier, unsigned expect_bytes,
                               struct cuda_host_site site = cuda_host_site::here());
/* Bytes that were expected, or will be in this phase, are there. */
void cuda_host_mbarrier_complete(void *barrier, unsigned bytes);
void cuda_host_mbarrier_wait(void *barrier, unsigned parity,
                             struct cuda_host_site site = cuda_host_site::here());
/* fence.mbarrier_init, for who asks: copies that end on it and other blocks' arrivals need it. */
void cuda_host_mbarrier_publish(void *barrier);
bool cuda_host_mbarrier_published(const void *barrier);
/* As arrive, by a thread of another block; whether one ever did. */
void cuda_host_mbarrier_arrive_remote(void *barrier,
                                      struct cuda_host_site site = cuda_host_site::here());
bool cuda_host_mbarrier_remote(const void *barrier);
/* cp.async.bulk: the target is 0xff from now on, and what it should be from some moment on before
 * its barrier's phase ends. */
void cuda_host_bulk_copy(void *shared, const void *global, unsigned bytes, void *barrier,
                         struct cuda_host_site site = cuda_host_site::here());

/* ---- Around kernels ---- */

/* Calls the kernel `name` in messages, where the compiler's spelling of a template function has
 * "KERNEL = name" in it (__PRETTY_FUNCTION__), or is the name itself. */
void cuda_host_name_kernel(const void *kernel, const char *name);

/* ---- For tests ---- */

/* Adds SPEC (above) to what is in force. 0, or -1: not understood, told on stderr. */
int cuda_host_inject(const char *spec);
/* A new process, as it were: no sticky error, nothing allocated, what CUDA_HOST and CUDA_HOST_SEED
 * say now. Memory, streams and events that were not freed are. */
void cuda_host_reset(void);
/* Programmatic dependent launch, where a kernel can wait for the one in front (tests/cuda_asm): the
 * first blocks of a launch that may start early run without what that one has written, until all
 * their threads wait; what they read before is old. It takes copies of all device memory at each
 * launch, so it is off. */
extern bool cuda_host_dependents;
/* Whether loads and stores of sources that are watched are held against the fences between blocks
 * (order.h of the layer); true. For kernels that tell each other by flags that are no atomics. */
extern bool cuda_host_order;
/* Bytes of device memory allocated now. */
size_t cuda_host_allocated(void);
/* Kernels that ran so far in this process, those of replayed graphs too. */
uint64_t cuda_host_launches(void);
/* While one lives, host code may follow device pointers, as kernels and copies do: for a test that
 * looks at device memory itself. */
struct cuda_host_access {
    cuda_host_access(void);
    ~cuda_host_access();
    cuda_host_access(const cuda_host_access &) = delete;
};
/* The message of the last failed launch, or "". Stays until cuda_host_reset(). */
const char *cuda_host_report(void);

#endif
