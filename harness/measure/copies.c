/* SPDX-License-Identifier: MIT */
#include "measure/copies.h"

#include "base/memory.h"
#include "device/device_host.h"
#include "device/devices.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a copy that a launch brings into the caches: what else there is of its tensors (rows of
 * a table that no token names, weights that arithmetic keeps in fewer bytes) stays in memory. */
static int64_t touched_bytes(const struct benchmark *bench)
{
    const struct variant *v = bench->variant;
    int64_t whole = kernel_footprint(v->kernel, &bench->shape, v->dtype);
    double bytes = v->kernel->work(v->kernel, &bench->shape, v->dtype, v->math).bytes;

    /* A kernel that counts none tells nothing of it. */
    return bytes > 0 && bytes < (double)whole ? (int64_t)bytes : whole;
}

int64_t copies_needed(const struct benchmark *bench, const struct device *device)
{
    int64_t each = touched_bytes(bench);
    int64_t all = 2 * device_cache_bytes(device);

    if (each <= 0)
        return INT64_MAX;
    /* They take turns, whatever a driver tells. */
    return all > 0 ? all / each + (all % each != 0) + 1 : 2;
}

static int make_copy(struct call *copy, char *memory, const struct buffers *b,
                     const struct call *first, struct error *err)
{
    const struct variant *v = first->variant;

    *copy = *first;
    copy->state = NULL;
    copy->next = NULL;
    copy->first = first;
    for (int i = 0; i < b->nr; i++) {
        size_t bytes = (size_t)tensor_bytes(&b->host[i]);
        copy->tensor[i].data = memory;
        memory += buffers_place(b, i);
        device_host_touch(b->device, copy->tensor[i].data, bytes);
        if (b->device->ops->upload(b->device, copy->tensor[i].data, b->host[i].data, bytes, err))
            return -1;
    }
    return v->prepare && v->prepare(copy, err) ? error_prefix(err, "prepare of a copy") : 0;
}

int copies_make(struct copies *c, const struct buffers *b, struct call *first, int64_t nr,
                struct error *err)
{
    size_t room = buffers_room(b);

    *c = (struct copies) { .calls = memory_zeroed((size_t)nr, sizeof(*c->calls)) };
    c->memory = device_alloc(b->device, (size_t)nr * room, err);
    if (!c->memory)
        return error_prefix(err, "copies that rotate");
    for (; (int64_t)c->nr + 1 < nr; c->nr++)
        if (make_copy(&c->calls[c->nr], (char *)c->memory + c->nr * room, b, first, err))
            return -1;
    for (size_t i = 0; i < c->nr; i++)
        c->calls[i].next = i + 1 < c->nr ? &c->calls[i + 1] : first;
    first->next = c->nr > 0 ? c->calls : NULL;
    return 0;
}

void copies_release(struct copies *c, struct device *device)
{
    while (c->nr > 0) {
        struct call *copy = &c->calls[--c->nr];
        if (copy->variant->release)
            copy->variant->release(copy);
    }
    device_free(device, c->memory);
    free(c->calls);
    *c = (struct copies) { .calls = NULL };
}

struct buffers copies_view(const struct buffers *b, const struct call *copy)
{
    struct buffers view = *b;

    memcpy(view.on_device, copy->tensor, sizeof(view.on_device));
    return view;
}
