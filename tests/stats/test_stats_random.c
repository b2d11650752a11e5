/* SPDX-License-Identifier: MIT */
/*
 * Seeded random numbers: the same on every machine, uniform and normal within bounds that a right
 * generator passes for these fixed seeds and a wrong one does not. Features: U-04 (random inputs
 * and order).
 */
#include "testing.h"

#include "stats/random.h"

#include <ctype.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

/* The first outputs of xoshiro256** from the state 1, 2, 3, 4 follow from its definition:
 * rotl(2 * 5, 7) * 9 = 11520, then s[1] is 0, and so on. */
TEST(the_generator_is_xoshiro)
{
    struct random r = { { 1, 2, 3, 4 } };

    assert_true(random_u64(&r) == 11520);
    assert_true(random_u64(&r) == 0);
    assert_true(random_u64(&r) == 1509978240);
    assert_true(random_u64(&r) == 1215971899390074240);
}

/* splitmix64's published first output for seed 0. */
TEST(the_seed_is_spread_by_splitmix)
{
    struct random r;

    random_seed(&r, 0);
    assert_true(r.state[0] == 0xe220a8397b1dcdafU);
    assert_true(r.state[1] == 0x6e789e6aa1b965f4U);
}

TEST(seeds_decide_everything)
{
    struct random a, b, c;
    int same = 0;

    random_seed(&a, 7);
    random_seed(&b, 7);
    random_seed(&c, 8);
    for (int i = 0; i < 1000; i++) {
        uint64_t x = random_u64(&a);
        assert_true(x == random_u64(&b));
        same += x == random_u64(&c);
    }
    assert_int_equal(same, 0);
}

/* 100 cells, 1000 expected in each: chi square has 99 degrees of freedom, so mean 99 and
 * sd 14; 5 sd either way. */
TEST(uniform_numbers_are_uniform)
{
    enum { CELLS = 100, N = 100000 };
    int counts[CELLS] = { 0 };
    struct random r;
    double chi = 0, sum = 0;

    random_seed(&r, 1);
    for (int i = 0; i < N; i++) {
        double x = random_uniform(&r);
        assert_true(x >= 0 && x < 1);
        counts[(int)(x * CELLS)]++;
        sum += x;
    }
    for (int i = 0; i < CELLS; i++)
        chi += (counts[i] - 1000.0) * (counts[i] - 1000.0) / 1000;
    assert_close(chi, 99, 5 * 14.1);
    assert_close(sum / N, 0.5, 5 * sqrt(1.0 / 12 / N));
}

TEST(limits_are_kept_and_reached)
{
    int counts[7] = { 0 };
    struct random r;

    random_seed(&r, 2);
    for (int i = 0; i < 70000; i++) {
        uint64_t x = random_below(&r, 7);
        assert_true(x < 7);
        counts[x]++;
    }
    for (int i = 0; i < 7; i++)
        assert_close(counts[i], 10000, 5 * sqrt(70000.0 * 6 / 49));
    for (int i = 0; i < 100; i++)
        assert_true(random_below(&r, 1) == 0);
    /* Just over half of the range: without rejection the lower half would come twice as often. */
    int low = 0;
    for (int i = 0; i < 10000; i++)
        low += random_below(&r, 0xc000000000000000U) < 0x4000000000000000U;
    assert_close(low, 10000 / 3.0, 5 * sqrt(10000 * 2.0 / 9));
}

/* Moments and the share beyond two sd, each within five standard errors. */
TEST(normal_numbers_are_normal)
{
    enum { N = 100000 };
    double sum = 0, squares = 0, cubes = 0, fourths = 0;
    struct random r;
    int tails = 0;

    random_seed(&r, 3);
    for (int i = 0; i < N; i++) {
        double x = random_normal(&r);
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        fourths += x * x * x * x;
        tails += fabs(x) > 2;
    }
    assert_close(sum / N, 0, 5 / sqrt(N));
    assert_close(squares / N, 1, 5 * sqrt(2.0 / N));
    assert_close(cubes / N, 0, 5 * sqrt(15.0 / N));
    assert_close(fourths / N, 3, 5 * sqrt(96.0 / N));
    assert_close(tails / (double)N, 0.0455, 5 * sqrt(0.0455 * 0.9545 / N));
}

TEST(fills_do_not_depend_on_threads)
{
    enum { N = 100001 }; /* several blocks and a part of one */
    float *one = calloc(N, sizeof(*one)), *many = calloc(N + 1, sizeof(*many));
    double sum = 0, squares = 0;
    int threads = omp_get_max_threads();

    assert_non_null(one);
    assert_non_null(many);
    many[N] = 42;
    omp_set_num_threads(1);
    random_fill_normal(one, N, 3, 0.5, 11);
    omp_set_num_threads(4);
    random_fill_normal(many, N, 3, 0.5, 11);
    omp_set_num_threads(threads);
    assert_memory_equal(one, many, N * sizeof(*one));
    assert_true(many[N] == 42);
    for (int i = 0; i < N; i++) {
        sum += one[i];
        squares += (one[i] - 3.0) * (one[i] - 3.0);
    }
    assert_close(sum / N, 3, 5 * 0.5 / sqrt(N));
    assert_close(sqrt(squares / N), 0.5, 5 * 0.5 / sqrt(2.0 * N));
    random_fill_normal(many, N, 3, 0.5, 12);
    assert_memory_not_equal(one, many, N * sizeof(*one));
    free(one);
    free(many);
}

/* Every order of three comes equally often; long ones hold each index once. */
TEST(permutations)
{
    enum { N = 60000, LONG = 1000 };
    int counts[27] = { 0 }, seen[LONG] = { 0 };
    size_t order[LONG];
    struct random r;

    random_seed(&r, 4);
    for (int i = 0; i < N; i++) {
        random_permutation(&r, order, 3);
        counts[order[0] * 9 + order[1] * 3 + order[2]]++;
    }
    static const int valid[] = { 5, 7, 11, 15, 19, 21 }; /* 012 021 102 120 201 210 */
    for (size_t i = 0; i < 6; i++)
        assert_close(counts[valid[i]], N / 6.0, 5 * sqrt(N * 5.0 / 36));
    random_permutation(&r, order, LONG);
    for (size_t i = 0; i < LONG; i++)
        seen[order[i]]++;
    for (size_t i = 0; i < LONG; i++)
        assert_int_equal(seen[i], 1);
    random_permutation(&r, order, 0);
}

TEST(fresh_seeds_differ)
{
    assert_true(random_fresh_seed() != random_fresh_seed());
}

static bool is_dash(int i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

static unsigned digit_bit(char c)
{
    return 1U << (isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
}

/* Every digit takes every value, except the version, 4, and the variant, 8 to b. */
TEST(uuids_are_version_4)
{
    char uuid[37], other[37];
    unsigned seen[36] = { 0 };

    for (int i = 0; i < 1000; i++) {
        random_uuid(uuid);
        random_uuid(other);
        assert_string_not_equal(uuid, other);
        assert_int_equal(strlen(uuid), 36);
        for (int j = 0; j < 36; j++) {
            assert_true(is_dash(j) ? uuid[j] == '-' : isxdigit((unsigned char)uuid[j]));
            seen[j] |= is_dash(j) ? 0 : digit_bit(uuid[j]);
        }
    }
    for (int j = 0; j < 36; j++)
        if (!is_dash(j))
            assert_int_equal(seen[j], j == 14 ? 1 << 4 : j == 19 ? 0xf00 : 0xffff);
}

RUN_TESTS(NULL, NULL)
