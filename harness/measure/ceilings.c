/* SPDX-License-Identifier: MIT */
#include "measure/ceilings.h"

#include "base/memory.h"
#include "base/stats.h"
#include "core/clock.h"
#include "measure/ceiling_loops.h"
#include "measure/datasheet.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 15 };
static const double repetition_ns = 8e6; /* long against the timer and the fork of the team */

enum pattern { READ, COPY, FMA, EMPTY };

struct job {
    enum pattern pattern;
    int threads;
    size_t bytes; /* of one thread's buffer; copy uses its halves */
};

/* One pass of all threads, `passes` times over; every thread owns its buffer. */
static void run_passes(const struct job *job, char **buffers, long passes)
{
    if (job->pattern == EMPTY) {
        for (long i = 0; i < passes; i++) {
#pragma omp parallel num_threads(job->threads)
            __asm__ volatile("" ::: "memory");
        }
        return;
    }
#pragma omp parallel num_threads(job->threads)
    {
        char *buffer = buffers[omp_get_thread_num()];
        size_t half = job->bytes / 2;
        for (long i = 0; i < passes; i++) {
            if (job->pattern == READ)
                ceiling_read(buffer, job->bytes);
            else if (job->pattern == COPY)
                ceiling_copy(buffer, buffer + half, half);
            else
                ceiling_fma(job->bytes);
        }
    }
}

static double timed_passes(const struct job *job, char **buffers, long passes)
{
    uint64_t start = clock_ns();

    run_passes(job, buffers, passes);
    return (double)(clock_ns() - start);
}

/* ns of one pass over the repetitions: lowest, lower quartile (the rate's upper one), highest. */
static void measure(const struct job *job, char **buffers, double ns[3])
{
    double times[REPETITIONS];
    long passes = 1;

    while (timed_passes(job, buffers, passes) < repetition_ns / 2 && passes < 1 << 28)
        passes *= 2;
    for (int i = 0; i < REPETITIONS; i++)
        times[i] = timed_passes(job, buffers, passes) / (double)passes;
    stats_sort(times, REPETITIONS);
    ns[0] = times[0];
    ns[1] = stats_quantile(times, REPETITIONS, 0.25);
    ns[2] = times[REPETITIONS - 1];
}

/* The device's own memory (huge pages where large), first touched by the thread that uses it. */
static char **make_buffers(struct device *d, size_t bytes)
{
    char **buffers = memory_zeroed((size_t)d->threads, sizeof(*buffers));
    struct error ignored;

    for (int i = 0; i < d->threads; i++)
        buffers[i] = device_alloc(d, bytes, &ignored);
#pragma omp parallel num_threads(d->threads)
    if (buffers[omp_get_thread_num()])
        memset(buffers[omp_get_thread_num()], 1, bytes);
    return buffers;
}

static void free_buffers(struct device *d, char **buffers)
{
    for (int i = 0; i < d->threads; i++)
        device_free(d, buffers[i]);
    free(buffers);
}

static void fill_ceiling(struct ceiling *c, const struct device *d, const char *name,
                         const char *unit)
{
    *c = (struct ceiling) { .measured_ms = clock_epoch_ms() };
    snprintf(c->name, sizeof(c->name), "%s", name);
    snprintf(c->device, sizeof(c->device), "%s", d->label);
    snprintf(c->unit, sizeof(c->unit), "%s", unit);
}

/* Work per pass over time per pass: the slowest time is the lowest rate. */
static void set_rates(struct ceiling *c, double work, const double ns[3])
{
    c->value = work / ns[1] * 1e9;
    c->low = work / ns[2] * 1e9;
    c->high = work / ns[0] * 1e9;
}

static int bandwidth(struct device *d, const char *level, size_t bytes, struct ceiling *out)
{
    struct job read = { READ, d->threads, bytes }, copy = { COPY, d->threads, bytes };
    char **buffers = make_buffers(d, bytes);
    double ns[3], total = (double)bytes * d->threads;
    char name[48];
    bool complete = true;

    for (int i = 0; i < d->threads; i++)
        complete &= buffers[i] != NULL;
    if (!complete) {
        free_buffers(d, buffers);
        return 0;
    }
    snprintf(name, sizeof(name), "bandwidth.%s", level);
    fill_ceiling(&out[0], d, name, "B/s");
    snprintf(name, sizeof(name), "copy.%s", level);
    fill_ceiling(&out[1], d, name, "B/s");
    measure(&read, buffers, ns);
    set_rates(&out[0], total, ns);
    measure(&copy, buffers, ns);
    set_rates(&out[1], total, ns);
    if (out[1].value > out[0].value) {
        out[0].value = out[1].value;
        out[0].low = out[1].low;
        out[0].high = out[1].high;
    }
    free_buffers(d, buffers);
    return 2;
}

/* Half of a core's share of a cache. */
static size_t level_bytes(int64_t cache, int sharers)
{
    return cache > 0 ? (size_t)cache / (size_t)(2 * (sharers > 0 ? sharers : 1)) : 0;
}

static void add_data_sheet(const struct device *d, const struct machine *m, struct ceiling *out,
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

int ceilings_measure(struct device *device, const struct machine *machine, struct ceiling *out)
{
    size_t l1 = level_bytes(machine->l1d, 1), l2 = level_bytes(machine->l2, 1);
    /* A quarter of the L3: in a virtual machine others have their part of it. */
    size_t l3 = level_bytes(machine->l3, 2 * device->threads);
    size_t last = machine->l3 ? (size_t)machine->l3 : (size_t)32 << 20;
    struct job fma = { FMA, device->threads, 1024 }, empty = { EMPTY, device->threads, 0 };
    double ns[3];
    char *none = NULL, **no_buffers = &none;
    int nr = 0;

    nr += l1 ? bandwidth(device, "L1", l1, out + nr) : 0;
    nr += l2 ? bandwidth(device, "L2", l2, out + nr) : 0;
    nr += l3 > l2 ? bandwidth(device, "L3", l3, out + nr) : 0;
    nr += bandwidth(device, "dram", 4 * last / (size_t)device->threads, out + nr);

    char **buffers = make_buffers(device, 64);
    fill_ceiling(&out[nr], device, "flops.fp32", "FLOP/s");
    measure(&fma, buffers, ns);
    set_rates(&out[nr++], ceiling_fma_flops(fma.bytes) * device->threads, ns);
    free_buffers(device, buffers);

    fill_ceiling(&out[nr], device, "overhead.launch", "ns");
    measure(&empty, no_buffers, ns);
    out[nr].value = ns[1];
    out[nr].low = ns[0];
    out[nr++].high = ns[2];
    add_data_sheet(device, machine, out, nr);
    return nr;
}
