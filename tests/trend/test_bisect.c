/* SPDX-License-Identifier: MIT */
/* The search for a culprit: what it asks, and what it concludes. Features: U-06. */
#include "testing.h"

#include "trend/bisect.h"

static const struct bisect_settings defaults = BISECT_DEFAULTS;

/* Answers every question truly, until there is none; the number of questions asked. */
static size_t answer_all(struct bisect *b, size_t culprit, enum bisect_state *end)
{
    struct bisect_question q;
    size_t asked = 0;

    while ((*end = bisect_next(b, &q)) == BISECT_ASK) {
        bool worse = culprit > q.from && culprit <= q.to;
        bisect_tell(b, q, worse ? BISECT_WORSE : BISECT_NOT_WORSE);
        assert_true(++asked < 100);
    }
    return asked;
}

static void assert_range(const struct bisect *b, size_t first, size_t last)
{
    struct bisect_range range = bisect_range(b);

    assert_int_equal(range.first, first);
    assert_int_equal(range.last, last);
    assert_true(range.confidence >= b->settings.confidence && range.confidence <= 1 + 1e-12);
}

TEST(every_culprit_is_found)
{
    for (size_t nr = 1; nr <= 40; nr++) {
        for (size_t culprit = 1; culprit <= nr; culprit++) {
            enum bisect_state end;
            struct bisect b;
            bisect_init(&b, nr, &defaults);
            size_t asked = answer_all(&b, culprit, &end);
            assert_int_equal(end, BISECT_FOUND);
            assert_range(&b, culprit, culprit);
            assert_true(bisect_left(&b) >= 1 && bisect_left(&b) < 2);
            assert_true((double)asked <= 5 + log2((double)nr));
            bisect_release(&b);
        }
    }
}

#define BISECT_TEST(name) TEST_WITH_A(name, struct bisect, b, bisect_release)

BISECT_TEST(good_against_bad_comes_first)
{
    struct bisect_question q;
    bisect_init(b, 10, &defaults);
    assert_close(bisect_left(b), 10, 1e-9);
    assert_int_equal(bisect_next(b, &q), BISECT_ASK);
    assert_true(q.from == 0 && q.to == 10);
    bisect_tell(b, q, BISECT_WORSE);
    assert_int_equal(bisect_next(b, &q), BISECT_ASK);
    assert_true(q.from == 0 && q.to >= 4 && q.to <= 6);
}

BISECT_TEST(bad_that_is_not_worse_is_looked_at_twice)
{
    struct bisect_question q;
    bisect_init(b, 10, &defaults);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bisect_next(b, &q), BISECT_ASK);
        assert_true(q.from == 0 && q.to == 10);
        bisect_tell(b, q, BISECT_NOT_WORSE);
    }
    assert_int_equal(bisect_next(b, &q), BISECT_NOTHING);
}

BISECT_TEST(bad_that_cannot_be_told_ends_it)
{
    struct bisect_question q;
    bisect_init(b, 10, &defaults);
    for (int i = 0; i < BISECT_UNTOLD_FIRST; i++) {
        assert_int_equal(bisect_next(b, &q), BISECT_ASK);
        bisect_tell(b, q, BISECT_UNTOLD);
    }
    assert_int_equal(bisect_next(b, &q), BISECT_STUCK);
}

/* The culprit 5 and those before it do not build: one of 4, 5 and 6 it must be. */
BISECT_TEST(what_does_not_build_widens_the_answer)
{
    enum bisect_state end;
    bisect_init(b, 16, &defaults);
    bisect_unbuilt(b, 4);
    bisect_unbuilt(b, 5);
    answer_all(b, 5, &end);
    assert_int_equal(end, BISECT_FOUND);
    assert_range(b, 4, 6);
    for (size_t i = 0; i < b->steps.nr; i++)
        assert_true(b->steps.items[i].question.to != 4 && b->steps.items[i].question.to != 5);
}

/* A commit that could not be told leaves the question to its neighbours, and gets another try only
 * where nothing else tells as much. */
BISECT_TEST(neighbours_of_an_untold_one_come_next)
{
    struct bisect_question q, next;
    bisect_init(b, 64, &defaults);
    assert_int_equal(bisect_next(b, &q), BISECT_ASK);
    bisect_tell(b, q, BISECT_WORSE);
    assert_int_equal(bisect_next(b, &q), BISECT_ASK);
    bisect_tell(b, q, BISECT_UNTOLD);
    assert_int_equal(bisect_next(b, &next), BISECT_ASK);
    assert_true(next.to == q.to + 1 || next.to + 1 == q.to);
}

/* One wrong answer on the way, and the culprit is found all the same. */
TEST(a_wrong_answer_is_made_good)
{
    for (size_t lie = 1; lie < 7; lie++) {
        struct bisect_question q;
        enum bisect_state end;
        struct bisect b;
        bisect_init(&b, 32, &defaults);
        for (size_t i = 0; (end = bisect_next(&b, &q)) == BISECT_ASK; i++) {
            bool worse = 11 > q.from && 11 <= q.to;
            bisect_tell(&b, q, worse != (i == lie) ? BISECT_WORSE : BISECT_NOT_WORSE);
        }
        assert_int_equal(end, BISECT_FOUND);
        assert_range(&b, 11, 11);
        bisect_release(&b);
    }
}

/* Many small steps: nothing stands against what is before it, so nothing is named. */
BISECT_TEST(a_drift_has_no_culprit)
{
    struct bisect_question q;
    enum bisect_state end;
    bisect_init(b, 64, &defaults);
    while ((end = bisect_next(b, &q)) == BISECT_ASK)
        bisect_tell(b, q, q.to - q.from > 20 ? BISECT_WORSE : BISECT_NOT_WORSE);
    assert_int_equal(end, BISECT_STUCK);
}

/* Bayes' rule by hand: 4 places, prior 3/16 each and 1/4 for none. */
BISECT_TEST(shares_follow_bayes)
{
    struct bisect_settings s = { .false_alarm = 0.1, .missed = 0.2, .confidence = 0.95 };
    struct bisect_question q = { 0, 2 };
    bisect_init(b, 4, &s);
    bisect_tell(b, q, BISECT_WORSE);
    double sum = 2 * 3.0 / 16 * 0.8 + (2 * 3.0 / 16 + 0.25) * 0.1;
    assert_close(b->share[1], 3.0 / 16 * 0.8 / sum, 1e-12);
    assert_close(b->share[4], 3.0 / 16 * 0.1 / sum, 1e-12);
    assert_close(b->share[5], 0.25 * 0.1 / sum, 1e-12);
    bisect_tell(b, q, BISECT_UNTOLD);
    assert_close(b->share[5], 0.25 * 0.1 / sum, 1e-12);
}

TEST(rows_answer)
{
    static const struct {
        enum verdict verdict;
        enum bisect_answer answer;
        double change, floor;
    } cases[] = {
        { VERDICT_REGRESSED, BISECT_WORSE, 0.04, 0 },
        { VERDICT_REGRESSED, BISECT_UNTOLD, 0.04, 0.05 },
        { VERDICT_REGRESSED, BISECT_WORSE, 0.06, 0.05 },
        { VERDICT_REGRESSED, BISECT_UNTOLD, -0.0566, 0.06 }, /* a rate: down to 1 / 1.0599 */
        { VERDICT_REGRESSED, BISECT_WORSE, -0.0567, 0.06 },
        { VERDICT_BROKEN, BISECT_WORSE, NAN, 0.05 },
        { VERDICT_SAME, BISECT_NOT_WORSE, 0.01, 0.05 },
        { VERDICT_IMPROVED, BISECT_NOT_WORSE, -0.1, 0.05 },
        { VERDICT_UNDECIDED, BISECT_UNTOLD, 0.1, 0.05 },
        { VERDICT_MISSING, BISECT_UNTOLD, NAN, 0.05 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct compare_row row = { .verdict = cases[i].verdict, .change = cases[i].change };
        assert_int_equal(bisect_read(&row, cases[i].floor), cases[i].answer);
    }
}

RUN_TESTS(NULL, NULL)
