/* SPDX-License-Identifier: MIT */
/* The overview: one run, two, and a history; the answer, the change, the scores and the machine. */
#include "testing.h"

#include "output_records.h"

#include "overview/overview.h"

#include <stdlib.h>

#define KEY(variant, batch)                                                                        \
    "gemm/linear/" variant "/fp32/batch=" batch ",seq=64,n=64,k=64/cpu-4t/warm"

enum { RUNS = 60, AT = 40, LAUNCHES = 5 };

struct made {
    struct records records, base, head;
    struct series_list list;
    struct trends trends;
    struct comparison comparison;
    struct overview_input input;
    struct overview overview;
    bool compared, past;
};

static void made_add(struct records *r, int run, int launch, const char *key, double ns,
                     bool vendor)
{
    uint64_t seed = (uint64_t)r->nr + 1;
    struct measurement *m = made_measurement(r, run, launch, key, ns, 0.002, 9, seed);

    made_work(m, 4e6, 1e5);
    m->vendor = vendor;
    measurement_add_telemetry(m, "load1", 1.5);
}

/* A run of two sizes by two variants of ours and by the library; `slow` is of one of them. */
static void made_add_run(struct records *r, int nth, double slow)
{
    char commit[16];

    snprintf(commit, sizeof(commit), "%07dab", nth);
    int run = made_run(r, nth, commit, "gcc 12.2.0");
    for (int launch = 0; launch < LAUNCHES; launch++) {
        made_add(r, run, launch, KEY("naive", "1"), 90000, false);
        made_add(r, run, launch, KEY("naive", "4"), 90000, false);
        made_add(r, run, launch, KEY("simd", "1"), 20000, false);
        made_add(r, run, launch, KEY("simd", "4"), slow * 20000, false);
        made_add(r, run, launch, KEY("openblas", "1"), 30000, true);
        made_add(r, run, launch, KEY("openblas", "4"), 30000, true);
        made_add(r, run, launch, "layernorm/plain/simd/fp32/batch=1,width=64/cpu-4t/warm", 5000,
                 false);
    }
}

static void made_compare(struct made *made, double slow)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct error err;

    made_add_run(&made->base, 0, 1);
    made_add_run(&made->head, 1, slow);
    made_roofs(&made->head);
    assert_ok(compare_run(&made->base, &made->head, &settings, &made->comparison, &err), &err);
    made->compared = true;
    made->input = (struct overview_input) {
        .records = &made->head,
        .comparison = &made->comparison,
        .base = &made->base.runs[0],
        .base_label = "main",
    };
    overview_make(&made->input, &made->overview);
}

/* `slow` from run AT on. */
static void made_history(struct made *made, double slow)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct error err;

    for (int i = 0; i < RUNS; i++)
        made_add_run(&made->records, i, i < AT ? 1 : slow);
    series_list_init(&made->list, &made->records);
    assert_ok(trends_find(&made->list, &made->records, &settings, &made->trends, &err), &err);
    made->past = true;
    made->input = (struct overview_input) {
        .records = &made->records,
        .run = RUNS - 1,
        .trends = &made->trends,
    };
    overview_make(&made->input, &made->overview);
}

static void made_release(struct made *made)
{
    overview_release(&made->overview);
    if (made->compared)
        comparison_release(&made->comparison);
    if (made->past) {
        trends_release(&made->trends);
        series_list_release(&made->list);
    }
    records_release(&made->records);
    records_release(&made->base);
    records_release(&made->head);
}

/* Results that are none come before all that can be said of times. */
TEST(wrong_results_come_first)
{
    static const struct {
        enum outcome first, second;
        const char *verdict;
        enum overview_tone tone;
    } rows[] = {
        { OUTCOME_WRONG, OUTCOME_OK, "1 of 7 benchmarks has wrong results.", OVERVIEW_BAD },
        { OUTCOME_WRONG, OUTCOME_WRONG, "2 of 7 benchmarks have wrong results.", OVERVIEW_BAD },
        { OUTCOME_FAILED, OUTCOME_OK, "1 of 7 benchmarks failed.", OVERVIEW_BAD },
        { OUTCOME_WRONG, OUTCOME_FAILED, "1 of 7 benchmarks has wrong results and 1 failed.",
          OVERVIEW_BAD },
        { OUTCOME_UNSUPPORTED, OUTCOME_OK,
          "Nothing to compare with yet: 7 benchmarks measured, and no base.", OVERVIEW_OPEN },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct made made = { .input = { .records = &made.records } };
        made_add_run(&made.records, 0, 1);
        const char *first = made.records.items[0].m.bench.key;
        size_t other = 1;
        while (strcmp(made.records.items[other].m.bench.key, first) == 0)
            other++;
        const char *second = made.records.items[other].m.bench.key;
        for (size_t k = 0; k < made.records.nr; k++) {
            struct measurement *m = &made.records.items[k].m;
            m->outcome = strcmp(m->bench.key, first) == 0    ? rows[i].first
                         : strcmp(m->bench.key, second) == 0 ? rows[i].second
                                                             : OUTCOME_OK;
        }
        overview_make(&made.input, &made.overview);
        assert_string_equal(made.overview.verdict, rows[i].verdict);
        assert_int_equal(made.overview.tone, rows[i].tone);
        made_release(&made);
    }
}

TEST(ratios_in_words)
{
    static const struct {
        double past, roof;
        const char *past_text, *roof_text;
    } rows[] = {
        { 1.135, 0.654, "13.5 % slower", "65 %" },  { 6.6, 0.004, "6.6× slower", "under 1 %" },
        { 1 / 25.0, 0.996, "25× faster", "100 %" }, { 2.9, NAN, "190 % slower", "–" },
        { 1.01, 0.01, "the same", "1 %" },
    };
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct overview_score score = { .past = rows[i].past, .roof = rows[i].roof };
        assert_string_equal(overview_past_text(&score, text), rows[i].past_text);
        assert_string_equal(overview_roof_text(&score, text), rows[i].roof_text);
    }
}

TEST(nothing_and_one_run_say_so)
{
    struct made made = { .input = { .records = &made.records, .run = -1 } };

    overview_make(&made.input, &made.overview);
    assert_string_equal(made.overview.verdict, "There is no finished run to show.");
    overview_release(&made.overview);

    made_add_run(&made.records, 0, 1);
    made.input.run = 0;
    overview_make(&made.input, &made.overview);
    assert_string_equal(made.overview.verdict,
                        "Nothing to compare with yet: 7 benchmarks measured, and no base.");
    assert_int_equal(made.overview.tone, OVERVIEW_OPEN);
    assert_false(made.overview.change.found);
    assert_int_equal(made.overview.nr_scores, 2);
    assert_true(isnan(made.overview.scores[0].roof));
    assert_true(isnan(made.overview.scores[0].past));
    made_release(&made);
}

TEST(two_runs_name_the_change_and_its_commits)
{
    static const struct {
        double slow;
        const char *verdict, *title;
        enum overview_tone tone;
    } cases[] = {
        { 1.13, "1 of 7 benchmarks got slower against main.", "slower", OVERVIEW_BAD },
        { 0.8, "Nothing got slower, and 1 of 7 benchmarks got faster against main.", "faster",
          OVERVIEW_GOOD },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made = { 0 };
        made_compare(&made, cases[i].slow);
        const struct overview_change *change = &made.overview.change;
        assert_string_equal(made.overview.verdict, cases[i].verdict);
        assert_int_equal(made.overview.tone, cases[i].tone);
        assert_true(change->found);
        assert_string_equal(change->label, "gemm/linear simd batch=4");
        assert_non_null(strstr(change->title, cases[i].title));
        assert_non_null(strstr(change->since, "commits 0000000..0000001"));
        assert_true(change->launches);
        assert_int_equal(change->nr_points, 2 * LAUNCHES);
        assert_int_equal(change->step, LAUNCHES);
        assert_close(change->after / change->before, cases[i].slow, 0.02);
        made_release(&made);
    }
}

/* The verdict is told in words of what it counts, which an accepted row of memory is not. */
TEST(what_is_accepted_changes_no_word)
{
    struct made made = { 0 };
    struct error err;

    made_compare(&made, 1.13);
    struct comparison *c = &made.comparison;
    for (size_t i = 0; c->accepted == 0 && i < c->nr; i++) {
        if (c->rows[i].verdict != VERDICT_SAME)
            continue;
        c->items[c->rows[i].item - c->items].metric = metric_find("memory", &err);
        c->rows[i].verdict = VERDICT_REGRESSED;
        c->rows[i].accepted = "larger tables";
        c->accepted = 1;
    }
    assert_int_equal(c->accepted, 1);
    overview_release(&made.overview);
    overview_make(&made.input, &made.overview);
    assert_string_equal(made.overview.verdict, "1 of 7 benchmarks got slower against main.");
    made_release(&made);
}

TEST(what_is_the_same_is_told_as_that)
{
    struct made made = { 0 };

    made_compare(&made, 1);
    assert_string_equal(made.overview.verdict, "Nothing got slower against main.");
    assert_int_equal(made.overview.tone, OVERVIEW_PLAIN);
    assert_false(made.overview.change.found);
    made_release(&made);
}

TEST(scores_are_of_the_fastest_of_ours)
{
    struct made made = { 0 };
    char text[QUANTITY_TEXT_SIZE], words[2 * NAME_SIZE];

    made_compare(&made, 1);
    const struct overview_score *gemm = &made.overview.scores[0];
    assert_string_equal(gemm->name, "gemm/linear");
    assert_string_equal(gemm->best, "simd");
    assert_int_equal(gemm->sizes, 2);
    assert_close(gemm->vendor, 1.5, 0.03);
    assert_string_equal(overview_vendor(&made.overview), "openblas");
    assert_close(gemm->roof, 4e6 / 420e9 / 20e-6, 0.02); /* the compute roof over the time */
    assert_string_equal(overview_size_text(gemm, words, sizeof(words)), "simd, 2 sizes");
    const struct overview_score *norm = &made.overview.scores[1];
    assert_true(isnan(norm->vendor));
    assert_string_equal(overview_vendor_text(norm, text), "–");
    assert_int_equal(norm->sizes, 1);
    made_release(&made);
}

/* A head of three runs, of which only the first measured the layer norm; all began after what is
 * the past. */
TEST(scores_are_of_all_runs_of_the_head)
{
    struct made made = { 0 };
    char text[QUANTITY_TEXT_SIZE];

    made_history(&made, 1);
    made_add(&made.head, made_run(&made.head, RUNS, "1111111", "gcc 12.2.0"), 0,
             "layernorm/plain/simd/fp32/batch=1,width=64/cpu-4t/warm", 5000, false);
    for (int i = 1; i < 3; i++)
        made_add(&made.head, made_run(&made.head, RUNS + i, "1111111", "gcc 12.2.0"), 0,
                 KEY("simd", "1"), i == 1 ? 22000 : 26000, false);
    overview_release(&made.overview);
    made.input.records = &made.head;
    made.input.head = &made.head;
    made.input.run = 2;
    overview_make(&made.input, &made.overview);
    assert_int_equal(made.overview.nr_scores, 2);
    const struct overview_score *gemm = &made.overview.scores[0];
    assert_close(gemm->past, 1.2, 0.02);                        /* the median of both launches */
    assert_int_equal(overview_past_tone(gemm), OVERVIEW_PLAIN); /* no step, no verdict */
    assert_non_null(strstr(overview_past_text(gemm, text), " % slower"));
    assert_string_equal(made.overview.scores[1].name, "layernorm/plain");
    assert_int_equal(overview_past_ms(&made.overview),
                     made.records.runs[RUNS - OVERVIEW_DAYS].started_ms);
    made_release(&made);
}

/* Scores and times are of one machine class, that of the newest run; a row says of which it is. */
TEST(a_head_on_several_machines_is_told_apart)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct made made = { 0 };
    struct error err;

    made_add_run(&made.base, 0, 1);
    made_add_run(&made.base, 1, 1);
    made_add_run(&made.head, 2, 1);
    made_add_run(&made.head, 3, 2);
    snprintf(made.base.runs[1].machine.class_name, sizeof(made.base.runs[1].machine.class_name),
             "epyc");
    snprintf(made.head.runs[1].machine.class_name, sizeof(made.head.runs[1].machine.class_name),
             "epyc");
    made_roofs(&made.head);
    assert_ok(compare_run(&made.base, &made.head, &settings, &made.comparison, &err), &err);
    made.compared = true;
    made.input = (struct overview_input) { .records = &made.head,
                                           .run = 1,
                                           .head = &made.head,
                                           .comparison = &made.comparison,
                                           .base = &made.base.runs[1],
                                           .base_label = "main" };
    overview_make(&made.input, &made.overview);
    assert_string_equal(made.overview.change.label, "gemm/linear simd batch=4 on epyc");
    /* 20 and 40 us there, 20 and 20 on the other, and the library 30 */
    assert_string_equal(made.overview.scores[0].name, "gemm/linear");
    assert_close(made.overview.scores[0].weight_ns, 60000, 600);
    assert_close(made.overview.scores[0].vendor, sqrt(30. / 20 * 30 / 40), 0.02);
    made_release(&made);
}

TEST(a_history_says_since_when)
{
    struct made made = { 0 };

    made_history(&made, 1.1);
    const struct overview_change *change = &made.overview.change;
    assert_string_equal(made.overview.verdict, "1 of 7 benchmarks got slower over the history.");
    assert_int_equal(made.overview.slower, 1);
    assert_non_null(strstr(made.overview.past, "60 runs since"));
    assert_non_null(strstr(made.overview.past, "the most gemm/linear simd batch=4, by "));
    assert_int_equal(change->source, OVERVIEW_STEP);
    assert_int_equal(change->nr_points, RUNS);
    assert_int_equal(change->step, AT);
    assert_true(change->points[AT].after && !change->points[AT - 1].after);
    assert_true(change->points[RUNS - 1].head);
    assert_non_null(strstr(change->since, "0000039..0000040"));
    made_release(&made);
}

/* Base is run 10, and the head differs since run AT: the runs between narrow it down, also for a
 * head that is no part of the history. */
TEST(runs_between_base_and_head_narrow_the_commit_down)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct compare_settings compared = COMPARE_DEFAULTS;
    struct made made = { .compared = true, .past = true };
    struct error err;

    made_add_run(&made.base, 10, 1);
    made_add_run(&made.head, 20, 1.2);
    made.head.runs[0].kind = RUN_TRIAL;
    for (int i = 10; i < 20; i++) /* too short for a step to be told */
        made_add_run(&made.records, i, i < 18 ? 1 : 1.2);
    series_list_init(&made.list, &made.records);
    assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
    assert_ok(compare_run(&made.base, &made.head, &compared, &made.comparison, &err), &err);
    made.input = (struct overview_input) { .records = &made.head,
                                           .comparison = &made.comparison,
                                           .base = &made.base.runs[0],
                                           .trends = &made.trends };
    overview_make(&made.input, &made.overview);
    const struct overview_change *change = &made.overview.change;
    assert_int_equal(change->nr_points, 11);
    assert_int_equal(change->step, 8);
    assert_has(change->since, "commits 0000017..0000018");
    assert_true(change->points[10].head);
    made_release(&made);
}

/* A step of the history is the comparison's only where it lies between base and head; else the runs
 * between them tell which commit it was. */
TEST(a_step_outside_base_and_head_is_not_blamed)
{
    static const struct {
        int step, change; /* runs from which on 1.5 times, and 1.1 times as long */
        int base, head;
        const char *since;
        enum overview_source source;
    } rows[] = {
        { 20, 58, 50, 59, "commits 0000057..0000058", OVERVIEW_COMPARED }, /* long before */
        { 20, 21, 20, 22, "commits 0000020..0000021", OVERVIEW_COMPARED }, /* in the base itself */
        { 50, 18, 10, 20, "commits 0000017..0000018", OVERVIEW_STEP },     /* after the head, too */
        { 40, RUNS, 10, 59, "commits 0000039..0000040", OVERVIEW_STEP },   /* between */
        { 40, RUNS, 39, 40, "commits 0000039..0000040", OVERVIEW_STEP },   /* just so */
    };
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct compare_settings compared = COMPARE_DEFAULTS;
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct made made = { .compared = true, .past = true };
        for (int nth = 0; nth < RUNS; nth++) {
            double slow = (nth < rows[i].step ? 1 : 1.5) * (nth < rows[i].change ? 1 : 1.1);
            made_add_run(&made.records, nth, slow);
            if (nth == rows[i].base || nth == rows[i].head)
                made_add_run(nth == rows[i].base ? &made.base : &made.head, nth, slow);
        }
        series_list_init(&made.list, &made.records);
        assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
        assert_ok(compare_run(&made.base, &made.head, &compared, &made.comparison, &err), &err);
        made.input = (struct overview_input) { .records = &made.head,
                                               .comparison = &made.comparison,
                                               .base = &made.base.runs[0],
                                               .trends = &made.trends };
        overview_make(&made.input, &made.overview);
        const struct overview_change *change = &made.overview.change;
        assert_has(change->since, rows[i].since);
        assert_int_equal(change->source, rows[i].source);
        assert_int_equal(change->nr_points, rows[i].head + 1);
        assert_true(change->step > 0 && change->step < change->nr_points);
        assert_true(change->points[change->step].after);
        made_release(&made);
    }
}

/* Sides that were measured in turn are shown by their launches: no run in between made the step. */
TEST(sides_measured_in_turn_have_no_date)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct compare_settings compared = COMPARE_DEFAULTS;
    struct made made = { .compared = true, .past = true };
    struct error err;

    for (int i = 0; i < 6; i++) {
        made_add_run(&made.records, i, i % 2 ? 1.2 : 1);
        made_add_run(i % 2 ? &made.head : &made.base, i, i % 2 ? 1.2 : 1);
    }
    series_list_init(&made.list, &made.records);
    assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
    assert_ok(compare_run(&made.base, &made.head, &compared, &made.comparison, &err), &err);
    made.input = (struct overview_input) { .records = &made.head,
                                           .run = 2,
                                           .head = &made.head,
                                           .comparison = &made.comparison,
                                           .base = &made.base.runs[2],
                                           .trends = &made.trends };
    overview_make(&made.input, &made.overview);
    assert_true(made.overview.change.launches);
    assert_int_equal(made.overview.change.nr_points, 6 * LAUNCHES);
    made_release(&made);
}

/* Slower bit by bit: no commit in the middle is to blame, also where the comparison tells it. */
TEST(a_drift_between_base_and_head_has_no_step)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct compare_settings compared = COMPARE_DEFAULTS;
    struct made made = { .compared = true, .past = true };
    struct error err;

    for (int i = 0; i < RUNS; i++)
        made_add_run(&made.records, i, 1 + 0.2 * i / RUNS);
    made_add_run(&made.base, 10, 1 + 0.2 * 10 / RUNS);
    made_add_run(&made.head, RUNS - 1, 1 + 0.2 * (RUNS - 1) / RUNS);
    series_list_init(&made.list, &made.records);
    assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
    assert_ok(compare_run(&made.base, &made.head, &compared, &made.comparison, &err), &err);
    made.input = (struct overview_input) { .records = &made.head,
                                           .comparison = &made.comparison,
                                           .base = &made.base.runs[0],
                                           .trends = &made.trends };
    overview_make(&made.input, &made.overview);
    const struct overview_change *change = &made.overview.change;
    assert_int_equal(change->source, OVERVIEW_DRIFT);
    assert_int_equal(change->step, 0);
    assert_int_equal(change->nr_points, RUNS - 10); /* from the base on */
    assert_has(change->since, "little by little from ");
    assert_has(change->since, "commits 0000010..0000059");
    made_release(&made);
}

/* Where the newest run happens to be slow, a drift ends where its line does, as in `trend`. */
TEST(a_drift_ends_on_its_line)
{
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct made made = { .past = true };
    struct error err;

    for (int i = 0; i < RUNS; i++)
        made_add_run(&made.records, i, (1 + 0.2 * i / RUNS) * (i == RUNS - 1 ? 1.05 : 1));
    series_list_init(&made.list, &made.records);
    assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
    made.input = (struct overview_input) {
        .records = &made.records,
        .run = RUNS - 1,
        .trends = &made.trends,
    };
    overview_make(&made.input, &made.overview);
    const struct overview_change *change = &made.overview.change;
    assert_int_equal(change->source, OVERVIEW_DRIFT);
    assert_true(change->after < change->points[change->nr_points - 1].value / 1.03);
    assert_close(change->after / 20000, 1.2, 0.02);
    assert_close(change->before / 20000, 1, 0.02);
    made_release(&made);
}

/* What somebody accepted leads no more, and does not count. */
TEST(an_accepted_drift_is_no_news)
{
    struct acceptance accepted = { .key = (char *)KEY("simd", "4"),
                                   .metric = (char *)"p50",
                                   .machine = (char *)"",
                                   .change = 0.2,
                                   .reason = (char *)"larger tables" };
    struct trend_settings settings = { .metric = trend_metric("p50", NULL),
                                       .fdr = 0.05,
                                       .accepted = &accepted };
    struct made made = { .past = true };
    struct error err;

    for (int i = 0; i < RUNS; i++)
        made_add_run(&made.records, i, 1 + 0.2 * i / RUNS);
    accepted.commit = made.records.runs[RUNS - 1].build.commit;
    series_list_init(&made.list, &made.records);
    for (settings.nr_accepted = 0; settings.nr_accepted < 2; settings.nr_accepted++) {
        size_t slower = 1 - settings.nr_accepted;
        trends_release(&made.trends);
        overview_release(&made.overview);
        assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
        assert_int_equal(made.trends.drifts, 1);
        made.input = (struct overview_input) {
            .records = &made.records,
            .run = RUNS - 1,
            .trends = &made.trends,
        };
        overview_make(&made.input, &made.overview);
        assert_int_equal(made.overview.slower, slower);
        assert_int_equal(made.overview.change.found, slower);
    }
    made_release(&made);
}

/* The step is 20 days old: of the last 31 days the oldest runs were before it. */
TEST(scores_are_held_against_a_month_ago)
{
    struct made made = { 0 };
    char text[QUANTITY_TEXT_SIZE];

    made_history(&made, 1.21);
    const struct overview_score *gemm = &made.overview.scores[0];
    assert_int_equal(gemm->past_sizes, 2);
    assert_close(gemm->past, 1.1, 0.01); /* one of two sizes */
    assert_int_equal(overview_past_tone(gemm), OVERVIEW_BAD);
    assert_non_null(strstr(overview_past_text(gemm, text), "slower"));
    assert_int_equal(overview_past_ms(&made.overview),
                     made.records.runs[RUNS - 1 - OVERVIEW_DAYS].started_ms);
    made_release(&made);
}

/* Slower than a month ago in the newest run alone, which decides nothing; what the comparison says
 * of that benchmark does, if it says it of its time. */
TEST(scores_heed_verdicts_on_times)
{
    static const struct {
        const char *metric;
        enum verdict verdict;
        enum overview_tone tone;
    } rows[] = {
        { "p50", VERDICT_UNDECIDED, OVERVIEW_PLAIN },
        { "p50", VERDICT_REGRESSED, OVERVIEW_BAD },
        { "gflops", VERDICT_REGRESSED, OVERVIEW_BAD },
        { "memory", VERDICT_REGRESSED, OVERVIEW_PLAIN },
        { "max", VERDICT_REGRESSED, OVERVIEW_PLAIN },
    };
    struct trend_settings settings = { .metric = trend_metric("p50", NULL), .fdr = 0.05 };
    struct compare_settings compared = COMPARE_DEFAULTS;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct made made = { .compared = true, .past = true };
        struct error err;
        for (int run = 0; run < RUNS; run++)
            made_add_run(&made.records, run, run < RUNS - 1 ? 1 : 1.21);
        made_add_run(&made.base, 0, 1);
        made_add_run(&made.head, RUNS - 1, 1.21);
        series_list_init(&made.list, &made.records);
        assert_ok(trends_find(&made.list, &made.records, &settings, &made.trends, &err), &err);
        assert_int_equal(made.trends.steps, 0);
        assert_ok(compare_run(&made.base, &made.head, &compared, &made.comparison, &err), &err);
        struct comparison *c = &made.comparison;
        for (size_t k = 0; k < c->nr; k++) {
            bool own = strcmp(c->rows[k].item->bench->key, KEY("simd", "4")) == 0;
            c->rows[k].verdict = own ? rows[i].verdict : VERDICT_UNDECIDED;
            c->items[c->rows[k].item - c->items].metric = metric_find(rows[i].metric, &err);
        }
        made.input = (struct overview_input) {
            .records = &made.head,
            .comparison = c,
            .base = &made.base.runs[0],
            .trends = &made.trends,
        };
        overview_make(&made.input, &made.overview);
        assert_close(made.overview.scores[0].past, 1.1, 0.01);
        if (overview_past_tone(&made.overview.scores[0]) != rows[i].tone)
            fail_msg("%s: %s", rows[i].metric,
                     overview_tone_name(overview_past_tone(&made.overview.scores[0])));
        made_release(&made);
    }
}

TEST(a_quiet_history_has_no_change)
{
    struct made made = { 0 };

    made_history(&made, 1);
    assert_string_equal(made.overview.verdict, "Nothing got slower for good in 60 runs.");
    assert_false(made.overview.change.found);
    made_release(&made);
}

static const struct overview_fact *fact_of(const struct overview *overview, const char *name)
{
    for (size_t i = 0; i < overview->nr_facts; i++)
        if (strcmp(overview->facts[i].name, name) == 0)
            return &overview->facts[i];
    return NULL;
}

TEST(the_machine_is_told)
{
    struct made made = { .input = { .records = &made.records } };

    made_add_run(&made.records, 0, 1);
    for (size_t i = 0; i < made.records.nr; i++) {
        struct measurement *m = &made.records.items[i].m;
        measurement_add_telemetry(m, TELEMETRY_MACHINE, i == 3 ? 6e6 : 3e6);
        measurement_add_telemetry(m, "steal_percent", 9);
        measurement_add_telemetry(m, "gpu_throttle_thermal", 0.5);
    }
    made.records.items[0].m.outcome = OUTCOME_WRONG;
    made.records.runs[0].environment = memory_string("{\"governor\":\"powersave\"}");
    overview_make(&made.input, &made.overview);
    static const struct {
        const char *name, *text;
        enum overview_tone tone;
    } facts[] = {
        { "noise", "from launch to launch", OVERVIEW_GOOD },
        { "machine", "slower beside 1 of 35 measurements, up to 2.0 times", OVERVIEW_OPEN },
        { "load", "1.5 on 4 processors", OVERVIEW_GOOD },
        { "host", "took 9.0 % of the time away", OVERVIEW_BAD },
        { "clocks", "held back by heat in 50 % of the looks", OVERVIEW_BAD },
        { "governor", "powersave", OVERVIEW_OPEN },
        { "results", "1 wrong and 0 failed of 7 benchmarks", OVERVIEW_BAD },
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const struct overview_fact *fact = fact_of(&made.overview, facts[i].name);
        assert_non_null(fact);
        assert_non_null(strstr(fact->text, facts[i].text));
        assert_int_equal(fact->tone, facts[i].tone);
    }
    assert_int_equal(made.overview.health, OVERVIEW_BAD);
    made_release(&made);
}

RUN_TESTS(NULL, NULL)
