/* SPDX-License-Identifier: MIT */
#include "gputrace/kernel_totals.h"

#include "base/array.h"
#include "base/json.h"
#include "gputrace/work_check.h"

#include <math.h>

static struct kernel_total *total_of(struct kernel_totals *totals, const char *name)
{
    for (size_t i = 0; i < totals->nr; i++)
        if (strcmp(totals->items[i].name, name) == 0)
            return &totals->items[i];
    struct kernel_total *row = array_push(totals);
    row->name = memory_string(name);
    return row;
}

void kernel_totals_of(const struct counter_list *list, int iterations,
                      const struct kernel_sequence *names, struct kernel_totals *totals)
{
    bool known = names->nr > 0 && !list->dropped && list->nr == names->nr * (size_t)iterations;

    *totals = (struct kernel_totals) { .iterations = iterations, .dropped = list->dropped };
    for (size_t i = 0; i < list->nr; i++) {
        struct kernel_total *row = total_of(totals, known ? names->items[i % names->nr] : "");
        struct work work = work_counted(list, i, 1);
        row->launches++;
        row->work.bytes += work.bytes;
        row->work.flops += work.flops;
    }
    for (size_t i = 0; i < totals->nr; i++) {
        struct kernel_total *row = &totals->items[i];
        row->launches /= iterations;
        row->work.bytes /= iterations;
        row->work.flops /= iterations;
    }
}

void kernel_totals_release(struct kernel_totals *totals)
{
    for (size_t i = 0; i < totals->nr; i++)
        free(totals->items[i].name);
    array_release(totals);
}

struct work kernel_totals_work(const struct kernel_totals *totals)
{
    struct work sum = { 0 };

    if (totals->nr == 0 || totals->dropped)
        return (struct work) { NAN, NAN };
    for (size_t i = 0; i < totals->nr; i++) {
        sum.bytes += totals->items[i].work.bytes;
        sum.flops += totals->items[i].work.flops;
    }
    return sum;
}

cJSON *kernel_totals_to_json(const struct kernel_totals *totals)
{
    cJSON *json = cJSON_CreateObject(), *array;

    json_add_int(json, "iterations", totals->iterations);
    json_add_int(json, "dropped", (int64_t)totals->dropped);
    array = cJSON_AddArrayToObject(json, "kernels");
    for (size_t i = 0; i < totals->nr; i++) {
        const struct kernel_total *t = &totals->items[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "kernel", t->name);
        json_add_number(one, "launches", t->launches);
        json_add_number(one, "dram_bytes", t->work.bytes);
        json_add_number(one, "flops", t->work.flops);
        cJSON_AddItemToArray(array, one);
    }
    return json;
}

static int read_kernel(const cJSON *json, struct kernel_totals *totals, struct error *err)
{
    const char *name;

    if (json_get_string(json, "kernel", &name, err))
        return -1;
    struct kernel_total *t = array_push(totals);
    t->name = memory_string(name);
    t->work.bytes = json_number(json, "dram_bytes", NAN);
    t->work.flops = json_number(json, "flops", NAN);
    return json_get_number(json, "launches", &t->launches, err);
}

int kernel_totals_from_json(const cJSON *json, struct kernel_totals *totals, struct error *err)
{
    const cJSON *item;
    int64_t iterations, dropped;

    *totals = (struct kernel_totals) { .items = NULL };
    if (json_get_int(json, "iterations", &iterations, err) ||
        json_get_int(json, "dropped", &dropped, err))
        return -1;
    totals->iterations = (int)iterations;
    totals->dropped = (uint64_t)dropped;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "kernels"))
    {
        if (read_kernel(item, totals, err))
            return -1;
    }
    return 0;
}
