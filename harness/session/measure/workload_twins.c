/* SPDX-License-Identifier: MIT */
/* What a workload has twice. */
#include "session/measure/workload.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One of the list, to be sorted: equal ones come together, the first of the list before them. */
struct twin {
    const struct benchmark *bench;
    int device;
    size_t place;
};

static int order_pointers(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int order_benchmarks(const struct benchmark *a, const struct benchmark *b)
{
    int order = order_pointers(a->variant, b->variant);

    if (!order)
        order = order_pointers(a->inputs, b->inputs);
    if (!order)
        order = (a->cache > b->cache) - (a->cache < b->cache);
    return order ? order : memcmp(a->shape.dim, b->shape.dim, sizeof(a->shape.dim));
}

static int order_twins(const struct twin *a, const struct twin *b)
{
    int order = (a->device > b->device) - (a->device < b->device);

    return order ? order : order_benchmarks(a->bench, b->bench);
}

static int order_places(const void *x, const void *y)
{
    const struct twin *a = x, *b = y;
    int order = order_twins(a, b);

    return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* For each of the list whether an equal one stands before it; free() it. */
static bool *find_twins(const struct workload *c)
{
    size_t nr = c->list.nr;
    struct twin *all = memory_zeroed(nr + 1, sizeof(*all));
    bool *again = memory_zeroed(nr + 1, sizeof(*again));

    for (size_t i = 0; i < nr; i++)
        all[i] = (struct twin) { &c->list.items[i], c->device_of[i], i };
    qsort(all, nr, sizeof(*all), order_places);
    for (size_t i = 1; i < nr; i++)
        again[all[i].place] = order_twins(&all[i - 1], &all[i]) == 0;
    free(all);
    return again;
}

void workload_drop_twins(struct workload *c)
{
    bool *again = find_twins(c);
    size_t kept = 0;

    for (size_t i = 0; i < c->list.nr; i++) {
        if (again[i])
            continue;
        c->list.items[kept] = c->list.items[i];
        c->device_of[kept++] = c->device_of[i];
    }
    c->list.nr = kept;
    free(again);
}
