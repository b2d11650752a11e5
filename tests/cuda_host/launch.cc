/* SPDX-License-Identifier: MIT */
/* Launches: what a device refuses, and the walk over the grid. */
#include "block.h"
#include "device.h"
#include "driver.h"
#include "memory.h"
#include "order.h"
#include "report.h"
#include "stream.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <numeric>

namespace cuda_host
{

enum : unsigned { MOST_CLUSTER = 16, MOST_TOGETHER = 1024 };
/* nvcc makes loops over floats in shared memory vectors of so many bytes, and reads the last one
 * whole however many there are: what is as long as the data and ends within one is read beyond, by
 * code that is not in the source. */
enum : unsigned { SHARED_VECTOR = 16 };

static bool any_zero(const dim3 &v)
{
    return v.x == 0 || v.y == 0 || v.z == 0;
}

static bool exceeds(const dim3 &v, const int (&limit)[3])
{
    return v.x > static_cast<unsigned>(limit[0]) || v.y > static_cast<unsigned>(limit[1]) ||
           v.z > static_cast<unsigned>(limit[2]);
}

static uint64_t volume(const dim3 &v)
{
    return static_cast<uint64_t>(v.x) * v.y * v.z;
}

/* What is wrong with a launch; null: nothing. */
static const char *launch_wrong(const struct launch *l, const cudaDeviceProp *p, cudaError_t *code)
{
    *code = cudaErrorInvalidConfiguration;
    if (any_zero(l->grid) || any_zero(l->block))
        return "a size is 0";
    if (exceeds(l->block, p->maxThreadsDim) ||
        volume(l->block) > static_cast<uint64_t>(p->maxThreadsPerBlock))
        return "more threads than a block can have";
    if (exceeds(l->grid, p->maxGridSize))
        return "more blocks than a grid can have";
    if (l->grid.x % l->cluster)
        return "the grid is not whole clusters";
    if (l->cluster > MOST_CLUSTER || (l->cluster & (l->cluster - 1)))
        return "a cluster is a power of two of at most 16 blocks";
    *code = cudaErrorInvalidValue;
    if (device_shared_varies(l->kernel, l->shared_bytes) && l->shared_bytes % SHARED_VECTOR)
        return "its shared memory is as long as its data and ends within 16 bytes, which "
               "compilers read as a whole";
    if (l->shared_bytes > p->sharedMemPerBlockOptin)
        return "more shared memory than a block can have";
    if (l->shared_bytes > device_shared_allowed(l->kernel))
        return "more shared memory than cudaFuncSetAttribute() has allowed this kernel";
    *code = cudaErrorNoKernelImageForDevice;
    if (l->cluster > 1 && p->major < 9)
        return "clusters are for compute capability 9.0 and later";
    return p->major < 8 ? "compiled for compute capability 8.0 and later" : nullptr;
}

static cudaError_t launch_check(const struct launch *l)
{
    cudaDeviceProp p;
    cudaError_t code;
    int device = 0;

    cudaGetDevice(&device);
    device_describe(&p, device);
    const char *wrong = launch_wrong(l, &p, &code);
    if (!wrong)
        return cudaSuccess;
    fprintf(stderr, "CUDA host layer: %s cannot be launched: %s\n", report_launch(l).c_str(),
            wrong);
    return code;
}

/* What runs at the same time, in a pseudo-random order: a step without a common factor visits each
 * once. */
static void grid_walk(struct block *b, const struct launch *l)
{
    uint64_t together = b->members.size(), count = volume(l->grid) / together;
    uint64_t at = random_below(&b->random, count);
    uint64_t step = count > 1 ? 1 + random_below(&b->random, count - 1) : 1;

    while (std::gcd(step, count) != 1)
        step++;
    for (uint64_t i = 0; i < count && b->failure.empty(); i++, at = (at + step) % count) {
        for (const struct member &m : b->members)
            memset(m.shared, 0xff, l->shared_bytes);
        block_run(b, at * together);
        block_reveal(b);
        for (const struct member &m : b->members)
            if (b->failure.empty() && !guarded_intact(m.shared, l->shared_bytes))
                b->failure = report_launch(l) + ": wrote behind the shared memory of a block";
    }
}

/* How many clusters run at the same time, where they are small: up to three, so that what blocks
 * leave for each other in global memory is looked at while others still write. */
static unsigned clusters_together(const struct launch *l, uint64_t number)
{
    uint64_t clusters = volume(l->grid) / l->cluster, threads = volume(l->block) * l->cluster;

    for (unsigned some = 2 + number % 2; some > 1; some--)
        if (clusters % some == 0 && threads * some <= MOST_TOGETHER)
            return some;
    return 1;
}

/* Has the first blocks of `l` run, up to where they wait for it, without what the kernel before has
 * written. What was before that one is kept for the next. */
static void hide_predecessor(struct block *b, const struct launch *l)
{
    static struct memory_image last;
    auto now = std::make_shared<struct memory_image>(memory_look());

    b->reveal = nullptr;
    if (l->early && !last.parts.empty()) {
        auto before = std::make_shared<struct memory_image>(std::move(last));
        memory_restore(*before);
        b->reveal = [before, now] { memory_apply(*before, *now); };
    }
    last = *now;
}

static cudaError_t grid_run(const struct launch *l)
{
    struct block *b = block_of_thread();
    uint64_t number = driver()->launches++;

    block_prepare(b, l,
                  l->cooperative ? static_cast<unsigned>(volume(l->grid))
                                 : l->cluster * clusters_together(l, number),
                  driver()->setup.seed * 1000003 + number);
    bool memory = true;
    for (struct member &m : b->members) {
        m.shared = static_cast<unsigned char *>(guarded_allocate(1024, l->shared_bytes));
        memory = memory && m.shared;
    }
    if (memory && cuda_host_dependents)
        hide_predecessor(b, l);
    order_begin(l);
    if (memory)
        grid_walk(b, l);
    b->reveal = nullptr;
    for (struct member &m : b->members)
        guarded_free(m.shared);
    if (!memory)
        return driver_stick(cudaErrorLaunchFailure, "no memory for a block's shared memory");
    return b->failure.empty() ? cudaSuccess : driver_stick(cudaErrorLaunchFailure, b->failure);
}

/* A fault that a device would meet while the kernel runs takes its place on the stream. */
static cudaError_t enqueue(cudaStream_t stream, std::shared_ptr<const struct launch> l)
{
    cudaError_t fault = driver_fault("launch");

    if (fault != cudaSuccess && !error_is_sticky(fault))
        return fault;
    return stream_enqueue(stream, { cudaGraphNodeTypeKernel, [fault, l] {
                                       return fault == cudaSuccess ? grid_run(l.get())
                                                                   : driver_stick(fault, "");
                                   } });
}

} // namespace cuda_host

using namespace cuda_host;

bool cuda_host_dependents = false;

static bool attributes_of(const cudaLaunchConfig_t *config, struct launch *l)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeClusterDimension && a->val.clusterDim.x > 0 &&
            a->val.clusterDim.y == 1 && a->val.clusterDim.z == 1)
            l->cluster = a->val.clusterDim.x;
        else if (a->id == cudaLaunchAttributeCooperative)
            l->cooperative = a->val.cooperative != 0;
        else if (a->id == cudaLaunchAttributeProgrammaticStreamSerialization)
            l->early = a->val.programmaticStreamSerializationAllowed != 0;
        else
            return false;
    }
    return true;
}

cudaError_t cuda_host_launch(const cudaLaunchConfig_t *config, const void *kernel,
                             std::function<void()> thread)
{
    return driver_enter("cudaLaunchKernelEx", [&]() -> cudaError_t {
        auto l = std::make_shared<struct launch>();
        l->cluster = 1;
        if (!config || !attributes_of(config, l.get()))
            return cudaErrorInvalidValue;
        l->grid = config->gridDim, l->block = config->blockDim;
        l->shared_bytes = config->dynamicSmemBytes;
        l->kernel = kernel, l->thread = std::move(thread);
        cudaError_t rc = launch_check(l.get());
        return rc == cudaSuccess ? enqueue(config->stream, l) : rc;
    });
}

long long clock64(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
