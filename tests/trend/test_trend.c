/* SPDX-License-Identifier: MIT */
/* Features: U-06, U-07, U-11 (regressions over the nights), S0-29: what `harness trend` says of the
 * series of a history. How often it is right is measured in tests/statistics. */
#include "trend_history.h"

HISTORY_TEST(test_step)
{
    history_init(h, RUNS, 1);
    add_step(h, KEY, 100000, 110000);
    find(h);
    const struct trend_step *step = only_step(h);
    assert_in_range(step->index, AT - 1, AT + 1);
    assert_true(step->low <= step->index && step->index <= step->high);
    assert_close(step->change, 0.1, 0.01);
    assert_true(step->interval.low < 0.1 && step->interval.high > 0.1);
    assert_close(step->before, 100000, 500);
    assert_close(step->after, 110000, 500);
    assert_true(step->worse && step->p < 0.01 && h->found.items[0].q < 0.05);
    assert_int_equal(step->epoch, 0);
    assert_int_equal(h->found.standing, 1);
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
    /* The window begins with the last run before it and ends with the first after it. */
    char commits[32];
    snprintf(commits, sizeof(commits), "%07zx..%07zx", step->low, step->high + 1);
    check_words(h, step, commits, "still there", "");
    assert_int_equal(trend_run_before(&h->found, &h->found.items[0], step)->id, step->low);
    assert_int_equal(trend_run_after(&h->found, &h->found.items[0], step)->id, step->high + 1);
}

HISTORY_TEST(test_better)
{
    history_init(h, RUNS, 2);
    add_step(h, KEY, 110000, 100000);
    find(h);
    assert_false(only_step(h)->worse);
    assert_int_equal(h->found.standing, 0);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
}

HISTORY_TEST(test_back)
{
    history_init(h, RUNS, 3);
    add_levels(h, KEY, (const double[]) { 100000, 110000, 100200 }, (const int[]) { 0, 13, 26 }, 3);
    find(h);
    assert_int_equal(h->found.steps, 2);
    const struct trend_step *steps = h->found.items[0].items;
    assert_in_range(steps[0].back, 25, 27);
    assert_int_equal(steps[0].back, steps[1].index);
    assert_int_equal(steps[1].back, 0);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
    struct trend_row *rows = trends_newest(&h->found); /* newest first */
    assert_ptr_equal(rows[0].step, &steps[1]);
    assert_ptr_equal(rows[1].step, &steps[0]);
    free(rows);
    struct strbuf text, expected;
    strbuf_init(&text);
    strbuf_init(&expected);
    const struct run *run = &h->records.runs[steps[0].back];
    char when[TEXT_UNIT_SIZE];
    strbuf_addf(&expected, "went back at %.7s, %.10s", run->build.commit,
                text_timestamp(run->started_ms, when));
    trend_state(&h->found, &h->found.items[0], &steps[0], &text);
    assert_string_equal(text.data, expected.data);
    strbuf_release(&text);
    strbuf_release(&expected);
}

/* Of values in units the levels on both sides of a step may be the same by now; a later step takes
 * no share of that. */
TEST(test_a_step_of_no_size)
{
    enum { LEVEL = 10 };
    static const size_t told[] = { LEVEL + 5, 2 * LEVEL + 5 };
    static const double sizes[] = { 0, 5 };
    struct series_point points[3 * LEVEL];
    struct changepoint steps[] = { { .index = LEVEL, .id = 0 }, { .index = 2 * LEVEL, .id = 1 } };
    const struct series series = { .items = points, .nr = 3 * LEVEL };
    const struct changes changes = { .items = steps, .nr = 2 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bool has_size = sizes[i] > 0;
        double left = NAN, later = has_size ? -5 : 5;
        for (size_t k = 0; k < 3 * LEVEL; k++)
            points[k] = (struct series_point) { .value = 100 + (k < LEVEL ? 0 : sizes[i]) +
                                                         (k < 2 * LEVEL ? 0 : later) };
        size_t back = trend_undone(&series, &changes, told, 0, &left);
        assert_int_equal(back, has_size ? 2 * LEVEL : 0);
        assert_close(left, has_size ? 0 : 1, 0);
    }
}

/* Half of it stays: that is not back. */
HISTORY_TEST(test_half_back)
{
    history_init(h, RUNS, 4);
    add_levels(h, KEY, (const double[]) { 100000, 120000, 110000 }, (const int[]) { 0, 13, 26 }, 3);
    find(h);
    assert_int_equal(h->found.steps, 2);
    assert_int_equal(h->found.items[0].items[0].back, 0);
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
}

HISTORY_TEST(test_environment)
{
    history_init(h, RUNS, 5);
    for (size_t i = AT; i < RUNS; i++)
        set_compiler(h, i, "gcc 13");
    add_step(h, KEY, 100000, 110000);
    find(h);
    const struct trend_step *step = only_step(h);
    assert_int_equal(step->epoch, AT);
    assert_int_equal(h->found.standing, 0);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
    check_words(h, step, NULL, "still there",
                "with a change of environment: compiler: gcc 12 -> gcc 13");
    /* A border elsewhere explains nothing. */
    for (size_t i = 0; i < RUNS; i++)
        set_compiler(h, i, i < 8 ? "gcc 12" : "gcc 13");
    find(h);
    assert_int_equal(only_step(h)->epoch, 0);
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
    /* Nor do two compilers in turn, which were there before, too. */
    for (size_t i = 0; i < RUNS; i++)
        set_compiler(h, i, i % 2 ? "gcc 12" : "gcc 13");
    find(h);
    assert_int_equal(only_step(h)->epoch, 0);
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
}

HISTORY_TEST(test_same_commit)
{
    const struct trend_step *step;
    history_init(h, RUNS, 6);
    for (size_t i = 0; i < RUNS; i++)
        snprintf(h->records.runs[i].build.commit, sizeof(h->records.runs[i].build.commit),
                 "abcdef0123");
    add_step(h, KEY, 100000, 110000);
    find(h);
    check_words(h, only_step(h), "abcdef0", "still there", "the same commit on both sides");
    for (size_t i = 0; i < RUNS; i++)
        h->records.runs[i].build.dirty = true; /* then it may well be the code */
    find(h);
    check_words(h, only_step(h), "abcdef0+", "still there", "");
    /* What was written about the runs at which it may have come, and about no other. */
    step = only_step(h);
    struct trend_annotation annotations[] = {
        { h->records.runs[step->high].id, "new BIOS" },
        { h->records.runs[step->low - 1].id, "before" },
        { h->records.runs[RUNS - 1].id, "after" },
    };
    h->found.settings.annotations = annotations;
    h->found.settings.nr_annotations = 3;
    check_words(h, step, "abcdef0+", "still there", "annotated: new BIOS");
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
}

TEST(test_short)
{
    struct history h;
    history_init(&h, 9, 10);
    add_step(&h, KEY, 100000, 110000);
    find(&h);
    assert_int_equal(h.found.points_min, 10);
    assert_int_equal(h.found.count[TREND_SHORT], 1);
    assert_int_equal(h.found.family, 0);
    assert_true(isnan(h.found.items[0].q));
    assert_int_equal(h.found.exit_status, EXIT_UNDECIDED);
    h.settings.min_segment = 4;
    find(&h);
    assert_int_equal(h.found.count[TREND_SHORT], 0);
    history_release(&h);
    history_init(&h, 0, 11);
    find(&h);
    assert_int_equal(h.found.exit_status, EXIT_UNDECIDED);
    history_release(&h);
}

static void expect_drift_accepted(struct history *h, const char *metric, const char *commit,
                                  double change, bool fits)
{
    struct acceptance a = { .key = (char *)KEY,
                            .metric = (char *)metric,
                            .machine = "",
                            .commit = (char *)commit,
                            .change = change,
                            .reason = "larger inputs" };
    size_t nr;

    h->settings.accepted = &a;
    h->settings.nr_accepted = 1;
    find(h);
    struct trend_card *cards = trends_cards(&h->found, &nr);
    assert_int_equal(nr, 1);
    assert_int_equal(cards[0].rank, fits ? TREND_ACCEPTED : TREND_REGRESSION);
    assert_ptr_equal(trend_card_acceptance(&cards[0]), fits ? &a : NULL);
    free(cards);
    h->settings.nr_accepted = 0;
}

HISTORY_TEST(test_drift)
{
    history_init(h, 60, 12);
    for (size_t i = 0; i < 60; i++) {
        double ns = 100000 * exp(0.002 * (double)i + 0.003 * random_normal(&h->random));
        fixture_add(&h->records, 0, KEY, ns, 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
    find(h);
    const struct trend *t = &h->found.items[0];
    assert_true(t->drifts);
    assert_int_equal(t->nr, 0);
    assert_close(t->drift.total, exp(0.002 * 59) - 1, 0.01);
    assert_true(t->drift.interval.low < t->drift.total);
    assert_true(t->drift.interval.high > t->drift.total);
    assert_true(t->drift.worse);
    assert_close(trend_drift_at(t, 0) / 100000, 1, 0.005);
    assert_close(trend_drift_at(t, 59) / trend_drift_at(t, 0), 1 + t->drift.total, 1e-9);
    size_t nr;
    struct trend_card *cards = trends_cards(&h->found, &nr);
    assert_int_equal(nr, 1);
    assert_null(cards[0].step);
    assert_int_equal(cards[0].rank, TREND_REGRESSION);
    assert_ptr_equal(trend_card_good(&h->found, &cards[0]), h->records.runs);
    assert_ptr_equal(trend_card_bad(&h->found, &cards[0]), h->records.runs + 59);
    free(cards);
    expect_drift_accepted(h, "p50", h->records.runs[59].build.commit, 0.12, true);
    expect_drift_accepted(h, "p50", h->records.runs[59].build.commit, 0.05, false); /* it went on */
    expect_drift_accepted(h, "p50", "elsewhere", 0.12, false);
    expect_drift_accepted(h, "p95", h->records.runs[59].build.commit, 0.12, false);
    assert_int_equal(h->found.drifts, 1);
    assert_int_equal(h->found.count[TREND_MOVED], 1);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
}

HISTORY_TEST(test_delta)
{
    history_init(h, RUNS, 13);
    add_step(h, KEY, 100000, 103000);
    find(h);
    assert_int_equal(h->found.steps, 1);
    h->settings.delta = 0.05;
    find(h);
    assert_int_equal(h->found.steps, 0);
    assert_int_equal(h->found.small, 1);
    assert_int_equal(h->found.exit_status, EXIT_SAME);
}

/* The same of another metric. */
static void find_metric(struct history *h, const char *metric)
{
    struct error err;

    trends_release(&h->found);
    series_list_release(&h->list);
    h->settings.metric = trend_metric(metric, &err);
    assert_non_null(h->settings.metric);
    struct series_builder *b = series_builder_create(h->settings.metric, &h->records);
    for (size_t i = 0; i < h->records.nr; i++)
        series_builder_add(b, (size_t)h->records.items[i].run, 0, &h->records.items[i].m);
    series_builder_finish(b, &h->list);
    series_builder_free(b);
    assert_ok(trends_find(&h->list, &h->records, &h->settings, &h->found, &err), &err);
}

/* Of a million operations each. */
static void find_rate(struct history *h)
{
    for (size_t i = 0; i < h->records.nr; i++)
        h->records.items[i].m.flops = 1e6;
    find_metric(h, "gflops");
}

/* Where more is better, less is worse. */
HISTORY_TEST(test_rate)
{
    struct error err;
    history_init(h, RUNS, 14);
    add_step(h, KEY, 100000, 110000);
    find_rate(h);
    const struct trend_step *step = only_step(h);
    assert_close(step->before, 10, 0.05); /* 1e6 / 1e5 ns */
    assert_close(step->change, 1 / 1.1 - 1, 0.01);
    assert_true(step->worse);
    /* That it was broken is accepted, which excuses no fall. */
    struct acceptance broken = { .key = KEY,
                                 .metric = "gflops",
                                 .machine = "",
                                 .commit = h->records.runs[AT].build.commit,
                                 .change = NAN,
                                 .reason = "was broken" };
    h->settings.accepted = &broken;
    h->settings.nr_accepted = 1;
    trends_release(&h->found);
    assert_ok(trends_find(&h->list, &h->records, &h->settings, &h->found, &err), &err);
    assert_null(only_step(h)->accepted);
    broken.change = -0.1;
    trends_release(&h->found);
    assert_ok(trends_find(&h->list, &h->records, &h->settings, &h->found, &err), &err);
    assert_non_null(only_step(h)->accepted);
    assert_null(trend_metric("n", &err));
    assert_non_null(strstr(err.message, "no better and worse"));
    assert_null(trend_metric("gflop", &err));
    assert_non_null(strstr(err.message, "gflops"));
}

/* A number of its own in each run: 0, and 3 or so from run `from` on. */
static void add_numbers(struct history *h, const char *key, const struct number_kind *kind,
                        size_t from)
{
    for (size_t i = 0; i < h->records.nr_runs; i++) {
        struct measurement *m = fixture_add(&h->records, 0, key, 1000, 3);
        m->numbers[0] = (struct number) { kind, memory_zeroed(1, sizeof(double)), 1 };
        m->numbers[0].values[0] = i < from ? 0 : 3 + 0.01 * random_normal(&h->random);
        m->nr_numbers = 1;
        h->records.items[h->records.nr - 1].run = (int)i;
    }
}

/* There is no share of 0: such points are left out and counted, also where a series has no others.
 */
HISTORY_TEST(test_points_at_0)
{
    static const char other[] = "gemm/linear/simd/fp32/batch=5,seq=64/cpu-2t/warm";
    static const char *const filters[] = { KEY };
    struct error err;
    history_init(h, RUNS, 35);
    const struct number_kind *kind = number_kind_of("zallocations", "", BETTER_LOWER, &err);
    add_numbers(h, KEY, kind, AT);
    add_numbers(h, other, kind, RUNS);
    find_metric(h, "zallocations");
    assert_int_equal(h->found.nr, 2);
    const struct trend *t = h->found.items;
    assert_true(t[0].left_out == AT && t[0].series->nr == RUNS - AT);
    assert_int_equal(t[0].series->items[0].run, AT);
    assert_int_equal(t[0].kind, TREND_QUIET);
    assert_true(t[1].left_out == RUNS && t[1].series->nr == 0 && t[1].kind == TREND_SHORT);
    assert_int_equal(h->found.left_out, AT + RUNS);
    h->settings.filters = filters;
    h->settings.nr_filters = 1;
    find_metric(h, "zallocations");
    assert_int_equal(h->found.left_out, AT);
}

/* A step more than as large as the level is no knowledge, but wild noise. */
HISTORY_TEST(test_could_see_is_known)
{
    double level = 0;
    history_init(h, RUNS, 33);
    add_levels(h, KEY, (const double[]) { 100000 }, (const int[]) { 0 }, 1);
    for (size_t i = 0; i < RUNS; i++) {
        level = 0.97 * level + 0.15 * random_normal(&h->random);
        fixture_add(&h->records, 0, "gemm/linear/simd/fp32/batch=5,seq=64/cpu-2t/warm",
                    1e5 * exp(level), 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
    find(h);
    assert_true(h->found.items[0].detectable < 0.05);
    assert_true(!(h->found.items[1].detectable > 1));
}

/* Twice the time is half the rate: what a rate's series could see is as far, and told of a fall. */
HISTORY_TEST(test_could_see_of_a_rate)
{
    history_init(h, RUNS, 34);
    add_levels(h, KEY, (const double[]) { 100000 }, (const int[]) { 0 }, 1);
    find(h);
    double time = h->found.items[0].detectable;
    assert_true(time > 0.005);
    find_rate(h);
    assert_close(h->found.items[0].detectable, 1 - 1 / (1 + time), 1e-9);
}

RUN_TESTS(NULL, NULL)
