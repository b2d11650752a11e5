/* SPDX-License-Identifier: MIT */
#include "device/devices.h"

#include "base/array.h"
#include "host/host_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct device_class device_cpu_class, device_cuda_class, device_fake_class,
    device_process_class, device_hip_class, device_sycl_class;

#ifndef HARNESS_CUDA_WHY
#define HARNESS_CUDA_WHY "this build has no CUDA"
#endif

/* Kinds that nobody has written yet: a file device_hip.* that defines device_hip_class, and the
 * definition HARNESS_HAVE_HIP. */
#ifdef HARNESS_HAVE_HIP
#define HIP_CLASS &device_hip_class
#else
#define HIP_CLASS NULL
#endif
#ifdef HARNESS_HAVE_SYCL
#define SYCL_CLASS &device_sycl_class
#else
#define SYCL_CLASS NULL
#endif

#ifndef HARNESS_CUDA_RUNTIME
#define HARNESS_CUDA_RUNTIME ""
#endif

const char *device_cuda_runtime(void)
{
    return HARNESS_CUDA_RUNTIME;
}

/* A row a device; a class that this build lacks has the reason instead. */
static const struct {
    const struct device_class *class;
    const char *why;
} devices[DEVICE_KIND_NR] = {
    [DEVICE_CPU] = { &device_cpu_class, NULL },
#ifdef HARNESS_HAVE_CUDA
    [DEVICE_CUDA] = { &device_cuda_class, NULL },
#else
    [DEVICE_CUDA] = { NULL, HARNESS_CUDA_WHY },
#endif
    [DEVICE_FAKE] = { &device_fake_class, NULL },
    [DEVICE_PROCESS] = { &device_process_class, NULL },
    [DEVICE_HIP] = { HIP_CLASS, "this build has no HIP" },
    [DEVICE_SYCL] = { SYCL_CLASS, "this build has no SYCL" },
};

const struct device_class *device_class_of(enum device_kind kind, const char **why)
{
    if (why)
        *why = devices[kind].why;
    return devices[kind].class;
}

const struct device_lending *device_lending_of(enum device_kind kind)
{
    return devices[kind].class ? devices[kind].class->lending : NULL;
}

/* The host's are counted as what flushes them, twice as much as they are. */
int64_t device_cache_bytes(const struct device *d)
{
    if (d->ops->cache_bytes)
        return d->ops->cache_bytes(d);
    return d->ops->own_memory ? 0 : (int64_t)host_cache_flush_bytes(d->threads) / 2;
}

/* The kind whose name begins the text, up to one of `ends`; -1: none. */
static int devices_find_kind(const char *text, const char *ends)
{
    size_t length = strcspn(text, ends);

    for (int kind = 0; kind < DEVICE_KIND_NR; kind++) {
        const char *name = device_kind_name((enum device_kind)kind);
        if (strlen(name) == length && strncmp(text, name, length) == 0)
            return kind;
    }
    return -1;
}

int device_kind_of(const char *spec)
{
    return devices_find_kind(spec, ":");
}

void device_handle_text(const struct device_handle *handle, char text[DEVICE_HANDLE_TEXT_SIZE])
{
    for (size_t i = 0; i < sizeof(handle->bytes); i++)
        snprintf(text + 2 * i, 3, "%02x", handle->bytes[i]);
}

int device_open(struct device *d, const char *spec, struct error *err)
{
    int kind = device_kind_of(spec);
    const char *colon = strchr(spec, ':');

    *d = (struct device) { 0 };
    if (kind < 0)
        return error_set(
            err, "unknown device \"%s\"; there are cpu, cpu:free, cpu:THREADS, cuda, cuda:N", spec);
    if (!devices[kind].class)
        return error_set(err, "device %s is not available: %s", spec, devices[kind].why);
    if (strlen(spec) >= sizeof(d->spec))
        return error_set(err, "the device \"%.40s...\" has too long a name", spec);
    d->ops = devices[kind].class;
    d->kind = (enum device_kind)kind;
    snprintf(d->spec, sizeof(d->spec), "%s", spec);
    int rc = d->ops->open(d, colon ? colon + 1 : "", err);
    if (rc) {
        *d = (struct device) { 0 };
        error_prefix(err, "device %s", spec);
    }
    return rc;
}

/* ---- several ---- */

/* Where the next device of the list starts; NULL behind the last. */
static const char *devices_next(const char *specs)
{
    for (const char *comma = strchr(specs, ','); comma; comma = strchr(comma + 1, ','))
        if (devices_find_kind(comma + 1, ":,") >= 0)
            return comma + 1;
    return NULL;
}

int devices_kind_of(const char *specs, bool *alone)
{
    int kind = devices_find_kind(specs, ":,");

    *alone = true;
    for (const char *at = devices_next(specs); at; at = devices_next(at))
        *alone &= devices_find_kind(at, ":,") == kind;
    return kind;
}

static int devices_check_label(const struct device_list *list, struct error *err)
{
    const struct device *last = &list->items[list->nr - 1];

    for (size_t i = 0; i + 1 < list->nr; i++)
        if (strcmp(list->items[i].label, last->label) == 0)
            return error_set(err, "devices %s and %s are the same here, %s: leave one out",
                             list->items[i].spec, last->spec, last->label);
    return 0;
}

int devices_open(struct device_list *list, const char *specs, struct error *err)
{
    int rc = 0;

    *list = (struct device_list) { 0 };
    for (const char *at = specs, *next; rc == 0 && at; at = next) {
        next = devices_next(at);
        char *spec = memory_string(at);
        if (next)
            spec[next - at - 1] = '\0'; /* the comma */
        rc = device_open(array_push(list), spec, err);
        list->nr -= rc != 0;
        if (rc == 0)
            rc = devices_check_label(list, err);
        free(spec);
    }
    return rc;
}

void devices_close(struct device_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        device_close(&list->items[i]);
    array_release(list);
}
