/* SPDX-License-Identifier: MIT */
/* The host layer finds what a thread reads of another block's without the fences that it takes
 * (order.h): this file is compiled with -fsanitize=thread for it. Features: U-02. */
#include "test_cuda_host.h"

enum { THREADS = 64, BLOCKS = 2, SEEDS = 20 };

/* Who has a fence in front of the ticket, and behind it. */
enum fences { NOBODY, ONE, ALL };

static void fence(enum fences who)
{
    if (who == ALL || (who == ONE && threadIdx.x == 0))
        __threadfence();
}

/* The last block to arrive adds up. The fence of one thread is behind the barrier in front of the
 * ticket, and in front of the one behind it. */
static void add_up(enum fences release, enum fences acquire, float *partial, unsigned *ticket,
                   float *result)
{
    const unsigned n = blockDim.x, t = threadIdx.x;
    bool last = false;

    partial[blockIdx.x * n + t] = 1;
    if (release == ALL)
        fence(ALL);
    __syncthreads();
    if (release == ONE)
        fence(ONE);
    if (t == 0)
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    if (acquire == ONE)
        fence(ONE);
    if (!__syncthreads_or(last))
        return;
    if (acquire == ALL)
        fence(ALL);
    result[t] = 0;
    for (unsigned i = 0; i < gridDim.x; i++)
        result[t] += __ldcg(&partial[i * n + t]);
}

/* In how many seeds the launch fails, each time with these words. */
static int seeds_that_fail(enum fences release, enum fences acquire, const char *words)
{
    int failed = 0;

    for (int seed = 1; seed <= SEEDS; seed++) {
        reset_with_seed(seed);
        buffer<float> partial(BLOCKS * THREADS), result(THREADS);
        buffer<unsigned> ticket(std::vector<unsigned> { 0 });
        assert_int_equal(
            launch<add_up>(BLOCKS, THREADS, 0, release, acquire, partial.at, ticket.at, result.at),
            cudaSuccess);
        if (cudaDeviceSynchronize() == cudaSuccess)
            continue;
        if (!strstr(cuda_host_report(), words))
            fail_msg("\"%s\" is not in: %s", words, cuda_host_report());
        failed++;
    }
    reset_with_seed(1);
    return failed;
}

CUDA_HOST_TEST(fences_around_a_ticket_are_missed)
{
    static const char no_release[] =
        "without a __threadfence() between that and the block's last atomic";
    static const char no_acquire[] = "without a __threadfence() behind the reader's last atomic";
    static const struct {
        enum fences release, acquire;
        const char *words;
        int failed; /* seeds */
    } rows[] = {
        { ALL, ALL, "", 0 },
        { ALL, ONE, "", 0 },
        { ONE, ALL, "", 0 },
        { ONE, ONE, "", 0 },
        { NOBODY, ALL, no_release, SEEDS },
        { NOBODY, ONE, no_release, SEEDS },
        { ONE, NOBODY, no_acquire, SEEDS },
        { ALL, NOBODY, no_acquire, SEEDS },
    };

    for (const auto &row : rows) {
        int failed = seeds_that_fail(row.release, row.acquire, row.words);
        if (failed != row.failed)
            fail_msg("fences %d, %d: %d of %d seeds fail", row.release, row.acquire, failed, SEEDS);
    }
}

/* ---- What needs no fence ---- */

static void own_block_reads(int *numbers, int *result)
{
    const unsigned at = blockIdx.x * blockDim.x;

    numbers[at + threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    result[at + threadIdx.x] = numbers[at + (threadIdx.x + 1) % blockDim.x];
}

/* Each launch reads what another block of the launch before has written. */
static void next_launch_reads(const int *numbers, int *result)
{
    const unsigned all = blockDim.x * gridDim.x, at = blockIdx.x * blockDim.x + threadIdx.x;

    result[at] = numbers[(at + blockDim.x) % all];
}

CUDA_HOST_TEST(a_block_s_own_and_other_launches_need_no_fence)
{
    buffer<int> one(BLOCKS * THREADS), other(BLOCKS * THREADS);

    assert_int_equal(launch<own_block_reads>(BLOCKS, THREADS, 0, one.at, other.at), cudaSuccess);
    for (int i = 0; i < 2; i++)
        assert_int_equal(launch<next_launch_reads>(BLOCKS, THREADS, 0, i ? one.at : other.at,
                                                   i ? other.at : one.at),
                         cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(other.read()[THREADS - 1], 0);
}

RUN_TESTS(NULL, NULL)
