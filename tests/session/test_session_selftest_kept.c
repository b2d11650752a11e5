/* SPDX-License-Identifier: MIT */
/* What the self-tests that a history keeps say later: warnings, the smallest change, placement. */
#include "session_testing.h"

#include "session/measure/selftest_trials.h"
#include "session/selftest_kept.h"
#include "store/verdicts.h"

#include "compare_fixture.h"

#define NR(list) (sizeof(list) / sizeof((list)[0]))

/* ---- self-tests ---- */

#define LABEL "cpu-2t"

/* How many of 10 planted changes of each size were found. */
enum planted { NONE, KEEN, DULL, SHARP, ALL };
static const double sizes[] = { 0.01, 0.02, 0.05, 0.10 };
static const size_t found[][NR(sizes)] = {
    [KEEN] = { 0, 0, 10, 10 }, /* 4.16 % with a floor of 3 %, which that carries */
    [DULL] = { 0, 0, 0, 1 },   /* cannot carry 3 % */
    [SHARP] = { 0, 10, 10, 10 },
    [ALL] = { 9, 10, 10, 10 },
};

struct kept_test {
    const char *kind;     /* NULL: no test */
    enum planted planted; /* NONE: nothing was, and `visible` counts */
    double visible;
    int rule;
    const char *machine, *device; /* NULL: "class" and LABEL */
};

static char *selftest_text(const struct kept_test *k)
{
    struct selftest t = { .delta = 0.03, .q = 0.05, .launches = 10, .visible = k->visible };

    snprintf(t.kind, sizeof(t.kind), "%s", k->kind);
    for (size_t i = 0; k->planted != NONE && i < NR(sizes); i++)
        t.tallies[t.nr++] = (struct selftest_tally) { .size = sizes[i],
                                                      .found = { found[k->planted][i], 10 },
                                                      .comparisons = { 0, 10 } };
    return json_take_text(selftest_to_json(&t));
}

static void keep_text(struct store *store, const struct kept_test *k, int64_t tested_ms, char *text)
{
    struct store_selftest test = { .tested_ms = tested_ms, .rule = k->rule, .result = text };
    struct error err;

    snprintf(test.machine, sizeof(test.machine), "%s", k->machine ? k->machine : "class");
    snprintf(test.device, sizeof(test.device), "%s", k->device ? k->device : LABEL);
    snprintf(test.kind, sizeof(test.kind), "%s", k->kind);
    assert_ok(store_selftest_add(store, &test, &err), &err);
    store_selftest_release(&test);
}

/* In the order of time, from 1 ms on. */
static void keep_tests(struct store *store, const struct kept_test *tests, size_t most)
{
    for (size_t i = 0; i < most && tests[i].kind; i++)
        keep_text(store, &tests[i], (int64_t)i + 1, selftest_text(&tests[i]));
}

#define OF(kind_, found_, visible_, rule_)                                                         \
    {                                                                                              \
        .kind = (kind_), .planted = (found_), .visible = (visible_), .rule = (rule_)               \
    }

static struct store *open_numbered(const struct scratch *scratch, size_t i)
{
    char path[160];

    snprintf(path, sizeof(path), "%s-%zu", scratch->path, i);
    return open_history(path, STORE_WRITE);
}

SCRATCH_TEST(a_gate_is_warned_of_by_the_newest_test)
{
    enum { RULE = COMPARE_RULE, OLD = COMPARE_RULE - 1 };
    static const struct {
        struct kept_test tests[3];
        bool interleaved, warned;
    } cases[] = {
        { { { .kind = NULL } }, false, false },
        { { OF("power", DULL, NAN, RULE) }, false, true },
        { { OF("power", KEEN, NAN, RULE) }, false, false },
        { { OF("power", DULL, NAN, RULE), OF("power", KEEN, NAN, RULE) }, false, false },
        { { OF("power", KEEN, NAN, RULE), OF("power", DULL, NAN, RULE) }, false, true },
        /* of another machine, device, rule or design */
        { { { "power", DULL, NAN, RULE, "other", NULL } }, false, false },
        { { { "power", DULL, NAN, RULE, NULL, "cpu-20t" } }, false, false },
        { { OF("power", DULL, NAN, OLD) }, false, false },
        { { OF("power", DULL, NAN, RULE) }, true, false },
        { { OF("power-ab", DULL, NAN, RULE) }, true, true },
        { { OF("power-ab", DULL, NAN, RULE) }, false, false },
        /* the same against itself speaks where planted changes do not */
        { { OF("aa", NONE, 3.94, RULE) }, false, true },
        { { OF("aa", NONE, 0.05, RULE) }, false, false },
        { { OF("aa-ab", NONE, 3.94, RULE) }, true, true },
        { { OF("power", KEEN, NAN, RULE), OF("aa", NONE, 3.94, RULE) }, false, false },
        { { OF("power", DULL, NAN, RULE), OF("aa", NONE, 0.05, RULE) }, false, true },
        { { OF("power", NONE, NAN, RULE), OF("aa", NONE, 3.94, RULE) }, false, true },
        { { OF("power", KEEN, NAN, OLD), OF("aa", NONE, 3.94, RULE) }, false, true },
        { { OF("aa", NONE, NAN, RULE) }, false, false },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct store *store = open_numbered(*state, i);
        char text[SELFTEST_TEXT_SIZE] = "";
        keep_tests(store, cases[i].tests, NR(cases[i].tests));
        if (gate_warning(store, "class", LABEL, cases[i].interleaved, 0.03, text) !=
            cases[i].warned)
            fail_msg("case %zu: %s", i, text);
        if (cases[i].warned)
            assert_has(text, "cannot carry a gate of 3 %");
        store_close(store);
    }
}

/* ---- the smallest change ---- */

static int64_t keep_on(struct store *store, const char *machine, const char *key, int64_t after)
{
    struct records r = { 0 };
    struct run *run = new_run(&r, 1700000000000 + after);

    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "%s", machine);
    fixture_launches(&r, key, steady, 3);
    fixture_launches(&r, B, steady, 3); /* of the same device as A: looked up once */
    return keep_run(store, &r);
}

SCRATCH_TEST(the_smallest_change_is_of_the_newest_test)
{
    enum { RULE = COMPARE_RULE, OLD = COMPARE_RULE - 1 };
    static const struct {
        struct kept_test tests[3];
        int64_t tested_ms;
        double smallest; /* NaN: not known */
        bool planted;
    } cases[] = {
        { { { .kind = NULL } }, 0, NAN, false },
        { { OF("power", SHARP, NAN, RULE) }, 1, 0.017411011265922482, true },
        { { OF("power", DULL, NAN, RULE) }, 1, INFINITY, true },
        { { OF("power", DULL, NAN, RULE), OF("power", ALL, NAN, RULE) }, 2, 0.01, true },
        { { OF("aa", NONE, 0.05, RULE) }, 1, 0.05, false },
        { { OF("aa", NONE, SELFTEST_VISIBLE_MOST, RULE) }, 1, INFINITY, false },
        { { OF("aa", NONE, NAN, RULE) }, 0, NAN, false },
        { { OF("power", NONE, NAN, RULE), OF("aa", NONE, 0.05, RULE) }, 2, 0.05, false },
        { { OF("power", DULL, NAN, OLD), OF("aa", NONE, 0.05, RULE) }, 2, 0.05, false },
        { { OF("power", DULL, NAN, OLD) }, 0, NAN, false },
        { { { "power", DULL, NAN, RULE, "other", NULL } }, 0, NAN, false },
        { { OF("power-ab", DULL, NAN, RULE) }, 0, NAN, false },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct store *store = open_numbered(*state, i);
        int64_t id = keep_on(store, "class", A, 0);
        struct store_baseline baseline = { .run_ids = &id, .nr_runs = 1 };
        struct detectable_changes changes = { 0 };
        struct error err;
        keep_tests(store, cases[i].tests, NR(cases[i].tests));
        assert_ok(detectable_changes(store, &baseline, &changes, &err), &err);
        assert_int_equal(changes.nr, 1);
        const struct detectable_change *c = &changes.items[0];
        assert_string_equal(c->machine, "class");
        assert_string_equal(c->device, LABEL);
        assert_int_equal(c->tested_ms, cases[i].tested_ms);
        if (c->tested_ms == 0)
            assert_true(isnan(c->smallest));
        else if (isinf(cases[i].smallest))
            assert_true(isinf(c->smallest));
        else
            assert_close(c->smallest, cases[i].smallest, 1e-12);
        if (c->tested_ms) {
            assert_int_equal(c->planted, cases[i].planted);
            assert_int_equal(c->launches, 10);
        }
        array_release(&changes);
        store_close(store);
    }
}

/* What is kept, but not to be read, is no test. */
SCRATCH_TEST(a_damaged_test_tells_nothing)
{
    static const char *const texts[] = {
        "", "{}", "[]", "null", "{\"kind\": \"power\"", "nonsense"
    };
    static const struct kept_test test = { .kind = "power", .rule = COMPARE_RULE };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    int64_t id = keep_on(store, "class", A, 0);
    struct store_baseline baseline = { .run_ids = &id, .nr_runs = 1 };
    char text[SELFTEST_TEXT_SIZE];
    struct error err;
    char script[128];

    keep_text(store, &test, 1, memory_string("{}"));
    for (size_t i = 0; i < NR(texts); i++) {
        struct detectable_changes changes = { 0 };
        snprintf(script, sizeof(script),
                 "PRAGMA ignore_check_constraints = ON; UPDATE selftest SET result = '%s'",
                 texts[i]);
        execute_in(scratch->path, script);
        assert_false(gate_warning(store, "class", LABEL, false, 0.03, text));
        assert_ok(detectable_changes(store, &baseline, &changes, &err), &err);
        assert_int_equal(changes.nr, 1);
        assert_int_equal(changes.items[0].tested_ms, 0);
        assert_true(isnan(changes.items[0].smallest));
        array_release(&changes);
    }
    execute_in(scratch->path, "DROP TABLE selftest");
    assert_false(gate_warning(store, "class", LABEL, false, 0.03, text));
    store_close(store);
}

/* Twins are told apart by machine and by device, and what was there stays. */
SCRATCH_TEST(each_machine_and_device_has_its_own)
{
    static const struct kept_test tests[] = {
        { "aa", NONE, 0.05, COMPARE_RULE, "one", NULL },
        { "aa", NONE, 0.07, COMPARE_RULE, "two", NULL },
        { "aa", NONE, 0.09, COMPARE_RULE, "two", "cpu-4t" },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    int64_t ids[] = {
        keep_on(store, "one", A, 0),
        keep_on(store, "two", "gemm/linear/simd/fp32/batch=4,seq=64/cpu-4t/warm", 1),
        keep_on(store, "one", C, 2),
    };
    struct store_baseline baseline = { .run_ids = ids, .nr_runs = 3 };
    struct detectable_changes changes = { 0 };
    struct error err;

    keep_tests(store, tests, NR(tests));
    assert_ok(detectable_changes(store, &baseline, &changes, &err), &err);
    assert_int_equal(changes.nr, 3);
    for (size_t i = 0; i < 3; i++) {
        size_t seen = 0;
        for (size_t k = 0; k < changes.nr; k++)
            if (strcmp(changes.items[k].machine, tests[i].machine) == 0 &&
                strcmp(changes.items[k].device, tests[i].device ? tests[i].device : LABEL) == 0) {
                assert_close(changes.items[k].smallest, tests[i].visible, 1e-12);
                seen++;
            }
        assert_int_equal(seen, 1);
    }
    assert_ok(detectable_changes(store, &baseline, &changes, &err), &err); /* appends no twins */
    assert_int_equal(changes.nr, 3);
    array_release(&changes);
    store_close(store);
}

/* ---- placement ---- */

static void keep_placement(struct store *store, const char *machine, const char *device,
                           const char *result)
{
    struct kept_test test = { .kind = PLACEMENTS_KIND, .machine = machine, .device = device };

    keep_text(store, &test, 1, memory_string(result));
}

/* What the settings have: "KEY on MACHINE below CHANGE, ...", in thousandths. */
static void expect_placements(const struct compare_settings *settings, const char *expected)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < settings->nr_placements; i++) {
        const struct compare_placement *p = &settings->placements[i];
        strbuf_addf(&text, "%s%s on %s below %.0f", i ? ", " : "", p->key, p->machine,
                    p->change * 1000);
        assert_close(p->part, log1p(p->change) / 2, 1e-12);
    }
    assert_string_equal(text.data, expected);
    strbuf_release(&text);
}

#define SHOWN   "{\"key\": \"k\", \"part\": 0.02, \"p\": 0.001}"
#define UNSHOWN "{\"key\": \"l\", \"part\": 0, \"p\": 0.9}"

SCRATCH_TEST(placement_is_heeded_once_where_it_was_tested)
{
    static const struct {
        const char *machine, *device; /* asked for, one after the other */
        const char *placements;
    } asked[] = {
        { "class", "cpu-1t", "" },
        { "class", LABEL, "k on class below 41, l on class below 0" },
        { "class", LABEL, "k on class below 41, l on class below 0" }, /* again */
        { "other", LABEL, "k on class below 41, l on class below 0" },
        { "damaged", LABEL, "k on class below 41, l on class below 0" },
        { "none of them", LABEL, "k on class below 41, l on class below 0" },
        { "second", LABEL,
          "k on class below 41, l on class below 0, k on second below 41" }, /* a twin's own */
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct compare_settings settings = defaults;
    struct placements placements = { .nr = 0 };

    keep_placement(store, "class", LABEL, "{\"benchmarks\": [" SHOWN ", " UNSHOWN "]}");
    keep_placement(store, "second", LABEL, "{\"benchmarks\": [" SHOWN "]}");
    keep_placement(store, "damaged", LABEL, "{\"benchmarks\": [" SHOWN ", {\"key\": \"\"}]}");
    keep_placement(store, "none of them", LABEL, "{\"benchmarks\": []}");
    for (size_t i = 0; i < NR(asked); i++) {
        placements_heed(&placements, store, asked[i].machine, asked[i].device, &settings);
        expect_placements(&settings, asked[i].placements);
    }
    assert_close(settings.delta, defaults.delta, 0);
    placements_release(&placements);
    store_close(store);
}

RUN_TESTS(NULL, NULL)
