/* SPDX-License-Identifier: MIT */
#include "metrics/group.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int group_order_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int group_order_dims(const struct benchmark_name *a, const struct benchmark_name *b)
{
    for (int i = 0; i < a->nr_dims && i < b->nr_dims; i++) {
        int by_name = strcmp(a->dims[i].name, b->dims[i].name);
        if (by_name)
            return by_name;
        int by_value = group_order_int(a->dims[i].value, b->dims[i].value);
        if (by_value)
            return by_value;
    }
    return group_order_int(a->nr_dims, b->nr_dims);
}

int benchmark_order(const struct benchmark_name *a, const struct benchmark_name *b)
{
    int order = strcmp(a->kernel, b->kernel);

    if (!order)
        order = group_order_dims(a, b);
    if (!order)
        order = strcmp(a->variant, b->variant);
    if (!order)
        order = strcmp(a->math, b->math);
    if (!order)
        order = strcmp(a->device, b->device);
    if (!order)
        order = strcmp(a->cache, b->cache);
    if (!order)
        order = strcmp(a->fill, b->fill);
    return order ? order : strcmp(a->key, b->key);
}

/* What qsort needs to see of a record. */
struct entry {
    const struct record *record;
    const char *machine;
};

static int group_order(const struct entry *a, const struct entry *b)
{
    int order = benchmark_order(&a->record->m.bench, &b->record->m.bench);

    return order ? order : strcmp(a->machine, b->machine);
}

static int group_order_entry(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    int order = group_order(a, b);

    if (!order)
        order = group_order_int(a->record->run, b->record->run);
    if (!order)
        order = group_order_int(a->record->launch_seq, b->record->launch_seq);
    /* Records lie in one array: their addresses keep the order of insertion. */
    return order ? order : (a->record > b->record) - (a->record < b->record);
}

enum { ALL_RUNS = -1 };

static struct entry *groups_sorted_entries(const struct records *records, int only_run,
                                           bool ignore_machine, size_t *nr)
{
    struct entry *entries = memory_zeroed(records->nr ? records->nr : 1, sizeof(*entries));

    *nr = 0;
    for (size_t i = 0; i < records->nr; i++) {
        const struct record *r = &records->items[i];
        const struct run *run = &records->runs[r->run];
        if (only_run == ALL_RUNS || r->run == only_run)
            entries[(*nr)++] = (struct entry) { r, ignore_machine ? "" : run->machine.class_name };
    }
    qsort(entries, *nr, sizeof(*entries), group_order_entry);
    return entries;
}

/* Takes the entries. */
static void groups_form(struct groups *g, struct entry *entries, size_t nr)
{
    size_t room = nr ? nr : 1;

    g->nr = 0;
    g->items = memory_zeroed(room, sizeof(*g->items));
    g->order = memory_zeroed(room, sizeof(*g->order)); /* NOLINT(bugprone-sizeof-expression) */
    for (size_t i = 0; i < nr; i++) {
        g->order[i] = entries[i].record;
        if (i == 0 || group_order(&entries[i - 1], &entries[i]) != 0)
            g->items[g->nr++] = (struct group) {
                .bench = &entries[i].record->m.bench,
                .machine = entries[i].machine,
                .items = &g->order[i],
            };
        g->items[g->nr - 1].nr++;
    }
    free(entries);
}

void groups_init(struct groups *g, const struct records *records, bool ignore_machine)
{
    size_t nr;
    struct entry *entries = groups_sorted_entries(records, ALL_RUNS, ignore_machine, &nr);

    groups_form(g, entries, nr);
}

void groups_init_run(struct groups *g, const struct records *records, int run)
{
    size_t nr;
    struct entry *entries = groups_sorted_entries(records, run, true, &nr);

    groups_form(g, entries, nr);
}

void groups_release(struct groups *g)
{
    free(g->items);
    free(g->order);
    *g = (struct groups) { 0 };
}

size_t group_launch_length(const struct group *g, size_t at)
{
    const struct record *first = g->items[at];
    size_t end = at + 1;

    while (end < g->nr && g->items[end]->run == first->run &&
           g->items[end]->launch_seq == first->launch_seq)
        end++;
    return end - at;
}
