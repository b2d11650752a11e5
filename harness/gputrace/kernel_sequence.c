/* SPDX-License-Identifier: MIT */
#include "gputrace/kernel_sequence.h"

#include "base/array.h"

struct launches {
    const struct activity **items;
    size_t nr, capacity;
};

/* Correlations count the calls that launch; the nodes of a graph share one, and run in order. */
static int by_launch(const void *a_, const void *b_)
{
    const struct activity *a = *(const struct activity *const *)a_;
    const struct activity *b = *(const struct activity *const *)b_;

    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static void gather_kernels(const struct activity_list *list, struct launches *kernels)
{
    for (size_t i = 0; i < list->nr; i++)
        if (list->items[i].kind == ACTIVITY_KERNEL)
            *(const struct activity **)array_push(kernels) = &list->items[i];
    if (kernels->nr)
        qsort(kernels->items, kernels->nr, sizeof(*kernels->items), by_launch);
}

/* A name is one pointer in the whole list. */
static bool repeats_with_period(const struct launches *kernels, size_t period)
{
    for (size_t i = period; i < kernels->nr; i++)
        if (kernels->items[i]->name != kernels->items[i - period]->name)
            return false;
    return true;
}

void kernel_sequence_of(const struct activity_list *list, size_t iterations,
                        struct kernel_sequence *sequence)
{
    struct launches kernels = ARRAY_EMPTY;

    *sequence = (struct kernel_sequence)ARRAY_EMPTY;
    gather_kernels(list, &kernels);
    size_t period = iterations ? kernels.nr / iterations : 0;
    if (!list->dropped && !list->untimed && period * iterations == kernels.nr &&
        repeats_with_period(&kernels, period))
        for (size_t i = 0; i < period; i++) {
            /* analyzer: a period above 0 is of some kernels */
            const char *name = kernels.items[i]->name;
            *array_push(sequence) = memory_string(name ? name : "");
        }
    array_release(&kernels);
}

void kernel_sequence_release(struct kernel_sequence *sequence)
{
    for (size_t i = 0; i < sequence->nr; i++)
        free(sequence->items[i]);
    array_release(sequence);
}
