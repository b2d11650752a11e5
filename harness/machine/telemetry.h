/* SPDX-License-Identifier: MIT */
/*
 * What host and GPU did while a case was measured: clock, steal time, page faults, context
 * switches, load, temperature, power. What cannot be read is absent, never 0.
 */
#ifndef HARNESS_MACHINE_TELEMETRY_H
#define HARNESS_MACHINE_TELEMETRY_H

#include "core/record.h"
#include "machine/host_sensors.h"
#include "machine/telemetry_nvml.h"

#include <sys/resource.h>

struct telemetry_probe {
    struct rusage usage;
    uint64_t ns;
    double stat_total, stat_steal; /* jiffies of /proc/stat; NaN if unreadable */
    double waited;                 /* host_waited() */
    struct host_energy energy;
    struct telemetry_nvml *gpu; /* NULL if there is none */
};

/* `gpu` is the one that measures, or NULL. telemetry_end() must follow. */
void telemetry_begin(struct telemetry_probe *p, const struct nvml *gpu);
/* Adds what changed since telemetry_begin(), and the state now. */
void telemetry_end(struct telemetry_probe *p, struct measurement *m);

#endif
