/* SPDX-License-Identifier: MIT */
/*
 * Self-tests: what comparisons are counted as, intervals of rates, the smallest change by the
 * table, whether a gate is carried, the stored form. All expected numbers are worked out by hand.
 * Features: U-06, U-12.
 */
#include "testing.h"

#include "base/json.h"
#include "verdict/selftest.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ROWS = 10 };

/* A comparison of `nr` benchmarks named "0", "1", ..., with these verdicts. */
struct made {
    struct benchmark_name names[ROWS];
    struct compare_item items[ROWS];
    struct compare_row rows[ROWS];
    struct comparison c;
};

static void make(struct made *m, const enum verdict *verdicts, size_t nr)
{
    *m = (struct made) { .c = { .items = m->items, .rows = m->rows, .nr = nr, .run_noise = NAN } };
    for (size_t i = 0; i < nr; i++) {
        snprintf(m->names[i].key, sizeof(m->names[i].key), "%zu", i);
        m->items[i].bench = &m->names[i];
        m->rows[i] = (struct compare_row) {
            .item = &m->items[i],
            .verdict = verdicts[i],
            .noise = { NAN, 0.01 * (double)(i + 1), NAN, NAN },
            .detectable = 0.1 * (double)(i + 1),
        };
    }
}

static struct selftest fresh(void)
{
    return (struct selftest) { .kind = "power",
                               .what = "suite ci",
                               .delta = 0.03,
                               .q = 0.05,
                               .launches = 10,
                               .benchmarks = 4 };
}

static void count(struct selftest_builder *b, const enum verdict *verdicts, size_t nr, double size,
                  const char *planted)
{
    struct made m;
    struct error err = { "" };

    make(&m, verdicts, nr);
    assert_ok(selftest_count(b, &m.c, size, &planted, planted ? 1 : 0, &err), &err);
}

TEST(counting)
{
    static const enum verdict quiet[] = { VERDICT_SAME, VERDICT_UNDECIDED, VERDICT_SAME };
    static const enum verdict found[] = { VERDICT_REGRESSED, VERDICT_SAME, VERDICT_IMPROVED };
    static const enum verdict broken[] = { VERDICT_BROKEN, VERDICT_REGRESSED, VERDICT_MISSING };
    struct selftest t = fresh();
    struct selftest_builder b;

    selftest_begin(&b, &t);
    count(&b, found, 3, 0.05, "0");  /* found; the improved one is an alarm */
    count(&b, quiet, 3, 0.05, "1");  /* undecided: not found */
    count(&b, broken, 3, 0.05, "0"); /* says nothing about power; an alarm beside it */
    count(&b, quiet, 3, 0, NULL);
    selftest_end(&b);
    assert_int_equal(t.nr, 2);
    const struct selftest_tally *none = &t.tallies[0], *five = &t.tallies[1];
    assert_true(none->size == 0 && five->size == 0.05); /* by size, not by order */
    assert_int_equal(none->comparisons.of, 1);
    assert_int_equal(none->comparisons.hits, 0);
    assert_int_equal(none->same, 2);
    assert_int_equal(none->undecided, 1);
    assert_int_equal(none->found.of, 0);
    assert_int_equal(five->found.of, 2);
    assert_int_equal(five->found.hits, 1);
    assert_int_equal(five->comparisons.of, 3);
    assert_int_equal(five->comparisons.hits, 2);
    assert_int_equal(five->alarms.of, 2 + 2 + 1);
    assert_int_equal(five->alarms.hits, 2);
    assert_int_equal(five->lost, 2);
    struct selftest_tally total = selftest_total(&t);
    assert_int_equal(total.comparisons.of, 4);
    assert_int_equal(total.alarms.of, 8);
    assert_int_equal(total.same, 2 + 1 + 2);
}

/* A found change is no false alarm, whatever else is quiet. */
TEST(a_find_is_no_alarm)
{
    static const enum verdict found[] = { VERDICT_SAME, VERDICT_REGRESSED };
    struct selftest t = fresh();
    struct selftest_builder b;

    selftest_begin(&b, &t);
    count(&b, found, 2, 0.1, "1");
    selftest_end(&b);
    assert_int_equal(t.tallies[0].comparisons.hits, 0);
    assert_int_equal(t.tallies[0].alarms.of, 1);
    assert_int_equal(t.tallies[0].found.hits, 1);
}

TEST(medians)
{
    static const enum verdict three[] = { VERDICT_SAME, VERDICT_SAME, VERDICT_SAME };
    struct selftest t = fresh();
    struct selftest_builder b;

    selftest_begin(&b, &t);
    count(&b, three, 3, 0.05, "0"); /* detectable 0.2, 0.3: the planted row's does not count */
    selftest_end(&b);
    assert_close(t.launch_noise, 0.02, 1e-12);
    assert_true(isnan(t.run_noise));
    assert_close(t.visible, 0.25, 1e-12);
    selftest_begin(&b, &t);
    selftest_end(&b);
    assert_true(isnan(t.launch_noise) && isnan(t.visible));
    assert_int_equal(t.nr, 0);
}

static void count_detectable(struct selftest_builder *b, const double detectable[3])
{
    static const enum verdict open[] = { VERDICT_UNDECIDED, VERDICT_UNDECIDED, VERDICT_UNDECIDED };
    struct made m;
    struct error err = { "" };

    make(&m, open, 3);
    for (size_t i = 0; i < 3; i++)
        m.rows[i].detectable = detectable[i];
    assert_ok(selftest_count(b, &m.c, 0, NULL, 0, &err), &err);
}

/* What no comparison would find is no less noise than what it would: left out of the median it made
 * a machine look quieter, and one where nothing could be found looked untested. */
TEST(what_cannot_be_found_counts)
{
    static const struct {
        double detectable[3], visible;
    } cases[] = {
        { { INFINITY, INFINITY, INFINITY }, SELFTEST_VISIBLE_MOST },
        { { 0.2, INFINITY, INFINITY }, SELFTEST_VISIBLE_MOST },
        { { 0.2, 0.4, INFINITY }, 0.4 },
        { { NAN, 0.4, NAN }, 0.4 },
        { { NAN, NAN, NAN }, NAN },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct selftest t = fresh();
        struct selftest_builder b;
        selftest_begin(&b, &t);
        count_detectable(&b, cases[i].detectable);
        selftest_end(&b);
        assert_true(t.visible == cases[i].visible || (isnan(t.visible) && isnan(cases[i].visible)));
    }
}

TEST(too_many_sizes)
{
    static const enum verdict one[] = { VERDICT_SAME };
    struct selftest t = fresh();
    struct selftest_builder b;
    struct error err = { "" };
    struct made m;

    selftest_begin(&b, &t);
    for (int i = SELFTEST_SIZES_MAX; i > 0; i--)
        count(&b, one, 1, 0.01 * i, NULL);
    make(&m, one, 1);
    assert_int_equal(selftest_count(&b, &m.c, 0.5, NULL, 0, &err), -1);
    assert_non_null(strstr(err.message, "at most 8"));
    selftest_end(&b);
    for (size_t i = 1; i < t.nr; i++)
        assert_true(t.tallies[i - 1].size < t.tallies[i].size);
}

/* From tables of the beta distribution: 1 - 0.025^(1/20) and its mirror. */
TEST(intervals)
{
    struct interval none = selftest_interval((struct selftest_rate) { 0, 20 });
    struct interval nothing = selftest_interval((struct selftest_rate) { 0, 0 });

    assert_close(none.low, 0, 0);
    assert_close(none.high, 1 - pow(0.025, 1.0 / 20), 1e-9);
    assert_close(nothing.low, 0, 0);
    assert_close(nothing.high, 1, 0);
}

static void set(struct selftest *t, const double *sizes, const size_t *hits, size_t of, size_t nr)
{
    t->nr = nr;
    for (size_t i = 0; i < nr; i++)
        t->tallies[i] = (struct selftest_tally) { .size = sizes[i],
                                                  .found = { hits[i], of },
                                                  .comparisons = { 0, of } };
}

static const double sizes[] = { 0.01, 0.02, 0.05, 0.10 };

TEST(smallest)
{
    struct selftest t = fresh();
    struct interval limits;

    set(&t, sizes, (const size_t[]) { 0, 0, 5, 10 }, 10, 4); /* 50 % at 5 %, all at 10 % */
    assert_close(selftest_smallest(&t, NULL), 0.05 * pow(2, 0.3 / 0.5), 1e-12);
    set(&t, sizes, (const size_t[]) { 0, 0, 10, 10 }, 10, 4);
    assert_close(selftest_smallest(&t, &limits), 0.02 * pow(2.5, 0.8), 1e-12);
    assert_true(limits.low > 0.02 && limits.low < 0.05); /* 10 of 10 may be as few as 69 % */
    assert_true(isinf(limits.high));
    set(&t, sizes, (const size_t[]) { 0, 0, 100, 100 }, 100, 4);
    selftest_smallest(&t, &limits);
    assert_true(limits.high > 0.04 && limits.high < 0.05);
    set(&t, sizes, (const size_t[]) { 9, 10, 10, 10 }, 10, 4); /* the first is enough already */
    assert_close(selftest_smallest(&t, &limits), 0.01, 0);
    assert_close(limits.low, 0, 0);
    set(&t, sizes, (const size_t[]) { 0, 0, 3, 7 }, 10, 4);
    assert_true(isinf(selftest_smallest(&t, &limits)));
    set(&t, sizes, (const size_t[]) { 0, 0, 0, 0 }, 0, 4);
    assert_true(isnan(selftest_smallest(&t, NULL)));
}

/* 2 % found more often than 5 %: both count as their mean, 60 %. */
TEST(out_of_order)
{
    struct selftest t = fresh();

    set(&t, sizes, (const size_t[]) { 0, 9, 3, 10 }, 10, 4);
    assert_close(selftest_smallest(&t, NULL), 0.05 * pow(2, 0.2 / 0.4), 1e-9);
}

static void expect_gate(const struct selftest *t, double delta, enum selftest_answer wanted,
                        const char *part)
{
    char text[SELFTEST_TEXT_SIZE];

    assert_int_equal(selftest_gate(t, delta, text), wanted);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

TEST(gates)
{
    static const struct {
        size_t found[4]; /* of 10, by size */
        double delta;
        enum selftest_answer answer;
        const char *part;
    } cases[] = {
        /* 4.16 % with a floor of 3 % */
        { { 0, 0, 10, 10 }, 0.03, SELFTEST_CARRIES, "carries a gate of 3 %" },
        { { 0, 0, 10, 10 }, 0.03, SELFTEST_CARRIES, "is 4.2 %, with 10 launches a side." },
        { { 0, 0, 10, 10 }, 0.025, SELFTEST_CARRIES, "carries a gate of 2.5 %" },
        { { 0, 0, 10, 10 }, 0.05, SELFTEST_CARRIES, "carries a gate of 5 %" }, /* 6.16 % at most */
        { { 0, 0, 10, 10 }, 0.02, SELFTEST_UNKNOWN, "Test with --delta 2%" },  /* 3.16 to 4.16 % */
        { { 0, 0, 10, 10 }, 0.01, SELFTEST_CANNOT, "and may be 2 % at most" }, /* 2.16 % at least */
        { { 0, 0, 10, 10 }, 0.01, SELFTEST_CANNOT, "--delta 3%" },
        /* 8.7 %: 5.7 % on top */
        { { 0, 0, 0, 10 }, 0.03, SELFTEST_CANNOT, "--delta 6%" },
        { { 0, 0, 0, 10 }, 0.06, SELFTEST_CARRIES, "is 8.7 %" },
        { { 0, 0, 0, 1 }, 0.03, SELFTEST_CANNOT, "not even a change of 10 %" },
        { { 0, 0, 0, 1 }, 0.04, SELFTEST_CANNOT, "cannot carry a gate of 4 %" }, /* over 10 % */
        { { 0, 0, 0, 1 }, 0.08, SELFTEST_UNKNOWN, "Nobody can tell" },
    };
    struct selftest t = fresh();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set(&t, sizes, cases[i].found, 10, 4);
        expect_gate(&t, cases[i].delta, cases[i].answer, cases[i].part);
    }
    snprintf(t.kind, sizeof(t.kind), "power-ab");
    expect_gate(&t, 0.03, SELFTEST_CANNOT, "at most 10 launches a side");
}

/* Nothing was planted: what should be seen is worked out. */
TEST(gates_without_trials)
{
    static const struct {
        double visible;
        int launches;
        enum selftest_answer answer;
        const char *part;
    } cases[] = {
        { NAN, 10, SELFTEST_UNKNOWN, "Nobody can tell" },
        { 0.05, 10, SELFTEST_CARRIES, "that should be found" },
        { 3.94, 10, SELFTEST_CANNOT, "4 times in 5 is 394 %, with at most 10 launches" },
        { 3.94, 1, SELFTEST_CANNOT, "with at most 1 launch a side" },
        { SELFTEST_VISIBLE_MOST, 1, SELFTEST_CANNOT,
          "not even a change of 900 % need be found, with at most 1" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct selftest t = fresh();
        snprintf(t.kind, sizeof(t.kind), "power-ab");
        t.visible = cases[i].visible;
        t.launches = cases[i].launches;
        expect_gate(&t, 0.03, cases[i].answer, cases[i].part);
    }
}

/* Limits by the beta distribution: 6 of 6 may be as few as 54 %, 5 of 5 48 %; 0 of 2 as many as
 * 84 %, 0 of 1 98 %. */
TEST(too_few)
{
    struct selftest t = fresh();

    set(&t, sizes, (const size_t[]) { 0, 0, 6, 6 }, 6, 4); /* three comparisons, two planted */
    for (int i = 0; i < 4; i++)
        t.tallies[i].comparisons.of = 3;
    expect_gate(&t, 0.03, SELFTEST_CARRIES, "is 4.2 %");
    set(&t, sizes, (const size_t[]) { 0, 0, 5, 5 }, 5, 4);
    expect_gate(&t, 0.03, SELFTEST_UNKNOWN, "too few comparisons to tell, about 1 more of each");
    expect_gate(&t, 0.03, SELFTEST_UNKNOWN, "(--repeats 6)");
    set(&t, sizes, (const size_t[]) { 0, 0, 1, 1 }, 1, 4);
    expect_gate(&t, 0.03, SELFTEST_UNKNOWN, "about 5 more of each");
    set(&t, sizes, (const size_t[]) { 0, 0, 0, 0 }, 1, 4);
    expect_gate(&t, 0.03, SELFTEST_UNKNOWN, "about 1 more of each");
    set(&t, sizes, (const size_t[]) { 0, 0, 0, 0 }, 2, 4);
    expect_gate(&t, 0.03, SELFTEST_CANNOT, "not even a change of 10 %");
    set(&t, sizes, (const size_t[]) { 0, 0, 4, 6 }, 6, 4); /* 4 of 6 may be 96 % */
    expect_gate(&t, 0.03, SELFTEST_UNKNOWN, "too few");
    t.tallies[3].found.hits = 4;
    expect_gate(&t, 0.03, SELFTEST_UNKNOWN, "too few comparisons");
}

TEST(tells)
{
    struct selftest t = fresh();

    assert_false(selftest_tells(&t));
    t.nr = 1;
    t.tallies[0] = (struct selftest_tally) { .comparisons = { 0, 3 }, .lost = 6 };
    assert_false(selftest_tells(&t));
    t.tallies[0].alarms.of = 1;
    assert_true(selftest_tells(&t));
}

/* One alarm in one comparison may be bad luck; three in three are not. */
TEST(quiet)
{
    struct selftest t = fresh();

    t.nr = 1;
    t.tallies[0].comparisons = (struct selftest_rate) { 1, 1 };
    assert_true(selftest_quiet(&t)); /* from 2.5 % on */
    t.tallies[0].comparisons = (struct selftest_rate) { 1, 20 };
    assert_true(selftest_quiet(&t));
    t.tallies[0].comparisons = (struct selftest_rate) { 3, 3 };
    assert_false(selftest_quiet(&t)); /* from 29 % on */
    t.tallies[0].comparisons = (struct selftest_rate) { 4, 20 };
    assert_false(selftest_quiet(&t));
}

static struct selftest back(const char *text)
{
    struct error err = { "" };
    struct selftest t;
    cJSON *json = json_parse(text, strlen(text), "test", &err);

    assert_ok(json ? 0 : -1, &err);
    assert_ok(selftest_from_json(json, &t, &err), &err);
    cJSON_Delete(json);
    return t;
}

TEST(there_and_back)
{
    struct selftest t = fresh();

    set(&t, sizes, (const size_t[]) { 0, 0, 10, 10 }, 10, 4);
    t.tallies[1].alarms = (struct selftest_rate) { 1, 7 };
    t.tallies[1].lost = 2;
    t.launch_noise = 0.008;
    t.run_noise = NAN;
    t.visible = 0.045;
    char *text = json_take_text(selftest_to_json(&t));
    struct selftest u = back(text);
    assert_string_equal(u.kind, "power");
    assert_string_equal(u.what, "suite ci");
    assert_true(u.delta == t.delta && u.q == t.q && u.visible == t.visible);
    assert_true(u.launch_noise == t.launch_noise && isnan(u.run_noise));
    assert_int_equal(u.launches, 10);
    assert_int_equal(u.benchmarks, 4);
    assert_int_equal(u.nr, 4);
    assert_int_equal(u.tallies[1].alarms.hits, 1);
    assert_int_equal(u.tallies[1].alarms.of, 7);
    assert_int_equal(u.tallies[1].lost, 2);
    assert_true(selftest_smallest(&u, NULL) == selftest_smallest(&t, NULL));
    assert_non_null(strstr(text, "\"carries\":\"yes\""));
    free(text);
}

TEST(warnings)
{
    struct selftest t = fresh();
    char warning[SELFTEST_TEXT_SIZE];

    set(&t, sizes, (const size_t[]) { 0, 0, 10, 10 }, 10, 4);
    char *text = json_take_text(selftest_to_json(&t));
    assert_int_equal(selftest_kept_gate(text, 0.03, warning), SELFTEST_CARRIES);
    assert_int_equal(selftest_kept_gate(text, 0.01, warning), SELFTEST_CANNOT);
    assert_non_null(strstr(warning, "cannot carry a gate of 1 %"));
    free(text);
    assert_int_equal(selftest_kept_gate("", 0.01, warning), SELFTEST_UNKNOWN);
    assert_string_equal(warning, "");
    assert_int_equal(selftest_kept_gate("{\"kind\": 7}", 0.01, warning), SELFTEST_UNKNOWN);
    assert_int_equal(selftest_kept_gate("[1, 2", 0.01, warning), SELFTEST_UNKNOWN);
}

static void expect_refused(const char *text, const char *part)
{
    struct error err = { "" };
    struct selftest t;
    cJSON *json = json_parse(text, strlen(text), "test", &err);

    assert_ok(json ? 0 : -1, &err);
    assert_int_equal(selftest_from_json(json, &t, &err), -1);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" is not in: %s", part, err.message);
    cJSON_Delete(json);
}

TEST(bad_input)
{
#define HEAD                 "{\"kind\":\"aa\",\"delta\":0.03,\"launches\":3,\"sizes\":["
#define RATE(name, hits, of) "\"" name "\":{\"hits\":" hits ",\"of\":" of "}"
    expect_refused("{}", "kind");
    expect_refused("{\"kind\":\"aa\",\"delta\":\"x\",\"launches\":3}", "delta");
    expect_refused(HEAD "{}]}", "size");
    expect_refused(HEAD "{\"size\":0," RATE("comparisons", "2", "1") "}]}", "2 of 1");
    expect_refused(HEAD "{\"size\":0," RATE("comparisons", "-1", "1") "}]}", "-1 of 1");
    expect_refused(HEAD "1,2,3,4,5,6,7,8,9]}", "more than 8");
}

RUN_TESTS(NULL, NULL)
