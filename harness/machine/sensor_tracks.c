/* SPDX-License-Identifier: MIT */
#include "machine/sensor_tracks.h"

#include "base/array.h"
#include "base/monotonic.h"
#include "machine/host_sensors.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, LOOK_EVERY = 10000000, REST = 20 }; /* ns; times the length of a look */
enum { ENERGY_LEAST = 5000000 }; /* ns: RAPL's counters move once a millisecond */

enum track { CPU_CLOCK, PACKAGE_POWER, SM_CLOCK, MEMORY_CLOCK, GPU_POWER, TEMPERATURE, TRACK_NR };

static const struct {
    const char *name, *unit;
    bool gpu;
} tracks[TRACK_NR] = {
    [CPU_CLOCK] = { "CPU clock", "MHz", false }, [PACKAGE_POWER] = { "package power", "W", false },
    [SM_CLOCK] = { "SM clock", "MHz", true },    [MEMORY_CLOCK] = { "memory clock", "MHz", true },
    [GPU_POWER] = { "power", "W", true },        [TEMPERATURE] = { "temperature", "°C", true },
};

struct point {
    enum track track;
    int64_t time; /* CLOCK_MONOTONIC, as all of a trace */
    double value;
};

struct sensor_tracks {
    struct sensor_tracks_sources from;
    struct processors cpus;
    struct host_energy energy;
    int64_t energy_time;        /* of its last reading */
    ARRAY(struct point) points; /* the thread's while it runs */
    bool running;               /* the thread is */
    pthread_t thread;
    pthread_mutex_t lock; /* of `stop` */
    pthread_cond_t wake;
    bool stop;
};

static int64_t now_ns(void)
{
    return (int64_t)monotonic_ns();
}

/* ---- looking ---- */

static void keep_point(struct sensor_tracks *s, enum track track, int64_t time, double value)
{
    if (isfinite(value))
        *array_push(&s->points) = (struct point) { track, time, value };
}

static void look_at_energy(struct sensor_tracks *s)
{
    int64_t now = now_ns(), since = s->energy_time;

    if (s->energy.nr == 0 || now - since < ENERGY_LEAST)
        return;
    double joules = host_energy_step(&s->energy);
    s->energy_time = now;
    keep_point(s, PACKAGE_POWER, since, joules / ((double)(now - since) * 1e-9));
}

static void look_at_gpu(struct sensor_tracks *s)
{
    const struct nvml *gpu = s->from.gpu;
    int64_t now = now_ns();

    if (!gpu)
        return;
    double watts = nvml_read(gpu, NVML_POWER_NOW_WATTS);
    keep_point(s, GPU_POWER, now, isfinite(watts) ? watts : nvml_read(gpu, NVML_POWER_WATTS));
    keep_point(s, SM_CLOCK, now, nvml_read(gpu, NVML_SM_MHZ));
    keep_point(s, MEMORY_CLOCK, now, nvml_read(gpu, NVML_MEMORY_MHZ));
    keep_point(s, TEMPERATURE, now, nvml_read(gpu, NVML_TEMPERATURE));
}

static void take_sample(struct sensor_tracks *s)
{
    keep_point(s, CPU_CLOCK, now_ns(), host_mhz(s->from.root, &s->cpus));
    look_at_energy(s);
    look_at_gpu(s);
}

/* ---- the thread ---- */

static struct timespec time_of(int64_t ns)
{
    return (struct timespec) { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

/* The measuring threads may be bound to processors of their own, and a new thread with the one that
 * made it. This one may go wherever the program that started this process may. */
static void leave_processor(void)
{
    struct processors allowed;

    if (processors_of(getppid(), &allowed))
        processors_bind(0, &allowed);
}

static void *watch_sensors(void *argument)
{
    struct sensor_tracks *s = argument;
    int64_t next = now_ns() + LOOK_EVERY;

    leave_processor();
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        struct timespec when = time_of(next);
        while (!s->stop && pthread_cond_timedwait(&s->wake, &s->lock, &when) == 0)
            ;
        if (s->stop)
            break;
        pthread_mutex_unlock(&s->lock);
        int64_t begin = now_ns();
        take_sample(s);
        int64_t rest = REST * (now_ns() - begin);
        next = begin + (rest > LOOK_EVERY ? rest : LOOK_EVERY);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

struct sensor_tracks *sensor_tracks_start(const struct sensor_tracks_sources *sources)
{
    struct sensor_tracks *s = memory_zeroed(1, sizeof(*s));

    s->from = *sources;
    host_own_cpus(&s->cpus);
    host_energy_begin(&s->energy, s->from.root);
    s->energy_time = now_ns();
    pthread_mutex_init(&s->lock, NULL);
    monotonic_condition_init(&s->wake);
    take_sample(s);
    s->running = pthread_create(&s->thread, NULL, watch_sensors, s) == 0;
    return s;
}

void sensor_tracks_stop(struct sensor_tracks *s)
{
    if (s->running) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
        s->running = false;
    }
    take_sample(s);
}

void sensor_tracks_free(struct sensor_tracks *s)
{
    if (!s)
        return;
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    array_release(&s->points);
    free(s);
}

/* ---- into the trace ---- */

static int add_point(const struct sensor_tracks *s, const struct point *p, int64_t time,
                     struct prof_trace *trace)
{
    bool gpu = tracks[p->track].gpu;
    int counter = prof_trace_counter(
        trace, &(struct prof_counter) { .process = gpu ? s->from.device : getpid(),
                                        .name = tracks[p->track].name,
                                        .unit = tracks[p->track].unit,
                                        .kind = gpu ? PROF_TRACK_STREAM : PROF_TRACK_THREAD });

    return counter < 0 ? -1 : prof_trace_sample(trace, counter, time, p->value);
}

int sensor_tracks_add(const struct sensor_tracks *s, struct prof_trace *trace)
{
    const struct point *before[TRACK_NR] = { NULL };
    int rc = 0;

    for (size_t i = 0; i < s->points.nr; i++)
        if (s->points.items[i].time < trace->meta.start)
            before[s->points.items[i].track] = &s->points.items[i];
    for (int t = 0; t < TRACK_NR && rc >= 0; t++)
        if (before[t])
            rc = add_point(s, before[t], trace->meta.start, trace);
    for (size_t i = 0; i < s->points.nr && rc >= 0; i++) {
        const struct point *p = &s->points.items[i];
        if (p->time >= trace->meta.start && p->time <= trace->meta.end)
            rc = add_point(s, p, p->time, trace);
    }
    return rc < 0 ? -1 : prof_trace_sort(trace, NULL);
}
