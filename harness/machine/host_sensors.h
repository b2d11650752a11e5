/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells of the host's clock, energy and temperature: files of /sys and /proc, read
 * anew at every call. What cannot be read is NaN, never 0.
 *
 * `root` is "" for this machine, else a folder with copies of /proc and /sys.
 */
#ifndef HARNESS_MACHINE_HOST_SENSORS_H
#define HARNESS_MACHINE_HOST_SENSORS_H

#include "host/processors.h"

#include <stdbool.h>
#include <stdint.h>

/* The number in a file's first line. */
double host_number(const char *path);
/* Mean clock in MHz of the processors in `cpus`: cpufreq where there is one, else what
 * /proc/cpuinfo tells, which in a virtual machine is often no more than the nominal clock. */
double host_mhz(const char *root, const struct processors *cpus);
/* The processors that the threads of this process may run on, all together: those of a team whose
 * threads are bound (host/thread_pinning.h), and else all that the process may use. */
void host_own_cpus(struct processors *cpus);

/* Seconds for which threads of this process were ready and had no processor, all together, since
 * each began: the scheduler's own count. */
double host_waited(const char *root);

/* Zones of RAPL that are looked at: one for each package, and on some machines as many others. */
enum { HOST_PACKAGES_MAX = 64 };
/* W that no package takes, however large it is. */
enum { HOST_PACKAGE_WATTS_MOST = 1000 };

/* The zones of the processor packages, /sys/class/powercap/intel-rapl:ZONE; their number. */
int host_packages(const char *root, int zones[HOST_PACKAGES_MAX]);
/* The number in a zone's file, such as "energy_uj". */
double host_package_number(const char *root, int zone, const char *name);

/* Energy of the processor packages, by the counters of RAPL ("Running Average Power Limit", Intel's
 * manual volume 3, chapter "Power and Thermal Management"; AMD's from family 17h on). They move
 * about once a millisecond, wrap around, and most machines show them to their administrator only.
 * One of AMD's wraps at 65.5 kJ: every four minutes at 280 W.
 */
struct host_energy {
    const char *root;
    uint64_t ns;                                              /* of the last reading */
    int nr, zone[HOST_PACKAGES_MAX];                          /* 0 where one cannot be read */
    double last[HOST_PACKAGES_MAX], range[HOST_PACKAGES_MAX]; /* uJ; range: where it wraps */
};

/* Finds the packages. `root` is borrowed. */
void host_energy_begin(struct host_energy *e, const char *root);
/* Joules of all packages since the last call or the beginning; NaN where one cannot be read, or
 * could have wrapped more than once meanwhile, at HOST_PACKAGE_WATTS_MOST. */
double host_energy_step(struct host_energy *e);

/* ---- temperature ---- */

/* The file that tells the processor's temperature, in thousandths of a degree: that of the first
 * thermal zone of it (x86_pkg_temp, or with "cpu" or "soc" in its type), else of a sensor of
 * coretemp, k10temp or zenpower. "" and false where there is none: other zones are of the board, of
 * a disk or of a radio. */
enum { HOST_PATH_SIZE = 512 };
bool host_temperature_file(const char *root, char path[HOST_PATH_SIZE]);

#endif
