/* SPDX-License-Identifier: MIT */
/* How much of the machine this process has, and who else wants it. */
#include "doctor/doctor_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int own_cpus(const struct doctor_input *in)
{
    cpu_set_t own;

    return doctor_cpus(in, "/proc/self/status", "Cpus_allowed_list", &own) ? CPU_COUNT(&own) : 0;
}

static void check_load(const struct doctor_input *in, struct doctor_finding *f)
{
    double load1 = doctor_number(in, "/proc/loadavg", "");
    int cpus = own_cpus(in);

    if (isnan(load1))
        return;
    if (load1 > 0.5 * (cpus > 0 ? cpus : 1)) {
        doctor_say(f, DOCTOR_WARN, "%.2f over the last minute, with %d processors", load1, cpus);
        doctor_mend(
            f, "wait for what runs to end, see `top`; a run of your own just before counts too");
    } else {
        doctor_say(f, DOCTOR_FINE, "%.2f over the last minute", load1);
    }
}

/* The path of this process in the unified hierarchy of control groups, or "". */
static void own_group(const struct doctor_input *in, char *group, size_t size)
{
    if (!doctor_text(in, "/proc/self/cgroup", "0::/", group, size))
        group[0] = '\0';
}

/* Processors that a cpu.max ("150000 100000", "max 100000") allows; INFINITY: all. */
static double quota_of(const char *text)
{
    char *end;
    double quota = strtod(text, &end), period = strtod(end, NULL);

    return end == text || strncmp(text, "max", 3) == 0 || period <= 0 ? (double)INFINITY
                                                                      : quota / period;
}

/* The tightest of the group and those above it, version 2 or 1. NaN: none of them tells. */
static double tightest_quota(const struct doctor_input *in)
{
    char group[256], path[320], text[64];
    double least = NAN;

    own_group(in, group, sizeof(group));
    for (char *cut = group + strlen(group); cut; cut = strrchr(group, '/')) {
        *cut = '\0';
        snprintf(path, sizeof(path), "/sys/fs/cgroup/%s%scpu.max", group, group[0] ? "/" : "");
        if (doctor_text(in, path, "", text, sizeof(text)))
            least = fmin(least, quota_of(text)); /* fmin() passes over NaN */
    }
    if (doctor_text(in, "/sys/fs/cgroup/cpu.max", "", text, sizeof(text)))
        least = fmin(least, quota_of(text));
    double quota = doctor_number(in, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "");
    double period = doctor_number(in, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "");
    if (!isnan(quota) && period > 0)
        least = fmin(least, quota < 0 ? (double)INFINITY : quota / period);
    return least;
}

static void check_quota(const struct doctor_input *in, struct doctor_finding *f)
{
    double allowed = tightest_quota(in);
    int cpus = own_cpus(in);

    if (isnan(allowed))
        return;
    if (allowed >= cpus) {
        doctor_say(f, DOCTOR_FINE, "no limit that is felt");
    } else {
        doctor_say(f, DOCTOR_WARN, "%.2f of %d processors: threads are stopped in each period",
                   allowed, cpus);
        doctor_mend(f, "give the container whole processors (a cpuset), or --device cpu:%d",
                    allowed < 1 ? 1 : (int)allowed);
    }
}

static void check_cpuset(const struct doctor_input *in, struct doctor_finding *f)
{
    cpu_set_t online;
    int cpus = own_cpus(in);

    if (cpus == 0 || !doctor_cpus(in, "/sys/devices/system/cpu/online", "", &online))
        return;
    if (cpus < CPU_COUNT(&online)) {
        doctor_say(f, DOCTOR_NOTE, "%d of %d: the others' work shares caches and memory with it",
                   cpus, CPU_COUNT(&online));
        doctor_mend(f, "use the same processors in every run: they name the machine class");
    } else {
        doctor_say(f, DOCTOR_FINE, "all %d", cpus);
    }
}

static void check_isolation(const struct doctor_input *in, struct doctor_finding *f)
{
    char isolated[128] = "", nohz[128] = "";

    doctor_text(in, "/sys/devices/system/cpu/isolated", "", isolated, sizeof(isolated));
    doctor_text(in, "/sys/devices/system/cpu/nohz_full", "", nohz, sizeof(nohz));
    if (strcmp(nohz, "(null)") == 0) /* what some kernels print for none */
        nohz[0] = '\0';
    doctor_say(f, isolated[0] || nohz[0] ? DOCTOR_NOTE : DOCTOR_FINE,
               "isolated: %.64s; without ticks: %.64s", isolated[0] ? isolated : "none",
               nohz[0] ? nohz : "none");
    if (isolated[0])
        doctor_mend(f, "taskset -c %.64s harness run ...: nothing is put there by itself",
                    isolated);
}

const struct doctor_check doctor_share_checks[] = {
    { "load", check_load },
    { "CPU quota", check_quota },
    { "processors", check_cpuset },
    { "isolation", check_isolation },
    { NULL, NULL },
};
