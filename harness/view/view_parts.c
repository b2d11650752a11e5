/* SPDX-License-Identifier: MIT */
#include "view/view_parts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The place of a run in the list, or -1. */
static int place_of(int run, const int *runs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (runs[i] == run)
            return (int)i;
    return -1;
}

void records_part_init(struct records *part, const struct records *whole, const int *runs,
                       size_t nr)
{
    int *places = memory_zeroed(whole->nr_runs + 1, sizeof(*places));

    *part = (struct records) { .ceilings = whole->ceilings, .nr_ceilings = whole->nr_ceilings };
    memcpy(part->ceilings_of, whole->ceilings_of, sizeof(part->ceilings_of));
    part->runs = memory_zeroed(nr + 1, sizeof(*part->runs));
    part->items = memory_zeroed(whole->nr + 1, sizeof(*part->items));
    for (size_t i = 0; i < nr; i++)
        part->runs[part->nr_runs++] = whole->runs[runs[i]];
    for (size_t i = 0; i < whole->nr_runs; i++)
        places[i] = place_of((int)i, runs, nr);
    for (size_t i = 0; i < whole->nr; i++) {
        if (places[whole->items[i].run] < 0)
            continue;
        part->items[part->nr] = whole->items[i];
        part->items[part->nr++].run = places[whole->items[i].run];
    }
    free(places);
}

void records_part_release(struct records *part)
{
    free(part->runs);
    free(part->items);
    *part = (struct records) { 0 };
}

struct aged {
    int64_t started_ms;
    int run;
};

static int order_aged(const void *x, const void *y)
{
    const struct aged *a = x, *b = y;
    int order = (a->started_ms > b->started_ms) - (a->started_ms < b->started_ms);

    return order ? order : (a->run > b->run) - (a->run < b->run);
}

void records_sort_runs(struct records *records, int *places)
{
    size_t nr = records->nr_runs;
    struct aged *aged = memory_zeroed(nr + 1, sizeof(*aged));
    struct run *runs = memory_zeroed(nr + 1, sizeof(*runs));

    for (size_t i = 0; i < nr; i++)
        aged[i] = (struct aged) { records->runs[i].started_ms, (int)i };
    qsort(aged, nr, sizeof(*aged), order_aged);
    for (size_t i = 0; i < nr; i++) {
        runs[i] = records->runs[aged[i].run];
        places[aged[i].run] = (int)i;
    }
    free(records->runs);
    records->runs = runs;
    records->runs_capacity = nr + 1;
    for (size_t i = 0; i < records->nr; i++)
        records->items[i].run = places[records->items[i].run];
    free(aged);
}
