/* SPDX-License-Identifier: MIT */
#include "activity/activity.h"

#include "activity/names.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void activity_list_init(struct activity_list *list)
{
    *list = (struct activity_list) { .names = activity_names_create() };
}

void activity_list_release(struct activity_list *list)
{
    activity_names_free(list->names);
    free(list->items);
    *list = (struct activity_list) { 0 };
}

struct activity *activity_add(struct activity_list *list, enum activity_kind kind)
{
    struct activity *a = array_push(list);

    a->kind = kind;
    a->name = "";
    a->device = -1;
    return a;
}

const char *activity_name(struct activity_list *list, const char *name)
{
    return name && *name ? activity_names_get(list->names, name) : "";
}

const char *activity_call_name(struct activity_list *list, const char *name)
{
    const char *suffix = strstr(name, "_v");
    char plain[128];

    if (!suffix || strlen(suffix + 2) < 4 || suffix[2 + strspn(suffix + 2, "0123456789")] != '\0')
        return activity_name(list, name);
    snprintf(plain, sizeof(plain), "%.*s", (int)(suffix - name), name);
    return activity_name(list, plain);
}

/* Activities and where they were: qsort() is not stable by itself. */
struct place {
    struct activity activity;
    size_t at;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->activity.start != y->activity.start)
        return x->activity.start < y->activity.start ? -1 : 1;
    if (x->activity.end != y->activity.end)
        return x->activity.end > y->activity.end ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

void activity_sort(struct activity_list *list)
{
    struct place *places = memory_zeroed(list->nr + 1, sizeof(*places));

    for (size_t i = 0; i < list->nr; i++)
        places[i] = (struct place) { list->items[i], i };
    qsort(places, list->nr, sizeof(*places), compare);
    for (size_t i = 0; i < list->nr; i++)
        list->items[i] = places[i].activity;
    free(places);
}

int64_t activity_host_time(const struct activity_list *list, int64_t time)
{
    return time + list->clock_offset;
}

bool activity_on_device(const struct activity *a)
{
    return a->kind == ACTIVITY_KERNEL || a->kind == ACTIVITY_MEMCPY || a->kind == ACTIVITY_MEMSET ||
           a->kind == ACTIVITY_GRAPH;
}

const char *activity_kind_name(enum activity_kind kind)
{
    static const char *const names[ACTIVITY_KIND_NR] = {
        [ACTIVITY_KERNEL] = "kernel",   [ACTIVITY_MEMCPY] = "memcpy", [ACTIVITY_MEMSET] = "memset",
        [ACTIVITY_RUNTIME] = "runtime", [ACTIVITY_DRIVER] = "driver", [ACTIVITY_GRAPH] = "graph",
        [ACTIVITY_SYNC] = "sync",       [ACTIVITY_RANGE] = "range",
    };

    return (unsigned)kind < ACTIVITY_KIND_NR ? names[kind] : "?";
}

static const struct {
    const char *name, *words;
} copies[MEMCPY_KIND_NR] = {
    [MEMCPY_UNKNOWN] = { "?", "of unknown direction" },
    [MEMCPY_HOST_TO_DEVICE] = { "HtoD", "host to device" },
    [MEMCPY_DEVICE_TO_HOST] = { "DtoH", "device to host" },
    [MEMCPY_HOST_TO_ARRAY] = { "HtoA", "host to array" },
    [MEMCPY_ARRAY_TO_HOST] = { "AtoH", "array to host" },
    [MEMCPY_ARRAY_TO_ARRAY] = { "AtoA", "array to array" },
    [MEMCPY_ARRAY_TO_DEVICE] = { "AtoD", "array to device" },
    [MEMCPY_DEVICE_TO_ARRAY] = { "DtoA", "device to array" },
    [MEMCPY_DEVICE_TO_DEVICE] = { "DtoD", "device to device" },
    [MEMCPY_HOST_TO_HOST] = { "HtoH", "host to host" },
    [MEMCPY_PEER_TO_PEER] = { "PtoP", "device to another device" },
};

static int known_copy(int kind)
{
    return kind > MEMCPY_UNKNOWN && kind < MEMCPY_KIND_NR ? kind : MEMCPY_UNKNOWN;
}

const char *memcpy_kind_name(int kind)
{
    return copies[known_copy(kind)].name;
}

const char *memcpy_kind_words(int kind)
{
    return copies[known_copy(kind)].words;
}

bool memcpy_kind_is_transfer(enum memcpy_kind kind)
{
    return kind == MEMCPY_HOST_TO_DEVICE || kind == MEMCPY_DEVICE_TO_HOST ||
           kind == MEMCPY_HOST_TO_ARRAY || kind == MEMCPY_ARRAY_TO_HOST ||
           kind == MEMCPY_PEER_TO_PEER || kind == MEMCPY_UNKNOWN;
}
