/* SPDX-License-Identifier: MIT */
#include "analysis/disturbance.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

void disturbance_find(const struct records *records, int run, struct disturbance *d)
{
    double *probes = memory_zeroed(records->nr + 1, sizeof(*probes));

    *d = (struct disturbance) { .worst = NAN };
    for (size_t i = 0; i < records->nr; i++) {
        const struct record *r = &records->items[i];
        double probe = r->run == run ? measurement_telemetry(&r->m, "probe_ns") : NAN;
        if (probe > 0)
            probes[d->probed++] = probe;
    }
    stats_sort(probes, d->probed);
    double quiet = probes[d->probed / 10];
    for (size_t i = 0; i < d->probed; i++)
        d->disturbed += probes[i] > DISTURBANCE_LIMIT * quiet;
    if (d->probed > 0)
        d->worst = probes[d->probed - 1] / quiet;
    free(probes);
}
