/* SPDX-License-Identifier: MIT */
/*
 * Counter tracks of clocks, power and temperature (S1-41, S1-50): read from a folder that stands
 * for /proc and /sys and from a stand-in for NVML (tests/nvml), put on the trace's clock, written
 * and read back.
 */
#include "testing.h"

#include "base/file.h"
#include "machine/host_sensors.h"
#include "machine/sensor_tracks.h"
#include "machine/telemetry.h"
#include "profile/export.h"
#include "timeline/timeline_read.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char root[] = HARNESS_TEST_DIR "/sensor-root";
static const char second[] = "00000000:01:00.0"; /* of the stand-in's GPUs */

static void put(const char *path, const char *text)
{
    char where[512];
    struct error err;

    snprintf(where, sizeof(where), "%s%s", root, path);
    assert_ok(file_make_parent(where, &err), &err);
    assert_ok(file_write(where, text, strlen(text), &err), &err);
}

static void take_away(const char *path)
{
    char where[512];

    snprintf(where, sizeof(where), "%s%s", root, path);
    remove(where);
}

static void put_clock(size_t cpu, const char *khz)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/cpufreq/scaling_cur_freq", cpu);
    if (khz)
        put(path, khz);
    else
        take_away(path);
}

static void put_zone(int zone, const char *name, const char *uj, const char *range)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/class/powercap/intel-rapl:%d/name", zone);
    put(path, name);
    snprintf(path, sizeof(path), "/sys/class/powercap/intel-rapl:%d/energy_uj", zone);
    put(path, uj);
    snprintf(path, sizeof(path), "/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", zone);
    put(path, range);
}

/* uJ at which Intel's counters wrap mostly: at the most that is believed, after four minutes. */
#define RANGE "262143328850\n"
static const uint64_t second_ns = 1000000000;

static void pass(int ms)
{
    nanosleep(&(struct timespec) { .tv_nsec = ms * 1000000L }, NULL);
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- host_sensors.h ---- */

/* Of all threads; one that says nothing is none, and where none does nothing is known. */
TEST(waiting_of_all_threads)
{
    assert_true(isnan(host_waited(root)));
    put("/proc/self/task/7/schedstat", "123456789 2000000000 12\n");
    put("/proc/self/task/8/schedstat", "5 500000000 1\n");
    put("/proc/self/task/9/schedstat", "\n");
    assert_close(host_waited(root), 2.5, 1e-9);
    take_away("/proc/self/task/7/schedstat");
    take_away("/proc/self/task/8/schedstat");
    assert_true(isnan(host_waited(root)));
    take_away("/proc/self/task/9/schedstat");
}

TEST(mean_of_the_processors_asked_for)
{
    struct processors cpus = { { 0 } };

    processors_add(&cpus, 0);
    processors_add(&cpus, 2);
    put_clock(0, "2000000\n");
    put_clock(1, "9000000\n");
    put_clock(2, "3000000\n");
    assert_close(host_mhz(root, &cpus), 2500, 0);
    processors_remove(&cpus, 0);
    assert_close(host_mhz(root, &cpus), 3000, 0);
    for (size_t cpu = 0; cpu < 3; cpu++)
        put_clock(cpu, NULL);
    assert_true(isnan(host_mhz(root, &cpus)));
    put("/proc/cpuinfo",
        "processor\t: 0\ncpu MHz\t\t: 1000.5\n\nprocessor\t: 2\nmodel\t: x\n"
        "cpu MHz\t\t: 1500.25\n\nprocessor\t: 3\ncpu MHz\t\t: 9000\n");
    assert_close(host_mhz(root, &cpus), 1500.25, 0);
    take_away("/proc/cpuinfo");
}

TEST(own_processors)
{
    struct processors own, allowed, both;

    host_own_cpus(&own);
    assert_true(processors_of(0, &allowed) && processors_count(&allowed) > 0);
    both = own;
    processors_join(&both, &allowed);
    assert_int_equal(processors_count(&both), processors_count(&own));
}

static void no_zones(int nr)
{
    for (int zone = 0; zone < nr; zone++)
        put_zone(zone, "gone\n", "0\n", "0\n");
}

/* Two packages, one of which wraps; psys is no third one. */
TEST(energy_of_packages)
{
    struct host_energy e;

    host_energy_begin(&e, "/nowhere");
    assert_true(isnan(host_energy_step(&e)));
    put_zone(0, "package-0\n", "1000000\n", RANGE);
    put_zone(1, "psys\n", "5\n", RANGE);
    put_zone(2, "package-1\n", "262142328850\n", RANGE);
    host_energy_begin(&e, root);
    assert_int_equal(e.nr, 2);
    put_zone(0, "package-0\n", "3500000\n", RANGE);
    put_zone(2, "package-1\n", "500000\n", RANGE);
    assert_close(host_energy_step(&e), 2.5 + 1.5, 1e-9);
    assert_close(host_energy_step(&e), 0, 0);
    take_away("/sys/class/powercap/intel-rapl:2/energy_uj");
    assert_true(isnan(host_energy_step(&e)));
    host_energy_begin(&e, root); /* nor do the others pass for all */
    assert_int_equal(e.nr, 0);
    assert_true(isnan(host_energy_step(&e)));
    no_zones(3);
}

TEST(energy_of_many_packages)
{
    enum { PACKAGES = 20 };
    struct host_energy e;

    for (int zone = 0; zone < PACKAGES; zone++)
        put_zone(zone, "package\n", "0\n", RANGE);
    host_energy_begin(&e, root);
    for (int zone = 0; zone < PACKAGES; zone++)
        put_zone(zone, "package\n", "1000000\n", RANGE);
    assert_close(host_energy_step(&e), PACKAGES, 1e-9);
    no_zones(PACKAGES);
}

/* A counter that may have wrapped twice says nothing; from then on it is read anew. */
TEST(energy_of_a_long_time)
{
    struct host_energy e;

    put_zone(0, "package-0\n", "1000000\n", RANGE);
    host_energy_begin(&e, root);
    put_zone(0, "package-0\n", "3000000\n", RANGE);
    e.ns -= 250 * second_ns;
    assert_close(host_energy_step(&e), 2, 1e-9);
    e.ns -= 270 * second_ns;
    assert_true(isnan(host_energy_step(&e)));
    assert_close(host_energy_step(&e), 0, 0);
    no_zones(1);
}

/* What is read between the samples of a long case adds up, and not before there is need. */
TEST(energy_of_a_long_case)
{
    struct telemetry_probe p = { 0 };
    struct measurement m = { 0 };

    telemetry_look(&p); /* it has not begun */
    assert_close(p.joules, 0, 0);
    telemetry_begin(&p, NULL);
    put_zone(0, "package-0\n", "1000000\n", RANGE);
    host_energy_begin(&p.energy, root);
    put_zone(0, "package-0\n", "3000000\n", RANGE);
    telemetry_look(&p);
    assert_close(p.joules, 0, 0);
    p.energy.ns -= 200 * second_ns;
    telemetry_look(&p);
    assert_close(p.joules, 2, 1e-9);
    put_zone(0, "package-0\n", "4500000\n", RANGE);
    p.energy.ns -= 200 * second_ns;
    telemetry_end(&p, &m);
    assert_close(measurement_telemetry(&m, "package_watts") *
                     measurement_telemetry(&m, "sampled_seconds"),
                 3.5, 1e-9);
    no_zones(1);
}

static void put_thermometer(const char *folder, const char *kind, const char *of, const char *value,
                            const char *degrees)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, kind);
    put(path, of);
    snprintf(path, sizeof(path), "%s/%s", folder, value);
    put(path, degrees);
}

/* The first zone may be anything. */
TEST(temperature_of_the_processor)
{
    static const struct {
        const char *zones[3], *sensors[2]; /* what each is of; NULL: it is not there */
        const char *found;                 /* NULL: none */
    } cases[] = {
        { { "acpitz\n", "x86_pkg_temp\n" }, { "coretemp\n" }, "thermal/thermal_zone1/temp" },
        { { "iwlwifi_1\n", NULL, "CPU-thermal\n" }, { NULL }, "thermal/thermal_zone2/temp" },
        { { "soc-thermal\n", "cpu0\n" }, { NULL }, "thermal/thermal_zone0/temp" },
        { { "acpitz\n" }, { "nvme\n", "k10temp\n" }, "hwmon/hwmon1/temp1_input" },
        { { NULL }, { "coretemp\n" }, "hwmon/hwmon0/temp1_input" },
        { { NULL }, { "zenpower\n" }, "hwmon/hwmon0/temp1_input" },
        { { "acpitz\n", "pch_skylake\n" }, { "nvme\n", "drivetemp\n" }, NULL },
    };
    char folder[96], path[HOST_PATH_SIZE], wanted[HOST_PATH_SIZE];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int n = 0; n < 3; n++) {
            snprintf(folder, sizeof(folder), "/sys/class/thermal/thermal_zone%d", n);
            put_thermometer(folder, "type", cases[i].zones[n] ? cases[i].zones[n] : "\n", "temp",
                            "51000\n");
        }
        for (int n = 0; n < 2; n++) {
            snprintf(folder, sizeof(folder), "/sys/class/hwmon/hwmon%d", n);
            put_thermometer(folder, "name", cases[i].sensors[n] ? cases[i].sensors[n] : "\n",
                            "temp1_input", "62000\n");
        }
        snprintf(wanted, sizeof(wanted), "%s/sys/class/%s", root,
                 cases[i].found ? cases[i].found : "");
        assert_true(host_temperature_file(root, path) == (cases[i].found != NULL));
        assert_string_equal(path, cases[i].found ? wanted : "");
    }
    /* A zone that says nothing is passed over. */
    put_thermometer("/sys/class/thermal/thermal_zone0", "type", "x86_pkg_temp\n", "temp", "\n");
    put_thermometer("/sys/class/thermal/thermal_zone2", "type", "cpu\n", "temp", "40000\n");
    assert_true(host_temperature_file(root, path));
    assert_non_null(strstr(path, "thermal_zone2/temp"));
    assert_false(host_temperature_file("/nowhere", path));
}

/* ---- sensor_tracks.h ---- */

static struct nvml *open_gpu(const char *words)
{
    struct error why;

    setenv("HARNESS_NVML", NVML_STUB_PATH, 1);
    setenv("NVML_STUB", words, 1);
    struct nvml *n = nvml_open(second, &why);
    if (!n)
        fail_msg("%s", why.message);
    return n;
}

/* A trace of what was watched for `ms`, begun `late` ms after they began. */
static void watch(const struct sensor_tracks_sources *from, int late, int ms,
                  struct prof_trace *trace)
{
    char why[256];
    struct sensor_tracks *s = sensor_tracks_start(from);

    prof_trace_init(trace);
    pass(late);
    trace->meta.start = now();
    pass(ms);
    sensor_tracks_stop(s);
    trace->meta.end = now();
    assert_int_equal(sensor_tracks_add(s, trace), 0);
    sensor_tracks_free(s);
    if (prof_trace_check(trace, why, sizeof(why)))
        fail_msg("%s", why);
    for (size_t i = 0; i < trace->nr_samples; i++) {
        assert_true(trace->samples[i].time >= trace->meta.start);
        assert_true(trace->samples[i].time <= trace->meta.end);
    }
}

/* How many points a track has, whose process (of the host its own) and unit must be these; 0: there
 * is no such track. */
static int points_of(const struct prof_trace *trace, const char *name, int64_t process,
                     const char *unit, double *first)
{
    int nr = 0;

    for (size_t i = 0; i < trace->nr_samples; i++) {
        const struct prof_counter *c = &trace->counters[trace->samples[i].counter];
        if (strcmp(c->name, name) != 0)
            continue;
        assert_int_equal(c->process, process);
        assert_int_equal(c->kind, process == getpid() ? PROF_TRACK_THREAD : PROF_TRACK_STREAM);
        assert_string_equal(c->unit, unit);
        if (nr++ == 0 && first)
            *first = trace->samples[i].value;
    }
    return nr;
}

TEST(tracks_of_the_host)
{
    struct processors own;
    struct prof_trace trace;
    double mhz, watts;

    host_own_cpus(&own);
    for (size_t cpu = 0; cpu < PROCESSORS_MAX; cpu++)
        if (processors_have(&own, cpu))
            put_clock(cpu, "2500000\n");
    put_zone(0, "package-0\n", "7\n", RANGE);
    watch(&(struct sensor_tracks_sources) { .root = root }, 0, 300, &trace);
    assert_int_equal(trace.nr_counters, 2);
    assert_true(points_of(&trace, "CPU clock", getpid(), "MHz", &mhz) >= 3);
    assert_close(mhz, 2500, 0);
    assert_true(points_of(&trace, "package power", getpid(), "W", &watts) >= 1);
    assert_close(watts, 0, 0); /* it was read, and did not move */
    prof_trace_release(&trace);
    put_zone(0, "gone\n", "0\n", "0\n");
    for (size_t cpu = 0; cpu < PROCESSORS_MAX; cpu++)
        if (processors_have(&own, cpu))
            put_clock(cpu, NULL);
}

/* Nothing to read: no tracks, and no zeros. */
TEST(absent_is_absent)
{
    struct prof_trace trace;

    struct nvml *gpu = open_gpu("refuse,no-events");
    watch(&(struct sensor_tracks_sources) { .root = "/nowhere", .gpu = gpu }, 0, 25, &trace);
    assert_int_equal(trace.nr_counters, 0);
    prof_trace_release(&trace);
    nvml_close(gpu);
}

TEST(tracks_of_the_gpu)
{
    struct prof_trace trace;
    double value;

    struct nvml *gpu = open_gpu("");
    watch(&(struct sensor_tracks_sources) { .root = "/nowhere", .gpu = gpu, .device = 3 }, 0, 60,
          &trace);
    assert_int_equal(trace.nr_counters, 4);
    assert_true(points_of(&trace, "SM clock", 3, "MHz", &value) >= 2);
    assert_close(value, 1980, 0);
    assert_true(points_of(&trace, "memory clock", 3, "MHz", &value) >= 2);
    assert_close(value, 3960, 0);
    assert_true(points_of(&trace, "temperature", 3, "°C", &value) >= 2);
    assert_close(value, 61, 0);
    assert_true(points_of(&trace, "power", 3, "W", &value) >= 2);
    assert_close(value, 250, 0); /* of the moment, which differs from the mean */
    prof_trace_release(&trace);
    nvml_close(gpu);

    /* A driver that knows the mean alone. */
    setenv("HARNESS_NVML", NVML_STUB_OLD_PATH, 1);
    struct error why;
    gpu = nvml_open(second, &why);
    assert_non_null(gpu);
    watch(&(struct sensor_tracks_sources) { .root = "/nowhere", .gpu = gpu }, 0, 20, &trace);
    assert_true(points_of(&trace, "power", 0, "W", &value) >= 2);
    assert_true(value >= 300);
    prof_trace_release(&trace);
    nvml_close(gpu);
}

/* What was read before the trace begins is its first value, once. */
TEST(begun_before_the_trace)
{
    struct prof_trace trace;
    int at_start = 0;

    struct nvml *gpu = open_gpu("");
    watch(&(struct sensor_tracks_sources) { .root = "/nowhere", .gpu = gpu }, 35, 5, &trace);
    for (size_t i = 0; i < trace.nr_samples; i++)
        at_start += trace.samples[i].time == trace.meta.start;
    assert_int_equal(at_start, 4);
    prof_trace_release(&trace);
    nvml_close(gpu);
}

/* As counter events, and from the file again. */
TEST(there_and_back)
{
    struct prof_trace trace, back;
    struct error err;
    char *text = NULL;
    size_t length;

    struct nvml *gpu = open_gpu("");
    watch(&(struct sensor_tracks_sources) { .root = "/nowhere", .gpu = gpu, .device = 2 }, 0, 30,
          &trace);
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    assert_int_equal(prof_write_trace(file, &trace), 0);
    fclose(file);
    assert_non_null(strstr(text, "{\"ph\":\"C\",\"pid\":2,\"tid\":0,"));
    assert_non_null(strstr(text, "\"name\":\"SM clock\",\"args\":{\"MHz\":1980}}"));
    assert_ok(timeline_parse(text, length, "it", &back, &err), &err);
    assert_int_equal(back.nr_samples, trace.nr_samples);
    assert_int_equal(back.nr_counters, 4);
    for (size_t i = 0; i < back.nr_samples; i++) {
        const struct prof_sample *a = &trace.samples[i], *b = &back.samples[i];
        assert_int_equal(b->time, a->time - trace.meta.start);
        assert_close(b->value, a->value, 0);
        assert_string_equal(back.counters[b->counter].name, trace.counters[a->counter].name);
        assert_string_equal(back.counters[b->counter].unit, trace.counters[a->counter].unit);
        assert_int_equal(back.counters[b->counter].process, 2);
    }
    prof_trace_release(&back);
    prof_trace_release(&trace);
    nvml_close(gpu);
    free(text);
}

RUN_TESTS(NULL, NULL)
