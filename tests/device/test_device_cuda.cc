/* SPDX-License-Identifier: MIT */
/*
 * The CUDA device's own code against the host layer, which fails where it is told to: what is said
 * where there is no driver or no device, faults, graph capture, the tracker, the flush. Features:
 * U-02, S0-02.
 */
#include "test_cuda_host.h"

#include "device/device_cuda.h"

extern "C" {
#include "device/devices.h"
}

/* ---- A call: y = x + 1 over N numbers, as often as it is launched ---- */

enum { N = 1000, THREADS = 128 };

static int launches; /* calls of launch(), not kernels */

static void add_one(const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < N)
        y[i] = x[i] + 1;
}

static void count_up(float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < N)
        y[i] += 1;
}

static const dim3 grid((N + THREADS - 1) / THREADS), block(THREADS);

static float *data_of(const struct call *call, int tensor)
{
    return static_cast<float *>(call->tensor[tensor].data);
}

static void launch_add(const struct call *call)
{
    launches++;
    launch_on<add_one>(device_cuda_stream(call->device), grid, block, 0, data_of(call, 0),
                       data_of(call, 1));
}

static void launch_count(const struct call *call)
{
    launches++;
    launch_on<count_up>(device_cuda_stream(call->device), grid, block, 0, data_of(call, 1));
}

static void launch_on_the_legacy_stream(const struct call *call)
{
    launch_on<add_one>(nullptr, grid, block, 0, data_of(call, 0), data_of(call, 1));
}

static void launch_too_many_threads(const struct call *call)
{
    launch_on<add_one>(device_cuda_stream(call->device), grid, dim3(2048), 0, data_of(call, 0),
                       data_of(call, 1));
}

static void launch_nothing(const struct call *)
{
}

static void launch_with_allocation(const struct call *call)
{
    void *memory = nullptr;

    if (cudaMalloc(&memory, 16) == cudaSuccess)
        cudaFree(memory);
    launch_add(call);
}

struct bench {
    struct device d;
    struct variant variant;
    struct call call;
    float y[N];
};

static void bench_open(struct bench *b, const char *spec, void (*launch_)(const struct call *),
                       unsigned flags = 0)
{
    struct error err;
    float x[N];

    *b = {};
    assert_ok(device_open(&b->d, spec, &err), &err);
    b->variant.launch = launch_;
    b->variant.flags = flags;
    b->call.variant = &b->variant;
    b->call.device = &b->d;
    for (int i = 0; i < 2; i++) {
        b->call.tensor[i].data = device_alloc(&b->d, sizeof(x), &err);
        assert_non_null(b->call.tensor[i].data);
    }
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    assert_ok(b->d.ops->upload(&b->d, data_of(&b->call, 0), x, sizeof(x), &err), &err);
    assert_ok(b->d.ops->upload(&b->d, data_of(&b->call, 1), b->y, sizeof(b->y), &err), &err);
    launches = 0;
}

static void bench_close(struct bench *b)
{
    for (int i = 0; i < 2; i++)
        device_free(&b->d, data_of(&b->call, i));
    device_close(&b->d);
}

static const float *bench_result(struct bench *b)
{
    struct error err;

    assert_ok(b->d.ops->download(&b->d, b->y, data_of(&b->call, 1), sizeof(b->y), &err), &err);
    return b->y;
}

static void assert_says(const char *text, std::initializer_list<const char *> parts)
{
    for (const char *part : parts)
        if (!strstr(text, part))
            fail_msg("\"%s\" is not in: %s", part, text);
}

/* ---- Finding a device ---- */

CUDA_HOST_TEST(devices_are_described_without_being_occupied)
{
    static const struct {
        const char *spec, *label;
    } rows[] = { { "cuda", "cuda" },
                 { "cuda:0", "cuda" },
                 { "cuda:1", "cuda1" },
                 { "cuda:graph", "cuda-graph" },
                 { "cuda:1,graph", "cuda1-graph" },
                 { "cuda:graph,1", "cuda1-graph" } };
    struct device d;
    struct error err;

    inject("devices=2,fail=cudaSetDevice:1:46"); /* nobody gets hold of a device here */
    for (const auto &row : rows) {
        assert_ok(device_open(&d, row.spec, &err), &err);
        assert_string_equal(d.label, row.label);
        assert_int_equal(d.kind, DEVICE_CUDA);
        assert_false(d.started);
        assert_null(device_cuda_stream(&d));
        assert_says(d.describe,
                    { "CUDA host layer", "compute 9.0", "4 SMs", "L2 1 MiB", "8.000 GiB",
                      "driver for CUDA 13.0", "runtime 13.0", "GPU-63756461-" });
        assert_string_equal(d.pci,
                            strchr(row.label, '1') ? "00000000:02:00.0" : "00000000:01:00.0");
        assert_string_equal(d.capability, "9.0");
        device_close(&d);
    }
}

CUDA_HOST_TEST(what_is_missing_is_said)
{
    static const struct {
        const char *inject, *spec;
        int rc;
        const char *says;
    } rows[] = {
        { "no-driver", "cuda", DEVICE_UNAVAILABLE,
          "device cuda: there is no NVIDIA driver here; CUDA 13.0 needs one (version 580 or "
          "newer)" },
        { "driver=12040", "cuda", DEVICE_UNAVAILABLE,
          "device cuda: the NVIDIA driver is too old: it can do CUDA 12.4, this build needs 13.0; "
          "update the driver (version 580 or newer) or build with an older toolkit" },
        { "devices=0", "cuda", DEVICE_UNAVAILABLE, "there is a driver, but no GPU" },
        { "devices=1", "cuda:9", -1, "device cuda:9: there is 1 device: 0" },
        { "devices=2", "cuda:9", -1, "there are 2 devices: 0..1" },
        { "capability=7.5", "cuda", DEVICE_UNAVAILABLE,
          "has compute capability 7.5; this build has kernels for 8.0 and newer" },
        { "fail=cudaGetDeviceCount:1:802", "cuda", DEVICE_UNAVAILABLE, "device_cuda_find.cu:" },
        { "devices=2", "cuda:first", -1, "\"first\" is neither a device number nor \"graph\"" },
        { "devices=2", "cuda:1,graphs", -1, "\"graphs\" is neither" },
        { "devices=2", "cuda:-1", -1, "\"-1\" is neither" },
    };
    struct device d;
    struct error err;

    for (const auto &row : rows) {
        fresh_driver(nullptr);
        inject(row.inject);
        assert_int_equal(device_open(&d, row.spec, &err), row.rc);
        assert_says(err.message, { row.says });
        assert_null(d.ops);
    }
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    fresh_driver(nullptr);
    inject("devices=0");
    assert_int_equal(device_open(&d, "cuda", &err), DEVICE_UNAVAILABLE);
    assert_says(err.message, { "CUDA_VISIBLE_DEVICES is \"7\"" });
    unsetenv("CUDA_VISIBLE_DEVICES");
}

CUDA_HOST_TEST(a_busy_device_says_so_when_it_is_started)
{
    static const struct {
        const char *inject, *says;
    } rows[] = { { "fail=cudaSetDevice:1:46", "it is busy: another process has it for itself" },
                 { "fail=cudaSetDevice:1:2", "its memory is full" },
                 { "fail=cudaStreamCreateWithFlags:1:2", "its memory is full" },
                 { "fail=cudaEventCreate:2:1", "device cuda: device_cuda.cu:" } };
    struct device d;
    struct error err;

    for (const auto &row : rows) {
        fresh_driver(nullptr);
        inject(row.inject);
        assert_ok(device_open(&d, "cuda", &err), &err);
        assert_int_equal(device_start(&d, &err), -1);
        assert_says(err.message, { row.says });
        assert_false(d.started);
        device_close(&d);
    }
}

/* Kernels keep for a process what they have asked of a device: see kernels/cuda/launch.h. All of
 * this process is on cuda:0. */
CUDA_HOST_TEST(a_second_device_is_refused)
{
    static const struct {
        const char *spec;
        int rc;
    } rows[] = { { "cuda", 0 }, { "cuda:1", -1 }, { "cuda:1,graph", -1 }, { "cuda:0,graph", 0 } };
    struct device d;
    struct error err;

    inject("devices=2");
    for (const auto &row : rows) {
        assert_ok(device_open(&d, row.spec, &err), &err);
        assert_int_equal(device_start(&d, &err), row.rc);
        if (row.rc)
            assert_says(err.message, { "this process has used cuda:0, ",
                                       "use cuda:1 from a process of its own" });
        device_close(&d);
    }
}

/* ---- Memory ---- */

CUDA_HOST_TEST(memory_is_tracked)
{
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "cuda", &err), &err);
    void *a = device_alloc(&d, 1000, &err), *b = device_alloc(&d, 500, &err);
    assert_true(d.started && a && b);
    assert_int_equal(d.memory_live, 1500);
    device_free(&d, a);
    assert_int_equal(d.memory_live, 500);
    assert_int_equal(d.memory_peak, 1500);
    void *none = device_alloc(&d, 0, &err); /* an empty tensor has a place, too */
    assert_non_null(none);
    device_free(&d, none);
    device_free(&d, b);
    assert_int_equal(d.memory_live, 0);
    device_close(&d);
}

CUDA_HOST_TEST(memory_that_is_not_there_is_refused)
{
    struct device d;
    struct error err;

    inject("memory=64M");
    assert_ok(device_open(&d, "cuda", &err), &err);
    assert_in_range(d.ops->available(&d), 60 << 20, 64 << 20);
    assert_null(device_alloc(&d, 65 << 20, &err));
    assert_says(err.message, { "cannot allocate 65.00 MiB on the device: device_cuda.cu:",
                               "cudaMalloc", "out of memory" });
    assert_false(d.broken); /* the next one may fit */
    void *some = device_alloc(&d, 1 << 20, &err);
    assert_non_null(some);
    device_free(&d, some);
    device_close(&d);
}

/* ---- Running and timing ---- */

CUDA_HOST_TEST(a_sample_has_the_launches_of_its_batch)
{
    struct bench b;
    struct error err;
    uint64_t ns = 0;

    bench_open(&b, "cuda", launch_count);
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    assert_int_equal(launches, 1);
    assert_ok(b.d.ops->time(&b.d, &b.call, 5, &ns, &err), &err);
    assert_int_equal(launches, 6);
    assert_true(ns > 0);
    for (int i = 0; i < N; i++)
        assert_true(bench_result(&b)[i] == 6);
    b.d.ops->end(&b.d, &b.call);
    assert_false(b.d.broken);
    bench_close(&b);
}

CUDA_HOST_TEST(graphs_compute_what_streams_compute)
{
    struct bench b;
    struct error err;
    uint64_t ns = 0;

    bench_open(&b, "cuda:graph", launch_count);
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_int_equal(launches, 1); /* captured, not run */
    assert_true(bench_result(&b)[7] == 0);
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    assert_ok(b.d.ops->time(&b.d, &b.call, 4, &ns, &err), &err);
    assert_ok(b.d.ops->time(&b.d, &b.call, 4, &ns, &err), &err);
    assert_int_equal(launches, 1 + 4); /* one capture a batch size */
    assert_true(ns > 0);
    for (int i = 0; i < N; i++)
        assert_true(bench_result(&b)[i] == 1 + 4 + 4);
    b.d.ops->end(&b.d, &b.call);
    bench_close(&b);
}

/* The next call may have the same address: the graph of the last one must be gone. */
CUDA_HOST_TEST(graphs_end_with_their_call)
{
    struct bench b;
    struct error err;

    bench_open(&b, "cuda:graph", launch_count);
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    b.d.ops->end(&b.d, &b.call);
    b.variant.launch = launch_add;
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    for (int i = 0; i < N; i++)
        assert_true(bench_result(&b)[i] == (float)i + 1);
    b.d.ops->end(&b.d, &b.call);
    bench_close(&b);
}

CUDA_HOST_TEST(a_forward_is_one_graph_replayed)
{
    struct bench b;
    struct error err;
    uint64_t ns = 0;

    bench_open(&b, "cuda:graph", launch_count, VARIANT_WHOLE);
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_ok(b.d.ops->time(&b.d, &b.call, 8, &ns, &err), &err);
    assert_int_equal(launches, 1);
    assert_true(bench_result(&b)[0] == 8);
    b.d.ops->end(&b.d, &b.call);
    bench_close(&b);
}

/* As kernels/cuda/launch.h launches: once a process it asks and sets what a kernel needs, here more
 * shared memory than there is without asking, and to start early. */
static void launch_first(const struct call *call)
{
    static const cudaError_t allowed =
        cudaFuncSetAttribute(reinterpret_cast<const void *>(add_one),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early = {};

    (void)allowed;
    launches++;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid, config.blockDim = block;
    config.dynamicSmemBytes = 64 * 1024;
    config.stream = device_cuda_stream(call->device);
    config.attrs = &early, config.numAttrs = 1;
    cuda_host_name_kernel(reinterpret_cast<const void *>(add_one), "add_one");
    cudaLaunchKernelEx(&config, add_one, data_of(call, 0), data_of(call, 1));
}

CUDA_HOST_TEST(the_first_launch_may_be_inside_a_capture)
{
    struct bench b;
    struct error err;

    bench_open(&b, "cuda:graph", launch_first);
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_int_equal(launches, 1); /* captured, and not run yet */
    assert_true(bench_result(&b)[3] == 0);
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    assert_int_equal(launches, 1);
    assert_true(bench_result(&b)[3] == 4);
    b.d.ops->end(&b.d, &b.call);
    bench_close(&b);
}

/* More than a graph should hold: it is replayed. */
CUDA_HOST_TEST(large_batches_are_cut)
{
    struct bench b;
    struct error err;
    uint64_t ns = 0;

    bench_open(&b, "cuda:graph", launch_count);
    assert_ok(b.d.ops->time(&b.d, &b.call, 2048, &ns, &err), &err);
    assert_int_equal(launches, 1024);
    assert_true(bench_result(&b)[0] == 2048);
    b.d.ops->end(&b.d, &b.call);
    bench_close(&b);
}

CUDA_HOST_TEST(what_cannot_be_captured_fails)
{
    static const struct {
        void (*launch)(const struct call *);
        const char *says;
    } rows[] = {
        { launch_with_allocation, "launch() allocates, waits or uses the default stream" },
        { launch_nothing, "launch() put nothing on the device's stream" },
        { launch_too_many_threads, "invalid configuration argument" },
    };
    struct error err;

    for (const auto &row : rows) {
        struct bench b;
        bench_open(&b, "cuda:graph", row.launch);
        assert_int_equal(b.d.ops->begin(&b.d, &b.call, &err), -1);
        assert_says(err.message, { "cannot be captured in a CUDA graph", row.says });
        b.variant.launch = launch_add; /* the stream is as good as before */
        assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
        assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
        assert_true(bench_result(&b)[3] == 4);
        b.d.ops->end(&b.d, &b.call);
        assert_false(b.d.broken);
        bench_close(&b);
    }
}

/* It runs while it is captured, and never again: outputs that are poisoned in between stay so. */
CUDA_HOST_TEST(work_aside_is_no_part_of_a_graph)
{
    struct bench b;
    struct error err;
    const float poison = -1;

    bench_open(&b, "cuda:graph", launch_on_the_legacy_stream);
    int rc = b.d.ops->begin(&b.d, &b.call, &err);
    if (rc == 0) {
        assert_ok(b.d.ops->upload(&b.d, data_of(&b.call, 1), &poison, sizeof(poison), &err), &err);
        assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
        assert_true(bench_result(&b)[0] == poison);
    } else {
        assert_says(err.message, { "cannot be captured in a CUDA graph" });
    }
    b.d.ops->end(&b.d, &b.call);
    bench_close(&b);
}

CUDA_HOST_TEST(flushing_overwrites_twice_the_cache)
{
    struct bench b;
    struct error err;
    uint64_t ns = 0;

    bench_open(&b, "cuda", launch_add);
    size_t before = cuda_host_allocated();
    assert_ok(b.d.ops->flush(&b.d, &err), &err);
    assert_int_equal(cuda_host_allocated() - before, 2 << 20);
    assert_ok(b.d.ops->flush(&b.d, &err), &err);
    assert_int_equal(cuda_host_allocated() - before, 2 << 20);
    assert_ok(b.d.ops->time(&b.d, &b.call, 1, &ns, &err), &err);
    assert_int_equal(b.d.memory_live, 2 * N * sizeof(float)); /* it is no case's memory */
    bench_close(&b);
}

/* Overwriting alone would leave lines that the next kernel has to write back: it is read, too. */
CUDA_HOST_TEST(a_flush_that_fails_is_told)
{
    const struct {
        const char *fault, *says;
    } cases[] = {
        { "fail=cudaMalloc:1:2", "out of memory" },
        { "fail=cudaMemsetAsync:1:1", "cudaMemsetAsync" },
        { "fail=cudaLaunchKernelEx:1:2", "cuda_evict_kernel" },
    };

    for (const auto &c : cases) {
        struct bench b;
        struct error err;

        bench_open(&b, "cuda", launch_add);
        inject(c.fault);
        assert_int_equal(b.d.ops->flush(&b.d, &err), -1);
        assert_says(err.message, { c.says });
        bench_close(&b);
    }
}

/* cudaErrorNotReady (600) is an answer. The next look at a launch does not find it, but finds what
 * was an error before. */
CUDA_HOST_TEST(not_ready_leaves_no_error_behind)
{
    struct bench b;
    cudaEvent_t event;

    bench_open(&b, "cuda", launch_add);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    inject("fail=cudaEventQuery:1:600");
    assert_int_equal(device_cuda_event_state(event), cudaErrorNotReady);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    inject("fail=cudaStreamQuery:1:600");
    assert_int_equal(device_cuda_stream_state(nullptr), cudaErrorNotReady);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    void *none;
    inject("fail=cudaMalloc:1:2");
    assert_int_equal(cudaMalloc(&none, 16), cudaErrorMemoryAllocation);
    assert_int_equal(device_cuda_event_state(event), cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    cudaEventDestroy(event);
    bench_close(&b);
}

/* ---- Faults ---- */

CUDA_HOST_TEST(a_launch_that_cannot_be_is_told_and_harmless)
{
    struct bench b;
    struct error err;
    uint64_t ns;

    bench_open(&b, "cuda", launch_too_many_threads);
    assert_int_equal(b.d.ops->run(&b.d, &b.call, &err), -1);
    assert_says(err.message,
                { "device_cuda_time.cu:", "launch(): invalid configuration argument" });
    assert_int_equal(b.d.ops->time(&b.d, &b.call, 2, &ns, &err), -1);
    assert_false(b.d.broken);
    b.variant.launch = launch_add;
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err); /* its error is no other's */
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    bench_close(&b);
}

CUDA_HOST_TEST(a_fault_breaks_the_device)
{
    static const struct {
        const char *spec, *inject, *says;
    } rows[] = { { "cuda", "fail=launch:1:700", "an illegal memory access was encountered" },
                 { "cuda", "fail=launch:1:719", "unspecified launch failure" },
                 { "cuda:graph", "fail=launch:1:716", "misaligned address" },
                 { "cuda", "fail=cudaEventSynchronize:1:214", "uncorrectable ECC error" } };
    struct error err;

    for (const auto &row : rows) {
        struct bench b;
        fresh_driver(nullptr);
        bench_open(&b, row.spec, launch_add);
        inject(row.inject);
        assert_int_equal(b.d.ops->run(&b.d, &b.call, &err), -1);
        assert_says(err.message, { ".cu:", row.says });
        assert_true(b.d.broken);
        b.d.ops->end(&b.d, &b.call);
        bench_close(&b);
    }
}

/* Nobody looked at the device between the fault and the end of the call. */
CUDA_HOST_TEST(a_late_fault_is_found_at_the_end)
{
    struct bench b;
    struct error err;

    bench_open(&b, "cuda", launch_add);
    assert_ok(b.d.ops->begin(&b.d, &b.call, &err), &err);
    assert_ok(b.d.ops->run(&b.d, &b.call, &err), &err);
    inject("fail=launch:1:700");
    launch_add(&b.call);
    assert_false(b.d.broken);
    b.d.ops->end(&b.d, &b.call);
    assert_true(b.d.broken);
    fresh_driver(nullptr);
    bench_close(&b);
}

/* What prepare() left behind is not blamed on launch(). */
CUDA_HOST_TEST(faults_of_prepare_are_its_own)
{
    struct bench b;
    struct error err;

    bench_open(&b, "cuda", launch_add);
    launch_too_many_threads(&b.call);
    assert_int_equal(b.d.ops->begin(&b.d, &b.call, &err), -1);
    assert_says(err.message, { "prepare(): invalid configuration argument" });
    bench_close(&b);
}

RUN_TESTS(nullptr, nullptr)
