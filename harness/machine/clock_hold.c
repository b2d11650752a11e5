/* SPDX-License-Identifier: MIT */
#include "machine/clock_hold.h"

#include "base/file.h"
#include "machine/host_sensors.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 512 };

/* What all processors have in common, or what the widest of them has. */
struct policy {
    char governor[32];
    double least, most; /* kHz that are allowed */
    bool fixed;         /* these are one, on each */
    int nr;
};

static void cpu_file(const char *root, size_t cpu, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/sys/devices/system/cpu/cpu%zu/cpufreq/%s", root, cpu, name);
}

static double cpu_number(const char *root, size_t cpu, const char *name)
{
    char path[PATH_SIZE];

    cpu_file(root, cpu, name, path);
    return host_number(path);
}

/* False where the processor has no cpufreq, or does not tell its clock. */
static bool add_policy(const char *root, size_t cpu, struct policy *p)
{
    char path[PATH_SIZE], governor[sizeof(p->governor)];
    double least = cpu_number(root, cpu, "scaling_min_freq");
    double most = cpu_number(root, cpu, "scaling_max_freq");

    cpu_file(root, cpu, "scaling_governor", path);
    if (!file_first_line(path, governor, sizeof(governor)) ||
        isnan(cpu_number(root, cpu, "scaling_cur_freq")))
        return false;
    if (p->nr++ == 0) {
        *p = (struct policy) { .least = least, .most = most, .fixed = true, .nr = 1 };
        memcpy(p->governor, governor, sizeof(governor));
    }
    if (strcmp(p->governor, governor) != 0)
        snprintf(p->governor, sizeof(p->governor), "%s", "several");
    p->least = fmin(p->least, least);
    p->most = fmax(p->most, most);
    p->fixed &= least == most;
    return true;
}

/* 1 on, 0 off, -1 not told. */
static int read_turbo(const char *root)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/intel_pstate/no_turbo", root);
    double off = host_number(path);
    snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpufreq/boost", root);
    double on = isnan(off) ? host_number(path) : off == 0;
    return isnan(on) ? -1 : on != 0;
}

static void describe_policy(const struct policy *p, int turbo_on, struct clock_hold *h)
{
    static const char *const words[] = { "", ", turbo off", ", turbo on" };

    if (p->fixed)
        snprintf(h->how, sizeof(h->how), "governor %s, %.2f GHz alone%s", p->governor,
                 p->most * 1e-6, words[turbo_on + 1]);
    else
        snprintf(h->how, sizeof(h->how), "governor %s, %.2f to %.2f GHz%s", p->governor,
                 p->least * 1e-6, p->most * 1e-6, words[turbo_on + 1]);
}

void clock_hold_cpu(const char *root, const struct processors *cpus, struct clock_hold *h)
{
    struct policy p = { .nr = 0 };
    int turbo_on = read_turbo(root);

    *h = (struct clock_hold) { .seen = processors_count(cpus) > 0 };
    for (size_t cpu = 0; cpu < PROCESSORS_MAX && h->seen; cpu++)
        if (processors_have(cpus, cpu))
            h->seen = add_policy(root, cpu, &p);
    if (!h->seen) {
        snprintf(h->how, sizeof(h->how), "%s",
                 "the processors' clock cannot be seen: there is no cpufreq, as on most virtual "
                 "machines");
        return;
    }
    h->held = p.fixed || (strcmp(p.governor, "performance") == 0 && turbo_on == 0);
    describe_policy(&p, turbo_on, h);
}

void clock_hold_gpu(const struct nvml_gpu *gpu, struct clock_hold *h)
{
    enum { LOWER = NVML_LIMIT_POWER | NVML_LIMIT_THERMAL | NVML_LIMIT_HARDWARE };
    char application[48] = "", power[48] = "";

    *h = (struct clock_hold) { .seen = gpu != NULL };
    if (!gpu) {
        snprintf(h->how, sizeof(h->how), "%s",
                 "the GPU's clock cannot be seen: NVML tells of none");
        return;
    }
    h->held = gpu->limits >= 0 && (gpu->limits & NVML_LIMIT_SETTING) && !(gpu->limits & LOWER);
    if (gpu->application_mhz > 0)
        snprintf(application, sizeof(application), ", application clock %.0f MHz",
                 gpu->application_mhz);
    if (gpu->power_limit_watts > 0)
        snprintf(power, sizeof(power), ", power limit %.0f W", gpu->power_limit_watts);
    snprintf(h->how, sizeof(h->how), "%s%s%s%s",
             gpu->limits < 0                      ? "clocks set by nobody known"
             : (gpu->limits & NVML_LIMIT_SETTING) ? "clocks set by somebody"
                                                  : "clocks not set",
             application, power,
             gpu->persistence < 0 ? ""
             : gpu->persistence   ? ", persistence on"
                                  : ", persistence off");
}
