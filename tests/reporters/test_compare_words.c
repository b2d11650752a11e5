/* SPDX-License-Identifier: MIT */
/*
 * What a comparison says beside its figures: what was found, how sure, and what to do next.
 * Features: U-06, U-12.
 */
#include "analysis_fixture.h"
#include "testing.h"

#include "base/array.h"
#include "reporters/compare_words.h"
#include "stats/random.h"
#include "verdict/compare.h"

enum { MOST = 64 };

static struct benchmark_name names[MOST];

static void add(struct evidence_side *side, int run, double log_value)
{
    side->present = true;
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    side->values[side->nr++] =
        (struct evidence_value) { 1e6 * exp(log_value), run, 0, (double)NAN };
}

struct plan {
    enum compare_design design;
    size_t benchmarks;
    int launches, runs; /* of a run or block; runs or blocks of a side */
    double noise;       /* of a launch */
    double slower;      /* all of the head */
    int earlier;        /* runs before */
};

static struct compare_item *make_items(const struct plan *p, struct random *r)
{
    struct compare_item *items = memory_zeroed(p->benchmarks, sizeof(*items));
    struct error err;

    for (size_t i = 0; i < p->benchmarks; i++) {
        snprintf(names[i].key, sizeof(names[i].key), "gemm/n=%zu", i);
        items[i] = (struct compare_item) { &names[i], "m", false, metric_find("p50", &err),
                                           .evidence.design = p->design };
        struct evidence *e = &items[i].evidence;
        for (int j = 0; j < p->launches * p->runs; j++) {
            add(&e->base, j / p->launches, p->noise * random_normal(r));
            add(&e->head, j / p->launches, p->slower + p->noise * random_normal(r));
        }
        for (int j = 0; j < p->earlier; j++) {
            add(&e->earlier, j, 0.001 * random_normal(r));
            e->earlier.values[j].inner = 1e-6;
        }
    }
    return items;
}

static struct comparison decide(const struct plan *p, struct random *r)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct error err;

    assert_ok(compare_decide(make_items(p, r), p->benchmarks, &settings, &c, &err), &err);
    return c;
}

static bool excludes_0(const struct compare_row *row)
{
    return row->interval.low > 0 || row->interval.high < 0;
}

/* "It may be chance" stood beside +4.6 % (+2.4 to +6.7): no word may deny what the interval says.
 */
TEST(words_do_not_deny_the_interval)
{
    struct random r;
    size_t without_0 = 0, with_0 = 0;

    random_seed(&r, 3);
    for (int i = 0; i < 400; i++) {
        const struct plan plan = {
            (enum compare_design)(i % 3), 4, 3, i % 3 == 0 ? 1 : 4, 0.015, 0.01 * (i % 7), 0
        };
        struct comparison c = decide(&plan, &r);
        for (size_t j = 0; j < c.nr; j++) {
            const struct compare_row *row = &c.rows[j];
            if (row->verdict != VERDICT_UNDECIDED)
                continue;
            without_0 += excludes_0(row);
            with_0 += !excludes_0(row);
            if (strstr(row->why, "may be chance") ||
                (strstr(row->why, "neither no change") && excludes_0(row)) ||
                (strstr(row->why, "probably") && !excludes_0(row)) || row->why[0] == '\0')
                fail_msg("%+.2f %% (%+.2f to %+.2f): \"%s\"", 100 * row->change,
                         100 * row->interval.low, 100 * row->interval.high, row->why);
        }
        comparison_release(&c);
    }
    assert_true(without_0 > 20 && with_0 > 20);
}

/* Found among all by its q, yet its interval holds 0: "not among 4" beside q = 0.03 is not so. What
 * all rows share is in the interval and not in the test, so only families that moved have such. */
TEST(words_do_not_deny_the_family)
{
    struct random r;
    size_t found = 0, lost = 0;

    random_seed(&r, 4);
    for (int i = 0; i < 400; i++) {
        const struct plan plan = { DESIGN_LAUNCHES, 4, 5, 1, 0.006, 0.03 + 0.01 * (i % 4), 0 };
        struct comparison c = decide(&plan, &r);
        for (size_t j = 0; j < c.nr; j++) {
            const struct compare_row *row = &c.rows[j];
            bool among = row->q <= c.settings.q;
            if (row->verdict != VERDICT_UNDECIDED || row->p > c.settings.q)
                continue;
            found += among;
            lost += !among;
            if ((strstr(row->why, "not among") && among) ||
                (strstr(row->why, "reaches 0") && (!among || excludes_0(row))))
                fail_msg("q = %.2g, %+.2f to %+.2f %%: \"%s\"", row->q, 100 * row->interval.low,
                         100 * row->interval.high, row->why);
        }
        comparison_release(&c);
    }
    print_message("undecided though p <= 5 %%: %zu with q <= 5 %%, %zu without\n", found, lost);
    assert_true(found > 0 && lost > 0);
}

static const char *note_with(const struct comparison *c, const char *beginning)
{
    for (size_t i = 0; i < c->nr_notes; i++)
        if (strncmp(c->notes[i], beginning, strlen(beginning)) == 0)
            return c->notes[i];
    return "";
}

/* Two builds are placed once each: what placement alone moves is no change of the code, however
 * sure it is, and what is more is called as ever. */
TEST(less_than_placement_is_not_called)
{
    static const struct compare_placement placements[] = {
        { "gemm/n=0", "", 0.02, 0.04 },
        { "gemm/n=1", "m", 0.02, 0.04 },
        { "gemm/n=1", "another machine", 0.2, 0.4 },
        { "gemm/n=2", "m", 0, 0 }, /* measured, and nothing was shown */
    };
    static const struct {
        double slower;
        enum verdict verdicts[4];
        bool told;
    } rows[] = {
        { 0.010, { VERDICT_SAME, VERDICT_SAME, VERDICT_SAME, VERDICT_SAME }, false },
        { 0.034, { VERDICT_SAME, VERDICT_SAME, VERDICT_REGRESSED, VERDICT_REGRESSED }, false },
        { 0.038,
          { VERDICT_UNDECIDED, VERDICT_UNDECIDED, VERDICT_REGRESSED, VERDICT_REGRESSED },
          true },
        { 0.060,
          { VERDICT_REGRESSED, VERDICT_REGRESSED, VERDICT_REGRESSED, VERDICT_REGRESSED },
          false },
    };
    struct random r;

    random_seed(&r, 13);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct plan plan = { DESIGN_BLOCKS, 4, 2, 12, 0.003, rows[i].slower, 0 };
        struct compare_settings settings = COMPARE_DEFAULTS;
        struct comparison c;
        struct error err;
        settings.placements = placements;
        settings.nr_placements = 4;
        assert_ok(compare_decide(make_items(&plan, &r), 4, &settings, &c, &err), &err);
        for (size_t j = 0; j < 4; j++) {
            const struct compare_row *row = &c.rows[j];
            if (row->verdict != rows[i].verdicts[j])
                fail_msg("%g %%, row %zu: %s (%s), %+.2f to %+.2f %%", 100 * rows[i].slower, j,
                         verdict_name(row->verdict), row->why, 100 * row->interval.low,
                         100 * row->interval.high);
            if (row->verdict == VERDICT_UNDECIDED && rows[i].told)
                assert_non_null(strstr(row->why, "no more than placement in memory alone may do"));
        }
        assert_true(c.rows[1].delta == 0.04 && c.rows[2].delta == 0.03);
        assert_true(c.rows[0].noise.placement == 0.02 && c.rows[2].noise.placement == 0);
        assert_true(isnan(c.rows[3].noise.placement));
        assert_non_null(strstr(note_with(&c, "Noise, medians"), "2 % from placement in memory"));
        assert_non_null(strstr(note_with(&c, "Placement alone moves 2 of the 4"), "below 4 %"));
        comparison_release(&c);
    }
}

TEST(undecided_says_what_would_decide)
{
    static const struct {
        const char *what;
        struct plan plan;
        const char *note;
    } rows[] = {
        { "many noisy benchmarks",
          { DESIGN_LAUNCHES, 60, 5, 1, 0.04, 0.03, 0 },
          "launches a side" },
        { "one quiet benchmark", { DESIGN_LAUNCHES, 1, 5, 1, 0.002, 0.02, 0 }, "Measure in turn" },
        { "the same, earlier runs",
          { DESIGN_LAUNCHES, 1, 5, 1, 0.02, 0.02, 10 },
          "launches a side" },
        { "blocks", { DESIGN_BLOCKS, 1, 2, 4, 0.02, 0.02, 0 }, "blocks" },
        { "several runs", { DESIGN_RUNS, 1, 4, 4, 0.04, 0.02, 0 }, "runs a side" },
        { "hopeless", { DESIGN_BLOCKS, 1, 2, 4, 0.8, 0.02, 0 }, "larger floor" },
    };
    struct random r;

    random_seed(&r, 5);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct comparison c = decide(&rows[i].plan, &r);
        const char *note = note_with(&c, "Undecided: ");
        if (c.count[VERDICT_UNDECIDED] == 0 || !strstr(note, rows[i].note))
            fail_msg("%s: %zu undecided, \"%s\"", rows[i].what, c.count[VERDICT_UNDECIDED], note);
        comparison_release(&c);
    }
}

/* The number that is named is about the one that it takes. */
TEST(the_number_that_would_decide_is_about_right)
{
    const struct plan few = { DESIGN_LAUNCHES, 60, 5, 1, 0.03, 0, 0 };
    struct random r;
    int launches = 0, now = 0;

    random_seed(&r, 7);
    struct comparison c = decide(&few, &r);
    const char *note = note_with(&c, "Undecided: "), *about = strstr(note, "about ");
    assert_non_null(about);
    assert_int_equal(sscanf(about, "about %d launches a side in place of %d", &launches, &now), 2);
    assert_int_equal(now, 5);
    assert_true(launches > 10 && launches < 100);
    comparison_release(&c);
    struct plan many = few;
    many.launches = launches;
    c = decide(&many, &r);
    assert_true(c.rows[0].detectable < 1.5 * c.settings.delta);
    assert_true(c.rows[0].detectable > 0.5 * c.settings.delta);
    comparison_release(&c);
}

/* The same launches as times, and as rates. */
static struct comparison decide_as(const struct plan *p, bool rate)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct random r;
    struct error err;

    random_seed(&r, 15);
    struct compare_item *items = make_items(p, &r);
    for (size_t i = 0; rate && i < p->benchmarks; i++) {
        struct evidence *e = &items[i].evidence;
        items[i].metric = metric_find("gflops", &err);
        for (size_t j = 0; j < e->base.nr; j++)
            e->base.values[j].value = 1e12 / e->base.values[j].value;
        for (size_t j = 0; j < e->head.nr; j++)
            e->head.values[j].value = 1e12 / e->head.values[j].value;
    }
    assert_ok(compare_decide(items, p->benchmarks, &settings, &c, &err), &err);
    return c;
}

TEST(a_rate_takes_as_many_launches_as_its_time)
{
    static const double noises[] = { 0.03, 0.05, 0.075, 0.3 };

    for (size_t i = 0; i < sizeof(noises) / sizeof(noises[0]); i++) {
        const struct plan plan = { DESIGN_LAUNCHES, 60, 5, 1, noises[i], 0, 0 };
        struct comparison time = decide_as(&plan, false), rate = decide_as(&plan, true);
        const char *note = note_with(&time, "Undecided: ");
        assert_non_null(strstr(note, noises[i] > 0.2 ? "no number of" : "launches a side"));
        assert_string_equal(note_with(&rate, "Undecided: "), note);
        comparison_release(&time);
        comparison_release(&rate);
    }
}

TEST(decided_says_nothing_of_more_launches)
{
    const struct plan plan = { DESIGN_BLOCKS, 3, 2, 6, 0.002, 0, 0 };
    struct random r;

    random_seed(&r, 9);
    struct comparison c = decide(&plan, &r);
    assert_int_equal(c.count[VERDICT_SAME], 3);
    assert_string_equal(note_with(&c, "Undecided: "), "");
    comparison_release(&c);
}

TEST(earlier_runs_are_told)
{
    struct plan plan = { DESIGN_LAUNCHES, 1, 5, 1, 0.002, 0.1, 10 };
    struct random r;

    random_seed(&r, 11);
    struct comparison c = decide(&plan, &r);
    assert_non_null(strstr(note_with(&c, "What two runs differ by"), "10 earlier runs"));
    comparison_release(&c);
    plan.earlier = 0;
    c = decide(&plan, &r);
    assert_string_equal(note_with(&c, "What two runs differ by"), "");
    comparison_release(&c);
}

/* "-16.8 % faster" would say minus twice. */
TEST(a_change_says_its_way_once)
{
    static const struct {
        double change;
        enum verdict verdict;
        const char *metric, *words;
    } rows[] = {
        { 0.076, VERDICT_REGRESSED, "p50", "7.6 % slower" },
        { -0.168, VERDICT_IMPROVED, "p50", "16.8 % faster" },
        { -0.168, VERDICT_REGRESSED, "gflops", "16.8 % slower" },
        { 0.25, VERDICT_IMPROVED, "gflops", "25.0 % faster" },
        { 149, VERDICT_REGRESSED, "p50", "150x slower" },
        { -0.12, VERDICT_IMPROVED, "sd", "-12.0 % better" }, /* which way is not in the word */
        { 0.05, VERDICT_UNDECIDED, "p50", "+5.0 % undecided" },
    };
    char text[QUANTITY_TEXT_SIZE];
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(compare_change_words(rows[i].change, rows[i].verdict,
                                                 metric_find(rows[i].metric, &err), text),
                            rows[i].words);
}

RUN_TESTS(NULL, NULL)
