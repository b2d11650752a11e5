/* SPDX-License-Identifier: MIT */
/* Features: U-06 (regressions against baselines), U-12 (`compare`): the rule on hand-made cases.
 * Its rates are in tests/statistics. */
#include "compare_fixture.h"

TEST(test_same_and_regressed)
{
    struct pair p = pair_new("m", "m");
    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, steady, 5);
    fixture_launches(&p.base, B, steady, 5);
    fixture_launches(&p.head, B, slower, 5);
    fixture_launches(&p.base, C, slower, 5);
    fixture_launches(&p.head, C, steady, 5);
    pair_fill(&p);
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.nr, 3 + FILLERS);
    assert_int_equal(c.family, 3 + FILLERS);
    assert_int_equal(c.rows[0].verdict, VERDICT_SAME); /* batch 4 before batch 16 */
    assert_string_equal(c.rows[0].item->bench->key, A);
    const struct compare_row *row = &c.rows[1];
    assert_int_equal(row->verdict, VERDICT_REGRESSED);
    assert_close(row->change, 0.1, 1e-4);
    assert_true(row->worse && row->interval.low > 0.08 && row->interval.high < 0.12);
    assert_close(row->base.value, 1e6, 1);
    assert_int_equal(row->head.launches, 5);
    assert_close(row->rank_p, 1.0 / 252, 1e-12);
    assert_true(row->p < 0.001 && row->q >= row->p && row->q < 0.01);
    assert_true(row->detectable > 0.01 && row->detectable < 0.1);
    assert_int_equal(c.rows[2].verdict, VERDICT_IMPROVED);
    assert_int_equal(c.exit_status, EXIT_REGRESSION);
    struct strbuf text;
    strbuf_init(&text);
    comparison_summary(&c, &text);
    assert_string_equal(text.data, "1 regressed, 1 improved, 13 same");
    strbuf_release(&text);
    pair_release(&p, &c);
}

/* By hand: logs 0, 0.01, 0.02 against 0.10, 0.11, 0.12. */
TEST(test_arithmetic)
{
    struct pair p = pair_new("m", "m");
    double base[3], head[3];
    for (int i = 0; i < 3; i++) {
        base[i] = 1e9 * exp(0.01 * i);
        head[i] = 1e9 * exp(0.10 + 0.01 * i);
    }
    fixture_launches(&p.base, A, base, 3);
    fixture_launches(&p.head, A, head, 3);
    struct comparison c = compare(&p, &defaults);
    double se = 0.01 * sqrt(2.0 / 3), half = stats_t_quantile(0.95, 4) * se;
    const struct compare_row *row = &c.rows[0];
    double low = log1p(row->interval.low), high = log1p(row->interval.high);
    /* What the launches show is the least; what may lie between two runs comes on top. */
    assert_true(row->p > 2 * stats_t_cdf(-0.1 / se, 4) && row->p < 0.05);
    assert_close(row->q, row->p, 1e-12);
    assert_close(0.5 * (low + high), 0.1, 1e-9);
    assert_true(0.5 * (high - low) > half && 0.5 * (high - low) > 0.04);
    assert_close(row->rank_p, 0.05, 1e-12);
    assert_true(row->detectable > 0.06 && row->detectable < 0.2);
    assert_int_equal(row->verdict, VERDICT_REGRESSED);
    pair_release(&p, &c);
}

TEST(test_few_launches)
{
    struct pair p = pair_new("m", "m");
    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, slower, 2);
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.rows[0].verdict, VERDICT_UNDECIDED);
    assert_non_null(strstr(c.rows[0].why, "5 and 2 launches"));
    assert_true(isnan(c.rows[0].p) && c.family == 0);
    assert_close(c.rows[0].change, 0.1, 1e-2);
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    assert_true(noted(&c, "fewer than 3 launches"));
    pair_release(&p, &c);
}

/* One wild launch makes a large mean, not a regression. */
TEST(test_one_wild_launch)
{
    const double wild[] = { 1000000, 1001000, 999000, 1000500, 5000000 };
    struct pair p = pair_new("m", "m");
    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, wild, 5);
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.rows[0].verdict, VERDICT_UNDECIDED);
    assert_true(c.rows[0].why[0] != '\0');
    pair_release(&p, &c);
}

/* A rate that falls is worse; a change of x and its inverse are the same distance. */
TEST(test_rate_direction)
{
    static const char *const gflops[] = { "gflops", NULL };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct pair p = pair_new("m", "m");
    settings.metrics = gflops;
    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, slower, 5);
    for (size_t i = 0; i < 5; i++)
        p.base.items[i].m.flops = p.head.items[i].m.flops = 1e9;
    struct comparison c = compare(&p, &settings);
    assert_int_equal(c.rows[0].verdict, VERDICT_REGRESSED);
    assert_close(c.rows[0].change, 1 / 1.1 - 1, 1e-4);
    assert_true(c.rows[0].worse && c.rows[0].interval.high < 0);
    assert_true(c.rows[0].interval.low < c.rows[0].change);
    assert_close(c.rows[0].base.value, 1000, 0.1);
    pair_release(&p, &c);
}

static void fail_launch(struct records *r, int launch, enum outcome outcome, const char *message)
{
    struct measurement *m = fixture_add(r, launch, A, 1, 0);

    m->outcome = outcome;
    m->message = memory_string(message);
}

TEST(test_outcomes)
{
    static const struct {
        enum outcome base, head;
        enum verdict verdict;
        int exit_status;
    } rows[] = {
        { OUTCOME_OK, OUTCOME_WRONG, VERDICT_BROKEN, EXIT_REGRESSION },
        { OUTCOME_OK, OUTCOME_FAILED, VERDICT_BROKEN, EXIT_REGRESSION },
        { OUTCOME_WRONG, OUTCOME_OK, VERDICT_FIXED, EXIT_SAME },
        { OUTCOME_WRONG, OUTCOME_FAILED, VERDICT_FAILING, EXIT_UNDECIDED },
        { OUTCOME_OK, OUTCOME_UNSUPPORTED, VERDICT_MISSING, EXIT_UNDECIDED },
        { OUTCOME_UNSUPPORTED, OUTCOME_OK, VERDICT_NEW, EXIT_UNDECIDED },
        { OUTCOME_UNSUPPORTED, OUTCOME_FAILED, VERDICT_FAILING, EXIT_UNDECIDED },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct pair p = pair_new("m", "m");
        struct records *side[] = { &p.base, &p.head };
        enum outcome outcome[] = { rows[i].base, rows[i].head };
        for (int s = 0; s < 2; s++) {
            /* Unsupported throughout; failures in the last launch only. */
            bool unsupported = outcome[s] == OUTCOME_UNSUPPORTED;
            if (!unsupported)
                fixture_launches(side[s], A, steady, 3);
            if (outcome[s] != OUTCOME_OK)
                fail_launch(side[s], 3, outcome[s], "row 3 differs");
        }
        struct comparison c = compare(&p, &defaults);
        assert_int_equal(c.nr, 1);
        assert_int_equal(c.rows[0].verdict, rows[i].verdict);
        assert_int_equal(c.exit_status, rows[i].exit_status);
        assert_int_equal(c.family, 0);
        if (rows[i].verdict == VERDICT_BROKEN)
            assert_non_null(strstr(c.rows[0].why, "in 1 of its 4 launches: row 3"));
        pair_release(&p, &c);
    }
}

/* What there is no room for is marked, and no character is cut in two. */
TEST(test_long_messages)
{
    static const char stars[] =
        "****************************************"
        "*************************************"; /* 77 */
    static const struct {
        const char *rest, *shown; /* behind the stars */
    } rows[] = { { "abc", "abc" }, { "abcd", "abc…" }, { "abµ", "ab…" }, { "aµbc", "aµ…" } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int failed = 0; failed < 2; failed++) {
            struct pair p = pair_new("m", "m");
            char message[128], shown[256];
            snprintf(message, sizeof(message), "%s%s", stars, rows[i].rest);
            fixture_launches(&p.base, A, steady, 3);
            fail_launch(&p.head, 0, failed ? OUTCOME_FAILED : OUTCOME_UNSUPPORTED, message);
            struct comparison c = compare(&p, &defaults);
            snprintf(shown, sizeof(shown), "%s: %s%s",
                     failed ? "FAILED in 1 of its 1 launches" : "not supported any more", stars,
                     rows[i].shown);
            assert_string_equal(c.rows[0].why, shown);
            pair_release(&p, &c);
        }
}

TEST(test_new_missing_unsupported)
{
    struct pair p = pair_new("m", "m");
    fixture_launches(&p.base, B, steady, 3);
    fixture_launches(&p.head, C, steady, 3);
    fail_launch(&p.base, 0, OUTCOME_UNSUPPORTED, "too large");
    fail_launch(&p.head, 0, OUTCOME_UNSUPPORTED, "too large");
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.nr, 2);
    assert_int_equal(c.count[VERDICT_MISSING], 1);
    assert_int_equal(c.count[VERDICT_NEW], 1);
    assert_int_equal(c.unsupported, 1);
    assert_true(noted(&c, "1 benchmark runs on neither side."));
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    pair_release(&p, &c);
}

/* One thread against two: every benchmark is new or missing, and the reader is told why. */
TEST(test_devices)
{
    struct pair p = pair_new("m", "m");
    fixture_launches(&p.base, A, steady, 3);
    fixture_launches(&p.base, B, steady, 3);
    fixture_launches(&p.head, "gemm/linear/simd/fp32/batch=4,seq=64/cpu-1t/warm", steady, 3);
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    assert_true(noted(&c, "The base was measured on cpu-2t, the head on cpu-1t"));
    comparison_release(&c);
    fixture_launches(&p.head, B, steady, 3); /* something is on both sides after all */
    c = compare(&p, &defaults);
    assert_false(noted(&c, "the same --device"));
    pair_release(&p, &c);
}

TEST(test_machine_classes)
{
    struct compare_settings any = COMPARE_DEFAULTS;
    struct pair p = pair_new("epyc", "xeon");
    fixture_launches(&p.base, A, steady, 3);
    fixture_launches(&p.head, A, steady, 3);
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.nr, 0);
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    assert_true(noted(&c, "base has runs of machine class epyc"));
    comparison_release(&c);
    any.any_machine = true;
    c = compare(&p, &any);
    assert_int_equal(c.nr, 1); /* one benchmark, one run a side: nothing tells what lies between */
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    assert_true(noted(&c, "differences may be the machines'"));
    comparison_release(&c);
    /* With a second class on the base side only the common one is compared. */
    fixture_run(&p.base, "xeon", 3);
    fixture_launches(&p.base, A, steady, 3);
    c = compare(&p, &defaults);
    assert_int_equal(c.nr, 1);
    assert_string_equal(c.rows[0].item->machine, "xeon");
    pair_release(&p, &c);
}

/* Of each class what its newest runs say of plugins: once where they say the same. */
TEST(test_plugins_of_machine_classes)
{
    static const struct {
        const char *second; /* the plugin in the head's run on the second class */
        const char *told;   /* of it; NULL: nothing */
    } cases[] = {
        { "bb", NULL },
        { "cc", "another file in the head: aa in the base, now cc on machine class xeon." },
        { "aa", "the same file in base and head (aa) on machine class xeon." },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pair p = pair_new("epyc", "epyc");
        char text[64];
        snprintf(text, sizeof(text), "{\"plugins\":{\"v.so\":\"%s\"}}", cases[i].second);
        p.base.runs[0].settings = memory_string("{\"plugins\":{\"v.so\":\"aa\"}}");
        p.head.runs[0].settings = memory_string("{\"plugins\":{\"v.so\":\"bb\"}}");
        fixture_run(&p.base, "xeon", 1)->settings =
            memory_string("{\"plugins\":{\"v.so\":\"aa\"}}");
        fixture_run(&p.head, "xeon", 1)->settings = memory_string(text);
        struct comparison c = compare(&p, &defaults);
        size_t told = 0;
        for (size_t k = 0; k < c.nr_notes; k++)
            told += strstr(c.notes[k], "Plugin v.so") != NULL;
        assert_int_equal(told, cases[i].told ? 2 : 1);
        assert_true(noted(&c, "Plugin v.so is another file in the head: aa in the base, now bb."));
        assert_true(!cases[i].told || noted(&c, cases[i].told));
        pair_release(&p, &c);
    }
}

TEST(test_shift_and_environment)
{
    struct pair p = pair_new("m", "m");
    char key[64];
    for (int i = 0; i < 12; i++) {
        snprintf(key, sizeof(key), "gemm/nn/simd/fp32/m=%d/cpu-2t/warm", i + 1);
        fixture_launches(&p.base, key, steady, 5);
        fixture_launches(&p.head, key, slower, 5);
    }
    for (size_t i = 0; i < 15; i++)
        p.base.items[i].m.vendor = p.head.items[i].m.vendor = true;
    snprintf(p.base.runs[0].build.compiler, sizeof(p.base.runs[0].build.compiler), "gcc 12");
    snprintf(p.head.runs[0].build.compiler, sizeof(p.head.runs[0].build.compiler), "gcc 13");
    p.base.runs[0].environment = memory_string("{\"governor\":\"performance\",\"load1\":0.1}");
    p.head.runs[0].environment = memory_string("{\"governor\":\"powersave\",\"load1\":3}");
    p.head.runs[0].build.dirty = true;
    struct comparison c = compare(&p, &defaults);
    assert_true(c.shifted && c.rows[0].borrowed);
    assert_close(c.common_shift, 0.1, 1e-3);
    assert_close(c.vendor_shift, 0.1, 1e-3);
    assert_true(noted(&c, "suspect the machine before the code"));
    assert_true(noted(&c, "reference libraries"));
    assert_true(noted(&c, "compiler: gcc 12 -> gcc 13"));
    assert_true(noted(&c, "governor: performance -> powersave"));
    assert_true(noted(&c, "uncommitted"));
    assert_false(noted(&c, "load1"));
    assert_true(noted(&c, "12 compared, chance alone would give 0.6 alarms"));
    pair_release(&p, &c);
}

/* Of one class, but another host or clock: told before the verdicts. Hosts alone are no epoch. */
TEST(test_hosts_and_clocks)
{
    static const struct {
        const char *base, *head, *words; /* NULL: nothing to tell */
        bool environment;
    } rows[] = {
        { "{\"host\":\"server\",\"cpu_mhz\":2000}", "{\"host\":\"laptop\",\"cpu_mhz\":5000}",
          "on host server at 2000 MHz, the head on host laptop at 5000 MHz", false },
        { "{\"host\":\"a\"}", "{\"host\":\"b\"}", "on host a, the head on host b", false },
        { "{\"cpu_mhz\":2000}", "{\"cpu_mhz\":2200}", "a host without a name at 2000 MHz", false },
        { "{\"host\":\"a\",\"cpu_mhz\":2000}", "{\"host\":\"a\",\"cpu_mhz\":2050}", NULL, false },
        { "{\"host\":\"a\"}", "{\"system\":\"Linux\"}", NULL, true },
        { "{}", "{}", NULL, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pair p = pair_new("m", "m");
        fixture_launches(&p.base, "BM_Sort", steady, 5);
        fixture_launches(&p.head, "BM_Sort", steady, 5);
        p.base.runs[0].kind = p.head.runs[0].kind = RUN_IMPORTED;
        p.base.runs[0].environment = memory_string(rows[i].base);
        p.head.runs[0].environment = memory_string(rows[i].head);
        struct comparison c = compare(&p, &defaults);
        assert_int_equal(c.nr_warnings, rows[i].words != NULL);
        if (rows[i].words)
            assert_non_null(strstr(c.notes[0], rows[i].words));
        assert_int_equal(noted(&c, "The environment differs"), rows[i].environment);
        pair_release(&p, &c);
    }
}

TEST(test_bad_settings)
{
    static const char *const p51[] = { "p51", NULL }, *const fact[] = { "error", NULL };
    static const struct compare_floor bad[] = { { "gemm", 0 } };
    static const struct {
        struct compare_settings settings;
        const char *words;
    } rows[] = {
        { { .delta = 0.03, .q = 0.05, .floors = bad, .nr_floors = 1 }, "gemm: the floor" },
        { { .delta = 0, .q = 0.05 }, "floor" },
        { { .delta = NAN, .q = 0.05 }, "floor" },
        { { .delta = 0.03, .q = 0.7 }, "false-discovery" },
        { { .delta = 0.03, .q = 0.05, .metrics = p51 }, "did you mean" },
        { { .delta = 0.03, .q = 0.05, .metrics = fact }, "cannot be compared" },
    };
    struct pair p = pair_new("m", "m");
    struct comparison c;
    struct error err;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(compare_run(&p.base, &p.head, &rows[i].settings, &c, &err), -1);
        assert_non_null(strstr(err.message, rows[i].words));
    }
    c = compare(&p, &defaults); /* nothing at all is no error */
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    pair_release(&p, &c);
}

/* Five launches a side around `head` / 1000 ns, the machine probe at `probe` times its base. */
static struct comparison with_probe(struct records *base, struct records *head, double value,
                                    double probe)
{
    static const double noise[] = { 0.998, 0.999, 1, 1.001, 1.002 };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c = { 0 };
    struct error err;

    fixture_run(base, "m", 1);
    fixture_run(head, "m", 2);
    for (int i = 0; i < 5; i++) {
        const char *key = "a/b/simd/fp32/batch=1/cpu-2t/warm";
        measurement_add_telemetry(fixture_add(base, i, key, 100000 * noise[i], 3),
                                  TELEMETRY_MACHINE, 1e6);
        measurement_add_telemetry(fixture_add(head, i, key, value * noise[4 - i], 3),
                                  TELEMETRY_MACHINE, 1e6 * probe);
    }
    assert_ok(compare_run(base, head, &settings, &c, &err), &err);
    assert_int_equal(c.nr, 1);
    return c;
}

/* A slower machine is not a slower program, and hides whether there is one. */
TEST(test_machine_probe)
{
    static const struct {
        double value, probe;
        enum verdict verdict;
    } cases[] = {
        { 150000, 1.0, VERDICT_REGRESSED },
        { 150000, 1.5, VERDICT_UNDECIDED },
        { 100000, 1.5, VERDICT_UNDECIDED },
        { 180000, 1.15, VERDICT_REGRESSED },
        { 118000, 1.15, VERDICT_UNDECIDED },
        { 100000, 1.0, VERDICT_UNDECIDED },
        { 80000, 0.8, VERDICT_UNDECIDED },
        { 80000, 1.01, VERDICT_IMPROVED },
        /* what is too large to be alike for everything: six times as much in logs, either way */
        { 1100000, 1.5, VERDICT_UNDECIDED },
        { 1300000, 1.5, VERDICT_REGRESSED },
        { 18500, 0.75, VERDICT_UNDECIDED },
        { 16000, 0.75, VERDICT_IMPROVED },
        { 540000, 0.75, VERDICT_UNDECIDED },
        { 620000, 0.75, VERDICT_REGRESSED },
        { 9000, 1.5, VERDICT_UNDECIDED },
        { 8000, 1.5, VERDICT_IMPROVED },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct records base = { 0 }, head = { 0 };
        struct comparison c = with_probe(&base, &head, cases[i].value, cases[i].probe);
        assert_int_equal(c.rows[0].verdict, cases[i].verdict);
        assert_close(c.rows[0].probe, cases[i].probe - 1, 1e-9);
        if (cases[i].verdict == VERDICT_UNDECIDED && cases[i].probe != 1.0)
            assert_non_null(strstr(c.rows[0].why, "machine"));
        comparison_release(&c);
        records_release(&base);
        records_release(&head);
    }
}

/* What each launch counted: in the head A `factor` times as much, beside a probe of `probe` times.
 */
static void count_beside_probe(struct records *r, const char *name, double factor, double probe)
{
    for (size_t i = 0; i < r->nr; i++) {
        struct measurement *m = &r->items[i].m;
        double count = 1e6 + 20 * (double)(i % 5);
        bool more = strcmp(m->bench.key, A) == 0;
        measurement_add_telemetry(m, name, more ? factor * count : count);
        measurement_add_telemetry(m, TELEMETRY_MACHINE, 1e6 * probe);
    }
}

static void measured_in_turn(struct run *run)
{
    snprintf(run->ab.id, sizeof(run->ab.id), "pair");
    run->ab.block = 1;
}

/* The probe is a time: it tells of times and of what a shared machine changes with them, and not of
 * what the code does. */
TEST(test_machine_probe_of_counts)
{
    static const struct {
        const char *metric, *telemetry;
        double factor, probe;
        enum verdict verdict;
    } cases[] = {
        { "instructions", "instructions", 1, 1.008, VERDICT_SAME },
        { "instructions", "instructions", 1.02, 1.04, VERDICT_REGRESSED },
        { "instructions", "instructions", 0.98, 0.9, VERDICT_IMPROVED },
        { "instructions", "instructions", 1.02, 1.5, VERDICT_REGRESSED },
        { "memory", "peak_rss_bytes", 1, 1.04, VERDICT_SAME },
        { "memory", "peak_rss_bytes", 1.1, 1.5, VERDICT_REGRESSED },
        { "cycles", "cycles", 1, 1.04, VERDICT_UNDECIDED },
        { "cycles", "cycles", 1.1, 1.5, VERDICT_UNDECIDED },
    };

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t k = i / 2;
        const char *const metrics[] = { "p50", cases[k].metric, NULL };
        struct compare_settings settings = COMPARE_DEFAULTS;
        struct pair p = pair_new("m", "m");
        settings.metrics = metrics;
        fixture_launches(&p.base, A, steady, 5);
        fixture_launches(&p.head, A, steady, 5);
        pair_fill(&p);
        count_beside_probe(&p.base, cases[k].telemetry, 1, 1);
        count_beside_probe(&p.head, cases[k].telemetry, cases[k].factor, cases[k].probe);
        if (i % 2) {
            measured_in_turn(&p.base.runs[0]);
            measured_in_turn(&p.head.runs[0]);
        }
        bool heeds = cases[k].verdict == VERDICT_UNDECIDED;
        struct comparison c = compare(&p, &settings);
        assert_string_equal(c.rows[1].item->metric->id, cases[k].metric);
        if (c.rows[1].verdict != cases[k].verdict)
            fail_msg("case %zu: %s (%s)", i, verdict_name(c.rows[1].verdict), c.rows[1].why);
        assert_int_equal(strstr(c.rows[1].why, "the machine itself moved") != NULL, heeds);
        assert_int_equal(isnan(c.rows[1].probe) != 0, !heeds);
        /* It tells of the time in the same comparison as ever. */
        assert_int_equal(c.rows[0].verdict,
                         cases[k].probe == 1.008 ? VERDICT_SAME : VERDICT_UNDECIDED);
        assert_close(c.probe_shift, cases[k].probe - 1, 1e-9);
        comparison_release(&c);
        settings.metrics = &metrics[1];
        c = compare(&p, &settings);
        assert_int_equal(c.rows[0].verdict, cases[k].verdict);
        assert_int_equal(isnan(c.probe_shift) != 0, !heeds);
        assert_int_equal(noted(&c, "The machine itself moved"), heeds);
        pair_release(&p, &c);
    }
}

RUN_TESTS(NULL, NULL)
