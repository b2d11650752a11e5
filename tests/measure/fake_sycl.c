/* SPDX-License-Identifier: MIT */
#include "fake_sycl.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/clock.h"
#include "core/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_BYTES = 4096 };

static unsigned submitted; /* of a test */
static int queues[2];      /* of each of the devices */

void fake_sycl_submit(void *queue, void (*work)(const void *), const void *what)
{
    submitted += queue == &queues[1];
    work(what);
}

unsigned fake_sycl_submitted(void)
{
    return submitted;
}

static int sycl_open(struct device *d, const char *argument, struct error *err)
{
    int64_t index = 0;

    if (*argument && text_parse_int(argument, 0, 1, "device", &index, err))
        return -1;
    d->index = (int)index;
    d->clock_step = 100;
    snprintf(d->label, sizeof(d->label), "sycl%s", index ? "1" : "");
    snprintf(d->describe, sizeof(d->describe), "an accelerator of the tests");
    snprintf(d->model, sizeof(d->model), "Fake 1");
    const char *driver = getenv("FAKE_SYCL_DRIVER");
    snprintf(d->driver, sizeof(d->driver), "%s", driver ? driver : "1.0");
    return 0;
}

static void sycl_close(struct device *d)
{
    (void)d;
}

static void *sycl_alloc(struct device *d, size_t bytes, struct error *err)
{
    (void)d, (void)err;
    return (void *)((uintptr_t)memory_zeroed(bytes + 1, 1) + FAKE_SYCL_APART);
}

static void sycl_free(struct device *d, void *memory)
{
    (void)d;
    free(fake_sycl_memory(memory));
}

static int sycl_upload(struct device *d, void *to, const void *from, size_t bytes,
                       struct error *err)
{
    (void)d, (void)err;
    memcpy(fake_sycl_memory(to), from, bytes);
    return 0;
}

static int sycl_download(struct device *d, void *to, const void *from, size_t bytes,
                         struct error *err)
{
    (void)d, (void)err;
    memcpy(to, fake_sycl_memory(from), bytes);
    return 0;
}

static int sycl_flush(struct device *d, struct error *err)
{
    (void)d, (void)err;
    return 0;
}

static int sycl_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                     struct error *err)
{
    uint64_t begin = clock_ns();

    (void)d, (void)err;
    for (unsigned i = 0; i < batch; i++, call = call->next ? call->next : call)
        call->variant->launch(call);
    *ns = clock_ns() - begin + 1;
    return 0;
}

static int sycl_run(struct device *d, const struct call *call, struct error *err)
{
    (void)d, (void)err;
    call->variant->launch(call);
    return 0;
}

static int64_t sycl_available(struct device *d)
{
    (void)d;
    return 1 << 20;
}

static void *sycl_stream(const struct device *d)
{
    return &queues[d->index];
}

static int64_t sycl_cache_bytes(const struct device *d)
{
    (void)d;
    return CACHE_BYTES;
}

extern const struct device_class device_sycl_class;
const struct device_class device_sycl_class = {
    .name = "sycl",
    .clock = "CLOCK_MONOTONIC_RAW",
    .open = sycl_open,
    .close = sycl_close,
    .alloc = sycl_alloc,
    .free = sycl_free,
    .upload = sycl_upload,
    .download = sycl_download,
    .flush = sycl_flush,
    .time = sycl_time,
    .run = sycl_run,
    .available = sycl_available,
    .stream = sycl_stream,
    .cache_bytes = sycl_cache_bytes,
    .own_memory = true,
    .rotates = true,
};
