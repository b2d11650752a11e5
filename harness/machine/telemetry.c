/* SPDX-License-Identifier: MIT */
#include "machine/telemetry.h"

#include "base/file.h"
#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First line of /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice. */
static void read_stat(double *total, double *steal)
{
    char line[256], *rest = line + 3;

    *total = *steal = NAN;
    if (!file_first_line("/proc/stat", line, sizeof(line)) || strncmp(line, "cpu", 3) != 0)
        return;
    double sum = 0;
    for (int i = 0; i < 8; i++) {
        double value = strtod(rest, &rest);
        sum += value;
        if (i == 7)
            *steal = value;
    }
    *total = sum;
}

static double cpu_mhz(void)
{
    cpu_set_t own;

    host_own_cpus(&own);
    return host_mhz("", &own);
}

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

void telemetry_begin(struct telemetry_probe *p, const struct nvml *gpu)
{
    getrusage(RUSAGE_SELF, &p->usage);
    read_stat(&p->stat_total, &p->stat_steal);
    host_energy_begin(&p->energy, "");
    p->waited = host_waited("");
    p->gpu = telemetry_nvml_begin(gpu);
    p->ns = clock_ns();
}

static void add_usage(const struct rusage *before, double seconds, struct measurement *m)
{
    struct rusage now;

    getrusage(RUSAGE_SELF, &now);
    double cpu = timeval_seconds(now.ru_utime) - timeval_seconds(before->ru_utime) +
                 timeval_seconds(now.ru_stime) - timeval_seconds(before->ru_stime);
    measurement_add_telemetry(m, "cpu_seconds_per_second", cpu / seconds);
    measurement_add_telemetry(m, "minor_faults", (double)(now.ru_minflt - before->ru_minflt));
    measurement_add_telemetry(m, "major_faults", (double)(now.ru_majflt - before->ru_majflt));
    measurement_add_telemetry(m, "voluntary_switches", (double)(now.ru_nvcsw - before->ru_nvcsw));
    measurement_add_telemetry(m, "involuntary_switches",
                              (double)(now.ru_nivcsw - before->ru_nivcsw));
    measurement_add_telemetry(m, "max_rss_bytes", (double)now.ru_maxrss * 1024);
}

void telemetry_end(struct telemetry_probe *p, struct measurement *m)
{
    double seconds = (double)(clock_ns() - p->ns) * 1e-9, total, steal, load[1];
    double joules = host_energy_step(&p->energy);

    measurement_add_telemetry(m, "sampled_seconds", seconds);
    measurement_add_telemetry(m, "waited_percent", 100 * (host_waited("") - p->waited) / seconds);
    add_usage(&p->usage, seconds, m);
    read_stat(&total, &steal);
    if (total > p->stat_total)
        measurement_add_telemetry(m, "steal_percent",
                                  100 * (steal - p->stat_steal) / (total - p->stat_total));
    if (getloadavg(load, 1) == 1)
        measurement_add_telemetry(m, "load1", load[0]);
    measurement_add_telemetry(m, "cpu_mhz", cpu_mhz());
    measurement_add_telemetry(m, "temperature_celsius",
                              host_number("/sys/class/thermal/thermal_zone0/temp") / 1000);
    measurement_add_telemetry(m, "package_watts", joules / seconds);
    telemetry_nvml_end(p->gpu, m);
    p->gpu = NULL;
}
