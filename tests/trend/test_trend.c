/* SPDX-License-Identifier: MIT */
/* Features: U-06, U-07, U-11 (regressions over the nights), S0-29: what `harness trend` says of a
 * history. How often it is right is measured in tests/statistics. */
#include "analysis_fixture.h"
#include "testing.h"

#include "base/text.h"
#include "stats/random.h"
#include "trend/trend.h"
#include "trend/trend_parts.h"

#define KEY   "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"
#define NIGHT (INT64_C(24) * 3600 * 1000)
#define START INT64_C(1790000000000) /* 2026-09-21 */

enum { RUNS = 40, AT = 25 };

/* One history and what is found in it. */
struct history {
    struct records records;
    struct series_list list;
    struct trend_settings settings;
    struct trends found;
    struct random random;
};

static void history_init(struct history *h, size_t runs, uint64_t seed)
{
    *h = (struct history) { .settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 } };
    random_seed(&h->random, seed);
    for (size_t i = 0; i < runs; i++) {
        struct run *run = fixture_run(&h->records, "m", START + (int64_t)i * NIGHT);
        snprintf(run->build.commit, sizeof(run->build.commit), "%07zx%033d", i + 1, 0);
        snprintf(run->build.compiler, sizeof(run->build.compiler), "gcc 12");
        run->id = (int64_t)i + 1;
    }
}

/* One measurement of each run: levels[k] from run from[k] on, with 0.5 % of noise. */
static void add_levels(struct history *h, const char *key, const double *levels, const int *from,
                       int nr)
{
    for (size_t i = 0, k = 0; i < h->records.nr_runs; i++) {
        while ((int)k + 1 < nr && (size_t)from[k + 1] <= i)
            k++;
        double ns = levels[k] * (1 + 0.005 * random_normal(&h->random));
        fixture_add(&h->records, 0, key, ns, 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
}

static void add_step(struct history *h, const char *key, double before, double after)
{
    add_levels(h, key, (const double[]) { before, after }, (const int[]) { 0, AT }, 2);
}

static void find(struct history *h)
{
    struct error err;

    trends_release(&h->found);
    series_list_release(&h->list);
    series_list_init(&h->list, &h->records);
    assert_ok(trends_find(&h->list, &h->records, &h->settings, &h->found, &err), &err);
}

static void history_release(struct history *h)
{
    trends_release(&h->found);
    series_list_release(&h->list);
    records_release(&h->records);
}

/* The only step there is. */
static const struct trend_step *only_step(const struct history *h)
{
    assert_int_equal(h->found.steps, 1);
    struct trend_row *rows = trends_newest(&h->found);
    const struct trend_step *step = rows[0].step;
    free(rows);
    return step;
}

static void check_words(const struct history *h, const struct trend_step *step, const char *commits,
                        const char *state, const char *note)
{
    struct strbuf text;

    strbuf_init(&text);
    if (commits) {
        trend_commits(&h->found, &h->found.items[0], step, &text);
        assert_string_equal(text.data, commits);
        strbuf_clear(&text);
    }
    trend_state(&h->found, &h->found.items[0], step, &text);
    assert_string_equal(text.data, state);
    strbuf_clear(&text);
    trend_note(&h->found, &h->found.items[0], step, &text);
    assert_string_equal(text.data, note);
    strbuf_release(&text);
}

#define HISTORY_TEST(name) TEST_WITH_A(name, struct history, h, history_release)

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

static void set_compiler(struct history *h, size_t run, const char *name)
{
    struct build *b = &h->records.runs[run].build;

    snprintf(b->compiler, sizeof(b->compiler), "%s", name);
}

HISTORY_TEST(test_surroundings)
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
                "with a change of surroundings: compiler: gcc 12 -> gcc 13");
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
    struct trend_remark remarks[] = {
        { h->records.runs[step->high].id, "new BIOS" },
        { h->records.runs[step->low - 1].id, "before" },
        { h->records.runs[RUNS - 1].id, "after" },
    };
    h->found.settings.remarks = remarks;
    h->found.settings.nr_remarks = 3;
    check_words(h, step, "abcdef0+", "still there", "annotated: new BIOS");
    assert_int_equal(h->found.exit_status, EXIT_REGRESSION);
}

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
    const struct trend_past *past = &h->found.items[0].past.items[0];
    size_t told = past->told, gone = past->gone;
    assert_true(past->worse && past->low <= past->index && past->index <= past->high);
    strbuf_init(&text);
    trend_past_state(&h->found, &h->found.items[0], past, &text);
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
