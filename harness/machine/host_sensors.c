/* SPDX-License-Identifier: MIT */
#include "machine/host_sensors.h"

#include "base/file.h"
#include "core/clock.h"
#include "process/proc_numbers.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = HOST_PATH_SIZE };

double host_number(const char *path)
{
    char line[64], *end;

    if (!file_first_line(path, line, sizeof(line)))
        return NAN;
    double value = strtod(line, &end);
    return end == line ? (double)NAN : value;
}

/* ---- clock ---- */

static double mean_by_cpufreq(const char *root, const struct processors *cpus)
{
    char path[PATH_SIZE];
    double sum = 0;
    int nr = 0;

    for (size_t cpu = 0; cpu < PROCESSORS_MAX; cpu++) {
        if (!processors_have(cpus, cpu))
            continue;
        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%zu/cpufreq/scaling_cur_freq",
                 root, cpu);
        double khz = host_number(path);
        if (isnan(khz))
            break; /* where one has it, all have */
        sum += khz;
        nr++;
    }
    return nr > 0 ? sum / nr / 1000 : (double)NAN;
}

/* Blocks of lines, each of which begins with the processor's number. */
static double mean_by_cpuinfo(const char *root, const struct processors *cpus)
{
    char line[256];
    double sum = 0, mhz;
    size_t cpu;
    bool wanted = false;
    int nr = 0;

    snprintf(line, sizeof(line), "%s/proc/cpuinfo", root);
    FILE *file = fopen(line, "re");
    if (!file)
        return NAN;
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "processor : %zu", &cpu) == 1)
            wanted = processors_have(cpus, cpu);
        else if (wanted && sscanf(line, "cpu MHz : %lf", &mhz) == 1) {
            sum += mhz;
            nr++;
        }
    }
    fclose(file);
    return nr > 0 ? sum / nr : (double)NAN;
}

double host_mhz(const char *root, const struct processors *cpus)
{
    double mhz = mean_by_cpufreq(root, cpus);

    return isnan(mhz) ? mean_by_cpuinfo(root, cpus) : mhz;
}

void host_own_cpus(struct processors *cpus)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    struct processors own;

    *cpus = (struct processors) { { 0 } };
    while (tasks && (task = readdir(tasks))) {
        int thread = atoi(task->d_name);
        if (thread > 0 && processors_of(thread, &own))
            processors_join(cpus, &own);
    }
    if (tasks)
        closedir(tasks);
    if (processors_count(cpus) == 0)
        processors_of(0, cpus);
}

/* The second number of a thread's schedstat is the ns that it waited in queues of processors
 * (kernel documentation, scheduler/sched-stats). */
static double waited_of(const char *path)
{
    char line[96], *second, *end;

    if (!file_first_line(path, line, sizeof(line)))
        return NAN;
    strtod(line, &second);
    double ns = strtod(second, &end);
    return end == second ? (double)NAN : ns * 1e-9;
}

double host_waited(const char *root)
{
    char path[PATH_SIZE];
    struct proc_numbers tasks;
    double sum = NAN;

    snprintf(path, sizeof(path), "%s/proc/self/task", root);
    if (!proc_numbers_open(&tasks, path))
        return NAN;
    for (long task = proc_numbers_next(&tasks); task >= 0; task = proc_numbers_next(&tasks)) {
        snprintf(path, sizeof(path), "%s/proc/self/task/%ld/schedstat", root, task);
        double waited = waited_of(path);
        if (!isnan(waited)) /* a thread may have ended meanwhile */
            sum = (isnan(sum) ? 0 : sum) + waited;
    }
    return sum;
}

/* ---- energy ---- */

static void zone_file(const char *root, int zone, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/sys/class/powercap/intel-rapl:%d/%s", root, zone, name);
}

double host_package_number(const char *root, int zone, const char *name)
{
    char path[PATH_SIZE];

    zone_file(root, zone, name, path);
    return host_number(path);
}

/* Other zones (psys) contain packages, or are parts of them. */
static bool is_package(const char *root, int zone)
{
    char path[PATH_SIZE], name[64];

    zone_file(root, zone, "name", path);
    return file_first_line(path, name, sizeof(name)) && strncmp(name, "package", 7) == 0;
}

int host_packages(const char *root, int zones[HOST_PACKAGES_MAX])
{
    char folder[PATH_SIZE];
    int nr = 0;

    /* A virtual machine has none, and is asked three times for each measurement. */
    snprintf(folder, sizeof(folder), "%s/sys/class/powercap", root);
    if (access(folder, F_OK) != 0)
        return 0;
    for (int zone = 0; zone < HOST_PACKAGES_MAX; zone++)
        if (is_package(root, zone))
            zones[nr++] = zone;
    return nr;
}

/* Where one package cannot be read, the sum over the rest would pass for that of all. */
void host_energy_begin(struct host_energy *e, const char *root)
{
    *e = (struct host_energy) { .root = root };
    e->nr = host_packages(root, e->zone);
    for (int i = 0; i < e->nr; i++) {
        e->last[i] = host_package_number(root, e->zone[i], "energy_uj");
        e->range[i] = host_package_number(root, e->zone[i], "max_energy_range_uj");
        if (isnan(e->last[i]))
            e->nr = 0;
    }
    e->ns = clock_ns();
}

/* uJ. Of a counter that `most` may have taken round more than once, or whose range is not known,
 * nobody can tell what it counted. */
static double package_step(struct host_energy *e, int i, double most)
{
    double now = host_package_number(e->root, e->zone[i], "energy_uj"), more = now - e->last[i];

    e->last[i] = now;
    if (!(most < e->range[i]))
        return NAN;
    return more < 0 ? more + e->range[i] : more;
}

double host_energy_step(struct host_energy *e)
{
    uint64_t now = clock_ns();
    double most = HOST_PACKAGE_WATTS_MOST * (double)(now - e->ns) * 1e-3; /* uJ */
    double sum = e->nr > 0 ? 0 : (double)NAN;

    e->ns = now;
    for (int i = 0; i < e->nr; i++)
        sum += package_step(e, i, most);
    return sum * 1e-6;
}

/* ---- temperature ---- */

static bool is_zone_of_processor(const char *type)
{
    return strcmp(type, "x86_pkg_temp") == 0 || strcasestr(type, "cpu") || strcasestr(type, "soc");
}

static bool is_sensor_of_processor(const char *name)
{
    return strcmp(name, "coretemp") == 0 || strcmp(name, "k10temp") == 0 ||
           strcmp(name, "zenpower") == 0;
}

static const struct thermometer {
    const char *folder, *kind, *value; /* FOLDER0, FOLDER1, ... with these files */
    bool (*fits)(const char *kind);
} thermometers[] = {
    { "/sys/class/thermal/thermal_zone", "type", "temp", is_zone_of_processor },
    { "/sys/class/hwmon/hwmon", "name", "temp1_input", is_sensor_of_processor },
};
enum { THERMOMETERS_MAX = 128 }; /* of a kind; there may be gaps between their numbers */

/* What says nothing, such as a zone that is switched off, does not fit. */
static bool thermometer_is(const struct thermometer *t, const char *root, int number,
                           char path[HOST_PATH_SIZE])
{
    char kind[64];

    snprintf(path, HOST_PATH_SIZE, "%s%s%d/%s", root, t->folder, number, t->kind);
    if (!file_first_line(path, kind, sizeof(kind)) || !t->fits(kind))
        return false;
    snprintf(path, HOST_PATH_SIZE, "%s%s%d/%s", root, t->folder, number, t->value);
    return !isnan(host_number(path));
}

bool host_temperature_file(const char *root, char path[HOST_PATH_SIZE])
{
    for (size_t i = 0; i < sizeof(thermometers) / sizeof(thermometers[0]); i++)
        for (int number = 0; number < THERMOMETERS_MAX; number++)
            if (thermometer_is(&thermometers[i], root, number, path))
                return true;
    path[0] = '\0';
    return false;
}
