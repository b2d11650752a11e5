/* SPDX-License-Identifier: MIT */
/* Features: U-06, U-07, S0-29: a history is of one branch; the runs of pull requests that wait are
 * no part of what `harness trend` searches. */
#include "analysis_fixture.h"
#include "testing.h"

#include "stats/random.h"
#include "trend/mainline.h"
#include "trend/trend.h"

#define KEY "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"

enum { MERGED = 24, WAITING = 12, STEP_AT = 14 };

static void add_run(struct records *r, const char *machine, const char *branch)
{
    struct run *run = fixture_run(r, machine, (int64_t)r->nr_runs + 1);

    snprintf(run->build.branch, sizeof(run->build.branch), "%s", branch);
    run->id = (int64_t)r->nr_runs;
}

static void add_runs(struct records *r, const char *machine, const char *branch, int nr)
{
    for (int i = 0; i < nr; i++)
        add_run(r, machine, branch);
}

static void assert_branch(const struct records *r, const char *machine, const char *branch)
{
    const char *found = mainline_branch(r, machine);

    if (!branch) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, branch);
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(test_branch)
{
    assert_branch(r, "m", NULL);
    add_runs(r, "m", "topic", 2);
    add_runs(r, "m", "release", 3);
    add_runs(r, "other", "topic", 9);
    assert_branch(r, "m", "release");
    assert_branch(r, "other", "topic");
    assert_branch(r, "neither", NULL);
    add_runs(r, "m", "topic", 1); /* three of six are not most */
    assert_branch(r, "m", NULL);
    add_runs(r, "m", "master", 1);
    assert_branch(r, "m", "master");
    add_runs(r, "m", "main", 1);
    assert_branch(r, "m", "main");
    r->runs[r->nr_runs - 1].kind = RUN_TRIAL; /* is no history */
    assert_branch(r, "m", "master");
    add_runs(r, "m", "", 40); /* these know no branch, and speak for none */
    assert_branch(r, "m", "master");
}

RECORDS_TEST(test_runs)
{
    const bool expected[] = { true, false, true, true, true };
    add_runs(r, "m", "main", 1);
    add_runs(r, "m", "topic", 1);
    add_runs(r, "other", "topic", 1);
    add_runs(r, "m", "main", 1);
    add_runs(r, "m", "", 1);
    bool *has = mainline_runs(r);
    for (size_t i = 0; i < r->nr_runs; i++)
        assert_int_equal(has[i], expected[i]);
    free(has);
}

/* A measurement of each run, with 0.5 % of noise: `waiting` on all branches but main, else 100 µs,
 * and `later` of that from the STEP_AT-th run of main on. */
static void add_times(struct records *r, double waiting, double later)
{
    struct random random;
    int merged = 0;

    random_seed(&random, 3);
    for (size_t i = 0; i < r->nr_runs; i++) {
        bool is_main = strcmp(r->runs[i].build.branch, "main") == 0;
        double ns = is_main ? 100000 * (merged < STEP_AT ? 1 : later) : waiting;
        merged += is_main;
        fixture_add(r, 0, KEY, ns * (1 + 0.005 * random_normal(&random)), 3);
        r->items[r->nr - 1].run = (int)i;
    }
}

struct found {
    struct series_list list;
    struct trends trends;
};

static void find(const struct records *r, struct found *found)
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct error err;

    series_list_init(&found->list, r);
    assert_int_equal(found->list.nr, 1);
    assert_ok(trends_find(&found->list, r, &settings, &found->trends, &err), &err);
}

static void found_release(struct found *found)
{
    trends_release(&found->trends);
    series_list_release(&found->list);
}

/* A slow branch at the end is no step, as long as it is known to be one. */
RECORDS_TEST(test_waiting_runs_make_no_step)
{
    struct found found;
    add_runs(r, "m", "main", MERGED);
    add_runs(r, "m", "topic", WAITING);
    add_times(r, 130000, 1);
    find(r, &found);
    assert_int_equal(found.trends.steps, 0);
    assert_int_equal(found.trends.exit_status, EXIT_SAME);
    assert_int_equal(found.trends.unmerged, WAITING);
    assert_int_equal(found.trends.items[0].series->nr, MERGED);
    assert_int_equal(found.list.items[0].nr, MERGED + WAITING); /* all are there to be shown */
    found_release(&found);
    for (size_t i = 0; i < r->nr_runs; i++)
        r->runs[i].build.branch[0] = '\0';
    find(r, &found);
    assert_int_equal(found.trends.steps, 1);
    assert_int_equal(found.trends.unmerged, 0);
    found_release(&found);
}

/* Each pull request has a branch, and they are more than main's runs. */
RECORDS_TEST(test_many_branches)
{
    struct found found;
    for (int i = 0; i < MERGED; i++) {
        char name[32];
        add_run(r, "m", "main");
        snprintf(name, sizeof(name), "%d/merge", i);
        add_runs(r, "m", name, 1 + i % 3);
    }
    add_times(r, 140000, 1.1);
    find(r, &found);
    const struct trends *t = &found.trends;
    assert_int_equal(t->unmerged, 2 * MERGED);
    assert_int_equal(t->steps, 1);
    const struct trend_step *step = &t->items[0].items[0];
    assert_in_range(step->index, STEP_AT - 1, STEP_AT + 1);
    assert_close(step->change, 0.1, 0.01);
    /* The commits between which it lies are of main. */
    assert_string_equal(trend_run_before(t, &t->items[0], step)->build.branch, "main");
    assert_string_equal(trend_run_after(t, &t->items[0], step)->build.branch, "main");
    found_release(&found);
}

/* Where too few of the points are the history's, nothing is said. */
RECORDS_TEST(test_too_few_are_merged)
{
    struct found found;
    add_runs(r, "m", "main", 4);
    for (int i = 0; i < 30; i++)
        add_run(r, "m", i % 2 ? "a" : "b");
    add_times(r, 120000, 1);
    find(r, &found);
    assert_int_equal(found.trends.count[TREND_SHORT], 1);
    assert_int_equal(found.trends.exit_status, EXIT_UNDECIDED);
    found_release(&found);
}

RUN_TESTS(NULL, NULL)
