/* SPDX-License-Identifier: MIT */
#include "machine/measured_roofs.h"

#include "base/memory.h"
#include "core/clock.h"
#include "host/host_cache.h"
#include "host/host_memory.h"
#include "machine/datasheet.h"
#include "machine/measured_roofs_cuda.h"
#include "machine/roof_fill.h"
#include "machine/roof_loops.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Long against the timer and the fork of the team; `quick` is for trying out (HARNESS_ROOFS). */
static const double repetition_ns = 8e6, quick_repetition_ns = 4e5;

/* A walk through memory: a pass goes on where the last one ended, so that what it meets has left
 * the caches since the walk was there, and need not be all of the buffer. */
enum { WALK_STEP = 1 << 22, QUICK_WALK = 1 << 27, QUICK_L3 = 1 << 24 };
static const size_t longest_walk = (size_t)1 << 30;

enum pattern { READ, COPY, STREAM, FMA, DOTS_BF16, DOTS_INT8, EMPTY };

struct job {
    enum pattern pattern;
    int threads;
    size_t bytes; /* of a pass of one thread; copies use its halves */
    size_t steps; /* passes that its buffer has room for */
    double repetition_ns;
};

static bool is_quick(void)
{
    const char *how = getenv("HARNESS_ROOFS");

    return how && strcmp(how, "quick") == 0;
}

static struct job job_of(const struct device *d, enum pattern pattern, size_t bytes, size_t steps)
{
    return (struct job) { pattern, d->threads, bytes, steps,
                          is_quick() ? quick_repetition_ns : repetition_ns };
}

static enum roof_dot dot_of(enum pattern pattern)
{
    return pattern == DOTS_INT8 ? ROOF_DOT_INT8 : ROOF_DOT_BF16;
}

static void run_pass(const struct job *job, char *buffer)
{
    size_t half = job->bytes / 2;

    if (job->pattern == READ)
        roof_read(buffer, job->bytes);
    else if (job->pattern == COPY)
        roof_copy(buffer, buffer + half, half);
    else if (job->pattern == STREAM)
        roof_stream(buffer, buffer + half, half);
    else if (job->pattern == DOTS_BF16 || job->pattern == DOTS_INT8)
        roof_dots(dot_of(job->pattern), job->bytes);
    else
        roof_fma(job->bytes);
}

static double thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* All threads, each on its own buffer. By the processor time of the slowest, not by the clock on
 * the wall: a program beside us that takes a core away makes us late, but the roof no lower. */
static double timed_passes(const struct job *job, char **buffers, long first, long passes)
{
    double longest = 0;

#pragma omp parallel num_threads(job->threads) reduction(max : longest)
    {
        char *buffer = buffers[omp_get_thread_num()];
        double start = thread_ns();
        for (long i = 0; i < passes; i++)
            run_pass(job, buffer + job->bytes * ((size_t)(first + i) % job->steps));
        longest = thread_ns() - start;
    }
    return longest;
}

static double timed_forks(const struct job *job, long passes)
{
    uint64_t start = clock_ns();

    for (long i = 0; i < passes; i++) {
#pragma omp parallel num_threads(job->threads)
        __asm__ volatile("" ::: "memory");
    }
    return (double)(clock_ns() - start);
}

/* `walked`: passes so far. */
static double time_pattern(const struct job *job, char **buffers, long passes, long *walked)
{
    double ns = job->pattern == EMPTY ? timed_forks(job, passes)
                                      : timed_passes(job, buffers, *walked, passes);

    *walked += passes;
    return ns;
}

static struct roof_times measure_pattern(const struct job *job, char **buffers)
{
    double times[ROOF_REPETITIONS];
    long passes = 1, walked = 0;

    while (time_pattern(job, buffers, passes, &walked) < job->repetition_ns / 2 && passes < 1 << 28)
        passes *= 2;
    for (int i = 0; i < ROOF_REPETITIONS; i++)
        times[i] = time_pattern(job, buffers, passes, &walked) / (double)passes;
    return roof_times_of(times, ROOF_REPETITIONS);
}

static void free_buffers(struct device *d, char **buffers)
{
    for (int i = 0; i < d->threads; i++)
        device_free(d, buffers[i]);
    free(buffers);
}

/* The device's own memory (huge pages where large), first touched by the thread that uses it. NULL:
 * there is not as much. */
static char **make_buffers(struct device *d, size_t bytes, struct error *err)
{
    char **buffers = memory_zeroed((size_t)d->threads, sizeof(*buffers));

    for (int i = 0; i < d->threads; i++) {
        buffers[i] = device_alloc(d, bytes, err);
        if (!buffers[i]) {
            free_buffers(d, buffers);
            return NULL;
        }
    }
#pragma omp parallel num_threads(d->threads)
    memset(buffers[omp_get_thread_num()], 1, bytes);
    return buffers;
}

/* One roof, each byte read or written once. */
static struct roof measure_rate(struct device *d, const char *name, enum pattern pattern,
                                size_t bytes, size_t steps, char **buffers)
{
    struct job job = job_of(d, pattern, bytes, steps);
    struct roof_times ns = measure_pattern(&job, buffers);
    struct roof c;

    roof_begin(&c, d, name);
    roof_set_rate(&c, (double)bytes * d->threads, &ns);
    return c;
}

/* By passes of `most` bytes a thread, or a little less: whole cache lines in each half, however
 * many threads share a size. `steps` of them make the buffer. Their number; -1: no memory. */
static int measure_level(struct device *d, const char *level, size_t most, size_t steps,
                         struct roof *out, struct error *err)
{
    size_t bytes = most / 128 * 128;
    char **buffers = make_buffers(d, bytes * steps, err);
    struct roof streamed;
    char name[48];

    if (!buffers)
        return -1;
    snprintf(name, sizeof(name), "bandwidth.%s", level);
    out[0] = measure_rate(d, name, READ, bytes, steps, buffers);
    out[2] = out[0];
    snprintf(out[2].name, sizeof(out[2].name), "read.%s", level);
    snprintf(name, sizeof(name), "copy.%s", level);
    out[1] = measure_rate(d, name, COPY, bytes, steps, buffers);
    streamed = measure_rate(d, name, STREAM, bytes, steps, buffers);
    roof_raise(&out[1], &streamed);
    roof_raise(&out[0], &out[1]);
    free_buffers(d, buffers);
    return 3;
}

/* Where threads lie is the scheduler's affair, or that of who numbered the processors: as many may
 * share a cache as can. */
size_t roofs_level_bytes(int64_t cache, int sharing, int threads)
{
    int sharers = sharing < threads ? sharing : threads;

    return cache > 0 ? (size_t)cache / (size_t)(2 * (sharers > 0 ? sharers : 1)) : 0;
}

/* Four times the caches. Where that is more than 1 GiB, twice is enough. A container's limit is
 * less than the memory, and what goes beyond it is killed. */
size_t roofs_walk_bytes(const struct machine *machine, int threads, int64_t room)
{
    const struct host_caches caches = { .l2 = machine->l2,
                                        .l3 = machine->l3,
                                        .l3_shared_by = machine->l3_shared_by,
                                        .cores = machine->cores };
    size_t cached = host_caches_bytes(&caches, threads), most = (size_t)machine->memory / 4;
    size_t all = 4 * cached, half = (size_t)room / 2;

    if (all > longest_walk)
        all = 2 * cached > longest_walk ? 2 * cached : longest_walk;
    if (most > 0 && all > most)
        all = most;
    if (all <= half)
        return all;
    return half < cached ? 0 : half;
}

/* A quarter of the cache for as many as may share it: in a virtual machine others have their part.
 * Where L2 holds as much, half. */
size_t roofs_l3_bytes(const struct machine *machine, int threads)
{
    int sharing = machine->l3_shared_by > 0 ? machine->l3_shared_by : threads;
    size_t l2 = (size_t)machine->l2, half = roofs_level_bytes(machine->l3, sharing, threads);

    if (half / 2 > l2)
        return half / 2;
    return half > l2 ? half : 0;
}

/* Steps of the walk of one thread; 0: there is no room for it. A quick one stays within the caches
 * anyway. */
static size_t walk_steps(const struct machine *machine, int threads)
{
    int64_t room = host_memory_available("");
    size_t all = roofs_walk_bytes(machine, threads, is_quick() ? INT64_MAX : room);

    if (is_quick() && all > QUICK_WALK)
        all = QUICK_WALK;
    size_t step = (size_t)WALK_STEP * (size_t)threads, nr = (all + step - 1) / step;
    return nr * step > (size_t)room ? 0 : nr;
}

bool roofs_have_room(const struct device *device, const struct machine *machine)
{
    return device->kind != DEVICE_CPU || walk_steps(machine, device->threads) > 0;
}

static void add_data_sheet(const struct device *d, const struct machine *m, struct roof *out,
                           int nr)
{
    double flops, bandwidth;

    datasheet_find(m->cpu, d->threads, &flops, &bandwidth);
    for (int i = 0; i < nr; i++) {
        if (strcmp(out[i].name, "flops.fp32") == 0)
            out[i].spec = flops;
        if (strcmp(out[i].name, "bandwidth.dram") == 0)
            out[i].spec = bandwidth;
    }
}

static struct roof measure_flops(struct device *d, const char *name, enum pattern pattern,
                                 char **buffers)
{
    struct job job = job_of(d, pattern, 1024, 1); /* rounds */
    struct roof_times ns = measure_pattern(&job, buffers);
    struct roof c;
    double each =
        pattern == FMA ? roof_fma_flops(job.bytes) : roof_dots_flops(dot_of(pattern), job.bytes);

    roof_begin(&c, d, name);
    roof_set_rate(&c, each * d->threads, &ns);
    return c;
}

/* What is stored as bfloat16 or as a byte can be widened: its roof is fp32's, or that of products
 * of its own. */
static int narrow_arithmetic(struct device *d, const struct roof *fp32, enum pattern pattern,
                             char **buffers, struct roof *out)
{
    const char *type = pattern == DOTS_INT8 ? "int8" : "bf16";
    char name[sizeof(out->name)];

    out[0] = *fp32;
    snprintf(out[0].name, sizeof(out[0].name), "flops.%s", type);
    if (!roof_has_dots(dot_of(pattern)))
        return 1;
    snprintf(name, sizeof(name), "dot.%s", type);
    out[1] = measure_flops(d, name, pattern, buffers);
    roof_raise(&out[0], &out[1]);
    return 2;
}

static int measure_cpu_arithmetic(struct device *d, struct roof *out, struct error *err)
{
    char **buffers = make_buffers(d, 64, err);
    int nr = 1;

    if (!buffers)
        return -1;
    out[0] = measure_flops(d, "flops.fp32", FMA, buffers);
    nr += narrow_arithmetic(d, &out[0], DOTS_BF16, buffers, out + nr);
    nr += narrow_arithmetic(d, &out[0], DOTS_INT8, buffers, out + nr);
    free_buffers(d, buffers);
    return nr;
}

/* A cache that the system does not tell has none; one of which it does not tell who shares it is of
 * one processor. */
static int capacity_of_level(const struct device *d, const struct machine *machine, int level,
                             struct roof *out)
{
    int64_t bytes = level == 1 ? machine->l1d : machine->l2;
    int sharing = host_cache_sharers(level);
    char name[48];

    if (bytes <= 0)
        return 0;
    snprintf(name, sizeof(name), "capacity.L%d", level);
    roof_begin(out, d, name);
    roof_set_value(out, (double)bytes * host_cache_instances(sharing > 0 ? sharing : 1,
                                                             machine->threads, d->threads));
    return 1;
}

/* Of caches all that there are, or -1: whoever keeps roofs takes one that is absent for one that
 * the machine has not got. A walk through the memory that finds too little is left out, as one is
 * that has no room: that is looked for again (session/measure/roofs.c). */
static int measure_levels(struct device *device, const struct machine *machine, struct roof *out,
                          struct error *err)
{
    size_t l1 = roofs_level_bytes(machine->l1d, host_cache_sharers(1), device->threads);
    size_t l2 = roofs_level_bytes(machine->l2, host_cache_sharers(2), device->threads);
    size_t l3 = roofs_l3_bytes(machine, device->threads);
    if (is_quick() && l3 > QUICK_L3)
        l3 = QUICK_L3;
    const struct {
        const char *level;
        size_t bytes; /* 0: it has none of its own */
    } caches[] = { { "L1", l1 }, { "L2", l2 > l1 ? l2 : 0 }, { "L3", l3 > l2 ? l3 : 0 } };
    size_t steps = walk_steps(machine, device->threads);
    struct error ignored;
    int nr = 0, more;

    for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
        more = caches[i].bytes
                   ? measure_level(device, caches[i].level, caches[i].bytes, 1, out + nr, err)
                   : 0;
        if (more < 0)
            return -1;
        nr += more;
    }
    more = steps ? measure_level(device, "dram", WALK_STEP, steps, out + nr, &ignored) : 0;
    return more < 0 ? nr : nr + more;
}

static int roofs_cpu(struct device *device, const struct machine *machine, struct roof *out,
                     struct error *err)
{
    struct job empty = job_of(device, EMPTY, 0, 1);
    struct roof_times ns;
    char *none = NULL, **no_buffers = &none;
    int nr = measure_levels(device, machine, out, err);
    int more = nr < 0 ? -1 : measure_cpu_arithmetic(device, out + nr, err);

    if (more < 0)
        return -1;
    nr += more;
    nr += capacity_of_level(device, machine, 1, out + nr);
    nr += capacity_of_level(device, machine, 2, out + nr);
    roof_begin(&out[nr], device, "overhead.launch");
    ns = measure_pattern(&empty, no_buffers);
    roof_set_time(&out[nr++], &ns);
    add_data_sheet(device, machine, out, nr);
    return nr;
}

int roofs_measure(struct device *device, const struct machine *machine, struct roof *out,
                  struct error *err)
{
    if (device->kind == DEVICE_CPU)
        return roofs_cpu(device, machine, out, err);
#ifdef HARNESS_HAVE_CUDA
    if (device->kind == DEVICE_CUDA)
        return roofs_cuda(device, out, err);
#endif
    return error_set(err, "the device %s has no roofs", device->spec);
}
