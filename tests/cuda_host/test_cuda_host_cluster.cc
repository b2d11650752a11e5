/* SPDX-License-Identifier: MIT */
/* The host layer runs the blocks of a cluster at the same time, with mbarriers and bulk copies, and
 * finds what a device would not forgive. Features: U-02. */
#include "test_cuda_host.h"

enum { THREADS = 64, CLUSTERS = 3, SEEDS = 20 };

template <auto KERNEL, class... Arguments>
static cudaError_t launch_as(bool cooperative, dim3 blocks, unsigned cluster, size_t shared,
                             Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attributes[2] = {};

    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = cluster;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeCooperative;
    attributes[1].val.cooperative = 1;
    config.gridDim = blocks;
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = shared;
    config.attrs = attributes;
    config.numAttrs = cooperative ? 2 : 1;
    cuda_host_name_kernel(reinterpret_cast<const void *>(KERNEL), __PRETTY_FUNCTION__);
    return cudaLaunchKernelEx(&config, KERNEL, arguments...);
}

template <auto KERNEL, class... Arguments>
static cudaError_t launch_clusters(unsigned blocks, unsigned cluster, size_t shared,
                                   Arguments... arguments)
{
    return launch_as<KERNEL>(false, dim3(blocks), cluster, shared, arguments...);
}

/* ---- The barrier of the cluster ---- */

static void barrier(void)
{
    cuda_host_cluster_arrive();
    cuda_host_cluster_wait();
}

/* Each block hands its number to the next block of its cluster, `rounds` times. */
template <bool SECOND_BARRIER> static void hand_on(int *result, unsigned size, int rounds)
{
    int *shared = shared_as<int>();
    unsigned rank = cuda_host_cluster_rank();
    int mine = (int)rank;

    for (int round = 0; round < rounds; round++) {
        auto *next = static_cast<int *>(cuda_host_cluster_map(shared, (rank + 1) % size));
        next[threadIdx.x] = mine;
        barrier();
        mine = shared[threadIdx.x];
        if constexpr (SECOND_BARRIER)
            barrier();
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

template <bool SECOND> static int wrong_seeds(unsigned size, int rounds)
{
    int wrong = 0;

    for (int seed = 1; seed <= SEEDS; seed++) {
        reset_with_seed(seed);
        buffer<int> result(CLUSTERS * size * THREADS);
        assert_int_equal(launch_clusters<hand_on<SECOND>>(
                             CLUSTERS * size, size, THREADS * sizeof(int), result.at, size, rounds),
                         cudaSuccess);
        std::vector<int> numbers = result.read();
        bool bad = false;
        for (size_t i = 0; i < numbers.size(); i++) {
            unsigned rank = (unsigned)(i / THREADS) % size;
            bad |= numbers[i] != (int)((rank + size * (unsigned)rounds - (unsigned)rounds) % size);
        }
        wrong += bad;
    }
    return wrong;
}

CUDA_HOST_TEST(blocks_reach_each_others_shared_memory)
{
    assert_int_equal(wrong_seeds<true>(2, 1), 0);
    assert_int_equal(wrong_seeds<true>(8, 20), 0);
}

CUDA_HOST_TEST(a_missing_barrier_of_the_cluster_shows)
{
    assert_true(wrong_seeds<false>(4, 8) > SEEDS / 2);
}

static void one_block_does_not_arrive(void)
{
    if (cuda_host_cluster_rank() == 1)
        return;
    barrier();
}

static void arrive_twice(void)
{
    cuda_host_cluster_arrive();
    cuda_host_cluster_arrive();
}

CUDA_HOST_TEST(a_block_that_does_not_arrive_is_found)
{
    assert_launch_failed(
        launch_clusters<one_block_does_not_arrive>(4, 4, 0),
        { "one_block_does_not_arrive", "192 of the 256 threads of the cluster", "has returned" });
}

CUDA_HOST_TEST(two_arrivals_in_a_row_are_found)
{
    assert_launch_failed(launch_clusters<arrive_twice>(2, 2, 0), { "arrives twice" });
}

/* The first block is late: what it wants to reach is gone. */
static void reach_one_that_left(void)
{
    if (cuda_host_cluster_rank() == 1)
        return;
    for (int i = 0; i < 200; i++)
        __syncthreads();
    *static_cast<int *>(cuda_host_cluster_map(shared_as<int>(), 1)) = 0;
}

CUDA_HOST_TEST(a_block_that_has_returned_cannot_be_reached)
{
    assert_launch_failed(launch_clusters<reach_one_that_left>(2, 2, sizeof(int)),
                         { "the shared memory of a block that has returned" });
}

static void nothing(void)
{
}

CUDA_HOST_TEST(clusters_that_cannot_be_are_refused)
{
    assert_int_equal(launch_clusters<nothing>(16, 16, 0), cudaSuccess);
    assert_int_equal(launch_clusters<nothing>(32, 32, 0), cudaErrorInvalidConfiguration);
    assert_int_equal(launch_clusters<nothing>(3, 2, 0), cudaErrorInvalidConfiguration);
    inject("capability=8.0");
    assert_int_equal(launch_clusters<nothing>(2, 2, 0), cudaErrorNoKernelImageForDevice);
}

/* ---- mbarriers and bulk copies ---- */

enum { BYTES = 1024, PIECES = 6 };

struct ring {
    alignas(16) unsigned char stage[2][BYTES];
    alignas(8) uint64_t full[2];
};

/* Sums PIECES pieces through two stages. MEET: before a stage is used again. */
template <bool MEET> static void sum_pieces(const unsigned char *from, unsigned *sums)
{
    struct ring *r = shared_as<struct ring>();
    unsigned sum = 0;
    auto start = [&](int i) {
        cuda_host_mbarrier_arrive(&r->full[i % 2], BYTES);
        cuda_host_bulk_copy(r->stage[i % 2], from + BYTES * i, BYTES, &r->full[i % 2]);
    };

    if (threadIdx.x == 0) {
        cuda_host_mbarrier_init(&r->full[0], 1);
        cuda_host_mbarrier_init(&r->full[1], 1);
        start(0), start(1);
    }
    __syncthreads();
    for (int i = 0; i < PIECES; i++) {
        cuda_host_mbarrier_wait(&r->full[i % 2], (unsigned)(i / 2 % 2));
        for (int j = 0; j < BYTES; j++)
            sum += r->stage[i % 2][j];
        if (MEET)
            __syncthreads();
        if (threadIdx.x == 0 && i + 2 < PIECES)
            start(i + 2);
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static std::vector<unsigned char> pieces(void)
{
    std::vector<unsigned char> values(BYTES * PIECES);

    for (size_t i = 0; i < values.size(); i++)
        values[i] = (unsigned char)(i * 7 % 200);
    return values;
}

template <bool MEET> static int wrong_sums(void)
{
    int wrong = 0;
    unsigned expected = 0;

    for (unsigned char v : pieces())
        expected += v;
    for (int seed = 1; seed <= SEEDS; seed++) {
        reset_with_seed(seed);
        buffer<unsigned char> from(pieces());
        buffer<unsigned> sums(4 * THREADS);
        cudaError_t rc =
            launch_clusters<sum_pieces<MEET>>(4, 2, sizeof(struct ring), from.at, sums.at);
        assert_int_equal(rc, cudaSuccess);
        bool bad = cudaDeviceSynchronize() != cudaSuccess; /* who is two phases behind waits on */
        if (!bad)
            for (unsigned s : sums.read())
                bad |= s != expected;
        if (bad)
            cuda_host_reset();
        wrong += bad;
    }
    return wrong;
}

CUDA_HOST_TEST(bulk_copies_come_when_they_are_waited_for)
{
    assert_int_equal(wrong_sums<true>(), 0);
}

CUDA_HOST_TEST(a_stage_used_again_too_early_shows)
{
    assert_true(wrong_sums<false>() > SEEDS / 2);
}

static void copy_and_leave(const unsigned char *from)
{
    struct ring *r = shared_as<struct ring>();

    if (threadIdx.x == 0) {
        cuda_host_mbarrier_init(&r->full[0], 1);
        cuda_host_mbarrier_arrive(&r->full[0], BYTES);
        cuda_host_bulk_copy(r->stage[0], from, BYTES, &r->full[0]);
    }
}

CUDA_HOST_TEST(a_copy_that_nobody_waits_for_is_found)
{
    buffer<unsigned char> from(pieces());

    assert_launch_failed(launch_clusters<copy_and_leave>(2, 2, sizeof(struct ring), from.at),
                         { "copy_and_leave", "returns before the bulk copy" });
}

static void copy_to_an_odd_place(const unsigned char *from)
{
    struct ring *r = shared_as<struct ring>();

    if (threadIdx.x == 0)
        cuda_host_bulk_copy(r->stage[0] + 8, from, 16, &r->full[0]);
}

CUDA_HOST_TEST(wrong_bulk_copies_are_found)
{
    buffer<unsigned char> from(pieces());

    assert_launch_failed(launch_clusters<copy_to_an_odd_place>(1, 1, sizeof(struct ring), from.at),
                         { "16 bytes", "16-byte pieces" });
}

/* ---- Cooperative launches ---- */

/* All blocks of the grid meet, `rounds` times, and each then takes its neighbour's number of the
 * round: over the blocks by a counter, within a cluster by its barrier. */
static void meet(volatile unsigned *count, volatile unsigned *numbers, unsigned *wrong, int rounds)
{
    unsigned blocks = gridDim.x * gridDim.y, self = blockIdx.y * gridDim.x + blockIdx.x;

    for (unsigned round = 0; round < (unsigned)rounds; round++) {
        barrier();
        if (threadIdx.x == 0) {
            numbers[round % 2 * blocks + self] = round * blocks + self;
            *count = *count + 1;
            while (*count < (round + 1) * blocks)
                cuda_host_poll();
            unsigned next = (self + 1) % blocks;
            *wrong += numbers[round % 2 * blocks + next] != round * blocks + next;
        }
        __syncthreads();
    }
}

CUDA_HOST_TEST(all_blocks_of_a_cooperative_launch_run_at_once)
{
    for (int seed = 1; seed <= SEEDS; seed++) {
        reset_with_seed(seed);
        dim3 grid(6, 2);
        buffer<unsigned> counts(std::vector<unsigned>(2, 0)), numbers(24);
        assert_int_equal(launch_as<meet>(true, grid, 2, 0, (volatile unsigned *)counts.at,
                                         (volatile unsigned *)numbers.at, counts.at + 1, 5),
                         cudaSuccess);
        assert_int_equal(counts.read()[0], 5 * 12);
        assert_int_equal(counts.read()[1], 0);
    }
}

RUN_TESTS(NULL, NULL)
