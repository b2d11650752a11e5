/* SPDX-License-Identifier: MIT */
/* A second accelerator, as it would be added to harness/device: this file, and a row in devices.c.
 */
#include "fake_sycl.h"

#include "base/text.h"
#include "core/clock.h"
#include "core/kernel.h"
#include "device/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_BYTES = 4096 };

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
    void *memory = fake_sycl_alloc(bytes);

    (void)d;
    if (!memory)
        error_set(err, "cannot allocate %zu bytes on the device: %s", bytes, strerror(errno));
    return memory;
}

static void sycl_free(struct device *d, void *memory)
{
    (void)d;
    fake_sycl_free(memory);
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

static int sycl_wait(struct device *d, struct error *err)
{
    const char *refused = fake_sycl_wait();

    (void)d;
    return refused ? error_set(err, "%s", refused) : 0;
}

static int sycl_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                     struct error *err)
{
    uint64_t begin = clock_ns();

    for (unsigned i = 0; i < batch; i++, call = call->next ? call->next : call)
        call->variant->launch(call);
    int rc = sycl_wait(d, err);
    *ns = clock_ns() - begin + 1;
    return rc;
}

static int sycl_run(struct device *d, const struct call *call, struct error *err)
{
    call->variant->launch(call);
    return sycl_wait(d, err);
}

static int64_t sycl_available(struct device *d)
{
    (void)d;
    return 1 << 20;
}

static void *sycl_stream(const struct device *d)
{
    return fake_sycl_queue(d->index);
}

static int64_t sycl_cache_bytes(const struct device *d)
{
    (void)d;
    return CACHE_BYTES;
}

/* ---- what a judge asks ---- */

static int sycl_lend(struct device *d, void *memory, struct device_handle *handle,
                     struct error *err)
{
    int number = fake_sycl_share(memory);

    (void)d, (void)err;
    memcpy(handle->bytes, &number, sizeof(number));
    return 0;
}

static void *sycl_borrow(struct device *d, const struct device_handle *handle, struct error *err)
{
    int number;

    memcpy(&number, handle->bytes, sizeof(number));
    void *memory = fake_sycl_open(number);
    if (!memory)
        error_set(err, "device %s: another process's memory cannot be had: %s", d->spec,
                  strerror(errno));
    return memory;
}

static const struct beyond_reach beyond[] = {
    { "running_device", "the device goes on while the process is stopped" },
    { NULL, NULL },
};

static const char *const environment[] = { "FAKE_SYCL_", NULL };
static const char *const files[] = { "fake_sycl.device", NULL };

static const struct device_lending lending = {
    .lend = sycl_lend,
    .borrow = sycl_borrow,
    .wait = sycl_wait,
    .beyond = beyond,
    .environment = environment,
    .files = files,
};

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
    .lending = &lending,
    .own_memory = true,
    .rotates = true,
};
