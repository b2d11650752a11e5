/* SPDX-License-Identifier: MIT */
/* Shuffles, votes, atomics, cp.async and the meetings of whole warps in the host layer.
 * Features: U-02. */
#include "test_cuda_host.h"

enum { WARPS = 3, THREADS = 32 * WARPS };

/* ---- Shuffles ---- */

enum shuffle { INDEX, XOR, UP, DOWN };

/* What the PTX manual says of shfl: the source lane, or the lane itself where that is outside. */
static int source(enum shuffle how, int lane, int by, int width)
{
    int first = lane / width * width, from = lane;

    if (how == INDEX)
        return first + ((by % width) + width) % width;
    if (how == XOR)
        from = lane ^ by;
    else
        from = how == UP ? lane - by : lane + by;
    bool outside = how == UP ? from < first : from >= first + width;
    return outside ? lane : from;
}

template <class T> static void shuffle_kernel(enum shuffle how, int by, int width, T *result)
{
    const unsigned all = 0xffffffffu;
    T mine = (T)threadIdx.x + (T)0.5, got = 0;

    if (how == INDEX)
        got = __shfl_sync(all, mine, by, width);
    else if (how == XOR)
        got = __shfl_xor_sync(all, mine, by, width);
    else if (how == UP)
        got = __shfl_up_sync(all, mine, (unsigned)by, width);
    else
        got = __shfl_down_sync(all, mine, (unsigned)by, width);
    result[threadIdx.x] = got;
}

template <class T> static void check_shuffle(enum shuffle how, int by, int width)
{
    buffer<T> result(THREADS);

    assert_int_equal(launch<shuffle_kernel<T>>(1, THREADS, 0, how, by, width, result.at),
                     cudaSuccess);
    std::vector<T> got = result.read();
    for (int t = 0; t < THREADS; t++) {
        T expected = (T)(t / 32 * 32 + source(how, t % 32, by, width)) + (T)0.5;
        if (got[(size_t)t] != expected)
            fail_msg("shuffle %d by %d width %d: thread %d has %g, expected %g", how, by, width, t,
                     (double)got[(size_t)t], (double)expected);
    }
}

CUDA_HOST_TEST(shuffles_take_the_lane_that_the_manual_says)
{
    for (int width = 2; width <= 32; width *= 2)
        for (int by = 0; by < 32; by += 3)
            for (enum shuffle how : { INDEX, XOR, UP, DOWN })
                check_shuffle<float>(how, by, width);
    check_shuffle<double>(XOR, 16, 32);
    check_shuffle<int>(INDEX, -1, 8);
    check_shuffle<unsigned>(DOWN, 1, 32);
    check_shuffle<long long>(UP, 2, 16);
}

/* Sums that need every shuffle in turn, in warps that are in step no longer. */
static void sum_warps(float *result)
{
    float sum = (float)threadIdx.x;

    for (unsigned skew = 0; skew < threadIdx.x / 32; skew++)
        __syncwarp();
    for (int round = 0; round < 10; round++)
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    result[threadIdx.x] = sum;
}

CUDA_HOST_TEST(many_shuffles_in_a_row_do_not_mix)
{
    for (int seed = 1; seed < 20; seed++) {
        reset_with_seed(seed);
        buffer<float> result(THREADS);
        assert_int_equal(launch<sum_warps>(1, THREADS, 0, result.at), cudaSuccess);
        std::vector<float> sums = result.read();
        for (int t = 0; t < THREADS; t++) {
            int first = t / 32 * 32;
            float once = (float)(32 * first + 496);
            assert_close(sums[(size_t)t], once * powf(32, 9), 0);
        }
    }
}

/* ---- Votes ---- */

static void vote(unsigned *ballot, int *any, int *all)
{
    int t = (int)threadIdx.x, warp = t / 32;
    bool whole = __activemask() == 0xffffffffu; /* no lane returns before the votes */

    ballot[t] = whole ? __ballot_sync(0xffffffffu, t % 5 == 0) : 0;
    any[t] = __any_sync(0xffffffffu, warp == 1 && t % 32 == 31);
    all[t] = __all_sync(0xffffffffu, !(warp == 2 && t % 32 == 0));
}

CUDA_HOST_TEST(votes_are_those_of_the_warp)
{
    buffer<unsigned> ballot(THREADS);
    buffer<int> any(THREADS), all(THREADS);

    assert_int_equal(launch<vote>(1, THREADS, 0, ballot.at, any.at, all.at), cudaSuccess);
    std::vector<unsigned> ballots = ballot.read();
    std::vector<int> anys = any.read(), alls = all.read();
    for (int t = 0; t < THREADS; t++) {
        unsigned expected = 0;
        for (int lane = 0; lane < 32; lane++)
            expected |= (unsigned)((t / 32 * 32 + lane) % 5 == 0) << lane;
        assert_int_equal(ballots[(size_t)t], expected);
        assert_int_equal(anys[(size_t)t], t / 32 == 1);
        assert_int_equal(alls[(size_t)t], t / 32 != 2);
    }
}

/* ---- Whole-warp instructions ---- */

struct fragment {
    float value[2];
};

/* Each lane sums the fragments of all lanes, many times over. */
static void sum_published(float *result, int rounds)
{
    float sum = 0;

    for (int round = 0; round < rounds; round++) {
        fragment mine = { { (float)threadIdx.x, (float)round } };
        const void *const *all = cuda_host_warp_publish(&mine);
        for (int lane = 0; lane < 32; lane++) {
            const fragment *other = static_cast<const fragment *>(all[lane]);
            sum += other->value[0] + 100 * other->value[1];
        }
        cuda_host_warp_done();
    }
    result[threadIdx.x] = sum;
}

CUDA_HOST_TEST(published_data_of_all_lanes_is_seen)
{
    buffer<float> result(THREADS);

    assert_int_equal(launch<sum_published>(1, THREADS, 0, result.at, 4), cudaSuccess);
    std::vector<float> sums = result.read();
    for (int t = 0; t < THREADS; t++)
        assert_close(sums[(size_t)t], 4 * (32 * (t / 32 * 32) + 496) + 32 * 100 * 6, 0);
}

/* ---- Atomics ---- */

struct totals {
    int sum, largest, smallest, swapped;
    unsigned wrapped;
    float total;
    unsigned long long wide;
};

static void total(struct totals *t)
{
    int me = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    atomicAdd(&t->sum, me);
    atomicMax(&t->largest, me);
    atomicMin(&t->smallest, -me);
    atomicInc(&t->wrapped, 6u);
    atomicAdd(&t->total, 0.5f);
    atomicAdd(&t->wide, 1ull << 33);
    while (atomicCAS(&t->swapped, me, me + 1) != me)
        __nanosleep(10);
}

CUDA_HOST_TEST(atomics_count_every_thread)
{
    buffer<totals> memory(std::vector<totals>(1));
    const int n = 64;

    assert_int_equal(launch<total>(1, n, 0, memory.at), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    totals t = memory.read()[0];
    assert_int_equal(t.sum, n * (n - 1) / 2);
    assert_int_equal(t.largest, n - 1);
    assert_int_equal(t.smallest, -(n - 1));
    assert_int_equal(t.wrapped, n % 7);
    assert_close(t.total, n / 2.0, 0);
    assert_int_equal(t.wide, (unsigned long long)n << 33);
    assert_int_equal(t.swapped, n);
}

/* The usual end of a reduction over blocks: the last one to arrive adds up. */
static void last_block_adds(float *partial, unsigned *ticket, float *result)
{
    bool *last = shared_as<bool>();

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = (float)(blockIdx.x + 1);
        __threadfence();
        *last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!*last || threadIdx.x)
        return;
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++)
        sum += __ldcg(&partial[i]);
    *result = sum;
}

CUDA_HOST_TEST(the_last_block_is_another_one_in_another_order)
{
    for (int seed = 1; seed < 10; seed++) {
        reset_with_seed(seed);
        buffer<float> partial(10), result(1);
        buffer<unsigned> ticket(std::vector<unsigned> { 0 });
        for (int again = 0; again < 2; again++) {
            assert_int_equal(launch<last_block_adds>(10, 64, 1, partial.at, ticket.at, result.at),
                             cudaSuccess);
            assert_close(result.read()[0], 55, 0);
        }
    }
}

/* The same by all threads of a block, behind barriers that keep them together. */
template <bool BARRIER, bool ATOMIC>
static void last_block_adds_all(float *partial, unsigned *ticket, float *result)
{
    const unsigned n = blockDim.x, t = threadIdx.x;

    for (int i = 0; i < 3; i++)
        __syncthreads();
    partial[blockIdx.x * n + t] = 1;
    __threadfence();
    if constexpr (BARRIER)
        __syncthreads();
    bool last = false;
    if (t == 0 && ATOMIC)
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    else if (t == 0)
        last = (*ticket)++ % gridDim.x == gridDim.x - 1; /* among fibers the same */
    if (!__syncthreads_or(last))
        return;
    __threadfence();
    result[t] = 0;
    for (unsigned i = 0; i < gridDim.x; i++)
        result[t] += __ldcg(&partial[i * n + t]);
}

/* In how many of some seeds a sum is wrong, in one of some launches. */
template <bool BARRIER, bool ATOMIC> static int seeds_with_wrong_sums(void)
{
    const int threads = 128, blocks = 2, seeds = 20;
    int wrong = 0;

    for (int seed = 1; seed <= seeds; seed++) {
        reset_with_seed(seed);
        buffer<unsigned> ticket(std::vector<unsigned> { 0 });
        bool bad = false;
        for (int again = 0; again < 16; again++) {
            buffer<float> partial(blocks * threads), result(threads);
            assert_int_equal((launch<last_block_adds_all<BARRIER, ATOMIC>>(
                                 blocks, threads, 0, partial.at, ticket.at, result.at)),
                             cudaSuccess);
            for (float sum : result.read())
                bad |= !(sum == blocks);
        }
        wrong += bad;
    }
    return wrong;
}

/* That a block stays behind where it took its ticket is what shows it. */
CUDA_HOST_TEST(a_missing_barrier_before_a_ticket_shows)
{
    assert_int_equal((seeds_with_wrong_sums<true, true>()), 0);
    assert_int_equal((seeds_with_wrong_sums<false, true>()), 20);
    assert_in_range((seeds_with_wrong_sums<false, false>()), 0, 10);
}

/* ---- cp.async ---- */

/* One group a thread is copied and waited for, or not; then the thread reads its own 16 bytes. */
static void copy_and_read(const uint4 *from, uint4 *to, bool wait)
{
    uint4 *shared = shared_as<uint4>();
    unsigned t = threadIdx.x;

    cuda_host_cp_async(&shared[t], &from[t], 16, 16);
    cuda_host_cp_commit();
    if (wait)
        cuda_host_cp_wait(0);
    to[t] = shared[t];
    cuda_host_cp_wait(0);
}

CUDA_HOST_TEST(copies_arrive_at_the_wait_and_not_before)
{
    buffer<uint4> from(std::vector<uint4>(32, make_uint4(1, 2, 3, 4))), to(32);

    assert_int_equal(launch<copy_and_read>(1, 32, 512, from.at, to.at, true), cudaSuccess);
    for (const uint4 &v : to.read())
        assert_true(v.x == 1 && v.y == 2 && v.z == 3 && v.w == 4);
    assert_int_equal(launch<copy_and_read>(1, 32, 512, from.at, to.at, false), cudaSuccess);
    for (const uint4 &v : to.read())
        assert_true(v.x == ~0u && v.y == ~0u && v.z == ~0u && v.w == ~0u);
}

/* Three groups; result[g] is how many of them `allow` has let arrive. */
static void three_groups(const int *from, int *arrived, int allow)
{
    int *shared = shared_as<int>();

    for (int g = 0; g < 3; g++) {
        cuda_host_cp_async(&shared[g], &from[g], 4, 4);
        cuda_host_cp_commit();
    }
    cuda_host_cp_wait(allow);
    *arrived = 0;
    for (int g = 0; g < 3; g++)
        *arrived += shared[g] == from[g];
    cuda_host_cp_wait(0);
    if (shared[0] != from[0] || shared[1] != from[1] || shared[2] != from[2])
        *arrived = -1;
}

CUDA_HOST_TEST(groups_arrive_in_order)
{
    buffer<int> from(std::vector<int> { 7, 8, 9 }), arrived(1);

    for (int allow = 0; allow <= 4; allow++) {
        assert_int_equal(launch<three_groups>(1, 1, 12, from.at, arrived.at, allow), cudaSuccess);
        assert_int_equal(arrived.read()[0], allow >= 3 ? 0 : 3 - allow);
    }
}

static void copy_some(const int *from, int *to, unsigned from_global)
{
    int *shared = shared_as<int>();

    cuda_host_cp_async(shared, from, 16, from_global);
    cuda_host_cp_commit();
    cuda_host_cp_wait(0);
    for (int i = 0; i < 4; i++)
        to[i] = shared[i];
}

CUDA_HOST_TEST(what_is_not_copied_is_zero_and_not_read)
{
    buffer<int> from(std::vector<int> { 1, 2 }), to(4);

    assert_int_equal(launch<copy_some>(1, 1, 16, from.at, to.at, 8u), cudaSuccess);
    assert_true(to.read() == std::vector<int>({ 1, 2, 0, 0 }));
    assert_int_equal(launch<copy_some>(1, 1, 16, from.at, to.at, 0u), cudaSuccess);
    assert_true(to.read() == std::vector<int>({ 0, 0, 0, 0 }));
}

enum mistake { NEVER_WAITED, NEVER_COMMITTED, OUTSIDE, SHARED_ODD, GLOBAL_ODD, STRANGE_SIZE };

static void copy_wrongly(const char *from, enum mistake m)
{
    char *shared = shared_as<char>();

    cuda_host_cp_async(shared + (m == OUTSIDE      ? 64
                                 : m == SHARED_ODD ? 4
                                                   : 0),
                       from + (m == GLOBAL_ODD ? 8 : 0), m == STRANGE_SIZE ? 12 : 16, 4);
    if (m != NEVER_COMMITTED)
        cuda_host_cp_commit();
    if (m != NEVER_WAITED)
        cuda_host_cp_wait(0);
}

CUDA_HOST_TEST(wrong_copies_are_found)
{
    static const struct {
        enum mistake mistake;
        const char *text;
    } cases[] = {
        { NEVER_WAITED, "returns before the cp.async at test_cuda_host_warp.cc" },
        { NEVER_COMMITTED, "returns before the cp.async at test_cuda_host_warp.cc" },
        { OUTSIDE, "outside the shared memory" },
        { SHARED_ODD, "a shared address that is not a multiple" },
        { GLOBAL_ODD, "a global address that is not a multiple" },
        { STRANGE_SIZE, "a size that the hardware does not copy" },
    };

    for (const auto &c : cases) {
        buffer<char> from(64);
        assert_launch_failed(launch<copy_wrongly>(1, 1, 64, from.at, c.mistake), { c.text });
        cuda_host_reset();
        from.at = nullptr;
    }
}

RUN_TESTS(NULL, NULL)
