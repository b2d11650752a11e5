/* SPDX-License-Identifier: MIT */
/* The host layer runs CUDA threads as CUDA does, and finds what a device would not forgive.
 * Features: U-02. */
#include "test_cuda_host.h"
#include "sanitizer.h"

#include <set>

enum { THREADS = 128, SEEDS = 20 };

/* ---- Where threads are ---- */

static void mark_place(int *times, int count)
{
    dim3 g = gridDim, b = blockDim;
    int block = (int)(blockIdx.x + g.x * (blockIdx.y + g.y * blockIdx.z));
    int thread = (int)(threadIdx.x + b.x * (threadIdx.y + b.y * threadIdx.z));
    int at = block * (int)(b.x * b.y * b.z) + thread;

    if (at < count)
        atomicAdd(&times[at], 1);
}

CUDA_HOST_TEST(each_thread_of_each_block_runs_once)
{
    const dim3 grid(3, 2, 4), block(5, 3, 2);
    buffer<int> times(std::vector<int>(24 * 30, 0));

    assert_int_equal(launch<mark_place>(grid, block, 0, times.at, 24 * 30), cudaSuccess);
    for (int t : times.read())
        assert_int_equal(t, 1);
    assert_int_equal(cuda_host_launches() > 0, 1);
}

static void note_order(int *order, unsigned *next)
{
    order[atomicAdd(next, 1u)] = (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

static std::vector<int> order_with_seed(int seed)
{
    reset_with_seed(seed);
    buffer<int> order(std::vector<int>(4 * THREADS, -1));
    buffer<unsigned> next(std::vector<unsigned> { 0 });
    uint64_t before = cuda_host_launches();

    assert_int_equal(launch<note_order>(4, THREADS, 0, order.at, next.at), cudaSuccess);
    assert_int_equal(cuda_host_launches(), before + 1);
    return order.read();
}

CUDA_HOST_TEST(other_seeds_are_other_orders_of_the_same_threads)
{
    std::set<std::vector<int>> orders;

    for (int seed = 1; seed <= SEEDS; seed++) {
        std::vector<int> order = order_with_seed(seed);
        orders.insert(order);
        std::set<int> threads(order.begin(), order.end());
        assert_int_equal(threads.size(), 4 * THREADS);
        assert_int_equal(*threads.begin(), 0);
    }
    assert_true(orders.size() > SEEDS / 2);
}

/* ---- Barriers ---- */

/* Each thread passes its number on to its neighbour, `rounds` times. */
template <bool FIRST_BARRIER, bool SECOND_BARRIER> static void rotate(int *result, int rounds)
{
    int *shared = shared_as<int>();
    int t = (int)threadIdx.x, n = (int)blockDim.x, mine = t;

    for (int round = 0; round < rounds; round++) {
        shared[t] = mine;
        if constexpr (FIRST_BARRIER)
            __syncthreads();
        mine = shared[(t + 1) % n];
        if constexpr (SECOND_BARRIER)
            __syncthreads();
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

/* In how many seeds some thread has the wrong number after so many rounds. */
template <bool FIRST, bool SECOND> static int wrong_seeds(int rounds)
{
    int wrong = 0;

    for (int seed = 1; seed <= SEEDS; seed++) {
        reset_with_seed(seed);
        buffer<int> result(2 * THREADS);
        assert_int_equal(
            (launch<rotate<FIRST, SECOND>>(2, THREADS, THREADS * sizeof(int), result.at, rounds)),
            cudaSuccess);
        std::vector<int> numbers = result.read();
        bool bad = false;
        for (int i = 0; i < 2 * THREADS; i++)
            bad |= numbers[(size_t)i] != (i % THREADS + rounds) % THREADS;
        wrong += bad;
    }
    return wrong;
}

CUDA_HOST_TEST(barriers_order_shared_memory)
{
    assert_int_equal((wrong_seeds<true, true>(1)), 0);
    assert_int_equal((wrong_seeds<true, true>(50)), 0);
}

CUDA_HOST_TEST(a_missing_barrier_shows_in_every_order)
{
    assert_int_equal((wrong_seeds<false, true>(1)), SEEDS);
}

CUDA_HOST_TEST(a_missing_barrier_before_the_next_round_shows)
{
    assert_int_equal((wrong_seeds<true, false>(8)), SEEDS);
}

static void count_votes(int *result)
{
    int t = (int)threadIdx.x;

    result[3 * t] = __syncthreads_count(t % 3 == 0);
    result[3 * t + 1] = __syncthreads_or(t == 77);
    result[3 * t + 2] = __syncthreads_and(t != 77);
    result[3 * t + 1] += 2 * __syncthreads_or(0);
    result[3 * t + 2] += 2 * __syncthreads_and(1);
}

CUDA_HOST_TEST(barriers_vote)
{
    buffer<int> result(3 * THREADS);

    assert_int_equal(launch<count_votes>(1, THREADS, 0, result.at), cudaSuccess);
    std::vector<int> r = result.read();
    for (size_t t = 0; t < THREADS; t++) {
        assert_int_equal(r[3 * t], (THREADS + 2) / 3);
        assert_int_equal(r[3 * t + 1], 1);
        assert_int_equal(r[3 * t + 2], 2);
    }
}

/* ---- Shared memory ---- */

static void read_unwritten(unsigned *result)
{
    unsigned *shared = shared_as<unsigned>();

    result[blockIdx.x * blockDim.x + threadIdx.x] = shared[threadIdx.x];
    shared[threadIdx.x] = 0;
    result[0] |= (unsigned)(reinterpret_cast<uintptr_t>(shared) % 1024);
}

CUDA_HOST_TEST(shared_memory_is_poisoned_before_every_block)
{
    buffer<unsigned> result(4 * THREADS);

    assert_int_equal(launch<read_unwritten>(4, THREADS, 4 * THREADS, result.at), cudaSuccess);
    for (unsigned value : result.read())
        assert_int_equal(value, 0xffffffffu);
}

static void write_at(int offset)
{
    if (threadIdx.x == 0)
        shared_as<volatile char>()[offset] = 1;
}

/* A vector of 4 floats of which the last ones may lie behind the end. */
static void read_at(int offset)
{
    volatile float *vector = shared_as<volatile float>() + offset / 4;
    float sum = 0;

    for (int i = 0; threadIdx.x == 0 && i < 4; i++)
        sum += vector[i];
    if (sum > 0)
        __trap();
}

template <auto KERNEL> static bool touches_shared(int offset)
{
    return launch<KERNEL>(1, 32, 112, offset) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
}

CUDA_HOST_TEST(accesses_behind_shared_memory_are_found)
{
    assert_true(child_ends_well([] { return touches_shared<write_at>(111); }));
    assert_false(child_ends_well([] { return touches_shared<write_at>(112); }));
    assert_false(child_ends_well([] { return touches_shared<write_at>(119); }));
    assert_true(child_ends_well([] { return touches_shared<read_at>(96); }));
#if CUDA_HOST_ASAN
    assert_false(child_ends_well([] { return touches_shared<read_at>(100); }));
    assert_false(child_ends_well([] { return touches_shared<read_at>(108); }));
#endif
}

/* What a compiler makes of loops over floats reads the last vector whole. A struct ends where it
 * ends: what is always as long. */
CUDA_HOST_TEST(shared_memory_as_long_as_the_data_is_whole_vectors)
{
    static const struct {
        size_t bytes;
        cudaError_t rc;
    } launches[] = {
        { 100, cudaSuccess },
        { 100, cudaSuccess },
        { 104, cudaErrorInvalidValue },
        { 100, cudaErrorInvalidValue },
        { 112, cudaSuccess },
        { 111, cudaErrorInvalidValue },
        { 16, cudaSuccess },
    };

    for (const auto &l : launches) {
        assert_int_equal(launch<write_at>(1, 32, l.bytes, 0), l.rc);
        assert_int_equal(cudaGetLastError(), l.rc);
    }
    assert_int_equal(launch<read_at>(1, 32, 100, 0), cudaSuccess); /* another kernel */
}

static void write_global(volatile char *memory, int offset)
{
    if (threadIdx.x == 0)
        memory[offset] = 1;
}

template <auto KERNEL> static bool writes_device(int offset)
{
    char *memory = nullptr;

    cudaMalloc(&memory, 100);
    launch<KERNEL>(1, 32, 0, memory, offset);
    return cudaDeviceSynchronize() == cudaSuccess;
}

CUDA_HOST_TEST(writes_behind_an_allocation_are_found)
{
    assert_true(child_ends_well([] { return writes_device<write_global>(99); }));
    assert_false(child_ends_well([] { return writes_device<write_global>(100); }));
}

/* As kernels do that are compiled without the sanitizers. */
__attribute__((no_sanitize_address)) static void write_global_unseen(char *memory, int offset)
{
    if (threadIdx.x == 0)
        memory[offset] = 1;
}

__attribute__((no_sanitize_address)) static void write_unseen(int offset)
{
    if (threadIdx.x == 0)
        static_cast<char *>(cuda_host_shared())[offset] = 1;
}

CUDA_HOST_TEST(writes_that_no_sanitizer_sees_are_found)
{
    assert_true(writes_device<write_global_unseen>(99));
    assert_false(writes_device<write_global_unseen>(100));
    cuda_host_reset();
    assert_false(writes_device<write_global_unseen>(355));
    cuda_host_reset();
    assert_true(touches_shared<write_unseen>(111));
    assert_launch_failed(launch<write_unseen>(1, 32, 112, 112),
                         { "wrote behind the shared memory" });
}

/* ---- Divergence ---- */

static void leave_early(void)
{
    if (threadIdx.x == 5)
        return;
    __syncthreads();
}

CUDA_HOST_TEST(a_thread_that_returns_before_a_barrier_is_found)
{
    assert_launch_failed(launch<leave_early>(3, 64, 16),
                         { "kernel leave_early <<<(3,1,1), (64,1,1), 16 B>>>, block (",
                           "63 of the 64 threads of the block wait at __syncthreads() at "
                           "test_cuda_host.cc:",
                           "thread (5,0,0) has returned" });
}

static void two_barriers(void)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}

CUDA_HOST_TEST(threads_at_different_barriers_are_found)
{
    assert_launch_failed(launch<two_barriers>(1, 64, 0),
                         { "has come to __syncthreads() at test_cuda_host.cc:",
                           "while ", /* one waits, or many wait */
                           " at __syncthreads() at test_cuda_host.cc:" });
}

static void barrier_against_warp(void)
{
    if (threadIdx.x == 40)
        __syncwarp();
    else
        __syncthreads();
}

CUDA_HOST_TEST(a_thread_at_a_warp_function_instead_is_found)
{
    assert_launch_failed(launch<barrier_against_warp>(1, 64, 0),
                         { "63 of the 64 threads of the block wait at __syncthreads()",
                           "thread (40,0,0) waits at __syncwarp()" });
}

static void lane_missing(int *result)
{
    if (threadIdx.x % 32 != 3)
        result[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
}

CUDA_HOST_TEST(a_missing_lane_is_found)
{
    buffer<int> result(64);

    assert_launch_failed(
        launch<lane_missing>(1, 64, 0, result.at),
        { "31 of the 32 lanes of a warp wait at __shfl_sync()", "(3,0,0) has returned" });
}

static void lanes_at_different_functions(int *result)
{
    int odd = threadIdx.x % 2;

    result[threadIdx.x] = odd ? __any_sync(0xffffffffu, 1) : __all_sync(0xffffffffu, 1);
}

CUDA_HOST_TEST(lanes_that_call_different_functions_are_found)
{
    buffer<int> result(32);

    assert_launch_failed(launch<lanes_at_different_functions>(1, 32, 0, result.at),
                         { "_sync() at test_cuda_host.cc:", "has come to", "while" });
}

static void half_a_mask(void)
{
    __syncwarp(0x0000ffffu);
}

CUDA_HOST_TEST(part_of_a_warp_is_refused)
{
    assert_launch_failed(launch<half_a_mask>(1, 32, 0), { "mask 0x0000ffff" });
    cuda_host_reset();
    assert_launch_failed(launch<barrier_against_warp>(1, 48, 0), { "a warp of 16 threads" });
}

static void sleeper(volatile int *flag)
{
    if (threadIdx.x == 0)
        while (!*flag)
            __nanosleep(100);
    __syncthreads();
}

static void waker(volatile int *flag)
{
    if (threadIdx.x == 0)
        while (!*flag)
            __nanosleep(100);
    else if (threadIdx.x == 63)
        *flag = 1;
    __syncthreads();
}

CUDA_HOST_TEST(sleep_lets_others_run_but_not_for_ever)
{
    buffer<int> flag(std::vector<int> { 0 });

    assert_int_equal(launch<waker>(1, 64, 0, flag.at), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemset(flag.at, 0, sizeof(int)), cudaSuccess);
    assert_launch_failed(launch<sleeper>(1, 64, 0, flag.at), { "no other thread can go on" });
}

static void trap_in_one(void)
{
    if (threadIdx.x == 9 && blockIdx.x == 1)
        __trap();
}

CUDA_HOST_TEST(a_trap_ends_the_kernel_and_spoils_the_context)
{
    int device = 0;
    void *memory = nullptr;

    assert_launch_failed(launch<trap_in_one>(2, 64, 0),
                         { "block (1,0,0), thread (9,0,0): __trap()" });
    assert_int_equal(cudaGetDevice(&device), cudaErrorLaunchFailure);
    assert_int_equal(cudaMalloc(&memory, 1), cudaErrorLaunchFailure);
    assert_int_equal(launch<trap_in_one>(1, 32, 0), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaDeviceReset(), cudaErrorLaunchFailure);
    assert_int_equal(launch<trap_in_one>(1, 32, 0), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

CUDA_HOST_TEST(fibers_serve_again_after_a_failure)
{
    for (int i = 0; i < 10; i++) {
        assert_launch_failed(launch<leave_early>(1, 64, 0), { "has returned" });
        cuda_host_reset();
        each_thread_of_each_block_runs_once(nullptr);
    }
}

/* ---- Limits ---- */

static void nothing(void)
{
}

template <auto KERNEL> static cudaError_t allow(int bytes)
{
    return cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

CUDA_HOST_TEST(sizes_beyond_the_device_are_refused)
{
    static const struct {
        dim3 grid, block;
        cudaError_t rc;
    } cases[] = {
        { 1, 1024, cudaSuccess },
        { 1, dim3(32, 32, 1), cudaSuccess },
        { 1, 1025, cudaErrorInvalidConfiguration },
        { 1, dim3(32, 33, 1), cudaErrorInvalidConfiguration },
        { 1, dim3(1, 1, 64), cudaSuccess },
        { 1, dim3(1, 1, 65), cudaErrorInvalidConfiguration },
        { 0, 32, cudaErrorInvalidConfiguration },
        { 1, dim3(32, 0, 1), cudaErrorInvalidConfiguration },
        { dim3(1, 65536, 1), 1, cudaErrorInvalidConfiguration },
        { dim3(1, 1, 65536), 1, cudaErrorInvalidConfiguration },
        { dim3(65536, 1, 1), 1, cudaSuccess },
    };

    for (const auto &c : cases) {
        assert_int_equal(launch<nothing>(c.grid, c.block, 0), c.rc);
        assert_int_equal(cudaGetLastError(), c.rc);
        assert_int_equal(cudaGetLastError(), cudaSuccess);
    }
}

CUDA_HOST_TEST(shared_memory_needs_permission_and_has_an_end)
{
    const int most = 227 * 1024;

    assert_int_equal(launch<nothing>(1, 32, 48 * 1024), cudaSuccess);
    assert_int_equal(launch<nothing>(1, 32, 48 * 1024 + 16), cudaErrorInvalidValue);
    assert_int_equal(allow<nothing>(most + 1), cudaErrorInvalidValue);
    assert_int_equal(launch<nothing>(1, 32, most), cudaErrorInvalidValue);
    assert_int_equal(allow<nothing>(most), cudaSuccess);
    assert_int_equal(launch<nothing>(1, 32, most), cudaSuccess);
    assert_int_equal(launch<nothing>(1, 32, most + 16), cudaErrorInvalidValue);
    assert_int_equal(launch<two_barriers>(1, 32, most), cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    assert_int_equal(launch<nothing>(1, 32, most), cudaErrorInvalidValue);
}

CUDA_HOST_TEST(an_older_device_has_no_image_and_less_memory)
{
    assert_int_equal(cuda_host_inject("capability=8.0"), 0);
    assert_int_equal(allow<nothing>(163 * 1024), cudaSuccess);
    assert_int_equal(allow<nothing>(163 * 1024 + 1), cudaErrorInvalidValue);
    assert_int_equal(launch<nothing>(1, 32, 0), cudaSuccess);
    assert_int_equal(cuda_host_inject("capability=7.5"), 0);
    assert_int_equal(launch<nothing>(1, 32, 0), cudaErrorNoKernelImageForDevice);
}

RUN_TESTS(NULL, NULL)
