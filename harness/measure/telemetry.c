/* SPDX-License-Identifier: MIT */
#include "measure/telemetry.h"

#include "base/file.h"
#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number_in(const char *path)
{
    char line[64], *end;

    if (!file_first_line(path, line, sizeof(line)))
        return NAN;
    double value = strtod(line, &end);
    return end == line ? (double)NAN : value;
}

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

/* Mean of the current clocks: cpufreq where there is one, else what /proc/cpuinfo tells. */
static double cpu_mhz(void)
{
    double khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
    FILE *file = isnan(khz) ? fopen("/proc/cpuinfo", "r") : NULL;
    char line[256];
    double sum = 0, value;
    int nr = 0;

    if (!file)
        return khz / 1000;
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "cpu MHz : %lf", &value) == 1) {
            sum += value;
            nr++;
        }
    fclose(file);
    return nr > 0 ? sum / nr : (double)NAN;
}

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

void telemetry_begin(struct telemetry_probe *p, const struct nvml *gpu)
{
    getrusage(RUSAGE_SELF, &p->usage);
    read_stat(&p->stat_total, &p->stat_steal);
    p->energy_uj = number_in("/sys/class/powercap/intel-rapl:0/energy_uj");
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
    double energy = number_in("/sys/class/powercap/intel-rapl:0/energy_uj") - p->energy_uj;

    measurement_add_telemetry(m, "sampled_seconds", seconds);
    add_usage(&p->usage, seconds, m);
    read_stat(&total, &steal);
    if (total > p->stat_total)
        measurement_add_telemetry(m, "steal_percent",
                                  100 * (steal - p->stat_steal) / (total - p->stat_total));
    if (getloadavg(load, 1) == 1)
        measurement_add_telemetry(m, "load1", load[0]);
    measurement_add_telemetry(m, "cpu_mhz", cpu_mhz());
    measurement_add_telemetry(m, "temperature_celsius",
                              number_in("/sys/class/thermal/thermal_zone0/temp") / 1000);
    if (energy >= 0) /* the counter wraps: a negative difference says nothing */
        measurement_add_telemetry(m, "package_watts", energy * 1e-6 / seconds);
    telemetry_nvml_end(p->gpu, m);
    p->gpu = NULL;
}
