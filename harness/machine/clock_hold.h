/* SPDX-License-Identifier: MIT */
/*
 * What holds a clock where it is: settings of the kernel and of the NVIDIA driver, read and never
 * changed. What is not held moves with load, heat and power, whatever it was while somebody looked.
 */
#ifndef HARNESS_MACHINE_CLOCK_HOLD_H
#define HARNESS_MACHINE_CLOCK_HOLD_H

#include "host/processors.h"
#include "machine/nvml.h"

#include <stdbool.h>

struct clock_hold {
    bool held;
    bool seen;     /* whether the clock can be looked at (machine/clock_eye.h) */
    char how[160]; /* "governor powersave, 0.8 to 4.8 GHz, turbo on"; or why it is not seen */
};

/*
 * Of these processors; `root` as in machine/host_sensors.h. Held: the least clock that is allowed
 * is the largest, on each; or the governor keeps the largest, and turbo, which depends on heat and
 * on what other cores do, is off. Source: the kernel's documentation, admin-guide/pm/cpufreq and
 * intel_pstate.
 */
void clock_hold_cpu(const char *root, const struct processors *cpus, struct clock_hold *h);
/* Of a GPU that nvml_list() told of; NULL: NVML knows none. Held: the driver says that clocks are
 * as somebody has set them (application or locked clocks) and nothing else lowers them. */
void clock_hold_gpu(const struct nvml_gpu *gpu, struct clock_hold *h);

#endif
