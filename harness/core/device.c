/* SPDX-License-Identifier: MIT */
#include "core/device.h"

#include "base/array.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

int device_start(struct device *d, struct error *err)
{
    if (d->started)
        return 0;
    if (d->ops->start && d->ops->start(d, err))
        return error_prefix(err, "device %s", d->spec);
    d->started = true;
    return 0;
}

void device_close(struct device *d)
{
    if (d->ops && d->ops->close)
        d->ops->close(d);
    free(d->blocks);
    *d = (struct device) { 0 };
}

struct device_block {
    void *memory;
    size_t bytes;
};

void *device_alloc(struct device *d, size_t bytes, struct error *err)
{
    void *memory = device_start(d, err) ? NULL : d->ops->alloc(d, bytes, err);

    if (!memory)
        return NULL;
    d->blocks = array_grow(d->blocks, d->nr_blocks, &d->blocks_capacity, sizeof(*d->blocks));
    d->blocks[d->nr_blocks++] = (struct device_block) { memory, bytes };
    d->memory_live += (int64_t)bytes;
    if (d->memory_peak < d->memory_live)
        d->memory_peak = d->memory_live;
    return memory;
}

void device_free(struct device *d, void *memory)
{
    for (size_t i = d->nr_blocks; i-- > 0;)
        if (d->blocks[i].memory == memory) {
            d->memory_live -= (int64_t)d->blocks[i].bytes;
            d->blocks[i] = d->blocks[--d->nr_blocks];
            d->ops->free(d, memory);
            return;
        }
}

void *device_stream(const struct device *d)
{
    return d->ops && d->ops->stream ? d->ops->stream(d) : NULL;
}

bool device_has_ceilings(const struct device *d)
{
    return d->kind == DEVICE_CPU || d->kind == DEVICE_CUDA;
}

static const char graph_suffix[] = "-graph";

bool device_label_is_graph(const char *label)
{
    size_t length = strlen(label), suffix = strlen(graph_suffix);

    return length > suffix && strcmp(label + length - suffix, graph_suffix) == 0;
}

size_t device_label_hardware(const char *label)
{
    return strlen(label) - (device_label_is_graph(label) ? strlen(graph_suffix) : 0);
}

int device_cpu_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set))
        return 1;
    int nr = CPU_COUNT(&set);
    return nr > 0 ? nr : 1;
}
