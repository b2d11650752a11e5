/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06, U-12. What the comparison finds of what was planted, and how much it names that
 * was not. That "same" is true: statistics_family.c.
 */
#include "simulation.h"
#include "testing.h"

enum { SUITE = 60 };

static struct simulation suite(enum noise_kind kind, int launches, double between)
{
    return (struct simulation) {
        .kind = kind,
        .benchmarks = SUITE,
        .launches = launches,
        .samples = 9,
        .within = 0.01,
        .between = between,
    };
}

/* One planted change in a suite of 60; returns how often that benchmark got the verdict. */
static size_t planted(const struct simulation *s, double factor, enum verdict wanted, size_t suites,
                      uint64_t seed)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    double factors[SUITE];
    size_t found = 0;
    struct random r;

    random_seed(&r, seed);
    for (size_t i = 0; i < suites; i++) {
        struct comparison c;
        size_t victim = i % SUITE;
        for (size_t j = 0; j < SUITE; j++)
            factors[j] = j == victim ? factor : 1;
        simulate_comparison(s, factors, &settings, &r, &c);
        found += c.rows[victim].verdict == wanted;
        assert_int_equal(c.exit_status == EXIT_REGRESSION, c.count[VERDICT_REGRESSED] > 0);
        comparison_release(&c);
    }
    return found;
}

TEST(test_slowdown_is_found)
{
    struct simulation five = suite(NOISE_NORMAL, 5, 0.02), three = suite(NOISE_NORMAL, 3, 0.01);
    assert_rate_at_least("10 % slower, 2 % noise, 5 launches",
                         planted(&five, 1.1, VERDICT_REGRESSED, 300, 1), 300, 0.9);
    assert_rate_at_least("1/1.1 faster, 2 % noise, 5 launches",
                         planted(&five, 1 / 1.1, VERDICT_IMPROVED, 300, 2), 300, 0.9);
    assert_rate_at_least("10 % slower, 1 % noise, 3 launches",
                         planted(&three, 1.1, VERDICT_REGRESSED, 300, 3), 300, 0.9);
}

/* Alone in its comparison there is no family to borrow from: Welch alone. */
TEST(test_slowdown_of_one_benchmark)
{
    struct simulation s = suite(NOISE_NORMAL, 5, 0.02);
    struct compare_settings settings = COMPARE_DEFAULTS;
    size_t found = 0, n = trials(1000);
    double factor = 1.1;
    struct random r;
    s.benchmarks = 1;
    random_seed(&r, 4);
    for (size_t i = 0; i < n; i++) {
        struct comparison c;
        simulate_comparison(&s, &factor, &settings, &r, &c);
        assert_false(c.rows[0].borrowed);
        found += c.rows[0].verdict == VERDICT_REGRESSED;
        comparison_release(&c);
    }
    assert_rate_at_least("10 % slower, 2 % noise, 5 launches, alone", found, n, 0.9);
}

/* Twelve of sixty are slower: the share of false names among those named stays near q. */
TEST(test_discoveries_are_true)
{
    struct simulation s = suite(NOISE_MIXED, 5, 0.02);
    struct compare_settings settings = COMPARE_DEFAULTS;
    double factors[SUITE];
    size_t named = 0, wrong = 0;
    struct random r;
    random_seed(&r, 5);
    for (size_t j = 0; j < SUITE; j++)
        factors[j] = j % 5 == 0 ? 1.12 : 1;
    for (size_t i = 0; i < 200; i++) {
        struct comparison c;
        simulate_comparison(&s, factors, &settings, &r, &c);
        for (size_t j = 0; j < SUITE; j++) {
            bool changed =
                c.rows[j].verdict == VERDICT_REGRESSED || c.rows[j].verdict == VERDICT_IMPROVED;
            named += changed;
            wrong += changed && factors[j] == 1;
        }
        comparison_release(&c);
    }
    assert_rate_at_least("12 of 60 slower by 12 %, found", named - wrong, (size_t)200 * 12, 0.8);
    assert_rate_at_most("false among those named", wrong, named, 0.05);
}

/* 20 of 520 are slower by 3 %, which is the floor itself. */
TEST(test_many_nulls)
{
    enum { PLANTED = 20, ALL = 520 };
    struct simulation s = { .benchmarks = ALL, .launches = 10, .between = 0.01 };
    struct compare_settings settings = COMPARE_DEFAULTS;
    size_t found = 0, wrong = 0, named = 0, suites = trials(60);
    double factors[ALL], false_share = 0;
    struct random r;
    random_seed(&r, 7);
    for (int j = 0; j < ALL; j++)
        factors[j] = j % (ALL / PLANTED) ? 1 : 1.03;
    for (size_t i = 0; i < suites; i++) {
        struct comparison c;
        size_t right = 0, all = 0;
        simulate_decision(&s, factors, &settings, &r, &c);
        for (int j = 0; j < ALL; j++) {
            bool worse = c.rows[j].verdict == VERDICT_REGRESSED;
            all += worse || c.rows[j].verdict == VERDICT_IMPROVED;
            right += worse && factors[j] > 1;
        }
        found += right;
        named += all;
        wrong += all - right;
        false_share += all ? (double)(all - right) / (double)all / (double)suites : 0;
        comparison_release(&c);
    }
    assert_rate_at_least("20 of 520 slower by 3 %, 1 % noise: found", found, PLANTED * suites, 0.9);
    assert_rate_at_most("false among those named", wrong, named, 0.1);
    print_message("    mean share of false ones in a suite: %.2f %%\n", 100 * false_share);
    assert_true(false_share <= 0.1);
}

/* With little noise and no change, "same" is what is said. */
TEST(test_same_is_said)
{
    struct simulation s = suite(NOISE_NORMAL, 5, 0.01);
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct random r;
    random_seed(&r, 6);
    simulate_comparison(&s, NULL, &settings, &r, &c);
    assert_rate_at_least("no change, 1 % noise, 5 launches: same", c.count[VERDICT_SAME], SUITE,
                         0.9);
    assert_int_equal(c.exit_status, EXIT_SAME);
    comparison_release(&c);
}

RUN_TESTS(NULL, NULL)
