/* SPDX-License-Identifier: MIT */
/* Features: U-06 (regressions against baselines), U-12 (`compare`): floors, several metrics, what
 * is shown, what was accepted, and deciding again from evidence alone. */
#include "compare_fixture.h"

/* A and B a tenth slower, C the same. */
static struct comparison several(struct pair *p, const struct compare_settings *settings)
{
    static const char *const keys[] = { A, B, C };

    *p = pair_new("m", "m");
    for (int i = 0; i < 3; i++) {
        fixture_launches(&p->base, keys[i], steady, 5);
        fixture_launches(&p->head, keys[i], i < 2 ? slower : steady, 5);
    }
    pair_fill(p);
    return compare(p, settings);
}

/* How many instructions each took: A one percent more, the others as many as before. */
static void count_instructions(struct records *r, bool head)
{
    for (size_t i = 0; i < r->nr; i++) {
        struct measurement *m = &r->items[i].m;
        double count = 1e6 + 20 * (double)(i % 5);
        bool more = head && strcmp(m->bench.key, A) == 0;
        measurement_add_telemetry(m, "instructions", more ? 1.01 * count : count);
    }
}

static struct comparison several_counted(struct pair *p, const struct compare_settings *settings)
{
    *p = pair_new("m", "m");
    fixture_launches(&p->base, A, steady, 5);
    fixture_launches(&p->head, A, steady, 5);
    pair_fill(p);
    count_instructions(&p->base, false);
    count_instructions(&p->head, true);
    return compare(p, settings);
}

TEST(test_floors_and_metrics)
{
    static const char *const metrics[] = { "p50", "median", "p95", "tokens", NULL };
    static const struct compare_floor floors[] = { { "gemm/*/batch=4,*", 0.2 },
                                                   { "p95", 0.3 },
                                                   { B ":p95", 0.4 },
                                                   { B, 0.05 },
                                                   { "layernorm:p95", 0.25 } };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct pair p;
    settings.metrics = metrics;
    settings.floors = floors;
    settings.nr_floors = 5;
    struct comparison c = several(&p, &settings);
    assert_int_equal(c.nr, 2 * (3 + FILLERS)); /* p50 once; no benchmark here has tokens */
    assert_int_equal(c.family, 2 * (3 + FILLERS));
    assert_string_equal(c.rows[1].item->metric->id, "p95");
    const double deltas[] = { 0.2, 0.3, 0.05, 0.05, 0.03, 0.25 };
    const enum verdict verdicts[] = { VERDICT_SAME,      VERDICT_SAME, VERDICT_REGRESSED,
                                      VERDICT_REGRESSED, VERDICT_SAME, VERDICT_SAME };
    for (int i = 0; i < 6; i++) {
        assert_close(c.rows[i].delta, deltas[i], 0);
        assert_int_equal(c.rows[i].verdict, verdicts[i]);
    }
    const struct metric *out[COMPARE_METRICS_MAX];
    assert_int_equal(comparison_metrics(&c, out), 3);
    pair_release(&p, &c);
}

/* The usual metric for what has none of those that are asked for, and for nothing else. */
TEST(test_the_rest_by_the_usual)
{
    static const char *const metrics[] = { "instructions", NULL };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct pair p;
    settings.metrics = metrics;
    settings.rest_by_usual = true;
    p = pair_new("m", "m");
    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, steady, 5);
    count_instructions(&p.base, false);
    count_instructions(&p.head, true);
    pair_fill(&p); /* of which no instructions are known */
    struct comparison c = compare(&p, &settings);
    for (size_t i = 0; i < c.nr; i++) {
        bool counted = strcmp(c.rows[i].item->bench->key, A) == 0;
        assert_string_equal(c.rows[i].item->metric->id, counted ? "instructions" : "p50");
    }
    assert_int_equal(c.nr, 1 + FILLERS);
    pair_release(&p, &c);
}

/* "[FILTER:]ID", and the benchmarks that it is asked of. */
TEST(test_what_is_asked_of_whom)
{
    static const struct {
        const char *asked, *id, *key;
        bool fits;
    } rows[] = {
        { "p50", "p50", A, true },
        { "gemm:p50", "p50", A, true },
        { "gem:p50", "p50", A, false },
        { "*/batch=4,*:p50", "p50", A, true },
        { "*/batch=4,*:p50", "p50", B, false },
        { "!gemm:p50", "p50", A, false },
        { "ns::sort:p50", "p50", "ns::sort/arg=4/external/warm", true },
        { "ns::sort:p50", "p50", "ns/arg=4/external/warm", false },
        { "f(a:b):r (m:s, higher)", "r (m:s, higher)", "f(a:b)/external/warm", true },
        { "a:p50", "p50", "command/a/exec/none/-/process/warm", true },
        { "command/a:p50", "p50", "command/a/exec/none/-/process/warm", true },
        { "a:p50", "p50", "command/ab/exec/none/-/process/warm", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(compare_asked_id(rows[i].asked), rows[i].id);
        if (compare_asked_fits(rows[i].asked, rows[i].key) != rows[i].fits)
            fail_msg("%s of %s", rows[i].asked, rows[i].key);
    }
    assert_true(compare_filter_fits("a", "command/a/exec/none/-/process/warm"));
    assert_false(compare_filter_fits("a", "command/ab/exec/none/-/process/warm"));
    assert_false(compare_filter_fits("exec", "command/a/exec/none/-/process/warm"));
}

/* Metrics of some benchmarks alone, and what each of A, B and C is compared by then. */
TEST(test_metrics_of_some)
{
    static const char layernorm[] = "layernorm:p95", batch[] = "*/batch=4,*:p95";
    static const struct {
        const char *metrics[4];
        bool rest;
        const char *by[3]; /* of A, B and C; "": nothing */
        const char *note;
    } rows[] = {
        { { batch }, false, { "p95", "", "" }, NULL },
        { { batch }, true, { "p95", "p50", "p50" }, NULL },
        { { batch, "p50" }, false, { "p95 p50", "p50", "p50" }, NULL },
        { { batch, "gemm:p50" }, true, { "p95 p50", "p50", "p50" }, NULL },
        { { "gemm:p50", layernorm }, true, { "p50", "p50", "p95" }, NULL },
        { { layernorm, "layernorm:p99", "gemm:p95" }, false, { "p95", "p95", "p95 p99" }, NULL },
        { { "gem:p95" },
          true,
          { "p50", "p50", "p50" },
          "The metric p95 was asked of \"gem\", which fits no benchmark" },
        { { "gemm:instructions" },
          true,
          { "p50", "p50", "p50" },
          "The metric instructions was asked of \"gemm\", which does not have it" },
    };
    static const char *const keys[] = { A, B, C };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_settings settings = COMPARE_DEFAULTS;
        struct strbuf said[3];
        struct pair p;
        settings.metrics = rows[i].metrics;
        settings.rest_by_usual = rows[i].rest;
        struct comparison c = several(&p, &settings);
        for (int k = 0; k < 3; k++) {
            strbuf_init(&said[k]);
            for (size_t r = 0; r < c.nr; r++)
                if (strcmp(c.rows[r].item->bench->key, keys[k]) == 0)
                    strbuf_addf(&said[k], "%s%s", said[k].length ? " " : "",
                                c.rows[r].item->metric->id);
            if (strcmp(said[k].data, rows[i].by[k]) != 0)
                fail_msg("row %zu: %s by \"%s\"", i, keys[k], said[k].data);
            strbuf_release(&said[k]);
        }
        assert_int_equal(noted(&c, "was asked of"), rows[i].note != NULL);
        assert_true(!rows[i].note || noted(&c, rows[i].note));
        pair_release(&p, &c);
    }
}

/* Counts hardly scatter: their metric brings a floor of its own, which the general one does not
 * replace unless somebody says so. */
TEST(test_floors_of_metrics)
{
    static const char *const counted[] = { "instructions", NULL };
    static const char *const both[] = { "p50", "instructions", NULL };
    static const struct compare_floor floors[] = { { "instructions", 0.001 } };
    const struct {
        const char *const *metrics;
        bool for_all;
        const struct compare_floor *floors;
        double general, counted; /* what holds */
    } rows[] = {
        { counted, false, NULL, 0.005, 0.005 }, { both, false, NULL, 0.03, 0.005 },
        { counted, true, NULL, 0.03, 0.03 },    { both, true, NULL, 0.03, 0.03 },
        { both, false, floors, 0.03, 0.001 },   { counted, true, floors, 0.03, 0.001 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_settings settings = COMPARE_DEFAULTS;
        struct pair p;
        settings.metrics = rows[i].metrics;
        settings.for_all = rows[i].for_all;
        settings.floors = rows[i].floors;
        settings.nr_floors = rows[i].floors != NULL;
        struct comparison c = several_counted(&p, &settings);
        assert_close(c.settings.delta, rows[i].general, 0);
        for (size_t k = 0; k < c.nr; k++)
            if (strcmp(c.rows[k].item->metric->id, "instructions") == 0 &&
                strcmp(c.rows[k].item->bench->key, A) == 0) {
                assert_close(c.rows[k].delta, rows[i].counted, 0);
                /* one percent more of them is a regression by 0.5 %, and the same by 3 % */
                assert_int_equal(c.rows[k].verdict,
                                 rows[i].counted > 0.02 ? VERDICT_SAME : VERDICT_REGRESSED);
                assert_true(c.rows[k].worse);
            }
        pair_release(&p, &c);
    }
}

/* Placement moves the time of A by 6 %, as a self-test has measured, and not how many instructions
 * it takes: one percent more of them is a regression all the same. */
TEST(test_placement_is_of_time)
{
    static const char *const metrics[] = { "p50", "instructions", NULL };
    static const struct compare_placement placements[] = { { A, "m", 0.03, 0.06 } };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct pair p;

    settings.metrics = metrics;
    settings.placements = placements;
    settings.nr_placements = 1;
    struct comparison c = several_counted(&p, &settings);
    const struct compare_row *time = &c.rows[0], *counted = &c.rows[1];
    assert_string_equal(time->item->bench->key, A);
    assert_string_equal(counted->item->metric->id, "instructions");
    assert_close(time->delta, 0.06, 0);
    assert_close(time->placed, 0.06, 0);
    assert_close(time->noise.placement, 0.03, 0);
    assert_close(counted->delta, 0.005, 0);
    assert_close(counted->placed, 0, 0);
    assert_true(isnan(counted->noise.placement));
    assert_int_equal(counted->verdict, VERDICT_REGRESSED);
    assert_true(noted(&c, "Placement alone moves 1 of the 26 compared"));
    pair_release(&p, &c);
}

/* A floor that fits nothing is told of: a slip of the pen must not weaken a gate unseen. */
TEST(test_floors_that_fit_nothing)
{
    static const char *const metrics[] = { "p50", NULL };
    static const struct compare_floor floors[] = {
        { "p59", 0.1 }, { "p95", 0.1 }, { "gemm", 0.1 }, { "gelu/*", 0.1 }, { "median", 0.1 }
    };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct pair p;
    settings.metrics = metrics;
    settings.floors = floors;
    settings.nr_floors = 5;
    struct comparison c = several(&p, &settings);
    assert_true(noted(&c, "\"p59\" fits no metric or benchmark that is compared; did you mean"));
    assert_true(noted(&c, "\"p95\" fits no metric or benchmark that is compared."));
    assert_true(noted(&c, "\"gelu/*\" fits no"));
    assert_false(noted(&c, "\"gemm\""));
    assert_false(noted(&c, "\"median\""));
    pair_release(&p, &c);
}

/* Before anything is measured: what compare_run() would refuse afterwards. */
TEST(test_settings_alone)
{
    static const char *const none[] = { "cpu_mhz", NULL }, *const unknown[] = { "p59", NULL };
    static const struct compare_floor wide[] = { { "p50", 10 } };
    struct compare_settings good = COMPARE_DEFAULTS, bad[5];
    struct error err;
    assert_ok(compare_check_settings(&good, &err), &err);
    for (int i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].metrics = none;
    bad[1].metrics = unknown;
    bad[2].q = 0.6;
    bad[3].delta = 0;
    bad[4].floors = wide;
    bad[4].nr_floors = 1;
    for (int i = 0; i < 5; i++)
        assert_int_equal(compare_check_settings(&bad[i], &err), -1);
}

/* What is shown sets the exit status; the verdicts are those of the whole family. */
TEST(test_show)
{
    static const char *const only_c[] = { "layernorm" }, *const only_b[] = { "gemm/*/batch=16,*" };
    struct pair p;
    struct comparison c = several(&p, &defaults);
    double q = c.rows[1].q;
    assert_close(c.chance, 0.1, 1e-12); /* two alarms at 5 % */
    compare_show(&c, only_b, 0);
    assert_int_equal(c.nr, 3 + FILLERS);
    compare_show(&c, only_b, 1);
    assert_int_equal(c.nr, 1);
    assert_int_equal(c.family, 3 + FILLERS);
    assert_close(c.rows[0].q, q, 0);
    assert_int_equal(c.exit_status, EXIT_REGRESSION);
    pair_release(&p, &c);
    c = several(&p, &defaults);
    compare_show(&c, only_c, 1);
    assert_int_equal(c.count[VERDICT_REGRESSED], 0);
    assert_int_equal(c.exit_status, EXIT_SAME);
    pair_release(&p, &c);
}

/* A slip of the pen chooses nothing, and is told above what is left. */
TEST(test_filters_that_fit_nothing)
{
    static const char *const filters[] = { "gem", "gemm", "!zz", "!yy" };
    struct pair p;
    struct comparison c = several(&p, &defaults);
    size_t nr = c.nr_notes;

    comparison_note(&c, "the last");
    compare_warn_filters(&c, filters, 4);
    compare_show(&c, filters, 4);
    assert_int_equal(c.nr_warnings, 2);
    assert_int_equal(c.nr_notes, nr + 3);
    assert_string_equal(c.notes[0], "Nothing that is compared fits the filter \"gem\".");
    assert_string_equal(c.notes[1], "Nothing that is compared fits the filter \"!yy\".");
    assert_string_equal(c.notes[nr + 2], "the last");
    pair_release(&p, &c);
}

#define ACCEPTANCE(key_, metric_, machine_, change_, reason_)                                      \
    {                                                                                              \
        .key = (key_), .metric = (metric_), .machine = (machine_), .change = (change_),            \
        .reason = (reason_)                                                                        \
    }

TEST(test_accept)
{
    static const struct acceptance given[] = {
        ACCEPTANCE(A, "p50", "", 0.09, "safer"),     /* 10 % is within the floor of that */
        ACCEPTANCE(B, "p50", "m", 0.05, "small"),    /* and of this it is not */
        ACCEPTANCE(B, "p95", "m", 0.5, "other"),     /* another metric */
        ACCEPTANCE(B, "p50", "n", 0.5, "elsewhere"), /* another machine */
    };
    struct pair p;
    struct strbuf text;
    struct comparison c = several(&p, &defaults);
    compare_accept(&c, given, 4);
    assert_string_equal(c.rows[0].accepted, "safer");
    assert_null(c.rows[1].accepted);
    assert_int_equal(c.accepted, 1);
    assert_false(compare_row_is_alarm(&c.rows[0]));
    assert_true(compare_row_is_alarm(&c.rows[1]));
    assert_int_equal(comparison_alarms(&c, VERDICT_REGRESSED), 1);
    assert_int_equal(comparison_alarms(&c, VERDICT_BROKEN), 0);
    assert_int_equal(comparison_alarms(&c, VERDICT_SAME), 0); /* none is one */
    assert_int_equal(c.exit_status, EXIT_REGRESSION);
    const struct acceptance more = ACCEPTANCE(B, "p50", "", 0.1, "known");
    compare_accept(&c, &more, 1);
    assert_int_equal(c.exit_status, EXIT_SAME);
    assert_int_equal(c.rows[1].verdict, VERDICT_REGRESSED);
    assert_int_equal(comparison_alarms(&c, VERDICT_REGRESSED), 0);
    strbuf_init(&text);
    comparison_summary(&c, &text);
    assert_string_equal(text.data, "2 regressed, 13 same; 2 accepted");
    strbuf_release(&text);
    pair_release(&p, &c);
}

/* What a program counts; `values` has `nr` launches. */
static void count(struct records *r, const struct number_kind *kind, const double *values, int nr)
{
    for (int i = 0; i < nr; i++) {
        struct measurement *m = fixture_add(r, i, A, 1000, 3);
        m->numbers[m->nr_numbers] = (struct number) { kind, memory_zeroed(1, sizeof(double)), 1 };
        m->numbers[m->nr_numbers++].values[0] = values[i];
    }
}

/* There is no share of 0, and no log; nor is there one of what is below. */
TEST(test_values_of_0_and_below)
{
    static const double none[5] = { 0 }, three[] = { 3, 3, 3, 3, 3 }, some[] = { 0, 3, 3, 0, 3 };
    static const double below[] = { -3, -3, -3, -3, -3 }, once[] = { 3, 3, -3, 3, 3 };
    static const char ratios[] = " is below 0: changes are told as ratios";
    static const struct {
        const double *base, *head;
        int launches;
        enum better better;
        enum verdict verdict;
        double change; /* infinite too */
        const char *why;
        int exit_status;
    } cases[] = {
        { none, three, 3, BETTER_LOWER, VERDICT_REGRESSED, INFINITY,
          "0 in all launches of the base", EXIT_REGRESSION },
        { none, three, 3, BETTER_HIGHER, VERDICT_IMPROVED, INFINITY,
          "0 in all launches of the base", EXIT_SAME },
        { three, none, 3, BETTER_LOWER, VERDICT_IMPROVED, -1, "0 in all launches of the head",
          EXIT_SAME },
        { three, none, 3, BETTER_HIGHER, VERDICT_REGRESSED, -1, "0 in all launches of the head",
          EXIT_REGRESSION },
        { none, none, 3, BETTER_LOWER, VERDICT_SAME, 0, "0 in all launches", EXIT_SAME },
        { none, three, 2, BETTER_LOWER, VERDICT_UNDECIDED, INFINITY, "2 and 2 launches; 3 on each",
          EXIT_UNDECIDED },
        { some, three, 5, BETTER_LOWER, VERDICT_UNDECIDED, 0, "0 in 2 of 5 launches and 0 of 5",
          EXIT_UNDECIDED },
        { none, some, 5, BETTER_LOWER, VERDICT_UNDECIDED, INFINITY,
          "0 in 5 of 5 launches and 2 of 5", EXIT_UNDECIDED },
        { below, below, 3, BETTER_LOWER, VERDICT_UNDECIDED, NAN, ratios, EXIT_UNDECIDED },
        { three, below, 3, BETTER_HIGHER, VERDICT_UNDECIDED, NAN, ratios, EXIT_UNDECIDED },
        { below, none, 3, BETTER_LOWER, VERDICT_UNDECIDED, NAN, ratios, EXIT_UNDECIDED },
        { three, once, 5, BETTER_LOWER, VERDICT_UNDECIDED, NAN, ratios, EXIT_UNDECIDED },
    };
    static const char *const of[] = { "zlower", "zhigher" };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err;
        const char *name = of[cases[i].better == BETTER_HIGHER];
        const char *const metrics[] = { name, NULL };
        const struct number_kind *kind = number_kind_of(name, "", cases[i].better, &err);
        struct compare_settings settings = defaults;
        struct pair p = pair_new("m", "m");
        count(&p.base, kind, cases[i].base, cases[i].launches);
        count(&p.head, kind, cases[i].head, cases[i].launches);
        settings.metrics = metrics;
        struct comparison c = compare(&p, &settings);
        assert_int_equal(c.nr, 1);
        assert_int_equal(c.rows[0].verdict, cases[i].verdict);
        assert_true(c.rows[0].change == cases[i].change ||
                    fabs(c.rows[0].change - cases[i].change) < 1e-12 ||
                    (isnan(c.rows[0].change) && isnan(cases[i].change)));
        assert_has(c.rows[0].why, cases[i].why);
        assert_int_equal(c.exit_status, cases[i].exit_status);
        assert_true(noted(&c, "measure with more launches") == (cases[i].launches < 3));
        const struct acceptance broken = ACCEPTANCE(A, (char *)name, "", NAN, "broken");
        compare_accept(&c, &broken, 1);
        assert_null(c.rows[0].accepted);
        const struct acceptance known = ACCEPTANCE(A, (char *)name, "", cases[i].change, "known");
        compare_accept(&c, &known, 1);
        assert_true((c.rows[0].accepted != NULL) == (cases[i].verdict == VERDICT_REGRESSED));
        pair_release(&p, &c);
    }
}

/* Evidence alone gives the same verdicts and numbers again. */
TEST(test_decided_again)
{
    struct comparison again;
    struct error err;
    struct pair p;
    struct comparison c = several(&p, &defaults);
    struct compare_item *items = memory_zeroed(c.nr_items, sizeof(*items));
    for (size_t i = 0; i < c.nr_items; i++) {
        struct evidence *from = &c.items[i].evidence, *to = &items[i].evidence;
        items[i] = c.items[i];
        to->base.values = memory_zeroed(from->base.nr, sizeof(*to->base.values));
        memcpy(to->base.values, from->base.values, from->base.nr * sizeof(*to->base.values));
        to->head.values = memory_zeroed(from->head.nr, sizeof(*to->head.values));
        memcpy(to->head.values, from->head.values, from->head.nr * sizeof(*to->head.values));
    }
    assert_ok(compare_decide(items, c.nr_items, &defaults, &again, &err), &err);
    for (size_t i = 0; i < c.nr; i++) {
        assert_int_equal(again.rows[i].verdict, c.rows[i].verdict);
        assert_close(again.rows[i].p, c.rows[i].p, 0);
        assert_close(again.rows[i].interval.low, c.rows[i].interval.low, 0);
    }
    assert_int_equal(again.exit_status, c.exit_status);
    comparison_release(&again);
    pair_release(&p, &c);
}

RUN_TESTS(NULL, NULL)
