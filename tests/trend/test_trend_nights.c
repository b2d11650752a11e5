/* SPDX-License-Identifier: MIT */
/* Features: U-06, U-11: changes that were accepted, how many alarms chance would give, and what a
 * night's finding becomes in the nights behind it; the cards that tell all of it. */
#include "trend_history.h"

static void expect_acceptance(struct history *h, struct acceptance a, bool fits)
{
    h->settings.accepted = &a;
    h->settings.nr_accepted = 1;
    find(h);
    const struct trend_step *step = only_step(h);
    assert_int_equal(step->accepted != NULL, fits);
    assert_int_equal(h->found.exit_status, fits ? EXIT_SAME : EXIT_REGRESSION);
    if (fits)
        check_words(h, step, NULL, "still there", "accepted: slower but right");
    h->settings.nr_accepted = 0;
}

HISTORY_TEST(test_acceptance)
{
    history_init(h, RUNS, 7);
    add_step(h, KEY, 100000, 110000);
    struct acceptance good = {
        .key = KEY,
        .metric = "p50",
        .machine = "m",
        .commit = h->records.runs[AT + 3].build.commit, /* seen some nights later */
        .change = 0.1,
        .reason = "slower but right",
    };
    struct acceptance a = good;
    expect_acceptance(h, a, true);
    a.machine = "";
    expect_acceptance(h, a, true);
    a = good, a.change = 0.2; /* more was accepted */
    expect_acceptance(h, a, true);
    a = good, a.change = 0.02; /* less was accepted */
    expect_acceptance(h, a, false);
    a = good, a.change = -0.1;
    expect_acceptance(h, a, false);
    a = good, a.machine = "other";
    expect_acceptance(h, a, false);
    a = good, a.metric = "p95";
    expect_acceptance(h, a, false);
    a = good, a.key = "other";
    expect_acceptance(h, a, false);
    a = good, a.commit = h->records.runs[3].build.commit; /* long before */
    expect_acceptance(h, a, false);
}

/* Two steps of 10 %. Where the commit does not tell them apart, the time does. */
HISTORY_TEST(test_acceptance_of_one_of_two)
{
    enum { FIRST = 20, SECOND = 40, NR = 60 };
    static const struct {
        const char *commit; /* of all runs */
        int seen, accepted; /* runs; -1: not known */
        bool first, second;
    } cases[] = {
        { "", FIRST + 2, NR - 1, true, false },
        { "", SECOND + 2, NR - 1, false, true },
        { "", -1, FIRST + 5, true, false },
        { "", -1, NR - 1, true, true }, /* as was written down before */
        { "1f3a9c2", FIRST + 2, NR - 1, true, false },
        { "1f3a9c2", SECOND + 2, NR - 1, false, true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        history_release(h);
        history_init(h, NR, 41);
        add_levels(h, KEY, (const double[]) { 100000, 110000, 121000 },
                   (const int[]) { 0, FIRST, SECOND }, 3);
        for (size_t k = 0; k < NR; k++)
            snprintf(h->records.runs[k].build.commit, sizeof(h->records.runs[k].build.commit), "%s",
                     cases[i].commit);
        struct acceptance a = {
            .key = KEY,
            .metric = "p50",
            .machine = "",
            .commit = (char *)cases[i].commit,
            .change = 0.1,
            .reason = "meant",
            .seen_ms = cases[i].seen < 0 ? 0 : START + cases[i].seen * NIGHT,
            .accepted_ms = START + cases[i].accepted * NIGHT,
        };
        h->settings.accepted = &a;
        h->settings.nr_accepted = 1;
        find(h);
        assert_int_equal(h->found.steps, 2);
        assert_int_equal(h->found.items[0].items[0].accepted != NULL, cases[i].first);
        assert_int_equal(h->found.items[0].items[1].accepted != NULL, cases[i].second);
    }
}

static void add_quiet(struct history *h, int nr)
{
    for (int i = 0; i < nr; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d,seq=64/cpu-2t/warm", 100 + i);
        add_levels(h, key, (const double[]) { 100000 }, (const int[]) { 0 }, 1);
    }
}

/* What is shown and what is judged are two things. */
HISTORY_TEST(test_family)
{
    history_init(h, RUNS, 8);
    add_step(h, KEY, 100000, 110000);
    add_quiet(h, 30);
    find(h);
    assert_int_equal(h->found.family, 31);
    assert_int_equal(h->found.shown, 31);
    assert_int_equal(h->found.count[TREND_QUIET], 30);
    assert_int_equal(h->found.moved, 1);
    assert_close(h->found.chance, 0.1, 1e-12); /* 5 % for steps and 5 % for drifts */
    double q = h->found.items[0].q;
    assert_close(q, 31 * h->found.items[0].p, 1e-12);

    h->settings.filters = (const char *const[]) { "gemm/linear/*/batch=4,*" };
    h->settings.nr_filters = 1;
    find(h);
    assert_int_equal(h->found.family, 31);
    assert_int_equal(h->found.shown, 1);
    assert_close(h->found.items[0].q, q, 1e-12);
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);

    h->settings.filters = (const char *const[]) { "gemm/linear/*/batch=1*" };
    find(h);
    assert_int_equal(h->found.shown, 30);
    assert_int_equal(h->found.steps, 0);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
    h->settings.filters = (const char *const[]) { "nothing" };
    find(h);
    assert_int_equal(h->found.exit_status, EXIT_UNDECIDED);
}

/* A step that is clear in itself is lost among many series where it is not clear enough. */
HISTORY_TEST(test_family_is_strict)
{
    history_init(h, 20, 9);
    add_levels(h, KEY, (const double[]) { 100000, 102000 }, (const int[]) { 0, 10 }, 2);
    find(h);
    double p = h->found.items[0].p;
    assert_true(p > 0.05 / 150 && p <= 0.05); /* else this test says nothing */
    assert_int_equal(h->found.steps, 1);
    add_quiet(h, 149);
    find(h);
    assert_close(h->found.items[0].p, p, 1e-12);
    assert_int_equal(h->found.items[0].nr, 0);
}

/* As it was with so many runs. */
static void find_prefix(struct history *h, size_t runs)
{
    struct error err;

    trends_release(&h->found);
    series_list_release(&h->list);
    series_list_init(&h->list, &h->records);
    for (size_t i = 0; i < h->list.nr; i++) {
        struct series *s = &h->list.items[i];
        while (s->nr && (size_t)s->items[s->nr - 1].run >= runs)
            s->nr--;
    }
    assert_ok(trends_find(&h->list, &h->records, &h->settings, &h->found, &err), &err);
}

/* What one night told the next one tells, too, also where a larger family would not have. */
HISTORY_TEST(test_family_remembers)
{
    history_init(h, 22, 9);
    add_levels(h, KEY, (const double[]) { 100000, 101500 }, (const int[]) { 0, 10 }, 2);
    size_t own = h->records.nr;
    add_quiet(h, 199);
    for (size_t i = own; i < h->records.nr; i++) /* these began later */
        if (h->records.items[i].run < 12)
            h->records.items[i].m.outcome = OUTCOME_UNSUPPORTED;
    find_prefix(h, 21);
    assert_int_equal(h->found.family, 1);
    assert_int_equal(h->found.steps, 1);
    size_t told = h->found.items[0].items[0].told;
    find(h);
    assert_int_equal(h->found.family, 200);
    assert_true(h->found.items[0].q > 0.05); /* else this test says nothing */
    assert_int_equal(only_step(h)->told, told);
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
}

/* A ramp, which looked like a step at first: that it is none is told with the reason. */
HISTORY_TEST(test_withdrawn)
{
    struct strbuf text;
    history_init(h, 80, 21);
    for (size_t i = 0; i < h->records.nr_runs; i++) {
        double level = 100 + (i < 30 ? 0 : 0.25 * (double)(i - 30));
        fixture_add(&h->records, 0, KEY, 1000 * (level + 0.7 * random_normal(&h->random)), 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
    find(h);
    assert_true(h->found.withdrawn > 0);
    const struct trend_withdrawn *past = &h->found.items[0].withdrawn.items[0];
    size_t told = past->told, gone = past->gone;
    assert_true(past->worse && past->low <= past->index && past->index <= past->high);
    strbuf_init(&text);
    trend_withdrawn_state(&h->found, &h->found.items[0], past, &text);
    char expected[128], when[TEXT_UNIT_SIZE];
    snprintf(
        expected, sizeof(expected),
        "withdrawn at %07zx, %.10s: a slope, a curve or wilder noise explains the points better",
        gone, text_timestamp(h->records.runs[gone - 1].started_ms, when));
    assert_string_equal(text.data, expected);
    strbuf_release(&text);
    /* The nights tell the same. */
    find_prefix(h, told - 1);
    assert_int_equal(h->found.steps, 0);
    for (size_t runs = told; runs < gone; runs++) {
        find_prefix(h, runs);
        assert_int_equal(only_step(h)->told, told);
        assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
    }
    find_prefix(h, gone);
    assert_int_equal(h->found.steps, 0);
    assert_int_equal(h->found.withdrawn, 1);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
}

/* A few points elsewhere: no step yet, but on watch, and no exit status. */
HISTORY_TEST(test_watch)
{
    history_init(h, 33, 22);
    add_levels(h, KEY, (const double[]) { 100000, 103000 }, (const int[]) { 0, 30 }, 2);
    find(h);
    assert_int_equal(h->found.steps, 0);
    const struct trend_watch *watch = &h->found.items[0].watch;
    assert_true(h->found.watched == 1 && watch->found && watch->worse);
    assert_int_equal(watch->index, 30);
    assert_close(watch->change, 0.03, 0.01);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
    h->settings.delta = 0.1;
    find(h);
    assert_int_equal(h->found.watched, 0);
}

/* The estimate of a step about the floor moves from night to night: once told it is told. */
HISTORY_TEST(test_delta_is_remembered)
{
    size_t first = 0;
    history_init(h, 60, 23);
    h->settings.delta = 0.03;
    add_levels(h, KEY, (const double[]) { 100000, 103300, 102800 }, (const int[]) { 0, 25, 31 }, 3);
    for (size_t runs = 26; runs <= 60; runs++) {
        find_prefix(h, runs);
        first = first ? first : h->found.steps ? runs : 0;
        assert_int_equal(h->found.steps, first ? 1 : 0);
    }
    assert_in_range(first, 28, 34);
    assert_true(only_step(h)->change < 0.03); /* else this test says nothing */
}

/* Half the width of a step's interval, in logs. */
static double half_width(const struct trend_step *s)
{
    return (log1p(s->interval.high) - log1p(s->interval.low)) / 2;
}

/* Most of it stands, though the noise is such that it cannot be told from nothing: that is not
 * back, and how much is left is told. */
HISTORY_TEST(test_most_stands)
{
    double noise = 0;
    history_init(h, RUNS, 802);
    for (size_t i = 0; i < RUNS; i++) {
        double level = i < 13 ? 100 : i < 26 ? 112 : 107;
        noise = 0.6 * noise + 2.5 * random_normal(&h->random);
        fixture_add(&h->records, 0, KEY, 1000 * (level + noise), 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
    find(h);
    assert_int_equal(h->found.steps, 2);
    const struct trend_step *step = h->found.items[0].items;
    double doubt = hypot(half_width(step), half_width(step + 1));
    assert_true(log(step[1].after / step->before) < doubt); /* else this test says nothing */
    assert_close(step->left, 0.6, 0.1);
    assert_int_equal(step->back, 0);
    check_words(h, step, NULL, "still there, 61 % of it", "");
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
}

/* Two modes that come back, then the slow one for good: nights do not take back what others said,
 * nor say it with another date. */
HISTORY_TEST(test_modes_remember)
{
    enum { NIGHTS = 200, FROM = 130 };
    bool slow = false;
    size_t first = 0;
    history_init(h, NIGHTS, 85);
    for (size_t i = 0; i < NIGHTS; i++) {
        slow = i >= FROM || slow != (random_uniform(&h->random) < 0.33);
        double level = slow ? 25000 : 13000;
        fixture_add(&h->records, 0, KEY, level + 500 * random_normal(&h->random), 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
    for (size_t runs = FROM; runs <= NIGHTS; runs++) {
        find_prefix(h, runs);
        first = first ? first : h->found.steps ? runs : 0;
        if (!first)
            continue;
        const struct trend_step *step = only_step(h);
        assert_true(step->told == first && step->worse);
        assert_int_equal(h->found.withdrawn, 0);
        assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
    }
    assert_in_range(first, FROM + 10, FROM + 55);
}

/* Sixty series of which one has got slower are not sixty quiet ones. */
/* What stands and is worse comes first, the largest before; what nobody has to look at, last. */
HISTORY_TEST(test_cards_are_ranked)
{
    static const struct {
        const char *key;
        double levels[3];
        const char *rank; /* of its first card */
    } cases[] = {
        { "gemm/linear/simd/fp32/batch=1,seq=64/cpu-2t/warm", { 1, 1.3, 1 }, "gone" },
        { "gemm/linear/simd/fp32/batch=2,seq=64/cpu-2t/warm", { 1, 1.2, 1.2 }, "accepted" },
        { "gemm/linear/simd/fp32/batch=3,seq=64/cpu-2t/warm", { 1, 0.8, 0.8 }, "improvement" },
        { "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm", { 1, 1.05, 1.05 }, "regression" },
        { "gemm/linear/simd/fp32/batch=5,seq=64/cpu-2t/warm", { 1, 1.1, 1.1 }, "regression" },
        { "gemm/linear/simd/fp32/batch=6,seq=64/cpu-2t/warm", { 1, 1, 1.15 }, "surroundings" },
    };
    static const char *const order[] = { "batch=5", "batch=4", "batch=6", "batch=1",
                                         "batch=3", "batch=2", "batch=1" };
    history_init(h, 60, 31);
    for (size_t i = 40; i < 60; i++)
        set_compiler(h, i, "gcc 13");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double levels[3];
        for (int k = 0; k < 3; k++)
            levels[k] = 1e5 * cases[i].levels[k];
        add_levels(h, cases[i].key, levels, (const int[]) { 0, 20, 40 }, 3);
    }
    struct acceptance accepted = { .key = (char *)cases[1].key,
                                   .metric = "p50",
                                   .machine = "",
                                   .commit = h->records.runs[22].build.commit,
                                   .change = 0.2,
                                   .reason = "meant" };
    h->settings.accepted = &accepted;
    h->settings.nr_accepted = 1;
    find(h);
    size_t nr;
    struct trend_card *cards = trends_cards(&h->found, &nr);
    assert_int_equal(nr, sizeof(order) / sizeof(order[0]));
    for (size_t i = 0; i < nr; i++)
        assert_non_null(strstr(cards[i].trend->series->bench->key, order[i]));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct trend *trend = &h->found.items[i];
        size_t k = 0;
        while (cards[k].step != trend->items)
            k++;
        assert_string_equal(trend_rank_name(cards[k].rank), cases[i].rank);
    }
    free(cards);
}

/* A step lies between two columns, however few there are, and levels end where others begin. */
HISTORY_TEST(test_line_of_a_card)
{
    static const struct {
        size_t most, from[2], at[2], to[2], nr;
    } cases[] = {
        { 100, { 0, 20 }, { 20, 40 }, { 40, 60 }, 60 },
        { 30, { 0, 10 }, { 10, 20 }, { 20, 30 }, 30 },
        { 2, { 0, 0 }, { 1, 1 }, { 1, 2 }, 2 },
    };
    history_init(h, 60, 32);
    add_levels(h, KEY, (const double[]) { 1e5, 1.2e5, 1.5e5 }, (const int[]) { 0, 20, 40 }, 3);
    find(h);
    assert_int_equal(h->found.steps, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t k = 0; k < 2; k++) {
            struct trend_card card = { .trend = h->found.items, .step = &h->found.items->items[k] };
            struct trend_line line;
            trend_line_init(&line, &card, cases[i].most);
            assert_int_equal(line.nr, cases[i].nr);
            assert_int_equal(line.from, cases[i].from[k]);
            assert_int_equal(line.at, cases[i].at[k]);
            assert_int_equal(line.to, cases[i].to[k]);
            if (cases[i].most > 2) {
                assert_close(line.values[line.at - 1] / card.step->before, 1, 0.02);
                assert_close(line.values[line.at] / card.step->after, 1, 0.02);
            }
            trend_line_release(&line);
        }
}

HISTORY_TEST(test_a_step_is_not_quiet)
{
    history_init(h, RUNS, 31);
    add_step(h, KEY, 100000, 112000);
    add_quiet(h, 59);
    find(h);
    assert_int_equal(h->found.family, 60);
    assert_int_equal(h->found.count[TREND_QUIET], 59);
    assert_int_equal(h->found.standing, 1);
    assert_int_equal(only_step(h)->back, 0);
    h->settings.delta = 0.2; /* and one that is too small to be told is counted */
    find(h);
    assert_true(h->found.steps == 0 && h->found.small == 1);
}

/* What the intervals leave open is said in words, not by a small p. */
HISTORY_TEST(test_open_notes)
{
    history_init(h, RUNS, 1);
    add_step(h, KEY, 100000, 110000);
    find(h);
    struct trend_step step = *only_step(h);
    check_words(h, &step, NULL, "still there", "");
    step.low = 2;
    step.high = 2 + RUNS / 2;
    check_words(h, &step, NULL, "still there", "");
    step.high++;
    check_words(h, &step, NULL, "still there", "when it came is not sure");
    step.interval.low = -0.01;
    check_words(h, &step, NULL, "still there",
                "when it came is not sure; how large it is now is not sure");
}

RUN_TESTS(NULL, NULL)
