/* SPDX-License-Identifier: MIT */
/*
 * What another process works on, on the host layer: tensors that are to be lent lie in one block,
 * which has its place to itself, and code elsewhere is asked when the device is idle. Feature:
 * U-02.
 */
#include "test_cuda_host.h"

#include "device/device_cuda.h"

#include <cuda_runtime.h>

extern "C" {
#include "core/device_block.h"
#include "device/devices.h"
#include "measure/buffers.h"
}

enum { SMALL = 3, LARGE = 70000 };

static int layout_two(const struct kernel *, const struct shape *, enum dtype, struct tensor *t)
{
    for (int i = 0; i < 2; i++) {
        t[i] = {};
        t[i].name = i ? "large" : "small";
        t[i].rank = 1;
        t[i].extent[0] = i ? LARGE : SMALL;
    }
    return 2;
}

static void init_buffers(struct buffers *b, struct device *d)
{
    static struct kernel k = {};
    static struct variant v = {};
    struct benchmark bench = {};
    struct error err;

    k.layout = layout_two;
    v.kernel = &k;
    bench.variant = &v;
    assert_ok(buffers_init(b, &bench, d, &err), &err);
}

CUDA_HOST_TEST(tensors_that_are_lent_lie_in_one_block)
{
    const size_t alone = size_t { 2 } << 20;
    struct buffers b;
    struct device d;
    struct error err;
    struct device_handle handle = {};

    assert_ok(device_open(&d, "cuda", &err), &err);
    d.shares = true;
    init_buffers(&b, &d);
    const struct device_block *block = device_block_of(&d, b.on_device[1].data);
    assert_non_null(block);
    assert_ptr_equal(block, device_block_of(&d, b.on_device[0].data));
    assert_ptr_equal(block->memory, b.on_device[0].data);
    assert_int_equal(block->file.fd, -1);
    char *small = static_cast<char *>(b.on_device[0].data);
    char *large = static_cast<char *>(b.on_device[1].data);
    assert_true(large >= small + SMALL * sizeof(float));
    assert_int_equal((large - small) % 256, 0);
    assert_true(large + LARGE * sizeof(float) <= small + block->bytes);
    assert_int_equal(cuda_host_allocated(), alone);
    assert_ok(device_lending_of(DEVICE_CUDA)->lend(&d, block->memory, &handle, &err), &err);
    buffers_release(&b);
    assert_int_equal(d.nr_blocks, 0);
    assert_int_equal(cuda_host_allocated(), 0);
    device_close(&d);
}

CUDA_HOST_TEST(others_have_each_their_own)
{
    struct buffers b;
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "cuda", &err), &err);
    init_buffers(&b, &d);
    assert_int_equal(d.nr_blocks, 2);
    assert_null(b.block);
    assert_int_equal(cuda_host_allocated(), (SMALL + LARGE) * sizeof(float));
    buffers_release(&b);
    assert_int_equal(d.nr_blocks, 0);
    device_close(&d);
}

/* ---- Code elsewhere ---- */

static struct {
    unsigned times;
    bool idle, timed;
} asked;

static int repeat_elsewhere(const struct call *call, unsigned times, uint64_t *ns, struct error *)
{
    asked.times = times;
    asked.timed = ns != nullptr;
    asked.idle = device_cuda_stream_state(device_cuda_stream(call->device)) == cudaSuccess;
    if (ns)
        *ns = 123;
    return 0;
}

/* Streams lag, so that what nobody waits for is not done. The first one never does. */
CUDA_HOST_TEST(code_elsewhere_is_asked_when_the_device_is_idle)
{
    struct variant v = {};
    struct call call = {};
    struct device d;
    struct error err;
    cudaStream_t first;
    uint64_t ns = 0;

    assert_int_equal(cuda_host_inject("lag"), 0);
    assert_int_equal(cudaStreamCreate(&first), cudaSuccess);
    assert_ok(device_open(&d, "cuda", &err), &err);
    v.repeat = repeat_elsewhere;
    call.variant = &v;
    call.device = &d;
    assert_ok(device_start(&d, &err), &err);
    assert_ok(d.ops->begin(&d, &call, &err), &err);
    assert_ok(d.ops->flush(&d, &err), &err);
    assert_int_equal(device_cuda_stream_state(device_cuda_stream(&d)), cudaErrorNotReady);
    assert_ok(d.ops->time(&d, &call, 7, &ns, &err), &err);
    assert_true(asked.idle && asked.timed);
    assert_int_equal(asked.times, 7);
    assert_int_equal(ns, 123);
    assert_ok(d.ops->flush(&d, &err), &err);
    assert_ok(d.ops->run(&d, &call, &err), &err);
    assert_true(asked.idle && !asked.timed);
    assert_int_equal(asked.times, 1);
    d.ops->end(&d, &call);
    device_close(&d);
    cudaStreamDestroy(first);
}

RUN_TESTS(nullptr, nullptr)
