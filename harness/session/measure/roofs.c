/* SPDX-License-Identifier: MIT */
#include "session/measure/roofs.h"

#include "base/memory.h"
#include "core/device_label.h"
#include "core/roof_name.h"
#include "machine/measured_roofs.h"
#include "metrics/epoch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Roofs whose best repetition is this much better than their value were taken on a busy machine;
 * so was a launch that costs more than any sleeping thread needs to wake. */
static const double busy_spread = 1.25, busy_launch_ns = 1e5;

void roofs_epoch(const struct run *run, char epoch[17])
{
    snprintf(epoch, 17, "%016llx", (unsigned long long)epoch_id(run));
}

static bool is_better_roof(const struct roof *a, const struct roof *b)
{
    enum better better = roof_family_of(a)->better;

    return better == BETTER_LOWER ? a->value < b->value
                                  : better == BETTER_HIGHER && a->value > b->value;
}

/* A roof is a lower bound: the best one ever seen in the epoch stands. Data-sheet values that were
 * set by hand stay. */
static void keep_better_roof(struct roof *fresh, const struct records *known)
{
    for (size_t i = 0; i < known->nr_roofs; i++) {
        const struct roof *old = &known->roofs[i];
        if (strcmp(old->name, fresh->name) != 0)
            continue;
        double spec = old->spec > 0 ? old->spec : fresh->spec;
        if (is_better_roof(old, fresh))
            *fresh = *old;
        fresh->spec = spec;
    }
}

static bool are_roofs_busy(const struct roof *roofs, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        const struct roof *c = &roofs[i];
        enum roof_quantity is = roof_family_of(c)->quantity;
        if ((is == ROOF_TIME && c->value > busy_launch_ns) ||
            (is == ROOF_RATE && c->high > busy_spread * c->value))
            return true;
    }
    return false;
}

static bool has_memory_roof(const struct roof *roofs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (strcmp(roofs[i].name, "bandwidth.dram") == 0)
            return true;
    return false;
}

/* `missing`: it was the measuring that failed. */
static int measure_roofs(struct store *store, const struct run *run, const struct device *device,
                         const char *epoch, const struct records *known,
                         const struct measuring *how, bool *missing, struct error *err)
{
    struct roof roofs[ROOFS_MAX];
    int nr = sweep_roofs(device->spec, roofs, how->interrupted, err);

    *missing = nr < 0;
    if (nr < 0)
        return -1;
    for (int i = 0; i < nr; i++)
        keep_better_roof(&roofs[i], known);
    if (are_roofs_busy(roofs, (size_t)nr))
        sink_note(how->sink,
                  "the roofs vary by more than %.0f %%: the machine is busy; the next run "
                  "measures them again\n",
                  100 * (busy_spread - 1));
    if (device->kind == DEVICE_CPU && !has_memory_roof(roofs, (size_t)nr))
        sink_note(how->sink, "no roof of the memory: %s\n",
                  roofs_have_room(device, &run->machine)
                      ? "there was too little to walk through; the next run measures it"
                      : "of what may be taken half is less than the caches hold; a run with more "
                        "measures it");
    return store_add_roofs(store, &run->machine, epoch, roofs, (size_t)nr, err);
}

int roofs_load(struct store *store, const struct run *run, const struct device *device,
               struct records *out, struct error *err)
{
    char epoch[17], label[NAME_SIZE];

    roofs_epoch(run, epoch);
    device_label_hardware(device->label, label, sizeof(label));
    return store_load_roofs(store, run->machine.id, label, epoch, out, err);
}

/* The roofs are there, were measured in quiet, and none is absent that could be measured now. */
static bool are_roofs_usable(const struct records *known, const struct run *run,
                             const struct device *device)
{
    return known->nr_roofs > 0 && !are_roofs_busy(known->roofs, known->nr_roofs) &&
           (has_memory_roof(known->roofs, known->nr_roofs) || device->kind != DEVICE_CPU ||
            !roofs_have_room(device, &run->machine));
}

bool roofs_there(struct store *store, const struct run *run, const struct device *device)
{
    struct records known = { 0 };
    struct error ignored;
    bool there = roofs_load(store, run, device, &known, &ignored) == 0 &&
                 are_roofs_usable(&known, run, device);

    records_release(&known);
    return there;
}

/* Those that are known, however old, go into `known`. */
static int find_roofs(struct store *store, const struct run *run, const struct device *device,
                      bool again, const struct measuring *how, struct records *known, bool *missing,
                      struct error *err)
{
    char epoch[17];

    *missing = false;
    if (!device_has_roofs(device))
        return 0;
    roofs_epoch(run, epoch);
    int rc = roofs_load(store, run, device, known, err);
    if (rc == 0 && (again || !are_roofs_usable(known, run, device))) {
        sink_note(how->sink,
                  "measuring the roofs of %s (once for this machine, compiler and kernel)\n",
                  device->model[0] ? device->model : device->describe);
        rc = measure_roofs(store, run, device, epoch, known, how, missing, err);
    }
    return rc;
}

int roofs_ensure(struct store *store, const struct run *run, const struct device *device,
                 bool again, const struct measuring *how, struct error *err)
{
    struct records known = { 0 };
    bool missing;
    int rc = find_roofs(store, run, device, again, how, &known, &missing, err);

    records_release(&known);
    return rc;
}

static int try_roofs(struct store *store, const struct run *run, const struct device *device,
                     const struct measuring *how, struct error *err)
{
    struct records known = { 0 };
    bool missing;
    int rc = find_roofs(store, run, device, false, how, &known, &missing, err);

    if (rc && missing && measuring_interrupted(how)) {
        sink_note(how->sink,
                  "the roofs were not measured to their end, so none is kept, and the next "
                  "run measures them again\n");
        rc = 0;
    } else if (rc && missing) {
        sink_note(how->sink, "it goes on %s, and the next run measures them again: %s\n",
                  known.nr_roofs ? "with the roofs of a busy machine"
                                 : "without roofs, so what is a share of them is absent",
                  err->message);
        rc = 0;
    }
    records_release(&known);
    return rc;
}

int roofs_recording_run(struct recording *recording, enum sweep_end *end, struct error *err)
{
    const struct device_list *devices = &recording->workload->devices;

    recording->timed = memory_zeroed(devices->nr, sizeof(*recording->timed));
    int rc = recording_run(recording, end, err);
    for (size_t i = 0; rc == 0 && *end != SWEEP_INTERRUPTED && i < devices->nr; i++)
        if (recording->timed[i] && !measuring_interrupted(recording->measuring))
            rc = try_roofs(recording->store, recording->run, &devices->items[i],
                           recording->measuring, err);
    free(recording->timed);
    recording->timed = NULL;
    return rc;
}
