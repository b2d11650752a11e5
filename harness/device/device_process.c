/* SPDX-License-Identifier: MIT */
/*
 * Programs: each run is a process of its own, from its start to its end. The variant starts it and
 * reads the clock (execute() in core/kernel.h), because a run can fail and has more to tell than a
 * time. Nothing is batched: a process lasts far longer than a step of the clock.
 */
#include "core/clock.h"
#include "core/kernel.h"
#include "device/device_host.h"

#include <stdio.h>

static int process_open(struct device *d, const char *argument, struct error *err)
{
    if (*argument)
        return error_set(err, "it takes nothing behind the colon, not \"%s\"", argument);
    d->threads = 1; /* of ours: what is started may use every processor */
    d->clock_step = clock_step_ns();
    snprintf(d->label, sizeof(d->label), "process");
    snprintf(d->describe, sizeof(d->describe),
             "programs, a process a sample (harness run -- COMMAND)");
    return 0;
}

static int process_flush(struct device *d, struct error *err)
{
    (void)d;
    return error_set(err, "a program cannot be measured with cold caches");
}

static int process_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                        struct error *err)
{
    (void)d;
    *ns = 0;
    for (unsigned i = 0; i < batch; i++) {
        uint64_t one;
        if (call->variant->execute(call, &one, err))
            return -1;
        *ns += one;
    }
    return 0;
}

static int process_run(struct device *d, const struct call *call, struct error *err)
{
    uint64_t ns;

    return process_time(d, call, 1, &ns, err);
}

extern const struct device_class device_process_class;
const struct device_class device_process_class = {
    .name = "process",
    .clock = CLOCK_NS_NAME,
    .open = process_open,
    .alloc = device_host_alloc,
    .free = device_host_free,
    .upload = device_host_copy,
    .download = device_host_copy,
    .flush = process_flush,
    .time = process_time,
    .run = process_run,
    .available = device_host_available,
};
