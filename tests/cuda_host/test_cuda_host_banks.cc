/* SPDX-License-Identifier: MIT */
/* Bank conflicts are counted from what threads do (cuda_host_banks.h): this file is compiled as
 * cuda_host_counted for it. Planted ones are found, and lanes that go other ways are not taken for
 * conflicts. Features: U-02. */
#include "test_cuda_host.h"

#include "cuda_host_banks.h"

#include <algorithm>

enum { LANES = 32, FLOATS = 4096 };

/* What a launch of one warp counted: of all accesses together, in the order of their places. */
struct counted {
    std::vector<cuda_host_bank_access> all;

    unsigned worst(void) const
    {
        unsigned most = 0;

        for (const cuda_host_bank_access &a : all)
            most = std::max(most, a.worst);
        return most;
    }
    uint64_t times(void) const
    {
        uint64_t sum = 0;

        for (const cuda_host_bank_access &a : all)
            sum += a.times;
        return sum;
    }
};

template <auto KERNEL, class... Arguments>
static struct counted count(unsigned threads, Arguments... arguments)
{
    cuda_host_banks_begin();
    assert_int_equal(launch<KERNEL>(1, threads, FLOATS * sizeof(float), arguments...), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return { cuda_host_banks_end() };
}

/* ---- Strides and widths ---- */

struct alignas(8) two {
    float at[2];
};

struct alignas(16) four {
    float at[4];
};

/* A lane's piece is `stride` pieces behind that of the lane before. */
template <class T> static void write_apart(int stride)
{
    shared_as<T>()[(int)threadIdx.x % LANES * stride] = T {};
}

template <class T> static void read_apart(int stride, T *out)
{
    shared_as<T>()[threadIdx.x] = T {};
    __syncthreads();
    *out = shared_as<T>()[(int)threadIdx.x % LANES * stride];
}

CUDA_HOST_TEST(words_of_one_bank_take_a_pass_each)
{
    static const struct {
        int stride;
        unsigned passes;
    } rows[] = { { 0, 1 }, { 1, 1 }, { 2, 2 }, { 8, 8 }, { 32, 32 }, { 33, 1 }, { 36, 4 } };

    for (const auto &row : rows) {
        struct counted got = count<write_apart<float>>(LANES, row.stride);
        assert_int_equal(got.times(), 1);
        assert_int_equal(got.worst(), row.passes);
        assert_int_equal(got.all[0].bytes, 4);
        assert_int_equal(count<write_apart<float>>(2 * LANES, row.stride).times(), 2);
    }
}

/* Half of a warp has 128 bytes, or a quarter; bytes of one word are one. */
CUDA_HOST_TEST(wide_pieces_are_looked_at_by_parts_of_a_warp)
{
    assert_int_equal(count<write_apart<two>>(LANES, 1).worst(), 1);
    assert_int_equal(count<write_apart<two>>(LANES, 2).worst(), 2);
    assert_int_equal(count<write_apart<four>>(LANES, 1).worst(), 1);
    assert_int_equal(count<write_apart<four>>(LANES, 5).worst(), 1);
    assert_int_equal(count<write_apart<four>>(LANES, 2).worst(), 2);
    assert_int_equal(count<write_apart<four>>(LANES, 8).worst(), 8);
    assert_int_equal(count<write_apart<uint8_t>>(LANES, 1).worst(), 1);
    assert_int_equal(count<write_apart<uint16_t>>(LANES, 64).worst(), 32);
}

/* What a function makes goes to memory at once. */
static void write_what_is_made(int stride)
{
    shared_as<float4>()[(int)threadIdx.x * stride] = make_float4(1, 2, 3, 4);
    shared_as<float2>()[(int)threadIdx.x * stride] = make_float2(1, 2);
}

CUDA_HOST_TEST(stores_of_vectors_are_counted)
{
    assert_int_equal(count<write_what_is_made>(LANES, 1).times(), 2);
    assert_int_equal(count<write_what_is_made>(LANES, 1).worst(), 1);
    assert_int_equal(count<write_what_is_made>(LANES, 4).worst(), 4);
}

CUDA_HOST_TEST(loads_are_counted_beside_stores)
{
    buffer<float> out(1);
    struct counted got = count<read_apart<float>>(LANES, 16, out.at);

    assert_int_equal(got.times(), 2);
    assert_int_equal(got.worst(), 16);
    assert_int_equal(got.all[0].worst + got.all[1].worst, 17);
}

/* ---- Lanes that go other ways ---- */

/* Rows of 33 words: no conflict within a round, but between lanes of different rounds. */
static void lanes_leave_out_rounds(void)
{
    int lane = (int)threadIdx.x;

    for (int i = 0; i < 64; i++)
        if ((lane * 7 + i) % 3 != 0)
            shared_as<float>()[i * 33 + lane] = 1;
}

__attribute__((noinline)) static void store_of(int i, int lane)
{
    if (lane % 2)
        shared_as<float>()[i * 33 + lane] = 1;
}

static void functions_are_called_by_some(void)
{
    int lane = (int)threadIdx.x;

    for (int i = 0; i < 64; i++)
        if ((lane + i) % 5 != 0)
            store_of(i, lane);
}

static void loops_end_early(void)
{
    int lane = (int)threadIdx.x, sum = 0;

    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < (lane * 5 + i) % 4; j++)
            sum += j;
        shared_as<float>()[i * 33 + lane] = (float)sum;
    }
}

CUDA_HOST_TEST(lanes_are_played_in_step)
{
    assert_int_equal(count<lanes_leave_out_rounds>(LANES).worst(), 1);
    assert_int_equal(count<lanes_leave_out_rounds>(LANES).times(), 64);
    assert_int_equal(count<functions_are_called_by_some>(LANES).worst(), 1);
    assert_int_equal(count<loops_end_early>(LANES).worst(), 1);
    assert_int_equal(count<loops_end_early>(LANES).times(), 20);
}

/* One round of many, of some lanes. */
static void one_round_has_a_conflict(int which)
{
    int lane = (int)threadIdx.x;

    for (int i = 0; i < 64; i++)
        if (lane < 4)
            shared_as<float>()[i == which ? 32 * lane : i * 33 + lane] = 1;
}

CUDA_HOST_TEST(a_planted_conflict_is_found_wherever_it_is)
{
    for (int which : { 0, 17, 63 }) {
        struct counted got = count<one_round_has_a_conflict>(LANES, which);
        assert_int_equal(got.worst(), 4);
        assert_int_equal(got.all[0].passes, 63 + 4);
    }
    assert_int_equal(count<one_round_has_a_conflict>(LANES, 64).worst(), 1);
}

/* ---- Where lanes meet ---- */

static void rounds_between_meetings(bool warps)
{
    int lane = (int)threadIdx.x % LANES;

    for (int i = 0; i < 8; i++) {
        shared_as<float>()[i * 32 + lane] = 1;
        if (warps)
            __syncwarp();
        else
            __syncthreads();
    }
}

CUDA_HOST_TEST(each_round_counts_once)
{
    for (bool warps : { true, false }) {
        struct counted got = count<rounds_between_meetings>(2 * LANES, warps);
        assert_int_equal(got.times(), 2 * 8);
        assert_int_equal(got.worst(), 1);
    }
}

static void touches_memory_that_is_not_shared(float *of_device)
{
    volatile float own[4] = {};

    own[threadIdx.x % 4] = 1;
    of_device[threadIdx.x * 32] = own[0];
}

CUDA_HOST_TEST(other_memory_is_not_counted)
{
    buffer<float> memory(LANES * 32);

    assert_int_equal(count<touches_memory_that_is_not_shared>(LANES, memory.at).times(), 0);
}

RUN_TESTS(NULL, NULL)
