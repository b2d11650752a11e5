/* SPDX-License-Identifier: MIT */
#include "measure/buffers.h"

#include "base/text.h"
#include "device/device_host.h"
#include "stats/random.h"

#include <stdlib.h>
#include <string.h>

int64_t buffers_bytes(const struct benchmark *bench)
{
    int64_t bytes = kernel_footprint(bench->variant->kernel, &bench->shape, bench->variant->dtype);

    return bytes > INT64_MAX / 2 ? INT64_MAX : 2 * bytes;
}

size_t buffers_place(const struct buffers *b, int i)
{
    enum { LINE = 64, APART = 5 * LINE, ALIGNED = 256 };
    const size_t line = b->device->ops->own_memory ? ALIGNED : LINE;
    size_t bytes = (size_t)tensor_bytes(&b->host[i]) + APART;

    return (bytes + line - 1) / line * line;
}

size_t buffers_room(const struct buffers *b)
{
    size_t room = 0;

    for (int i = 0; i < b->nr; i++)
        room += buffers_place(b, i);
    return room;
}

/* `at` is where the next one lies in the block, if there is one. */
static int allocate_tensor(struct buffers *b, int i, char **at, struct error *err)
{
    size_t bytes = (size_t)tensor_bytes(&b->host[i]);
    char text[TEXT_UNIT_SIZE];

    b->on_device[i].data = b->block ? *at : device_alloc(b->device, bytes, err);
    if (!b->on_device[i].data)
        return error_prefix(err, "tensor %s", b->host[i].name);
    if (b->block)
        *at += buffers_place(b, i);
    device_host_touch(b->device, b->on_device[i].data, bytes);
    b->host[i].data = malloc(bytes ? bytes : 1);
    if (!b->host[i].data)
        return error_set(err, "tensor %s: cannot allocate %s on the host", b->host[i].name,
                         text_bytes((double)bytes, text));
    return 0;
}

int buffers_init(struct buffers *b, const struct benchmark *bench, struct device *device,
                 struct error *err)
{
    *b = (struct buffers) { .device = device,
                            .kernel = bench->variant->kernel,
                            .shape = bench->shape,
                            .inputs = bench->inputs };
    b->nr = b->kernel->layout(b->kernel, &b->shape, bench->variant->dtype, b->host);
    memcpy(b->on_device, b->host, sizeof(b->host));
    if (device->shares && device->ops->own_memory) {
        b->block = device_alloc(device, buffers_room(b), err);
        if (!b->block)
            return error_prefix(err, "tensors");
    }
    char *at = b->block;
    for (int i = 0; i < b->nr; i++)
        if (allocate_tensor(b, i, &at, err))
            return -1;
    return 0;
}

void buffers_release(struct buffers *b)
{
    for (int i = 0; i < b->nr; i++) {
        free(b->host[i].data);
        if (b->on_device[i].data && !b->block)
            device_free(b->device, b->on_device[i].data);
    }
    if (b->block)
        device_free(b->device, b->block);
    *b = (struct buffers) { 0 };
}

static void fill_tokens(struct tensor *t, uint64_t seed)
{
    struct random r;
    int64_t nr = tensor_elements(t);

    random_seed(&r, seed);
    for (int64_t i = 0; i < nr; i++)
        ((int32_t *)t->data)[i] = (int32_t)random_below(&r, (uint64_t)t->limit);
}

static void fill_normal(struct tensor *t, uint64_t seed)
{
    struct random r;
    int64_t nr = tensor_elements(t);

    if (t->dtype == DTYPE_FP32) {
        random_fill_normal(t->data, (size_t)nr, t->mean, t->scale, seed);
        return;
    }
    random_seed(&r, seed);
    for (int64_t i = 0; i < nr; i++)
        tensor_set(t, i, t->mean + t->scale * random_normal(&r));
}

static void fill_const(struct tensor *t)
{
    int64_t nr = tensor_elements(t);

    for (int64_t i = 0; i < nr; i++)
        tensor_set(t, i, t->mean);
}

void buffers_fill_tensor(const struct kernel *k, const struct shape *s, struct tensor *t,
                         uint64_t seed)
{
    switch (t->fill) {
    case FILL_NORMAL:
        fill_normal(t, seed);
        break;
    case FILL_CONST:
        fill_const(t);
        break;
    case FILL_TOKENS:
        fill_tokens(t, seed);
        break;
    case FILL_KERNEL:
        k->fill(k, s, t, seed);
        break;
    }
}

int buffers_fill(struct buffers *b, uint64_t seed, struct error *err)
{
    for (int i = 0; i < b->nr; i++) {
        uint64_t own = seed + (uint64_t)i * 0x9e3779b97f4a7c15U;
        if (b->host[i].role == TENSOR_OUT)
            continue;
        const struct input_fill *fill = input_fill_of(b->inputs, &b->host[i]);
        if (fill)
            input_fill_tensor(fill, &b->host[i], own);
        else
            buffers_fill_tensor(b->kernel, &b->shape, &b->host[i], own);
        if (b->device->ops->upload(b->device, b->on_device[i].data, b->host[i].data,
                                   (size_t)tensor_bytes(&b->host[i]), err))
            return -1;
    }
    return 0;
}

int buffers_poison_outputs(struct buffers *b, struct error *err)
{
    for (int i = 0; i < b->nr; i++) {
        size_t bytes = (size_t)tensor_bytes(&b->host[i]);
        if (b->host[i].role != TENSOR_OUT)
            continue;
        tensor_poison(&b->host[i], b->host[i].data);
        if (b->device->ops->upload(b->device, b->on_device[i].data, b->host[i].data, bytes, err))
            return -1;
    }
    return 0;
}
