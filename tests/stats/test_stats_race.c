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
    assert_int_equal(r->runners[0].rounds, 1); /* it was right once */
    assert_int_equal(r->runners[0].left, 2);
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

/* One or two that are settled, a leader and one that is open: these last then give no right result.
 */
static void lose_all_that_run(struct race *r, size_t settled)
{
    const double settled_times[2][2] = { { 1e8, 1.05e8 }, { 1.06e8, 1e8 } };
    const double leader_times[2] = { 100, 105 }, open_times[2] = { 106, 101 };
    const size_t leader = settled, last = settled + 1;
    double times[NR];

    race_init(r, settled + 2, &rule);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < settled; i++)
            times[i] = settled_times[i][round];
        times[leader] = leader_times[round];
        times[last] = open_times[round];
        assert_false(race_round(r, times));
    }
    for (size_t i = 0; i < settled; i++)
        assert_int_equal(r->runners[i].state, RACE_SLOWER);
    assert_int_equal(r->runners[leader].state, RACE_LEADS);
    assert_int_equal(r->runners[last].state, RACE_OPEN);
    race_take_out(r, leader);
    race_take_out(r, last);
    for (size_t i = 0; i < r->nr; i++)
        times[i] = NAN;
    race_round(r, times);
    assert_int_equal(r->runners[leader].state, RACE_OUT);
    assert_int_equal(r->runners[last].state, RACE_OUT);
    assert_int_equal(r->leader, 0);
    assert_int_equal(r->runners[0].state, RACE_LEADS);
}

TEST_WITH_A(test_no_setting_that_is_out_wins, struct race, r, race_release)
{
    lose_all_that_run(r, 1);
    assert_true(r->decided);
}

/* The two were only ever held against the one that is out: they race on. */
TEST_WITH_A(test_settled_ones_race_on_where_all_others_are_out, struct race, r, race_release)
{
    double times[NR] = { 1e8, 2e8, NAN, NAN };

    lose_all_that_run(r, 2);
    assert_false(r->decided);
    assert_true(race_wants(r, 0) && race_wants(r, 1));
    while (!race_round(r, times))
        assert_true(r->rounds < 40);
    assert_int_equal(r->leader, 0);
    assert_true(r->runners[1].left > 3);
}

int main(void)
{
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
