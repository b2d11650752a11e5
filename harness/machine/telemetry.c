/* SPDX-License-Identifier: MIT */
#include "machine/telemetry.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "core/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the GPU ---- */

enum { LOOK_EVERY_MS = 20, XID_WAIT_MS = 200, XIDS_MAX = 64 };

/* Looked at again and again. */
static const struct {
    enum nvml_number number;
    const char *mean, *largest; /* NULL: not told */
} looked_at[] = {
    { NVML_SM_MHZ, "gpu_sm_mhz", NULL },
    { NVML_MEMORY_MHZ, "gpu_memory_mhz", NULL },
    { NVML_POWER_WATTS, "gpu_power_watts", "gpu_power_max_watts" },
};
enum { NR_LOOKED_AT = sizeof(looked_at) / sizeof(*looked_at) };

/* Reasons for lower clocks, as a share of the looks. */
static const struct {
    int64_t bits;
    const char *name;
} limits[] = {
    { NVML_LIMIT_POWER, "gpu_throttle_power" },
    { NVML_LIMIT_THERMAL, "gpu_throttle_thermal" },
    { NVML_LIMIT_HARDWARE, "gpu_throttle_hw" },
};
enum { NR_LIMITS = sizeof(limits) / sizeof(*limits) };

/* Read once, at the end: these change slowly, or are the driver's own means. */
static const struct {
    enum nvml_number number;
    const char *name;
} at_end[] = {
    { NVML_POWER_LIMIT_WATTS, "gpu_power_limit_watts" },
    { NVML_TEMPERATURE, "gpu_temperature_celsius" },
    { NVML_MEMORY_TEMPERATURE, "gpu_memory_temperature_celsius" },
    { NVML_UTILISATION, "gpu_utilisation_percent" },
    { NVML_MEMORY_USED, "gpu_memory_used_bytes" },
};

struct tally {
    double sum, largest;
    int nr; /* of the looks at which it could be read */
};

struct telemetry_nvml {
    const struct nvml *nvml;
    struct tally seen[NR_LOOKED_AT], limited[NR_LIMITS];
    double energy; /* the counter at the beginning */
    int looks;
    bool running; /* the thread is */
    pthread_t thread;
    pthread_mutex_t lock; /* of `stop` */
    pthread_cond_t wake;
    bool stop;
};

static void count_look(struct tally *t, double value)
{
    if (isnan(value))
        return;
    t->largest = t->nr == 0 || value > t->largest ? value : t->largest;
    t->sum += value;
    t->nr++;
}

static void look_at_gpu(struct telemetry_nvml *t)
{
    int64_t bits = nvml_clock_limits(t->nvml);

    for (int i = 0; i < NR_LOOKED_AT; i++)
        count_look(&t->seen[i], nvml_read(t->nvml, looked_at[i].number));
    for (int i = 0; i < NR_LIMITS; i++)
        if (bits >= 0)
            count_look(&t->limited[i], (bits & limits[i].bits) != 0);
    t->looks++;
}

static void *watch_gpu(void *argument)
{
    struct telemetry_nvml *t = argument;

    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        struct timespec when = monotonic_until(LOOK_EVERY_MS);
        while (!t->stop && pthread_cond_timedwait(&t->wake, &t->lock, &when) == 0)
            ;
        if (!t->stop)
            look_at_gpu(t);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct telemetry_nvml *telemetry_nvml_begin(const struct nvml *n)
{
    if (!n)
        return NULL;
    struct telemetry_nvml *t = memory_zeroed(1, sizeof(*t));
    t->nvml = n;
    pthread_mutex_init(&t->lock, NULL);
    monotonic_condition_init(&t->wake);
    look_at_gpu(t);
    t->energy = nvml_read(n, NVML_ENERGY_JOULES);
    t->running = pthread_create(&t->thread, NULL, watch_gpu, t) == 0;
    return t;
}

static void stop_watching(struct telemetry_nvml *t)
{
    if (t->running) {
        pthread_mutex_lock(&t->lock);
        t->stop = true;
        pthread_cond_signal(&t->wake);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->thread, NULL);
    }
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
}

static void add_tally(struct measurement *m, const struct tally *t, const char *mean,
                      const char *largest)
{
    if (t->nr == 0)
        return;
    measurement_add_telemetry(m, mean, t->sum / t->nr);
    if (largest)
        measurement_add_telemetry(m, largest, t->largest);
}

/* The counter moves in steps of some ten milliseconds: what saw no step is not known. */
static void add_energy(const struct telemetry_nvml *t, double now, struct measurement *m)
{
    if (now > t->energy)
        measurement_add_telemetry(m, "gpu_energy_joules", now - t->energy);
}

void telemetry_nvml_end(struct telemetry_nvml *t, struct measurement *m)
{
    if (!t)
        return;
    double energy = nvml_read(t->nvml, NVML_ENERGY_JOULES);
    stop_watching(t);
    look_at_gpu(t);
    for (int i = 0; i < NR_LOOKED_AT; i++)
        add_tally(m, &t->seen[i], looked_at[i].mean, looked_at[i].largest);
    for (int i = 0; i < NR_LIMITS; i++)
        add_tally(m, &t->limited[i], limits[i].name, NULL);
    add_energy(t, energy, m);
    for (size_t i = 0; i < sizeof(at_end) / sizeof(*at_end); i++)
        measurement_add_telemetry(m, at_end[i].name, nvml_read(t->nvml, at_end[i].number));
    measurement_add_telemetry(m, "gpu_samples", t->looks);
    free(t);
}

/* A fault's code may come some time after the fault itself. */
void telemetry_nvml_xid(const struct nvml *n, struct measurement *m)
{
    int64_t code = n ? nvml_xid(n, m->outcome == OUTCOME_FAILED ? XID_WAIT_MS : 0) : -1;

    if (code < 0)
        return;
    measurement_add_telemetry(m, "gpu_xid", (double)code);
    /* What follows from the first one is none of the next case's. */
    for (int i = 0; i < XIDS_MAX && nvml_xid(n, 0) >= 0; i++)
        ;
}

/* ---- the host, and both ---- */

/* ns; at HOST_PACKAGE_WATTS_MOST no counter wraps so soon. */
static const uint64_t ENERGY_EVERY = 10000000000;

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
    struct processors own;

    host_own_cpus(&own);
    return host_mhz("", &own);
}

static char temperature_path[HOST_PATH_SIZE];

static void find_temperature(void)
{
    host_temperature_file("", temperature_path);
}

/* Which file it is does not change, and to find it takes reading many. */
static double cpu_temperature(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_temperature);
    return host_number(temperature_path) / 1000;
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
    p->joules = 0;
    p->waited = host_waited("");
    p->gpu = telemetry_nvml_begin(gpu);
    p->ns = clock_ns();
}

void telemetry_look(struct telemetry_probe *p)
{
    if (p->energy.nr > 0 && clock_ns() - p->energy.ns > ENERGY_EVERY)
        p->joules += host_energy_step(&p->energy);
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
    double joules = p->joules + host_energy_step(&p->energy);

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
    measurement_add_telemetry(m, "temperature_celsius", cpu_temperature());
    measurement_add_telemetry(m, "package_watts", joules / seconds);
    telemetry_nvml_end(p->gpu, m);
    p->gpu = NULL;
}
