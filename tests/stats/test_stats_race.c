/* SPDX-License-Identifier: MIT */
/* Races with times that are written down; rates are in tests/statistics/statistics_race.c. */
#include "stats/race.h"
#include "testing.h"

#include <math.h>

enum { NR = 5 };

static const struct race_rule rule = RACE_DEFAULTS;

/* Times around these, with a little noise that follows from the numbers alone. */
static bool run_round(struct race *r, const double *truth)
{
    double times[NR];

    for (size_t i = 0; i < r->nr; i++) {
        double noise = 1e-4 * (double)((7 * i + 5 * r->rounds + 3 * i * r->rounds) % 11);
        times[i] = race_wants(r, i) ? truth[i] * (1 + noise) : NAN;
    }
    return race_round(r, times);
}

TEST_WITH_A(test_slower_ones_leave_and_equals_are_as_good, struct race, r, race_release)
{
    const double truth[NR] = { 130, 100, 100.02, 104, 300 };
    const enum race_state states[NR] = { RACE_SLOWER, RACE_LEADS, RACE_WITHIN, RACE_SLOWER,
                                         RACE_SLOWER };

    race_init(r, NR, &rule);
    while (!run_round(r, truth))
        assert_true(r->rounds < 40);
    size_t other = r->leader == 1 ? 2 : 1;
    assert_true(r->leader == 1 || r->leader == 2);
    for (size_t i = 0; i < NR; i++) {
        const struct race_runner *x = &r->runners[i];
        if (i == 1 || i == 2)
            continue;
        assert_string_equal(race_state_name(x->state), race_state_name(states[i]));
        assert_true(x->left >= 2 && x->left <= r->rounds && x->rounds == x->left);
        assert_true(x->interval.low > 0 && x->interval.low < x->behind);
        assert_true(fabs(x->behind - (truth[i] / 100 - 1)) < 0.01);
        assert_false(race_wants(r, i));
    }
    assert_true(r->runners[other].interval.low > -0.01);
}

TEST_WITH_A(test_nothing_is_told_before_the_first_look, struct race, r, race_release)
{
    const double truth[NR] = { 1, 2, 3, 4, 5 };
    const struct race_rule later = { .tolerance = 0.01, .alpha = 0.05, .least = 3 };

    race_init(r, NR, &later);
    for (int round = 0; round < 2; round++) {
        assert_false(run_round(r, truth));
        assert_int_equal(r->leader, 0);
        assert_true(isnan(r->runners[1].interval.low));
        assert_int_equal(r->runners[1].state, RACE_OPEN);
    }
    assert_true(run_round(r, truth));
}

TEST_WITH_A(test_one_without_a_right_result_is_out, struct race, r, race_release)
{
    const double truth[NR] = { 1, 2, 3, 4, 5 };

    race_init(r, NR, &rule);
    assert_false(run_round(r, truth));
    race_take_out(r, 0);
    while (!run_round(r, truth))
        assert_true(r->rounds < 40);
    assert_int_equal(r->leader, 1);
    assert_int_equal(r->runners[0].state, RACE_OUT);
    assert_int_equal(race_count(r), NR - 1);
}

TEST_WITH_A(test_one_or_none_needs_no_race, struct race, r, race_release)
{
    const double truth[NR] = { 1, 2, 3, 4, 5 };

    race_init(r, NR, &rule);
    for (size_t i = 1; i < NR; i++)
        race_take_out(r, i);
    assert_true(run_round(r, truth));
    assert_int_equal(r->leader, 0);
    race_take_out(r, 0);
    assert_true(run_round(r, truth));
    assert_int_equal(race_count(r), 0);
}

/* Who left is held against a new leader, and comes back where that does not settle it. */
TEST_WITH_A(test_a_new_leader_is_held_against_all, struct race, r, race_release)
{
    const double before[] = { 100, 100.1, 110, 120, 130 };

    race_init(r, NR, &rule);
    for (int i = 0; i < 3; i++)
        run_round(r, before);
    size_t leader = r->leader;
    r->decided = false; /* as if another were open */
    race_take_out(r, leader);
    while (!run_round(r, before))
        assert_true(r->rounds < 60);
    assert_int_not_equal(r->leader, leader);
    assert_true(r->leader <= 1);
    for (size_t i = 2; i < NR; i++)
        assert_int_equal(r->runners[i].state, RACE_SLOWER);
}

int main(void)
{
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
