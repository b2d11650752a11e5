/* SPDX-License-Identifier: MIT */
/*
 * Division of a sweep into parts: over random durations and counts every benchmark is in exactly
 * one part, no two parts differ by more than the longest benchmark, and the division hangs on the
 * durations alone. Feature: U-12.
 */
#include "testing.h"

#include "launch/shard.h"
#include "stats/random.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ITEMS_MAX = 200, PARTS_MAX = 40, TRIALS = 500 };

struct sweep {
    struct shard_item items[ITEMS_MAX];
    char keys[ITEMS_MAX][16], kernels[ITEMS_MAX][16];
    size_t nr, count, owner[ITEMS_MAX];
    double seconds[ITEMS_MAX];
};

/* Durations over five decades; a share of them is not known. */
static void draw(struct random *r, struct sweep *s, double unknown)
{
    s->nr = 1 + (size_t)random_below(r, ITEMS_MAX);
    s->count = 1 + (size_t)random_below(r, PARTS_MAX);
    for (size_t i = 0; i < s->nr; i++) {
        snprintf(s->keys[i], sizeof(s->keys[i]), "key%u", (unsigned)i);
        snprintf(s->kernels[i], sizeof(s->kernels[i]), "kernel%u", (unsigned)random_below(r, 5));
        bool known = random_uniform(r) >= unknown;
        double missing = random_below(r, 2) ? (double)NAN : 0;
        double seconds = pow(10, 5 * random_uniform(r) - 3);
        s->items[i] = (struct shard_item) { s->keys[i], s->kernels[i], known ? seconds : missing };
    }
}

static void assign(struct sweep *s)
{
    for (size_t i = 0; i < s->nr; i++)
        s->owner[i] = SIZE_MAX;
    shard_assign(s->items, s->nr, s->count, s->owner, s->seconds);
}

static void assert_divided(const struct sweep *s)
{
    size_t members[PARTS_MAX] = { 0 };

    for (size_t i = 0; i < s->nr; i++) {
        assert_true(s->owner[i] < s->count);
        members[s->owner[i]]++;
    }
    for (size_t part = 0; part < s->count; part++)
        assert_true(members[part] > 0 || s->nr < s->count); /* nobody is idle without need */
}

static void assert_balanced(const struct sweep *s)
{
    double loads[PARTS_MAX] = { 0 }, most = 0, least = INFINITY, longest = 0;

    for (size_t i = 0; i < s->nr; i++) {
        loads[s->owner[i]] += s->seconds[i];
        longest = fmax(longest, s->seconds[i]);
    }
    for (size_t part = 0; part < s->count; part++) {
        most = fmax(most, loads[part]);
        least = fmin(least, loads[part]);
    }
    assert_true(most - least <= longest * (1 + 1e-9));
}

TEST(every_benchmark_is_in_one_part)
{
    static struct sweep s;
    struct random r;

    random_seed(&r, 20261122);
    for (int trial = 0; trial < TRIALS; trial++) {
        draw(&r, &s, random_uniform(&r) * 0.9);
        assign(&s);
        assert_divided(&s);
        bool any = false;
        for (size_t i = 0; i < s.nr; i++)
            any |= s.items[i].seconds > 0;
        for (size_t i = 0; i < s.nr; i++)
            assert_true(any ? s.seconds[i] > 0 : s.seconds[i] == 0);
        if (any)
            assert_balanced(&s);
    }
}

TEST(without_durations_it_is_every_nth)
{
    static struct sweep s;
    struct random r;

    random_seed(&r, 7);
    for (int trial = 0; trial < TRIALS; trial++) {
        draw(&r, &s, 2);
        assign(&s);
        for (size_t i = 0; i < s.nr; i++)
            assert_int_equal(s.owner[i], i % s.count);
    }
}

/* The order in which benchmarks are listed is no part of the decision. */
TEST(the_division_hangs_on_durations_alone)
{
    static struct sweep s, other;
    static size_t order[ITEMS_MAX];
    struct random r;

    random_seed(&r, 8);
    for (int trial = 0; trial < TRIALS; trial++) {
        draw(&r, &s, 0);
        assign(&s);
        random_permutation(&r, order, s.nr);
        other.nr = s.nr;
        other.count = s.count;
        for (size_t i = 0; i < s.nr; i++)
            other.items[i] = s.items[order[i]];
        assign(&other);
        for (size_t i = 0; i < s.nr; i++)
            assert_int_equal(other.owner[i], s.owner[order[i]]);
        assert_true(shard_digest(s.items, s.nr, s.count, s.owner) ==
                    shard_digest(other.items, other.nr, other.count, other.owner));
    }
}

TEST(the_digest_tells_divisions_apart)
{
    static struct sweep s;
    struct random r;

    random_seed(&r, 9);
    for (int trial = 0; trial < TRIALS; trial++) {
        draw(&r, &s, 0);
        if (s.count == 1)
            continue;
        assign(&s);
        uint64_t before = shard_digest(s.items, s.nr, s.count, s.owner);
        size_t moved = (size_t)random_below(&r, s.nr);
        s.owner[moved] = (s.owner[moved] + 1) % s.count;
        assert_true(shard_digest(s.items, s.nr, s.count, s.owner) != before);
        s.owner[moved] = (s.owner[moved] + s.count - 1) % s.count;
        assert_true(shard_digest(s.items, s.nr, s.count + 1, s.owner) != before);
    }
}

TEST(unknown_ones_are_like_their_kernel)
{
    const struct shard_item items[] = { { "a", "k", 10 },      { "b", "k", 30 },
                                        { "c", "k", NAN },     { "d", "other", 2 },
                                        { "e", "unheard", 0 }, { "f", "other", -1 } };
    size_t owner[6];
    double seconds[6];

    shard_assign(items, 6, 2, owner, seconds);
    assert_true(seconds[2] == 20);
    assert_true(seconds[4] == 14); /* of the three that are known */
    assert_true(seconds[5] == 2);
    /* 30 | 20, 14 to the other: 34; 10 to the first: 40; 2 to the second, 2 to it again. */
    const size_t expected[] = { 0, 0, 1, 1, 1, 1 };
    for (int i = 0; i < 6; i++)
        assert_int_equal(owner[i], expected[i]);
}

RUN_TESTS(NULL, NULL)
