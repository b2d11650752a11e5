/* SPDX-License-Identifier: MIT */
/* How much of the machine this process has, and who else wants it. */
#include "doctor/doctor_base.h"

#include "base/file.h"
#include "host/control_group.h"
#include "machine/host_sensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int own_cpus(const struct doctor_input *in)
{
    struct processors own;
    bool told = doctor_cpus(in, "/proc/self/status", "Cpus_allowed_list", &own);

    return told ? processors_count(&own) : 0;
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

/* Processors that the cpu.max of a group ("150000 100000", "max 100000") allows; INFINITY: all;
 * NaN: there is none. */
static double quota_of(const char *folder)
{
    char path[CONTROL_GROUP_SIZE + 16], text[64], *end;

    snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (!file_first_line(path, text, sizeof(text)))
        return NAN;
    double quota = strtod(text, &end), period = strtod(end, NULL);
    return end == text || strncmp(text, "max", 3) == 0 || period <= 0 ? (double)INFINITY
                                                                      : quota / period;
}

/* The same of version 1, whose quota of all is negative. */
static double quota_of_v1(const char *folder)
{
    char path[CONTROL_GROUP_SIZE + 32];

    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    double quota = host_number(path);
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    double period = host_number(path);
    if (isnan(quota) || !(period > 0))
        return NAN;
    return quota < 0 ? (double)INFINITY : quota / period;
}

/* The tightest of the group and those above it, version 2 or 1. NaN: none of them tells. */
static double tightest_quota(const struct doctor_input *in)
{
    static const struct {
        const char *controller, *folder;
        double (*quota)(const char *folder);
    } hierarchies[] = {
        { "", "/sys/fs/cgroup", quota_of },
        { "cpu", "/sys/fs/cgroup/cpu", quota_of_v1 },
    };
    struct control_group g;
    double least = NAN;

    for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
        control_group_begin(&g, in->root, hierarchies[i].controller, hierarchies[i].folder);
        do
            least = fmin(least, hierarchies[i].quota(g.folder)); /* fmin() passes over NaN */
        while (control_group_up(&g));
    }
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
    struct processors online;
    int cpus = own_cpus(in);

    if (cpus == 0 || !doctor_cpus(in, "/sys/devices/system/cpu/online", "", &online))
        return;
    if (cpus < processors_count(&online)) {
        doctor_say(f, DOCTOR_NOTE, "%d of %d: the others' work shares caches and memory with it",
                   cpus, processors_count(&online));
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
