/* SPDX-License-Identifier: MIT */
#include "core/device_block.h"

#include "base/array.h"
#include "host/host_memory.h"
#include "host/processors.h"

#include <errno.h>
#include <stdint.h>
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

static const struct device_file no_file = { .fd = -1 };

static void *alloc_shared(struct device *d, size_t bytes, struct device_file *file,
                          struct error *err)
{
    char *memory;

    file->offset = host_memory_stagger(d->nr_blocks);
    file->whole = file->offset + (bytes ? bytes : 1);
    memory = file->whole < bytes ? NULL : host_memory_shared(file->whole, &file->fd);
    if (memory)
        return memory + file->offset;
    *file = no_file;
    error_set(err, "cannot allocate %zu bytes that another process can be given: %s", bytes,
              strerror(errno));
    return NULL;
}

void *device_alloc(struct device *d, size_t bytes, struct error *err)
{
    struct device_file file = no_file;
    bool as_file = d->shares && !d->ops->own_memory;
    void *memory = device_start(d, err) ? NULL
                   : as_file            ? alloc_shared(d, bytes, &file, err)
                                        : d->ops->alloc(d, bytes, err);

    if (!memory)
        return NULL;
    d->blocks = array_grow(d->blocks, d->nr_blocks, &d->blocks_capacity, sizeof(*d->blocks));
    d->blocks[d->nr_blocks++] = (struct device_block) { memory, bytes, file };
    d->memory_live += (int64_t)bytes;
    if (d->memory_peak < d->memory_live)
        d->memory_peak = d->memory_live;
    return memory;
}

void device_free(struct device *d, void *memory)
{
    for (size_t i = d->nr_blocks; i-- > 0;)
        if (d->blocks[i].memory == memory) {
            const struct device_file file = d->blocks[i].file;
            d->memory_live -= (int64_t)d->blocks[i].bytes;
            d->blocks[i] = d->blocks[--d->nr_blocks];
            if (file.fd < 0)
                d->ops->free(d, memory);
            else
                host_memory_unshare((char *)memory - file.offset, file.whole, file.fd);
            return;
        }
}

void *device_stream(const struct device *d)
{
    return d->ops && d->ops->stream ? d->ops->stream(d) : NULL;
}

const struct device_block *device_block_of(const struct device *d, const void *memory)
{
    for (size_t i = 0; i < d->nr_blocks; i++) {
        uintptr_t inside = (uintptr_t)memory - (uintptr_t)d->blocks[i].memory;
        if (inside == 0 || inside < d->blocks[i].bytes)
            return &d->blocks[i];
    }
    return NULL;
}

bool device_shared(const struct device *d, const void *memory, struct device_file *file)
{
    const struct device_block *b = device_block_of(d, memory);

    if (!b || b->file.fd < 0)
        return false;
    *file = b->file;
    file->offset += (size_t)((const char *)memory - (const char *)b->memory);
    return true;
}

bool device_has_roofs(const struct device *d)
{
    return d->ops && d->ops->has_roofs;
}

int device_cpu_cores(void)
{
    struct processors own;
    int nr = processors_of(0, &own) ? processors_count(&own) : 0;

    return nr > 0 ? nr : 1;
}
