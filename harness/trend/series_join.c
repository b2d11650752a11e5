/* SPDX-License-Identifier: MIT */
#include "trend/series_join.h"

#include "base/array.h"
#include "metrics/group.h"
#include "trend/series_parts.h"

#include <stdlib.h>
#include <string.h>

struct joined_point {
    size_t run; /* the how-many-th that was added */
    size_t launches;
    double value, p5, p95;
};

struct joined {
    struct benchmark_name *bench; /* owned */
    struct joined_point *items;
    size_t nr, capacity;
};

struct series_join {
    ARRAY(struct joined) all;
    size_t newest; /* number of the benchmark found last */
    size_t runs;
};

struct series_join *series_join_create(void)
{
    return memory_zeroed(1, sizeof(struct series_join));
}

void series_join_free(struct series_join *join)
{
    if (!join)
        return;
    for (size_t i = 0; i < join->all.nr; i++) {
        free(join->all.items[i].bench);
        free(join->all.items[i].items);
    }
    array_release(&join->all);
    free(join);
}

static struct joined *find_joined(struct series_join *join, const struct benchmark_name *bench)
{
    /* One run has its benchmarks in the order of the last one, mostly. */
    for (size_t k = 0; k < join->all.nr; k++) {
        size_t i = (join->newest + 1 + k) % join->all.nr;
        if (strcmp(join->all.items[i].bench->key, bench->key) == 0) {
            join->newest = i;
            return &join->all.items[i];
        }
    }
    struct joined *joined = array_push(&join->all);
    joined->bench = memory_zeroed(1, sizeof(*bench));
    *joined->bench = *bench;
    join->newest = join->all.nr - 1;
    return joined;
}

void series_join_add(struct series_join *join, const struct records *records)
{
    struct series_list list;

    series_list_init(&list, records);
    for (size_t i = 0; i < list.nr; i++) {
        const struct series_point *p = &list.items[i].items[0];
        *array_push(find_joined(join, list.items[i].bench)) =
            (struct joined_point) { join->runs, p->launches, p->value, p->p5, p->p95 };
    }
    series_list_release(&list);
    join->runs++;
}

static struct series series_of(const struct joined *joined, const struct records *runs,
                               const struct series_run *facts)
{
    struct series series = { .machine = runs->nr_runs ? runs->runs[0].machine.class_name : "" };

    for (size_t i = 0; i < joined->nr; i++) {
        const struct joined_point *from = &joined->items[i];
        struct series_point point = series_point_of(runs, facts, (int)from->run);
        point.launches = from->launches;
        point.value = from->value;
        point.p5 = from->p5;
        point.p95 = from->p95;
        *array_push(&series) = point;
    }
    return series;
}

static int order_series(const void *x, const void *y)
{
    const struct series *a = x, *b = y;

    return benchmark_order(a->bench, b->bench);
}

void series_join_list(const struct series_join *join, const struct records *runs,
                      struct series_list *list)
{
    struct series_run *facts = series_runs(runs);

    *list = (struct series_list) { 0 };
    list->names = memory_zeroed(join->all.nr + 1, sizeof(*list->names));
    for (size_t i = 0; i < join->all.nr; i++) {
        struct series series = series_of(&join->all.items[i], runs, facts);
        list->names[i] = *join->all.items[i].bench;
        series.bench = &list->names[i];
        series_list_add(list, &series);
    }
    if (list->nr)
        qsort(list->items, list->nr, sizeof(*list->items), order_series);
    free(facts);
}
