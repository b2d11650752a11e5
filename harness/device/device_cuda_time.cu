/* SPDX-License-Identifier: MIT */
/*
 * Running and timing on the stream.
 *
 *     host   | lead | start | launch launch ... | stop |          waits
 *     GPU         [== lead ==]start[kernel][kernel] ... stop
 *
 * The lead is a kernel that spins for some microseconds and touches no memory. While it spins, the
 * host enqueues everything else, so that between the events the GPU never waits for the host: what
 * a launch costs the host is not in the sample. How long that takes is learned from the sample
 * before. The launches of a whole forward in stream mode are the exception: there the host's work
 * is part of what is measured (graph mode takes it away), and the lead only covers the first one.
 *
 * After a flush the overwriting and reading is such a lead by itself; the spinning comes behind it.
 *
 * No work may escape. When `stop` has passed, the legacy default stream must be idle, and the whole
 * device must be idle within a bound; three breaches of that in a row fail the case (one alone may
 * be the host that was late). This finds work on other streams that outlives the sample. Work that
 * runs aside for less than the lead is not found here, but in graph mode (device_cuda_graph.cu).
 *
 * Code in a process of its own (variant.repeat) times itself there, by the host's clock: here
 * nothing may be running meanwhile, least of all a flush.
 */
#include "device/device_cuda_base.h"

extern "C" {
#include "base/text.h"
#include "core/clock.h"
}

static const double lead_least = 10e3, lead_most = 1e6; /* ns */
static const double enqueue_guess = 5e3;                /* ns a launch, before one is known */
static const double late_bound = 5e5;                   /* ns from the last event to idleness */
enum { LATE_MOST = 3 };

__global__ void cuda_lead_kernel(long long cycles)
{
    long long begin = clock64();

    while (clock64() - begin < cycles)
        ;
}

static int enqueue_lead(struct device *d, double ns, struct error *err)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = dim3(1);
    config.blockDim = dim3(1); /* one thread waits as long as a warp */
    config.stream = cuda_of(d)->stream;
    CUDA_DO(d, cudaLaunchKernelEx(&config, cuda_lead_kernel, (long long)(ns * cuda_of(d)->ghz)),
            err);
    return 0;
}

/* `enqueues` launches or replays follow the lead. */
static double lead_ns(const struct cuda *cuda, const struct call *call, unsigned enqueues)
{
    bool host_counts = (call->variant->flags & VARIANT_WHOLE) && !cuda->graph_mode;
    double each = cuda->enqueue_ns > 0 ? cuda->enqueue_ns : enqueue_guess;
    double ns = host_counts ? lead_least : lead_least + 1.25 * each * enqueues;

    return ns < lead_most ? ns : lead_most;
}

/* Launches, or replays of the graph, in a sample of `batch`. */
static unsigned enqueues_of(const struct cuda *cuda, const struct call *call, unsigned batch)
{
    return cuda->graph_mode ? batch / cuda_graph_launches(call, batch) : batch;
}

/* Copies of the tensors take turns. */
static int enqueue_launches(struct device *d, const struct call *call, unsigned enqueues,
                            struct error *err)
{
    const struct cuda *cuda = cuda_of(d);

    for (unsigned i = 0; i < enqueues; i++) {
        if (cuda->graph_mode)
            CUDA_DO(d, cudaGraphLaunch(cuda->graph.exec, cuda->stream), err);
        else
            call->variant->launch(call);
        call = call->next ? call->next : call;
    }
    return cuda_failed(d, cudaGetLastError(), "launch()", __FILE__, __LINE__, err);
}

static int work_escaped(double ns, struct error *err)
{
    char time[TEXT_UNIT_SIZE];

    return error_set(err,
                     "the device worked on for %s after the last event: launch() uses another "
                     "stream than the device's, so its time is not what was measured",
                     text_time(ns, time));
}

/* Waits until nothing is running any more, and sees to it that it was our stream that ran. */
static int finish_sample(struct device *d, struct error *err)
{
    struct cuda *cuda = cuda_of(d);

    CUDA_DO(d, cudaEventSynchronize(cuda->stop), err);
    bool legacy_busy = device_cuda_stream_state(nullptr) == cudaErrorNotReady;
    uint64_t begin = clock_ns();
    CUDA_DO(d, cudaDeviceSynchronize(), err);
    double ns = (double)(clock_ns() - begin);
    cuda->late = ns > late_bound ? cuda->late + 1 : 0;
    return legacy_busy || cuda->late >= LATE_MOST ? work_escaped(ns, err) : 0;
}

/* As repeat() of variants says. */
static int repeat_apart(struct device *d, const struct call *call, unsigned times, uint64_t *ns,
                        struct error *err)
{
    CUDA_DO(d, cudaDeviceSynchronize(), err);
    return call->variant->repeat(call, times, ns, err);
}

int cuda_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
              struct error *err)
{
    struct cuda *cuda = cuda_of(d);
    unsigned enqueues = enqueues_of(cuda, call, batch);
    float ms = 0;

    if (call->variant->repeat)
        return repeat_apart(d, call, batch, ns, err);
    if (cuda->graph_mode && cuda_graph_make(d, call, batch / enqueues, err))
        return -1;
    if (enqueue_lead(d, lead_ns(cuda, call, enqueues), err))
        return -1;
    uint64_t begin = clock_ns();
    CUDA_DO(d, cudaEventRecord(cuda->start, cuda->stream), err);
    if (enqueue_launches(d, call, enqueues, err))
        return -1;
    CUDA_DO(d, cudaEventRecord(cuda->stop, cuda->stream), err);
    cuda->enqueue_ns = (double)(clock_ns() - begin) / enqueues;
    if (finish_sample(d, err))
        return -1;
    CUDA_DO(d, cudaEventElapsedTime(&ms, cuda->start, cuda->stop), err);
    *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return 0;
}

int cuda_run(struct device *d, const struct call *call, struct error *err)
{
    struct cuda *cuda = cuda_of(d);

    if (call->variant->repeat)
        return repeat_apart(d, call, 1, nullptr, err);
    if (cuda->graph_mode && cuda_graph_make(d, call, 1, err))
        return -1;
    if (enqueue_launches(d, call, 1, err))
        return -1;
    CUDA_DO(d, cudaEventRecord(cuda->stop, cuda->stream), err);
    return finish_sample(d, err);
}

/* Reads all of it; the zeros give the compiler no reason to leave it out. */
__global__ void cuda_evict_kernel(uint4 *from, size_t nr)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    unsigned any = 0;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < nr; i += stride) {
        uint4 v = __ldcg(from + i);
        any |= v.x | v.y | v.z | v.w;
    }
    if (any)
        from->x = any;
}

/* Overwrites twice the L2, then reads it: the lines that the overwriting left there would have to
 * be written back in the kernel's time, up to the whole L2 of them. What reading leaves is dropped
 * for nothing. The bytes are not tracked: they belong to no case. */
int cuda_flush(struct device *d, struct error *err)
{
    enum { THREADS = 256, BLOCKS_A_SM = 4 };
    struct cuda *cuda = cuda_of(d);
    size_t bytes = 2 * (size_t)cuda->properties.l2CacheSize;
    cudaLaunchConfig_t config = {};

    if (!cuda->evict)
        CUDA_DO(d, cudaMalloc(&cuda->evict, bytes), err);
    CUDA_DO(d, cudaMemsetAsync(cuda->evict, 0, bytes, cuda->stream), err);
    config.gridDim = dim3((unsigned)(BLOCKS_A_SM * cuda->properties.multiProcessorCount));
    config.blockDim = dim3(THREADS);
    config.stream = cuda->stream;
    CUDA_DO(d,
            cudaLaunchKernelEx(&config, cuda_evict_kernel, static_cast<uint4 *>(cuda->evict),
                               bytes / sizeof(uint4)),
            err);
    return 0;
}

/* What prepare() enqueued is over, and its faults are its own. In graph mode the capture comes
 * before the outputs are poisoned. */
int cuda_begin(struct device *d, const struct call *call, struct error *err)
{
    struct cuda *cuda = cuda_of(d);

    cuda->enqueue_ns = 0;
    cuda->late = 0;
    if (cuda_failed(d, cudaGetLastError(), "prepare()", __FILE__, __LINE__, err))
        return -1;
    if (cuda->graph_mode && cuda_graph_make(d, call, 1, err))
        return -1;
    CUDA_DO(d, cudaDeviceSynchronize(), err);
    return 0;
}

void cuda_end(struct device *d, const struct call *call)
{
    struct error ignored;

    (void)call;
    cuda_graph_drop(cuda_of(d));
    cuda_failed(d, cudaDeviceSynchronize(), "end", __FILE__, __LINE__, &ignored);
}
