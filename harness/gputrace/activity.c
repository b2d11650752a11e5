/* SPDX-License-Identifier: MIT */
#include "gputrace/activity.h"

#include "base/array.h"
#include "gputrace/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static int by_activity_start(const void *a, const void *b)
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
    qsort(places, list->nr, sizeof(*places), by_activity_start);
    for (size_t i = 0; i < list->nr; i++)
        list->items[i] = places[i].activity;
    free(places);
}

static int by_correlation(const void *a, const void *b)
{
    const struct activity *x = *(const struct activity *const *)a;
    const struct activity *y = *(const struct activity *const *)b;

    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x > y) - (x < y);
}

void activity_calls_of(const struct activity_list *list, struct activity_calls *calls)
{
    *calls = (struct activity_calls)ARRAY_EMPTY;
    for (size_t i = 0; i < list->nr; i++) {
        const struct activity *a = &list->items[i];
        if (a->correlation && (a->kind == ACTIVITY_RUNTIME || a->kind == ACTIVITY_DRIVER))
            *(const struct activity **)array_push(calls) = a;
    }
    if (calls->nr)
        qsort(calls->items, calls->nr, sizeof(*calls->items), by_correlation);
}

void activity_calls_release(struct activity_calls *calls)
{
    array_release(calls);
}

const struct activity *activity_launch(const struct activity_calls *calls,
                                       const struct activity *work)
{
    size_t low = 0, high = work->correlation ? calls->nr : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->items[middle]->correlation < work->correlation)
            low = middle + 1;
        else
            high = middle;
    }
    for (; work->correlation && low < calls->nr; low++) {
        const struct activity *call = calls->items[low];
        if (call->correlation != work->correlation)
            break;
        /* Correlations are one process' own; CUPTI does not say which for work on a GPU. */
        if (!work->process || !call->process || work->process == call->process)
            return call;
    }
    return NULL;
}

int64_t activity_host_time(const struct activity_list *list, int64_t time)
{
    return time + list->clock_offset +
           (int64_t)((double)(time - list->clock_at) * list->clock_drift);
}

void activity_cut(struct activity_list *list, int64_t from)
{
    struct activity_calls calls;
    bool *is_kept = memory_zeroed(list->nr + 1, sizeof(*is_kept));
    size_t nr = 0;

    activity_calls_of(list, &calls);
    for (size_t i = 0; i < list->nr; i++) {
        const struct activity *a = &list->items[i], *by = NULL;
        if (activity_on_device(a))
            by = activity_launch(&calls, a);
        is_kept[i] = activity_host_time(list, by ? by->start : a->start) >= from;
    }
    for (size_t i = 0; i < list->nr; i++)
        if (is_kept[i])
            list->items[nr++] = list->items[i];
    list->nr = nr;
    activity_calls_release(&calls);
    free(is_kept);
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

static const char *const copies[MEMCPY_KIND_NR] = {
    [MEMCPY_UNKNOWN] = "?",
    [MEMCPY_HOST_TO_DEVICE] = "HtoD",
    [MEMCPY_DEVICE_TO_HOST] = "DtoH",
    [MEMCPY_HOST_TO_ARRAY] = "HtoA",
    [MEMCPY_ARRAY_TO_HOST] = "AtoH",
    [MEMCPY_ARRAY_TO_ARRAY] = "AtoA",
    [MEMCPY_ARRAY_TO_DEVICE] = "AtoD",
    [MEMCPY_DEVICE_TO_ARRAY] = "DtoA",
    [MEMCPY_DEVICE_TO_DEVICE] = "DtoD",
    [MEMCPY_HOST_TO_HOST] = "HtoH",
    [MEMCPY_PEER_TO_PEER] = "PtoP",
};

const char *memcpy_kind_name(int kind)
{
    return copies[kind > MEMCPY_UNKNOWN && kind < MEMCPY_KIND_NR ? kind : MEMCPY_UNKNOWN];
}

/* "DtoD", or "D2D" as XLA's profiler writes it. */
static bool is_memcpy_kind(const char *word, size_t length, const char *known)
{
    if (length == strlen(known))
        return strncmp(word, known, length) == 0;
    return length == 3 && word[0] == known[0] && word[1] == '2' && word[2] == known[3];
}

enum memcpy_kind memcpy_kind_of(const char *name)
{
    static const char memcpy_word[] = "memcpy";

    if (strncasecmp(name, memcpy_word, sizeof(memcpy_word) - 1) != 0)
        return MEMCPY_UNKNOWN;
    name += sizeof(memcpy_word) - 1;
    name += *name == ' ';
    size_t length = strcspn(name, " ");
    for (int kind = 1; kind < MEMCPY_KIND_NR; kind++)
        if (is_memcpy_kind(name, length, copies[kind]))
            return (enum memcpy_kind)kind;
    return MEMCPY_UNKNOWN;
}

const char *activity_work_name(const struct activity *a, char buffer[ACTIVITY_NAME_SIZE])
{
    switch (a->kind) {
    case ACTIVITY_MEMCPY:
        snprintf(buffer, ACTIVITY_NAME_SIZE, "memcpy %s", memcpy_kind_name((int)a->copy));
        return buffer;
    case ACTIVITY_MEMSET:
        return "memset";
    case ACTIVITY_GRAPH:
        snprintf(buffer, ACTIVITY_NAME_SIZE, "graph %" PRIu32, a->graph);
        return buffer;
    default:
        return a->name ? a->name : "";
    }
}

void activity_name_work(struct activity_list *list, struct activity *a)
{
    char name[ACTIVITY_NAME_SIZE];

    a->name = activity_name(list, activity_work_name(a, name));
}

bool memcpy_kind_is_transfer(enum memcpy_kind kind)
{
    return kind == MEMCPY_HOST_TO_DEVICE || kind == MEMCPY_DEVICE_TO_HOST ||
           kind == MEMCPY_HOST_TO_ARRAY || kind == MEMCPY_ARRAY_TO_HOST ||
           kind == MEMCPY_PEER_TO_PEER || kind == MEMCPY_UNKNOWN;
}
