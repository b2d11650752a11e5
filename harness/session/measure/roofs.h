/* SPDX-License-Identifier: MIT */
/* The machine's measured roofs: from the history if it has them, else measured now and kept. */
#ifndef HARNESS_SESSION_MEASURE_ROOFS_H
#define HARNESS_SESSION_MEASURE_ROOFS_H

#include "session/measure/measuring.h"
#include "session/measure/recording.h"
#include "store/store.h"

/* The epoch that a set of roofs belongs to: another compiler, kernel or governor has its own. */
void roofs_epoch(const struct run *run, char epoch[17]);

/* Makes sure that the history has roofs for this machine, device and epoch; a note says that it
 * measures, if it has to. They are measured again if `again`, or if the machine was
 * busy last time; of old and new the better roof stands. Devices without roofs (fake) are left
 * alone. */
int roofs_ensure(struct store *store, const struct run *run, const struct device *device,
                 bool again, const struct measuring *how, struct error *err);

/* recording_run(), and behind it the roofs, as roofs_ensure() does, of each device that has a time
 * in it: where nothing was right, nothing waits for roofs. The run can do without: where they
 * cannot be measured, for want of time, by an interrupt or whatever else, a note says so, and they
 * are absent. -1: the run failed, or the history does. */
int roofs_recording_run(struct recording *recording, enum sweep_end *end, struct error *err);

/* Whether it has them already: then roofs_ensure() neither measures nor writes. */
bool roofs_there(struct store *store, const struct run *run, const struct device *device);

/* The roofs that the history has of this machine, device (in whatever way it launches) and epoch.
 */
int roofs_load(struct store *store, const struct run *run, const struct device *device,
               struct records *out, struct error *err);

#endif
