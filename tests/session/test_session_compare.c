/* SPDX-License-Identifier: MIT */
/* A comparison from two REFs to its recorded verdicts, over a history of its own. */
#include "session_testing.h"

#include "session/acceptance.h"
#include "session/compare/compare.h"
#include "session/measure/selftest_trials.h"
#include "session/replay.h"
#include "verdict/placement_noise.h"

#include "compare_fixture.h"
#include "stats/random.h"

#include <signal.h>

struct history {
    struct store *store;
    char base[24], head[24];
};

static void make_history(const struct scratch *scratch, struct history *h)
{
    h->store = open_history(scratch->path, STORE_WRITE);
    snprintf(h->base, sizeof(h->base), "%lld",
             (long long)keep_times(h->store, A, steady, 5, 1700000000000));
    snprintf(h->head, sizeof(h->head), "%lld",
             (long long)keep_times(h->store, A, slower, 5, 1700000100000));
}

static void compare_once(const struct history *h, struct compare_request *r, struct compared *c)
{
    struct error err;

    *c = (struct compared) { .store = h->store };
    r->baseline = h->base;
    r->head = h->head;
    assert_ok(compare_request_check(r, &c->rule, &err), &err);
    assert_ok(compare_sides_find(r, c, &err), &err);
    assert_ok(compare_sides_decide(r, c, &err), &err);
}

static size_t count_recorded(struct store *store)
{
    struct store_comparisons all = { 0 };
    struct error err;

    assert_ok(store_comparison_list(store, 0, &all, &err), &err);
    size_t nr = all.nr;
    store_comparisons_release(&all);
    return nr;
}

#define COMPARE_TEST(name) TEST_WITH(name, scratch_setup, scratch_teardown)

COMPARE_TEST(a_slower_head_regressed_and_is_recorded)
{
    struct compare_request r = { .no_record = false };
    struct history h;
    struct compared c;

    make_history(*state, &h);
    compare_once(&h, &r, &c);
    assert_int_equal(c.comparison.nr, 1);
    assert_close(c.comparison.rows[0].change, 0.1, 0.01);
    assert_int_equal(count_recorded(h.store), 1);
    compared_release(&c);
    r.no_record = true;
    compare_once(&h, &r, &c);
    assert_int_equal(count_recorded(h.store), 1);
    compared_release(&c);
    store_close(h.store);
}

static void keep_on(struct store *store, const char *class_name, const char *label,
                    const double *ns, int64_t started_ms)
{
    struct records r = { 0 };
    struct run *run = new_run(&r, started_ms);

    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "%s", class_name);
    snprintf(run->machine.id, sizeof(run->machine.id), "%s", class_name);
    snprintf(run->label, sizeof(run->label), "%s", label);
    fixture_launches(&r, A, ns, 5);
    keep_run(store, &r);
}

/* Both sides on two classes of machines, of which one is slower: it is compared, and not with the
 * other's base. A class that the base lacks is told. */
COMPARE_TEST(each_machine_class_has_a_base_of_its_own)
{
    static const char *const classes[] = { "class", "other" };
    const struct scratch *scratch = *state;
    struct history h = { .store = open_history(scratch->path, STORE_WRITE),
                         .base = "label:b",
                         .head = "label:h" };
    struct compare_request r = { .no_record = true };
    struct compared c;

    keep_on(h.store, classes[0], "b", steady, 1700000000000);
    keep_on(h.store, classes[1], "b", steady, 1700000100000);
    keep_on(h.store, classes[0], "h", steady, 1700000200000);
    keep_on(h.store, classes[1], "h", slower, 1700000300000);
    compare_once(&h, &r, &c);
    assert_int_equal(c.comparison.nr, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct compare_row *row = &c.comparison.rows[i];
        bool other = strcmp(row->item->machine, classes[1]) == 0;
        assert_close(row->change, other ? 0.1 : 0, 0.01);
    }
    assert_int_equal(c.base.records.nr_runs, 2);
    assert_false(noted(&c.comparison, "they were left out"));
    assert_false(noted(&c.comparison, "The environment differs"));
    assert_false(noted(&c.comparison, "whose environment differs"));
    compared_release(&c);
    keep_on(h.store, "third", "h", slower, 1700000400000);
    compare_once(&h, &r, &c);
    assert_int_equal(c.comparison.nr, 2);
    assert_true(
        noted(&c.comparison, "The head has runs of machine class third, the base has none"));
    compared_release(&c);
    store_close(h.store);
}

/* As `harness selftest --placement` does: it moves A by 8 %. */
static void keep_placement(struct store *store, const char *machine, const char *device)
{
    const struct placement_part part = {
        .key = A, .fresh = 0.08, .part = 0.08, .limits = { 0.05, 0.11 }, .p = 1e-4, .launches = 40
    };
    struct store_selftest test = { .kind = PLACEMENTS_KIND, .tested_ms = 1700000000000 };
    cJSON *json = placement_to_json(&part, 1);
    struct error err;

    snprintf(test.machine, sizeof(test.machine), "%s", machine);
    snprintf(test.device, sizeof(test.device), "%s", device);
    test.result = cJSON_PrintUnformatted(json);
    assert_ok(store_selftest_add(store, &test, &err), &err);
    free(test.result);
    cJSON_Delete(json);
}

COMPARE_TEST(placement_is_heeded_of_this_machine_and_device)
{
    struct compare_request r = { .no_record = true };
    struct history h;
    struct compared c;

    make_history(*state, &h);
    keep_placement(h.store, "class", "cuda");
    keep_placement(h.store, "another class", "cpu-2t");
    compare_once(&h, &r, &c);
    assert_int_equal(c.rule.settings.nr_placements, 0);
    assert_true(c.comparison.rows[0].placed == 0);
    assert_int_not_equal(c.comparison.rows[0].verdict, VERDICT_SAME);
    compared_release(&c);
    keep_placement(h.store, "class", "cpu-2t");
    compare_once(&h, &r, &c);
    assert_int_equal(c.rule.settings.nr_placements, 1); /* asked for once, of five launches */
    assert_close(c.comparison.rows[0].placed, expm1(0.16), 1e-6);
    assert_int_equal(c.comparison.rows[0].verdict, VERDICT_SAME);
    assert_true(noted(&c.comparison, "Placement alone moves 1 of the 1 compared"));
    compared_release(&c);
    store_close(h.store);
}

/* A run that counts instructions, too. */
static int64_t keep_counted(struct store *store, int64_t started_ms)
{
    struct records r = { 0 };

    new_run(&r, started_ms);
    fixture_launches(&r, A, steady, 5);
    for (size_t i = 0; i < r.nr; i++)
        measurement_add_telemetry(&r.items[i].m, "instructions", 1e6 + (double)i);
    return keep_run(store, &r);
}

/* As `harness selftest --aa` does, on a machine that sees no less than 10 % of time. */
static void keep_noisy_selftest(struct store *store)
{
    char result[] = "{\"kind\":\"aa\",\"delta\":0.03,\"launches\":3,\"sizes\":[],\"visible\":0.1}";
    struct store_selftest test = { .machine = "class",
                                   .device = "cpu-2t",
                                   .kind = "aa",
                                   .tested_ms = 1700000000000,
                                   .rule = COMPARE_RULE,
                                   .result = result };
    struct error err;

    assert_ok(store_selftest_add(store, &test, &err), &err);
}

COMPARE_TEST(self_tests_warn_of_times_alone)
{
    static const struct {
        const char *metrics;
        bool warned;
    } rows[] = {
        { NULL, true },
        { "p95", true },
        { "instructions", false },
        { "instructions,p50", true }, /* whichever comes first */
    };
    const struct scratch *scratch = *state;
    struct history h = { .store = open_history(scratch->path, STORE_WRITE) };

    snprintf(h.base, sizeof(h.base), "%lld", (long long)keep_counted(h.store, 1700000000000));
    snprintf(h.head, sizeof(h.head), "%lld", (long long)keep_counted(h.store, 1700000100000));
    keep_noisy_selftest(h.store);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_request r = { .no_record = true };
        struct compared c;
        if (rows[i].metrics)
            string_list_add(&r.numbers.metrics, rows[i].metrics);
        compare_once(&h, &r, &c);
        if (noted(&c.comparison, "The last self-test here: This machine cannot carry") !=
            rows[i].warned)
            fail_msg("by %s", rows[i].metrics ? rows[i].metrics : "what is usual");
        compared_release(&c);
        string_list_release(&r.numbers.metrics);
    }
    store_close(h.store);
}

COMPARE_TEST(what_was_interrupted_is_no_newest_verdict)
{
    struct compare_request r = { .no_record = false };
    struct history h;
    struct error err;

    make_history(*state, &h);
    struct compared c = { .store = h.store, .interrupted = SIGINT };
    r.baseline = h.base;
    r.head = h.head;
    assert_ok(compare_request_check(&r, &c.rule, &err), &err);
    assert_ok(compare_sides_find(&r, &c, &err), &err);
    assert_ok(compare_sides_decide(&r, &c, &err), &err);
    assert_int_equal(c.comparison.nr, 1);
    assert_int_equal(count_recorded(h.store), 0);
    compared_release(&c);
    store_close(h.store);
}

static void keep_text(void *context, const char *text)
{
    snprintf(context, 200, "%s", text);
}

COMPARE_TEST(why_it_is_not_recorded_is_noted)
{
    char kept[200] = "";
    const struct session_sink sink = { .context = kept, .note = keep_text };
    struct compare_request r = { .measuring.sink = &sink };
    struct history h;
    struct error err;

    make_history(*state, &h);
    struct compared c = { .store = h.store, .cannot_record = ": the disk is full" };
    r.baseline = h.base;
    r.head = h.head;
    assert_ok(compare_request_check(&r, &c.rule, &err), &err);
    assert_ok(compare_sides_find(&r, &c, &err), &err);
    assert_ok(compare_sides_decide(&r, &c, &err), &err);
    assert_string_equal(kept, "harness: these verdicts are not recorded: the disk is full\n");
    assert_int_equal(count_recorded(h.store), 0);
    compared_release(&c);
    store_close(h.store);
}

PLACE_TEST(two_files_need_no_history)
{
    char kept[200] = "";
    const struct session_sink sink = { .context = kept, .note = keep_text };
    struct compare_request r = { .baseline = "./a.json",
                                 .head = "./b.json",
                                 .measuring.sink = &sink };
    struct compared c = { .cannot_record = ": there is no history" };
    struct error err;

    put_records("a.json", A, steady, 5);
    put_records("b.json", A, slower, 5);
    assert_ok(compare_request_check(&r, &c.rule, &err), &err);
    assert_ok(compare_sides_find(&r, &c, &err), &err);
    assert_ok(compare_sides_decide(&r, &c, &err), &err);
    assert_int_equal(c.comparison.nr, 1);
    assert_close(c.comparison.rows[0].change, 0.1, 0.01);
    assert_string_equal(kept, "harness: these verdicts are not recorded: there is no history\n");
    compared_release(&c);
}

COMPARE_TEST(an_unknown_baseline_is_an_error)
{
    struct compare_request r = { .baseline = "nobody" };
    struct history h;
    struct error err;

    make_history(*state, &h);
    struct compared c = { .store = h.store };
    assert_ok(compare_request_check(&r, &c.rule, &err), &err);
    assert_int_equal(compare_sides_find(&r, &c, &err), -1);
    assert_false(c.base.nothing);
    compared_release(&c);
    store_close(h.store);
}

COMPARE_TEST(the_same_rule_decides_the_same_again)
{
    struct compare_request r = { .no_record = false };
    struct history h;
    struct compared c;
    struct error err;

    make_history(*state, &h);
    compare_once(&h, &r, &c);
    compared_release(&c);
    struct replay replay = { .store = h.store };
    assert_ok(replay_run(&replay, NULL, 0, &err), &err);
    assert_int_equal(replay.done.nr, 1);
    assert_int_equal(replay.verdicts, 1);
    assert_int_equal(replay_exit_status(&replay), EXIT_SAME);
    replay_release(&replay);
    store_close(h.store);
}

COMPARE_TEST(nothing_to_replay_is_undecided)
{
    struct history h;
    struct error err;

    make_history(*state, &h);
    struct replay replay = { .store = h.store };
    assert_ok(replay_run(&replay, NULL, 0, &err), &err);
    assert_int_equal(replay_exit_status(&replay), EXIT_UNDECIDED);
    replay_release(&replay);
    store_close(h.store);
}

COMPARE_TEST(accepting_needs_a_reason_and_a_verdict)
{
    const struct {
        struct accept_request request;
        const char *message;
    } cases[] = {
        { { .key = "gemm" }, "say why" },
        { { .key = "gemm", .reason = "r", .metric = "none" }, "none" },
        { { .key = "other", .reason = "r" }, "no verdict" },
        { { .key = A, .reason = "r" }, "no step of it stands" },
        { { .key = A, .reason = "r", .metric = "steal_percent" }, "no verdict" },
    };
    struct history h;

    make_history(*state, &h);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct accepting batch = { .again = 0 };
        struct error err;
        assert_int_equal(accept_run(h.store, &cases[i].request, &batch, &err), -1);
        if (!strstr(err.message, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", err.message, cases[i].message);
        accepting_release(&batch);
    }
    store_close(h.store);
}

enum { NIGHTS = 24, FIRST_SLOW_NIGHT = 12 };
#define NIGHT   (INT64_C(24) * 3600 * 1000)
#define NIGHT_0 INT64_C(1700000000000)

/* Of a benchmark that is a fifth slower from the twelfth on, with 0.5 % of noise. */
static void keep_slower_nights(struct store *store)
{
    struct random random;

    random_seed(&random, 7);
    for (int i = 0; i < NIGHTS; i++) {
        double level = i < FIRST_SLOW_NIGHT ? 1000 : 1200, ns[3];
        for (int k = 0; k < 3; k++)
            ns[k] = level * (1 + 0.005 * random_normal(&random));
        keep_times(store, A, ns, 3, NIGHT_0 + i * NIGHT);
    }
}

COMPARE_TEST(a_step_of_nights_is_accepted_that_no_comparison_has_seen)
{
    const struct accept_request request = { .key = A, .reason = "exact", .author = "Ada" };
    const struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct accepting batch = { .again = 0 }, twice = { .again = 0 };
    struct error err;

    keep_slower_nights(store);
    assert_ok(accept_run(store, &request, &batch, &err), &err);
    assert_int_equal(batch.items.nr, 1);
    assert_int_equal(batch.verdicts, 0);
    const struct acceptance *a = &batch.items.items[0];
    assert_string_equal(a->key, A);
    assert_string_equal(a->metric, "p50");
    assert_string_equal(a->machine, "class");
    assert_string_equal(a->author, "Ada");
    assert_close(a->change, 0.2, 0.02);
    assert_true(a->seen_ms >= NIGHT_0 + FIRST_SLOW_NIGHT * NIGHT);
    assert_fails(accept_run(store, &request, &twice, &err), &err, "no step of it stands");
    accepting_release(&twice);
    accepting_release(&batch);
    store_close(store);
}

COMPARE_TEST(more_than_a_step_is_accepted_where_that_is_said)
{
    static const struct {
        const char *change, *message;
    } refused[] = { { "-30%", "no change for the worse" }, { "+8%", "which is more" } };
    const struct scratch *scratch = *state;
    struct accept_request request = { .key = A, .reason = "exact" };
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct accepting batch = { .again = 0 };
    struct error err;

    keep_slower_nights(store);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct accepting none = { .again = 0 };
        request.change = refused[i].change;
        assert_fails(accept_run(store, &request, &none, &err), &err, refused[i].message);
        accepting_release(&none);
    }
    request.change = "+30%";
    assert_ok(accept_run(store, &request, &batch, &err), &err);
    assert_int_equal(batch.items.nr, 1);
    assert_close(batch.items.items[0].change, 0.3, 1e-9);
    assert_close(batch.seen.items[0], 0.2, 0.02);
    accepting_release(&batch);
    store_close(store);
}

/* A finished run of B, which does some work. */
static void keep_working(struct store *store, const double *ns, int64_t started, char id[24])
{
    struct records r = { 0 };

    new_run(&r, started);
    fixture_launches(&r, B, ns, 5);
    for (size_t i = 0; i < 5; i++)
        r.items[i].m.flops = 1e9;
    snprintf(id, 24, "%lld", (long long)keep_run(store, &r));
}

static void accept_one(struct store *store, const struct accept_request *request, const char *key,
                       double size)
{
    struct accepting batch = { .again = 0 };
    struct error err;

    assert_ok(accept_run(store, request, &batch, &err), &err);
    assert_int_equal(batch.items.nr, 1);
    assert_string_equal(batch.items.items[0].key, key);
    assert_close(batch.items.items[0].change, size, 0.02);
    accepting_release(&batch);
}

/* The reason is one for what was compared: the step of A is older, and of another metric. Who asks
 * again means it. */
static void accept_verdict_then_step(const char *path, char *metric, const char *change,
                                     const char *again, double size)
{
    const struct accept_request first = { .key = "gemm", .reason = "r", .change = change },
                                second = { .key = again, .reason = "r" };
    struct compare_request r = { .numbers.metrics = { &metric, 1, 1 } };
    struct history h = { .store = open_history(path, STORE_WRITE) };
    struct compared c;

    keep_slower_nights(h.store);
    keep_working(h.store, steady, NIGHT_0 + NIGHTS * NIGHT, h.base);
    keep_working(h.store, slower, NIGHT_0 + (NIGHTS + 1) * NIGHT, h.head);
    compare_once(&h, &r, &c);
    compared_release(&c);
    accept_one(h.store, &first, B, size);
    accept_one(h.store, &second, A, 0.2);
    store_close(h.store);
}

COMPARE_TEST(no_step_is_accepted_beside_a_verdict_on_another_time)
{
    const struct scratch *scratch = *state;
    char metric[] = "mean";

    accept_verdict_then_step(scratch->path, metric, NULL, "gemm", 0.1);
}

COMPARE_TEST(no_step_is_accepted_beside_a_verdict_on_a_rate)
{
    const struct scratch *scratch = *state;
    char metric[] = "gflops";

    accept_verdict_then_step(scratch->path, metric, "-15%", A, -0.15);
}

RUN_TESTS(NULL, NULL)
