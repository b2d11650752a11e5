/* SPDX-License-Identifier: MIT */
/* The host's processors: OpenMP threads, CLOCK_MONOTONIC_RAW. */
#include "base/text.h"
#include "core/clock.h"
#include "core/kernel.h"
#include "device/cache_flush.h"
#include "device/device_host.h"

#include <stdio.h>
#include <string.h>

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
    snprintf(d->label, sizeof(d->label), "cpu-%dt", d->threads);
    snprintf(d->describe, sizeof(d->describe), "CPU, %d thread%s", d->threads,
             d->threads == 1 ? "" : "s");
    return 0;
}

/* The device's state is what empties the caches, from when that was first asked for. */
static void cpu_close(struct device *d)
{
    cache_flush_end(d->state);
    d->state = NULL;
    d->flush_held = 0;
}

static void cpu_end(struct device *d, const struct call *call)
{
    (void)call;
    cpu_close(d);
}

static int cpu_flush(struct device *d, struct error *err)
{
    if (!d->state)
        d->state = cache_flush_begin(d->threads, err);
    if (!d->state)
        return -1;
    cache_flush_run(d->state);
    d->flush_held = (int64_t)cache_flush_bytes(d->state);
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
    .clock = CLOCK_NS_NAME,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = device_host_alloc,
    .free = device_host_free,
    .upload = device_host_copy,
    .download = device_host_copy,
    .end = cpu_end,
    .flush = cpu_flush,
    .time = cpu_time,
    .run = cpu_run,
    .available = device_host_available,
    .rotates = true,
    .has_roofs = true,
};
