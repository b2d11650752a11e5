/* SPDX-License-Identifier: MIT */
/*
 * What host and GPU did while a case was measured: clock, steal time, page faults, context
 * switches, load, temperature, power. What cannot be read is absent, never 0.
 */
#ifndef HARNESS_MACHINE_TELEMETRY_H
#define HARNESS_MACHINE_TELEMETRY_H

#include "core/record.h"
#include "machine/host_sensors.h"
#include "machine/nvml.h"

#include <sys/resource.h>

/* ---- of the GPU ---- */

/*
 * What the GPU did while a case was measured: clocks, power, energy, temperatures, memory, and
 * what held its clocks back. A light thread looks every 20 ms; what cannot be read is absent.
 *
 *     gpu_sm_mhz, gpu_memory_mhz               mean of the looks
 *     gpu_power_watts, gpu_power_max_watts     mean and largest of the looks
 *     gpu_throttle_power, _thermal, _hw        share of the looks at which that held the clocks
 *     gpu_energy_joules                        over the samples, from the counter
 *     gpu_power_limit_watts, gpu_temperature_celsius, gpu_memory_temperature_celsius,
 *     gpu_utilisation_percent, gpu_memory_used_bytes          at the end
 *     gpu_samples                              how many looks
 *     gpu_xid                                  the first fault code the driver reported, if any
 */
struct telemetry_nvml;

/* Starts to look; NULL where `n` is NULL. */
struct telemetry_nvml *telemetry_nvml_begin(const struct nvml *n);
/* Stops, adds what was seen to `m`, and frees `t`. NULL is allowed. */
void telemetry_nvml_end(struct telemetry_nvml *t, struct measurement *m);

/* Adds the XID error of this case, if there was one; `n` may be NULL. */
void telemetry_nvml_xid(const struct nvml *n, struct measurement *m);

/* ---- of both ---- */

struct telemetry_probe {
    struct rusage usage;
    uint64_t ns;
    double stat_total, stat_steal; /* jiffies of /proc/stat; NaN if unreadable */
    double waited;                 /* host_waited() */
    struct host_energy energy;
    double joules;              /* of the looks so far; NaN if unreadable */
    struct telemetry_nvml *gpu; /* NULL if there is none */
};

/* `gpu` is the one that measures, or NULL. telemetry_end() must follow. */
void telemetry_begin(struct telemetry_probe *p, const struct nvml *gpu);
/* Between samples, as often as you like: reads what would wrap unseen in a long case. Does nothing
 * to a probe of zeros, which has not begun. */
void telemetry_look(struct telemetry_probe *p);
/* Adds what changed since telemetry_begin(), and the state now. */
void telemetry_end(struct telemetry_probe *p, struct measurement *m);

#endif
