/* SPDX-License-Identifier: MIT */
/*
 * The clock, and the power, of what is measured, looked at from beside the launches: of a GPU what
 * NVML tells, of a CPU what cpufreq tells of the processor that asks. A virtual machine has none of
 * the latter: what /proc/cpuinfo says there is the nominal clock, and no sight of the real one.
 */
#ifndef HARNESS_MACHINE_CLOCK_EYE_H
#define HARNESS_MACHINE_CLOCK_EYE_H

#include "machine/nvml.h"

#include <stdbool.h>

struct clock_seen {
    double mhz, watts; /* NaN: not to be seen */
};

struct clock_eye {
    const char *root;       /* see machine/host_sensors.h; borrowed. NULL: of no CPU */
    const struct nvml *gpu; /* NULL: of no GPU; borrowed */
    /* In place of both, for tests. */
    struct clock_seen (*scripted)(void *context);
    void *context;
};

/* Of a GPU, or with `cpu` of the processor that this process is on. NULL where its clock cannot be
 * seen. */
const struct clock_eye *clock_eye_init(struct clock_eye *eye, bool cpu, const struct nvml *gpu);

struct clock_seen clock_look(const struct clock_eye *eye);

#endif
