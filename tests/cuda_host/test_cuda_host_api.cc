/* SPDX-License-Identifier: MIT */
/* Memory, streams, events, graphs, devices and planted faults of the host layer.
 * Features: U-02, S0-02, S4-28. */
#include "test_cuda_host.h"

static void add_to(float *x, float by)
{
    x[threadIdx.x] += by;
}

static void spoil(void)
{
    __trap();
}

/* ---- Memory ---- */

CUDA_HOST_TEST(fresh_memory_is_poisoned_and_counted)
{
    size_t available = 0, total = 0;

    assert_int_equal(cuda_host_inject("memory=1M"), 0);
    {
        buffer<unsigned> memory(1000);
        for (unsigned value : memory.read())
            assert_int_equal(value, 0xffffffffu);
        assert_int_equal(reinterpret_cast<uintptr_t>(memory.at) % 256, 0);
        assert_int_equal(cuda_host_allocated(), 4000);
        assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
        assert_int_equal(total, 1 << 20);
        assert_int_equal(available, (1 << 20) - 4000);
    }
    assert_int_equal(cuda_host_allocated(), 0);
}

CUDA_HOST_TEST(memory_runs_out)
{
    void *most = nullptr, *more = &most;

    assert_int_equal(cuda_host_inject("memory=64K"), 0);
    assert_int_equal(cudaMalloc(&most, 65536), cudaSuccess);
    assert_int_equal(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
    assert_null(more);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaFree(most), cudaSuccess);
    assert_int_equal(cudaMalloc(&more, 1), cudaSuccess);
    assert_int_equal(cudaFree(more), cudaSuccess);
    assert_int_equal(cudaMalloc(&more, 0), cudaSuccess);
    assert_null(more);
    assert_int_equal(cudaFree(nullptr), cudaSuccess);
    assert_int_equal(cudaFree(&more), cudaErrorInvalidValue);
}

CUDA_HOST_TEST(copies_are_checked_against_the_allocation_and_direction)
{
    buffer<char> memory(100);
    char host[200] = "", *device = memory.at;
    static const struct {
        size_t bytes;
        cudaMemcpyKind kind;
        cudaError_t down, up; /* from the device to the host, and back */
    } cases[] = {
        { 100, cudaMemcpyDeviceToHost, cudaSuccess, cudaErrorInvalidValue },
        { 100, cudaMemcpyHostToDevice, cudaErrorInvalidValue, cudaSuccess },
        { 100, cudaMemcpyDefault, cudaSuccess, cudaSuccess },
        { 100, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue, cudaErrorInvalidValue },
        { 101, cudaMemcpyDeviceToHost, cudaErrorInvalidValue, cudaErrorInvalidValue },
        { 101, cudaMemcpyHostToDevice, cudaErrorInvalidValue, cudaErrorInvalidValue },
        { 0, cudaMemcpyDeviceToHost, cudaSuccess, cudaSuccess },
    };

    for (const auto &c : cases) {
        assert_int_equal(cudaMemcpy(host, device, c.bytes, c.kind), c.down);
        assert_int_equal(cudaMemcpyAsync(device, host, c.bytes, c.kind), c.up);
    }
    assert_int_equal(cudaMemcpy(device + 60, host, 41, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(device + 60, host, 40, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, device + 50, 50, cudaMemcpyDeviceToDevice), cudaSuccess);
}

CUDA_HOST_TEST(host_code_cannot_follow_a_device_pointer)
{
#ifdef __SANITIZE_ADDRESS__
    buffer<char> memory(std::vector<char>(100, 7));
    volatile char *device = memory.at;

    assert_true(child_ends_well([&] { return memory.read()[99] == 7; }));
    assert_false(child_ends_well([&] { return device[99] == 7; }));
    assert_true(child_ends_well([&] {
        struct cuda_host_access access;
        buffer<char> fresh(1);
        return device[99] == 7 && *fresh.at != 0;
    }));
#else
    skip(); /* only AddressSanitizer sees it */
#endif
}

CUDA_HOST_TEST(memory_is_set)
{
    buffer<char> memory(100);

    assert_int_equal(cudaMemset(memory.at, 7, 100), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(memory.at + 10, 9, 5), cudaSuccess);
    std::vector<char> values = memory.read();
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(values[i], i >= 10 && i < 15 ? 9 : 7);
    assert_int_equal(cudaMemset(memory.at + 1, 0, 100), cudaErrorInvalidValue);
    assert_int_equal(cudaMemset(values.data(), 0, 1), cudaErrorInvalidValue);
}

CUDA_HOST_TEST(page_locked_memory_is_the_hosts)
{
    char *locked = nullptr;
    buffer<char> memory(std::vector<char>(10, 'x'));

    assert_int_equal(cudaMallocHost(&locked, 10), cudaSuccess);
    assert_int_equal(cudaMemcpy(locked, memory.at, 10, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(locked[9], 'x');
    assert_int_equal(cudaFree(locked), cudaErrorInvalidValue);
    assert_int_equal(cudaFreeHost(locked), cudaSuccess);
}

/* ---- Streams and events ---- */

CUDA_HOST_TEST(events_time_what_lies_between_them)
{
    cudaStream_t stream;
    cudaEvent_t start, stop, plain;
    float ms = -1;

    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaEventCreate(&start), cudaSuccess);
    assert_int_equal(cudaEventCreate(&stop), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming), cudaSuccess);
    assert_int_equal(cudaEventRecord(start, stream), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
    usleep(2000);
    assert_int_equal(cudaEventRecord(stop, stream), cudaSuccess);
    assert_int_equal(cudaEventRecord(plain, stream), cudaSuccess);
    assert_int_equal(cudaEventSynchronize(stop), cudaSuccess);
    assert_int_equal(cudaEventQuery(stop), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
    assert_true(ms >= 2);
    assert_int_equal(cudaEventElapsedTime(&ms, start, plain), cudaErrorInvalidResourceHandle);
    for (cudaEvent_t e : { start, stop, plain })
        assert_int_equal(cudaEventDestroy(e), cudaSuccess);
    assert_int_equal(cudaEventQuery(start), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}

/* ---- Graphs ---- */

/* A stream that captures, with 32 floats on the device. */
struct capturing {
    cudaStream_t stream = nullptr;
    buffer<float> x;

    explicit capturing(unsigned flags = 0) : x(std::vector<float>(32, 1))
    {
        assert_int_equal(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
        assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    }
    ~capturing()
    {
        cudaStreamDestroy(stream);
    }
    cudaError_t end(cudaGraph_t *graph)
    {
        return cudaStreamEndCapture(stream, graph);
    }
};

CUDA_HOST_TEST(a_graph_replays_what_was_captured)
{
    buffer<float> copy(32);
    capturing c;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    assert_int_equal(launch_on<add_to>(c.stream, 1, 32, 0, c.x.at, 2.0f), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(copy.at, c.x.at, 128, cudaMemcpyDeviceToDevice, c.stream),
                     cudaSuccess);
    assert_int_equal(cudaMemsetAsync(c.x.at, 0, 4, c.stream), cudaSuccess);
    assert_int_equal(c.end(&graph), cudaSuccess);
    assert_close(c.x.read()[0], 1, 0);
    assert_int_equal(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaGraphUpload(exec, c.stream), cudaSuccess);
    uint64_t before = cuda_host_launches();
    for (int i = 0; i < 3; i++)
        assert_int_equal(cudaGraphLaunch(exec, c.stream), cudaSuccess);
    assert_int_equal(cuda_host_launches(), before + 3);
    assert_close(c.x.read()[0], 0, 0);
    assert_close(c.x.read()[1], 7, 0);
    assert_close(copy.read()[0], 2, 0);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
}

CUDA_HOST_TEST(nodes_are_listed_with_their_types)
{
    capturing c;
    cudaGraph_t graph;
    cudaGraphNode_t nodes[4];
    size_t count = 0;
    cudaGraphNodeType type;

    launch_on<add_to>(c.stream, 1, 32, 0, c.x.at, 1.0f);
    cudaMemsetAsync(c.x.at, 0, 4, c.stream);
    assert_int_equal(c.end(&graph), cudaSuccess);
    assert_int_equal(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    assert_int_equal(count, 2);
    count = 4;
    assert_int_equal(cudaGraphGetNodes(graph, nodes, &count), cudaSuccess);
    assert_int_equal(count, 2);
    assert_null(nodes[3]);
    assert_int_equal(cudaGraphNodeGetType(nodes[0], &type), cudaSuccess);
    assert_int_equal(type, cudaGraphNodeTypeKernel);
    assert_int_equal(cudaGraphNodeGetType(nodes[1], &type), cudaSuccess);
    assert_int_equal(type, cudaGraphNodeTypeMemset);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
}

/* What may not be called while a stream captures, and what CUDA answers. */
static cudaError_t call_malloc(capturing &)
{
    void *memory;

    return cudaMalloc(&memory, 1);
}

static cudaError_t call_synchronize(capturing &c)
{
    return cudaStreamSynchronize(c.stream);
}

static cudaError_t call_device_synchronize(capturing &)
{
    return cudaDeviceSynchronize();
}

static cudaError_t call_copy(capturing &c)
{
    float x;

    return cudaMemcpy(&x, c.x.at, sizeof(x), cudaMemcpyDeviceToHost);
}

static cudaError_t call_legacy_launch(capturing &c)
{
    return launch<add_to>(1, 32, 0, c.x.at, 1.0f);
}

CUDA_HOST_TEST(what_breaks_a_capture_does_so_here)
{
    static const struct {
        cudaError_t (*call)(capturing &);
        cudaError_t rc;
    } cases[] = {
        { call_malloc, cudaErrorStreamCaptureUnsupported },
        { call_synchronize, cudaErrorStreamCaptureUnsupported },
        { call_device_synchronize, cudaErrorStreamCaptureUnsupported },
        { call_copy, cudaErrorStreamCaptureImplicit },
        { call_legacy_launch, cudaErrorStreamCaptureImplicit },
    };

    for (const auto &row : cases) {
        capturing c;
        cudaGraph_t graph;
        cudaStreamCaptureStatus status;
        assert_int_equal(row.call(c), row.rc);
        assert_int_equal(cudaStreamIsCapturing(c.stream, &status), cudaSuccess);
        assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
        assert_int_equal(launch_on<add_to>(c.stream, 1, 32, 0, c.x.at, 1.0f),
                         cudaErrorStreamCaptureInvalidated);
        assert_int_equal(c.end(&graph), cudaErrorStreamCaptureInvalidated);
        assert_null(graph);
        assert_int_equal(cudaStreamIsCapturing(c.stream, &status), cudaSuccess);
        assert_int_equal(status, cudaStreamCaptureStatusNone);
    }
}

CUDA_HOST_TEST(a_stream_of_its_own_captures_beside_the_legacy_one)
{
    capturing c(cudaStreamNonBlocking);
    cudaGraph_t graph;

    assert_int_equal(call_legacy_launch(c), cudaSuccess);
    assert_int_equal(c.end(&graph), cudaSuccess);
    assert_close(c.x.read()[0], 2, 0);
    cudaGraphDestroy(graph);
}

CUDA_HOST_TEST(captures_begin_and_end_where_cuda_lets_them)
{
    capturing c;
    cudaStream_t other;
    cudaGraph_t graph;

    assert_int_equal(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal),
                     cudaErrorIllegalState);
    assert_int_equal(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
                     cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamCreate(&other), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(other, &graph), cudaErrorIllegalState);
    assert_int_equal(c.end(&graph), cudaSuccess);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(other);
}

/* Forks a second stream into the capture, and joins it again or forgets to. */
static cudaError_t fork_and_join(bool join)
{
    capturing c;
    cudaStream_t side;
    cudaEvent_t forked, joined;
    cudaGraph_t graph = nullptr;

    cudaStreamCreate(&side);
    cudaEventCreate(&forked);
    cudaEventCreate(&joined);
    cudaEventRecord(forked, c.stream);
    assert_int_equal(cudaEventSynchronize(forked), cudaErrorCapturedEvent);
    assert_int_equal(cudaStreamWaitEvent(side, forked, 0), cudaSuccess);
    assert_int_equal(launch_on<add_to>(side, 1, 32, 0, c.x.at, 1.0f), cudaSuccess);
    assert_int_equal(cudaEventRecord(joined, side), cudaSuccess);
    if (join)
        assert_int_equal(cudaStreamWaitEvent(c.stream, joined, 0), cudaSuccess);
    cudaError_t rc = c.end(&graph);
    if (graph)
        cudaGraphDestroy(graph);
    cudaEventDestroy(forked);
    cudaEventDestroy(joined);
    cudaStreamDestroy(side);
    return rc;
}

CUDA_HOST_TEST(forked_streams_must_be_joined)
{
    assert_int_equal(fork_and_join(true), cudaSuccess);
    assert_int_equal(fork_and_join(false), cudaErrorStreamCaptureUnjoined);
}

CUDA_HOST_TEST(a_failure_in_a_graph_stays)
{
    capturing c;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    launch_on<spoil>(c.stream, 1, 32, 0);
    launch_on<add_to>(c.stream, 1, 32, 0, c.x.at, 1.0f);
    assert_int_equal(c.end(&graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
    uint64_t before = cuda_host_launches();
    assert_int_equal(cudaGraphLaunch(exec, c.stream), cudaSuccess);
    assert_int_equal(cuda_host_launches(), before + 1);
    assert_int_equal(cudaStreamSynchronize(c.stream), cudaErrorLaunchFailure);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaErrorLaunchFailure);
    assert_int_equal(cudaGraphDestroy(graph), cudaErrorLaunchFailure);
}

/* ---- Devices ---- */

CUDA_HOST_TEST(the_device_is_described)
{
    cudaDeviceProp p;
    int count = 0, value = 0, driver = 0, runtime = 0;

    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 1);
    assert_int_equal(cudaGetDeviceProperties(&p, 0), cudaSuccess);
    assert_non_null(strstr(p.name, "host layer"));
    assert_int_equal(p.major, 9);
    assert_int_equal(p.sharedMemPerBlockOptin, 227 * 1024);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0),
                     cudaSuccess);
    assert_int_equal(value, p.multiProcessorCount);
    assert_int_equal(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(127), 0),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaDriverGetVersion(&driver), cudaSuccess);
    assert_int_equal(cudaRuntimeGetVersion(&runtime), cudaSuccess);
    assert_true(driver >= runtime);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
}

CUDA_HOST_TEST(occupancy_follows_threads_and_shared_memory)
{
    static const struct {
        int threads;
        size_t shared;
        int blocks;
    } cases[] = {
        { 1024, 0, 2 },         { 256, 0, 8 },          { 32, 0, 32 },  { 33, 0, 32 },
        { 256, 100 * 1024, 2 }, { 128, 227 * 1024, 1 }, { 1025, 0, 0 }, { 256, 228 * 1024, 0 },
    };

    for (const auto &c : cases) {
        int blocks = -1;
        assert_int_equal(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_to, c.threads, c.shared),
            cudaSuccess);
        assert_int_equal(blocks, c.blocks);
    }
}

/* ---- Planted faults ---- */

CUDA_HOST_TEST(without_driver_or_device_nothing_works)
{
    static const struct {
        const char *spec;
        int driver;
        cudaError_t rc;
    } cases[] = {
        { "no-driver", 0, cudaErrorInsufficientDriver },
        { "driver=12040", 12040, cudaErrorInsufficientDriver },
        { "devices=0", CUDART_VERSION, cudaErrorNoDevice },
    };

    for (const auto &c : cases) {
        int count = 7, driver = -1;
        void *memory;
        cuda_host_reset();
        assert_int_equal(cuda_host_inject(c.spec), 0);
        assert_int_equal(cudaGetDeviceCount(&count), c.rc);
        assert_int_equal(count, 0);
        assert_int_equal(cudaMalloc(&memory, 1), c.rc);
        assert_int_equal(cudaSetDevice(0), c.rc);
        assert_int_equal(cudaDriverGetVersion(&driver), cudaSuccess);
        assert_int_equal(driver, c.driver);
    }
    cuda_host_reset();
}

CUDA_HOST_TEST(a_call_fails_when_it_is_told_to)
{
    void *memory[4];

    assert_int_equal(cuda_host_inject("devices=2,fail=cudaMalloc:3:2,fail=cudaSetDevice:1:46"), 0);
    assert_int_equal(cudaSetDevice(1), cudaErrorDevicesUnavailable);
    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cudaMalloc(&memory[i], 10),
                         i == 2 ? cudaErrorMemoryAllocation : cudaSuccess);
    for (int i : { 0, 1, 3 })
        assert_int_equal(cudaFree(memory[i]), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

CUDA_HOST_TEST(a_launch_fails_now_or_while_it_runs)
{
    buffer<float> x(std::vector<float>(32, 1));

    assert_int_equal(cuda_host_inject("fail=launch:1:701,fail=launch:2:700"), 0);
    assert_int_equal(launch<add_to>(1, 32, 0, x.at, 1.0f), cudaErrorLaunchOutOfResources);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_close(x.read()[0], 1, 0);
    assert_int_equal(launch<add_to>(1, 32, 0, x.at, 1.0f), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorIllegalAddress);
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress),
                        "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
}

CUDA_HOST_TEST(the_environment_is_heard)
{
    int count = 0;
    cudaDeviceProp p;

    setenv("CUDA_HOST", "devices=3,capability=8.6,memory=64M", 1);
    cuda_host_reset();
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 3);
    assert_int_equal(cudaGetDeviceProperties(&p, 2), cudaSuccess);
    assert_int_equal(10 * p.major + p.minor, 86);
    assert_int_equal(p.sharedMemPerBlockOptin, 99 * 1024);
    assert_int_equal(p.totalGlobalMem, 64 << 20);
}

CUDA_HOST_TEST(a_misspelt_fault_is_refused)
{
    static const char *const wrong[] = { "device=1",     "devices",           "devices=-1",
                                         "devices=1x",   "capability=9",      "memory=1T",
                                         "no-driver=1",  "fail=cudaMalloc:1", "fail=cudaMalloc:0:2",
                                         "devices=1,,a", "fail=x:1:0" };

    for (const char *spec : wrong)
        if (cuda_host_inject(spec) == 0)
            fail_msg("\"%s\" was taken", spec);
}

RUN_TESTS(NULL, NULL)
