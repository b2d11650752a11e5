/* SPDX-License-Identifier: MIT */
#include "measure/warmup.h"

#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* Enough for any kernel: those that are over in no time are warm by then. */
enum { WARMUPS_MAX = 100000 };

void warmup_begin(struct warmup *w, double seconds)
{
    *w = (struct warmup) { .wanted_ns = seconds * 1e9, .look_at_ns = seconds * 1e9 };
}

static double median_of(const uint64_t *samples, size_t nr)
{
    double *x = memory_resize(NULL, nr, sizeof(*x));

    for (size_t i = 0; i < nr; i++)
        x[i] = (double)samples[i];
    double median = stats_median(x, nr);
    free(x);
    return median;
}

bool warmup_is_stable(const uint64_t *samples, size_t nr)
{
    size_t half = nr / 2;

    if (half < 3)
        return false;
    double older = median_of(samples + nr - 2 * half, half);
    return fabs(older - median_of(samples + nr - half, half)) <= 0.02 * older;
}

/* Each look sorts all of them, so the next comes only after a quarter more time. */
bool warmup_over(struct warmup *w, const uint64_t *samples, size_t nr, double elapsed_ns)
{
    if (elapsed_ns >= w->look_at_ns) {
        if (warmup_is_stable(samples, nr))
            return true;
        w->look_at_ns = 1.25 * elapsed_ns;
    }
    return elapsed_ns >= 4 * w->wanted_ns || nr >= WARMUPS_MAX;
}

double warmup_median(const uint64_t *samples, size_t nr)
{
    size_t newer = (nr + 1) / 2;

    return median_of(samples + nr - newer, newer);
}
