/* SPDX-License-Identifier: MIT */
/*
 * Clocks, power and temperature while a profile is recorded, for the counter tracks of its trace.
 * A thread sleeps, and looks about every 10 ms; where looking takes long (many processors, a slow
 * driver) it looks less often, so that it is at work for no more than a twentieth of the time.
 *
 *     CPU clock          MHz  on the host: host_mhz() of the processors that the process runs on
 *     package power      W    on the host: mean since the point before, stamped with that point's
 *                             time, so that a value holds until the next one like all others
 *     SM clock           MHz  on the device, by NVML, as the next ones
 *     memory clock       MHz
 *     power              W    of the moment; the driver's mean of a second where it knows no better
 *     temperature        °C
 *
 * What cannot be read has no point, and what never could has no track.
 */
#ifndef HARNESS_MACHINE_SENSOR_TRACKS_H
#define HARNESS_MACHINE_SENSOR_TRACKS_H

#include "machine/nvml.h"
#include "profile/trace.h"

struct sensor_tracks;

struct sensor_tracks_sources {
    const char *root;       /* see machine/host_sensors.h; borrowed */
    const struct nvml *gpu; /* NULL: none; borrowed */
    int device;             /* its number, which is the process of its tracks */
};

/* Looks for the first time, then by a thread of its own. */
struct sensor_tracks *sensor_tracks_start(const struct sensor_tracks_sources *sources);
/* Looks for the last time; from then on nothing runs. */
void sensor_tracks_stop(struct sensor_tracks *s);
/* After sensor_tracks_stop(): adds the points as counters, and sorts the trace. What was read
 * before the trace begins holds when it does; what is behind its end is left out. -1: no memory. */
int sensor_tracks_add(const struct sensor_tracks *s, struct prof_trace *trace);
void sensor_tracks_free(struct sensor_tracks *s); /* stopped; NULL is allowed */

#endif
