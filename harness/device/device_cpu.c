/* SPDX-License-Identifier: MIT */
/* The host's processors: OpenMP threads, CLOCK_MONOTONIC_RAW. */
#include "base/memory.h"
#include "base/text.h"
#include "core/clock.h"
#include "core/host_cache.h"
#include "core/kernel.h"
#include "device/device_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpu {
    unsigned char *evict; /* read and written to push everything else out of the caches */
    size_t evict_bytes;
};

static int cpu_open(struct device *d, const char *argument, struct error *err)
{
    int cores = device_cpu_cores();
    int64_t threads = cores;

    if (strcmp(argument, "free") == 0) /* the others shall have one */
        threads = cores > 1 ? cores - 1 : 1;
    else if (*argument && text_parse_int(argument, 1, cores, "threads", &threads, err))
        return -1;
    d->threads = (int)threads;
    d->clock_step = clock_step_ns();
    d->state = memory_zeroed(1, sizeof(struct cpu));
    snprintf(d->label, sizeof(d->label), "cpu-%dt", d->threads);
    snprintf(d->describe, sizeof(d->describe), "CPU, %d thread%s", d->threads,
             d->threads == 1 ? "" : "s");
    return 0;
}

static void cpu_close(struct device *d)
{
    struct cpu *cpu = d->state;

    free(cpu->evict);
    free(cpu);
}

static int cpu_flush(struct device *d, struct error *err)
{
    struct cpu *cpu = d->state;

    (void)err;
    if (!cpu->evict) {
        cpu->evict_bytes = host_cache_flush_bytes();
        cpu->evict = memory_zeroed(cpu->evict_bytes, 1);
    }
    for (size_t i = 0; i < cpu->evict_bytes; i += 64)
        ((volatile unsigned char *)cpu->evict)[i]++;
    return 0;
}

static int cpu_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                    struct error *err)
{
    (void)d;
    if (call->variant->repeat)
        return call->variant->repeat(call, batch, ns, err);
    void (*launch)(const struct call *) = call->variant->launch;
    uint64_t start = clock_ns();

    if (call->next)
        for (unsigned i = 0; i < batch; i++, call = call->next)
            launch(call);
    else
        for (unsigned i = 0; i < batch; i++)
            launch(call);
    *ns = clock_ns() - start;
    return 0;
}

static int cpu_run(struct device *d, const struct call *call, struct error *err)
{
    (void)d;
    if (call->variant->repeat)
        return call->variant->repeat(call, 1, NULL, err);
    call->variant->launch(call);
    return 0;
}

extern const struct device_class device_cpu_class;
const struct device_class device_cpu_class = {
    .name = "cpu",
    .clock = "CLOCK_MONOTONIC_RAW",
    .open = cpu_open,
    .close = cpu_close,
    .alloc = device_host_alloc,
    .free = device_host_free,
    .upload = device_host_copy,
    .download = device_host_copy,
    .flush = cpu_flush,
    .time = cpu_time,
    .run = cpu_run,
    .available = device_host_available,
};
