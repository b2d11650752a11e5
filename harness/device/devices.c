/* SPDX-License-Identifier: MIT */
#include "device/devices.h"

#include <stdio.h>
#include <string.h>

extern const struct device_class device_cpu_class, device_cuda_class, device_fake_class,
    device_process_class;

#ifndef HARNESS_CUDA_WHY
#define HARNESS_CUDA_WHY "this build has no CUDA"
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
    const char *name;
    const struct device_class *class;
    const char *why;
} devices[DEVICE_KIND_NR] = {
    [DEVICE_CPU] = { "cpu", &device_cpu_class, NULL },
#ifdef HARNESS_HAVE_CUDA
    [DEVICE_CUDA] = { "cuda", &device_cuda_class, NULL },
#else
    [DEVICE_CUDA] = { "cuda", NULL, HARNESS_CUDA_WHY },
#endif
    [DEVICE_FAKE] = { "fake", &device_fake_class, NULL },
    [DEVICE_PROCESS] = { "process", &device_process_class, NULL },
};

const struct device_class *device_class_of(enum device_kind kind, const char **why)
{
    if (why)
        *why = devices[kind].why;
    return devices[kind].class;
}

const char *device_kind_name(enum device_kind kind)
{
    return devices[kind].name;
}

int device_kind_of(const char *spec)
{
    size_t length = strcspn(spec, ":");

    for (int kind = 0; kind < DEVICE_KIND_NR; kind++)
        if (strlen(devices[kind].name) == length && !strncmp(spec, devices[kind].name, length))
            return kind;
    return -1;
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
