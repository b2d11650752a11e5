/* SPDX-License-Identifier: MIT */
#include "cli/roofs.h"

#include "analysis/epoch.h"
#include "measure/ceilings.h"

#include <stdio.h>

void roofs_epoch(const struct run *run, char epoch[17])
{
    snprintf(epoch, 17, "%016llx", (unsigned long long)epoch_id(run));
}

int roofs_measure(struct store *store, const struct run *run, const char *device_spec,
                  const volatile sig_atomic_t *interrupted, struct error *err)
{
    struct ceiling ceilings[CEILINGS_MAX];
    char epoch[17];
    int nr = sweep_ceilings(device_spec, ceilings, interrupted, err);

    roofs_epoch(run, epoch);
    return nr < 0 ? -1 : store_add_ceilings(store, &run->machine, epoch, ceilings, (size_t)nr, err);
}

int roofs_ensure(struct store *store, const struct run *run, const struct device *device,
                 const volatile sig_atomic_t *interrupted, struct error *err)
{
    struct records known = { 0 };
    char epoch[17];

    if (device->kind != DEVICE_CPU)
        return 0;
    roofs_epoch(run, epoch);
    int rc = store_load_ceilings(store, run->machine.id, device->label, epoch, &known, err);
    if (rc == 0 && known.nr_ceilings == 0) {
        fprintf(stderr, "measuring the roofs of %s (once for this machine, compiler and kernel)\n",
                device->describe);
        rc = roofs_measure(store, run, device->spec, interrupted, err);
    }
    records_release(&known);
    return rc;
}
