/* SPDX-License-Identifier: MIT */
#include "machine/roof_loops_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/memory.h"
#include "core/clock.h"
#include "device/devices.h"
#include "machine/datasheet.h"
#include "machine/measured_roofs_cuda.h"
#include "machine/roof_fill.h"
#include "stats/random.h"
#include "stats/stats.h"
}

constexpr double repetition_ns = 8e6; /* long against the step of the events */
constexpr double patience_ns = 5e8;   /* of one roof, if a repetition takes much longer */
constexpr int least_repetitions = 3;  /* even then */
constexpr int most_work = 1 << 24;    /* launches or rounds in a repetition */
constexpr int dram_over_l2 = 32;      /* so little of it is still in the L2 the next time */
constexpr unsigned overhead_batch = 256;

/* The GPU as two devices, of which all roofs are measured; memory belongs to the first. */
struct bench {
    struct device stream, graph;
    struct cuda_loop loop;
    struct roof *out;
    int nr;
};

/* A loop as the variant of a call. It is no kernel of the registry: nothing but launch() is used.
 */
struct timing {
    struct variant variant;
    struct call call;
};

static void timing_init(struct timing *w, struct device *d, cuda_loop_launch *launch,
                        struct cuda_loop *loop, unsigned flags)
{
    *w = {};
    w->variant.launch = launch;
    w->variant.device = DEVICE_CUDA;
    w->variant.flags = flags;
    w->call.variant = &w->variant;
    w->call.device = d;
    w->call.state = loop;
}

/* ---- Repetitions ---- */

/* ns of `batch` launches. */
static int timed(struct timing *w, unsigned batch, double *ns, struct error *err)
{
    uint64_t whole = 0;
    struct device *d = w->call.device;
    int rc = d->ops->time(d, &w->call, batch, &whole, err);

    *ns = (double)whole;
    return rc;
}

/* Doubles *amount (rounds of the loop, or launches) until a repetition is long enough. */
static int calibrate(struct timing *w, int *rounds, unsigned *batch, struct error *err)
{
    double ns = 0;

    for (;;) {
        if (timed(w, *batch, &ns, err))
            return -1;
        int amount = rounds ? *rounds : (int)*batch;
        if (ns >= repetition_ns / 2 || amount >= most_work)
            return 0;
        if (rounds)
            *rounds *= 2;
        else
            *batch *= 2;
    }
}

static int repeat(struct timing *w, unsigned batch, struct roof_times *times, struct error *err)
{
    double ns[ROOF_REPETITIONS], spent = 0;
    int nr = 0;

    while (nr < ROOF_REPETITIONS && (nr < least_repetitions || spent < patience_ns)) {
        if (timed(w, batch, &ns[nr], err))
            return -1;
        spent += ns[nr];
        ns[nr++] /= batch;
    }
    *times = roof_times_of(ns, (size_t)nr);
    return 0;
}

/* Times of one launch; `rounds` is what calibration may change, else the number of launches. */
static int measure(struct device *d, cuda_loop_launch *launch, struct cuda_loop *loop, int *rounds,
                   struct roof_times *times, struct error *err)
{
    struct timing w;
    unsigned batch = 1;

    timing_init(&w, d, launch, loop, 0);
    int rc = d->ops->begin(d, &w.call, err);
    if (rc == 0)
        rc = calibrate(&w, rounds, &batch, err);
    if (rc == 0)
        rc = repeat(&w, batch, times, err);
    d->ops->end(d, &w.call);
    return rc;
}

static struct roof *add_roof(struct bench *b, const char *name, const char *unit)
{
    struct roof *c = &b->out[b->nr++];

    roof_init(c, &b->stream, name, unit);
    return c;
}

/* ---- Bytes ---- */

static int memory(struct bench *b, int64_t bytes, struct error *err)
{
    b->loop.bytes = bytes;
    b->loop.from = device_alloc(&b->stream, (size_t)bytes, err);
    b->loop.to = b->loop.from ? device_alloc(&b->stream, (size_t)bytes, err) : nullptr;
    if (!b->loop.to)
        return -1;
    cudaStream_t stream = device_cuda_stream(&b->stream);
    return CUDA_TRY(cudaMemsetAsync(b->loop.from, 0, (size_t)bytes, stream), err) ||
                   CUDA_TRY(cudaMemsetAsync(b->loop.to, 0, (size_t)bytes, stream), err)
               ? -1
               : 0;
}

/* Copying has two candidates, of which the better one counts: a roof is a lower bound of what the
 * machine can do, and the loop alone can be too low a bound. Which order of reads and writes the
 * memory likes best differs among devices, and the runtime's own copy is tuned for each: a kernel
 * that came closer to it than the loop does would stand above its roof. */
static int measure_dram(struct bench *b, struct error *err)
{
    struct roof_times read, copy, copy_runtime;
    struct roof runtime;

    b->loop.rounds = 1;
    if (measure(&b->stream, cuda_loop_read, &b->loop, nullptr, &read, err) ||
        measure(&b->stream, cuda_loop_copy, &b->loop, nullptr, &copy, err) ||
        measure(&b->stream, cuda_loop_memcpy, &b->loop, nullptr, &copy_runtime, err))
        return -1;
    struct roof *bandwidth = add_roof(b, "bandwidth.dram", "B/s");
    struct roof *copying = add_roof(b, "copy.dram", "B/s");
    roof_init(&runtime, &b->stream, "copy.dram", "B/s");
    roof_set_rate(bandwidth, (double)b->loop.bytes, &read);
    roof_set_rate(copying, 2.0 * (double)b->loop.bytes, &copy);
    roof_set_rate(&runtime, 2.0 * (double)b->loop.bytes, &copy_runtime);
    roof_raise(copying, &runtime);
    roof_raise(bandwidth, copying);
    return 0;
}

static int64_t l2_bytes(const struct bench *b)
{
    return device_cuda_properties(&b->stream)->l2CacheSize;
}

/* What stays in the L2 wherever it lies, in pieces that every loop can take. */
static struct cuda_loop within_l2(const struct bench *b)
{
    struct cuda_loop loop = b->loop;

    loop.bytes = l2_bytes(b) / 4 / 4096 * 4096;
    loop.rounds = 1;
    return loop;
}

static int measure_l2(struct bench *b, struct error *err)
{
    struct cuda_loop loop = within_l2(b);
    struct roof_times times;

    if (measure(&b->stream, cuda_loop_read, &loop, &loop.rounds, &times, err))
        return -1;
    roof_set_rate(add_roof(b, "bandwidth.L2", "B/s"), (double)loop.bytes * loop.rounds, &times);
    roof_set_value(add_roof(b, "capacity.L2", "B"), (double)l2_bytes(b));
    return 0;
}

/* Medians of single launches, each after a flush and each after one like it. */
static int compare_flushed(struct bench *b, struct timing *w, double *ratio, struct error *err)
{
    double cold[ROOF_REPETITIONS], warm[ROOF_REPETITIONS];

    for (int i = 0; i < ROOF_REPETITIONS; i++)
        if (b->stream.ops->flush(&b->stream, err) || timed(w, 1, &cold[i], err) ||
            timed(w, 1, &warm[i], err))
            return -1;
    *ratio = stats_median(cold, ROOF_REPETITIONS) / stats_median(warm, ROOF_REPETITIONS);
    return 0;
}

static int measure_flush(struct bench *b, struct error *err)
{
    struct cuda_loop loop = within_l2(b);
    struct timing w;
    double ratio = 0;

    timing_init(&w, &b->stream, cuda_loop_touch, &loop, 0);
    if (b->stream.ops->begin(&b->stream, &w.call, err))
        return -1;
    int rc = compare_flushed(b, &w, &ratio, err);
    b->stream.ops->end(&b->stream, &w.call);
    if (rc == 0)
        roof_set_value(add_roof(b, "flush.cold_over_warm", "x"), ratio);
    return rc;
}

static int measure_bytes(struct bench *b, struct error *err)
{
    int64_t free_bytes = b->stream.ops->available(&b->stream);
    int64_t bytes = dram_over_l2 * l2_bytes(b);
    int64_t fitting = bytes < free_bytes / 4 ? bytes : free_bytes / 4;

    if (memory(b, fitting / 4096 * 4096, err))
        return -1;
    return measure_dram(b, err) || measure_l2(b, err) || measure_flush(b, err) ? -1 : 0;
}

/* ---- Arithmetic ---- */

struct arithmetic {
    const char *name, *roof; /* roof: also counts for this one, nullptr for none */
    cuda_loop_launch *launch;
    double (*flops)(const cudaDeviceProp *p, int rounds);
    bool sm90a;
};

template <bool BF16> static double mma_flops(const cudaDeviceProp *p, int rounds)
{
    return cuda_loop_mma_flops(p, rounds, BF16);
}

#ifdef HARNESS_HAVE_SM90A
template <int BYTES> static double wgmma_flops(const cudaDeviceProp *p, int rounds)
{
    return cuda_loop_wgmma_flops(p, rounds, BYTES);
}
#endif

/* A roof stands where it is named first, and rises with what comes later. */
static const struct arithmetic arithmetics[] = {
    { "flops.fp32", nullptr, cuda_loop_fma, cuda_loop_fma_flops, false },
    { "mma.tf32", "flops.tf32", cuda_loop_mma_tf32, mma_flops<false>, false },
    { "mma.bf16", "flops.bf16", cuda_loop_mma_bf16, mma_flops<true>, false },
#ifdef HARNESS_HAVE_SM90A
    { "wgmma.tf32", "flops.tf32", cuda_loop_wgmma_tf32, wgmma_flops<4>, true },
    { "wgmma.bf16", "flops.bf16", cuda_loop_wgmma_bf16, wgmma_flops<2>, true },
    { "wgmma.fp8", "flops.fp8", cuda_loop_wgmma_fp8, wgmma_flops<1>, true },
#endif
};

static struct roof *find_roof(struct bench *b, const char *name)
{
    for (int i = 0; i < b->nr; i++)
        if (strcmp(b->out[i].name, name) == 0)
            return &b->out[i];
    return nullptr;
}

static int measure_arithmetic(struct bench *b, const struct arithmetic *a, struct error *err)
{
    const cudaDeviceProp *p = device_cuda_properties(&b->stream);
    struct roof_times times;

    b->loop.rounds = 1;
    if (measure(&b->stream, a->launch, &b->loop, &b->loop.rounds, &times, err))
        return error_prefix(err, "%s", a->name);
    struct roof *c = add_roof(b, a->name, "FLOP/s");
    roof_set_rate(c, a->flops(p, b->loop.rounds), &times);
    if (!a->roof)
        return 0;
    struct roof *roof = find_roof(b, a->roof);
    roof_raise(roof ? roof : add_roof(b, a->roof, "FLOP/s"), c);
    return 0;
}

static int measure_arithmetics(struct bench *b, struct error *err)
{
    const cudaDeviceProp *p = device_cuda_properties(&b->stream);
    bool is_sm90 = p->major == 9 && p->minor == 0;

    for (const struct arithmetic &a : arithmetics)
        if ((is_sm90 || !a.sm90a) && measure_arithmetic(b, &a, err))
            return -1;
    return 0;
}

/* ---- Overheads ---- */

static int measure_overhead(struct bench *b, const char *name, struct device *d, unsigned flags,
                            struct error *err)
{
    struct roof_times times;
    struct timing w;

    timing_init(&w, d, cuda_loop_empty, &b->loop, flags);
    int rc = d->ops->begin(d, &w.call, err);
    if (rc == 0)
        rc = repeat(&w, overhead_batch, &times, err);
    d->ops->end(d, &w.call);
    if (rc == 0)
        roof_set_time(add_roof(b, name, "ns"), &times);
    return rc;
}

/* Distances of events that follow each other, ascending, in ns. */
static int event_intervals(struct device *d, double *ns, int nr, struct error *err)
{
    cudaEvent_t *events = (cudaEvent_t *)memory_zeroed((size_t)nr + 1, sizeof(*events));
    cudaStream_t stream = device_cuda_stream(d);
    float ms = 0;
    int rc = 0;

    for (int i = 0; rc == 0 && i <= nr; i++)
        rc = CUDA_TRY(cudaEventCreate(&events[i]), err);
    for (int i = 0; rc == 0 && i <= nr; i++)
        rc = CUDA_TRY(cudaEventRecord(events[i], stream), err);
    if (rc == 0)
        rc = CUDA_TRY(cudaStreamSynchronize(stream), err);
    for (int i = 0; rc == 0 && i < nr; i++) {
        rc = CUDA_TRY(cudaEventElapsedTime(&ms, events[i], events[i + 1]), err);
        ns[i] = (double)ms * 1e6;
    }
    for (int i = 0; i <= nr; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    free(events);
    stats_sort(ns, (size_t)nr);
    return rc;
}

/* Two intervals differ by a multiple of the step, or by rounding of the ms in which they come. */
static int measure_resolution(struct bench *b, struct error *err)
{
    enum { INTERVALS = 512 };
    constexpr double rounding = 0.5; /* ns */
    double ns[INTERVALS], step = INFINITY;

    if (event_intervals(&b->stream, ns, INTERVALS, err))
        return -1;
    for (int i = 1; i < INTERVALS; i++)
        if (ns[i] - ns[i - 1] > rounding && ns[i] - ns[i - 1] < step)
            step = ns[i] - ns[i - 1];
    if (isfinite(step)) /* else all are the same, which tells nothing */
        roof_set_value(add_roof(b, "event.resolution", "ns"), step);
    return 0;
}

static int measure_overheads(struct bench *b, struct error *err)
{
    return measure_overhead(b, "overhead.launch", &b->stream, 0, err) ||
                   measure_overhead(b, "overhead.graph_node", &b->graph, 0, err) ||
                   measure_overhead(b, "overhead.graph_launch", &b->graph, VARIANT_WHOLE, err) ||
                   measure_resolution(b, err)
               ? -1
               : 0;
}

/* ---- All together ---- */

static int open_both(struct bench *b, const struct device *like, struct error *err)
{
    int index = device_cuda_index(like);
    char spec[32];

    snprintf(spec, sizeof(spec), "cuda:%d", index);
    if (device_open(&b->stream, spec, err))
        return -1;
    snprintf(spec, sizeof(spec), "cuda:%d,graph", index);
    if (device_open(&b->graph, spec, err))
        return -1;
    return device_start(&b->stream, err) || device_start(&b->graph, err) ? -1 : 0;
}

static int fill_values(struct bench *b, struct error *err)
{
    float values[CUDA_LOOP_VALUES];
    float *on_device = (float *)device_alloc(&b->stream, sizeof(values), err);

    b->loop.values = on_device;
    b->loop.sink = (uint32_t *)device_alloc(&b->stream, 16, err);
    if (!b->loop.values || !b->loop.sink)
        return -1;
    random_fill_normal(values, CUDA_LOOP_VALUES, 0, 1, 1);
    return b->stream.ops->upload(&b->stream, on_device, values, sizeof(values), err);
}

static int bench_open(struct bench *b, const struct device *like, struct roof *out,
                      struct error *err)
{
    memset(b, 0, sizeof(*b));
    b->out = out;
    return open_both(b, like, err) || fill_values(b, err) ? -1 : 0;
}

static void bench_close(struct bench *b)
{
    void *const memories[] = { b->loop.from, b->loop.to, const_cast<float *>(b->loop.values),
                               b->loop.sink };

    for (void *memory : memories)
        if (memory)
            device_free(&b->stream, memory);
    device_close(&b->graph);
    device_close(&b->stream);
}

static void add_data_sheet(struct bench *b)
{
    struct datasheet_gpu sheet = datasheet_find_gpu(b->stream.model);
    char name[48];

    find_roof(b, "bandwidth.dram")->spec = sheet.bandwidth;
    for (int math = 0; math < MATH_NR; math++) {
        snprintf(name, sizeof(name), "flops.%s", math_name((enum math)math));
        struct roof *c = find_roof(b, name);
        if (c)
            c->spec = sheet.flops[math];
    }
}

int roofs_cuda(struct device *device, struct roof *out, struct error *err)
{
    struct bench b;

    int rc = bench_open(&b, device, out, err);
    if (rc == 0)
        rc = measure_bytes(&b, err) || measure_arithmetics(&b, err) || measure_overheads(&b, err)
                 ? -1
                 : 0;
    if (rc == 0)
        add_data_sheet(&b);
    int nr = b.nr;
    bench_close(&b);
    return rc ? -1 : nr;
}
