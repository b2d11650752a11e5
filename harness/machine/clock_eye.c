/* SPDX-License-Identifier: MIT */
#include "machine/clock_eye.h"

#include "machine/host_sensors.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

static double own_mhz(const char *root)
{
    char path[512];
    int cpu = sched_getcpu();

    if (cpu < 0)
        return NAN;
    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", root,
             cpu);
    return host_number(path) / 1000;
}

const struct clock_eye *clock_eye_init(struct clock_eye *eye, bool cpu, const struct nvml *gpu)
{
    *eye = (struct clock_eye) { .root = cpu ? "" : NULL, .gpu = gpu };
    return isnan(clock_look(eye).mhz) ? NULL : eye;
}

struct clock_seen clock_look(const struct clock_eye *eye)
{
    struct clock_seen seen = { NAN, NAN };

    if (eye->scripted)
        return eye->scripted(eye->context);
    if (eye->root)
        seen.mhz = own_mhz(eye->root);
    if (eye->gpu) {
        seen.mhz = nvml_read(eye->gpu, NVML_SM_MHZ);
        seen.watts = nvml_read(eye->gpu, NVML_POWER_NOW_WATTS);
        if (isnan(seen.watts))
            seen.watts = nvml_read(eye->gpu, NVML_POWER_WATTS);
    }
    return seen;
}
