/* SPDX-License-Identifier: MIT */
/*
 * Which runs before a comparison's base tell what two runs of that machine differ by, and what
 * comes of it. Features: U-06, U-12.
 */
#include "test_store.h"

#include "output_records.h"
#include "testing.h"
#include "view/earlier_runs.h"

#include "verdict/compare.h"

#define KEY  "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm"
#define HOUR INT64_C(3600000)

/* A run of five launches, `hours` after the first of all. */
static struct records make_run(int nth, int64_t hours, double slow)
{
    struct records r = { 0 };
    int run = made_run(&r, nth, "aaaaaaa1", "gcc 12.2.0");

    r.runs[0].started_ms = 1790000000000 + hours * HOUR;
    r.runs[0].ended_ms = r.runs[0].started_ms + 60000;
    for (int launch = 0; launch < 5; launch++)
        made_measurement(&r, run, launch, KEY, 1e6 * slow, 0.01, 40, made_seed(nth, launch, 0));
    return r;
}

static void keep(struct store *store, struct records *r)
{
    struct run run = r->runs[0];
    struct error err;

    run.id = 0;
    assert_ok(store_begin_run(store, &run, &err), &err);
    for (int seq = 0; seq < 5; seq++) {
        struct launch launch = { .seq = seq, .started_ms = run.started_ms, .ended_ms = 1 };
        int64_t id;
        assert_ok(store_begin_launch(store, run.id, &launch, &id, &err), &err);
        assert_ok(store_add_measurement(store, id, &r->items[seq].m, &err), &err);
        assert_ok(store_end_launch(store, id, &launch, &err), &err);
    }
    assert_ok(store_end_run(store, run.id, run.ended_ms, &err), &err);
    records_release(r);
}

static struct store *open_store(const struct scratch *scratch, size_t nth)
{
    struct store *store;
    struct error err;
    char path[160];

    snprintf(path, sizeof(path), "%s/%zu.db", scratch->folder, nth);
    assert_ok(store_open(&store, path, STORE_WRITE, &err), &err);
    return store;
}

static struct records load(struct store *store, const struct records *base,
                           const struct records *head)
{
    struct records earlier;
    struct error err;

    assert_ok(earlier_runs_load(store, base, head, &earlier, &err), &err);
    return earlier;
}

static void strange_branch(struct run *run)
{
    snprintf(run->build.branch, sizeof(run->build.branch), "idea");
}

static void strange_compiler(struct run *run)
{
    snprintf(run->build.compiler, sizeof(run->build.compiler), "gcc 13.1.0");
}

static void strange_machine(struct run *run)
{
    snprintf(run->machine.id, sizeof(run->machine.id), "ffffffffffffffff");
    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "other-2c");
}

static void in_turn(struct run *run)
{
    run->ab = (struct run_ab) { .id = "x", .block = 1 };
}

static void too_near(struct run *run)
{
    run->started_ms += 23 * HOUR; /* of the next night's run */
}

static void after_the_base(struct run *run)
{
    run->started_ms += 1000 * HOUR;
}

static void as_the_others(struct run *run)
{
    (void)run;
}

/* Six nights, the base in the seventh, the head a day later; one night is made strange. */
SCRATCH_TEST(runs_that_are_not_alike_are_left_out)
{
    static const struct {
        const char *what;
        void (*make)(struct run *run);
        size_t taken;
    } rows[] = {
        { "nothing strange", as_the_others, 6 },     { "another branch", strange_branch, 5 },
        { "another compiler", strange_compiler, 5 }, { "another machine", strange_machine, 5 },
        { "measured in turn", in_turn, 5 },          { "too near to the next", too_near, 5 },
        { "after the base", after_the_base, 5 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct store *store = open_store(*state, i);
        struct records base = make_run(50, (int64_t)6 * 24, 1), head = make_run(51, 7 * 24, 1);
        for (int night = 0; night < 6; night++) {
            struct records r = make_run(night, (int64_t)night * 24, 1);
            if (night == 2)
                rows[i].make(&r.runs[0]);
            keep(store, &r);
        }
        struct records earlier = load(store, &base, &head);
        if (earlier.nr_runs != rows[i].taken)
            fail_msg("%s: %zu runs were taken", rows[i].what, earlier.nr_runs);
        for (size_t j = 1; j < earlier.nr_runs; j++)
            assert_true(earlier.runs[j].started_ms > earlier.runs[j - 1].started_ms);
        records_release(&earlier);
        records_release(&base);
        records_release(&head);
        store_close(store);
    }
}

SCRATCH_TEST(no_more_than_a_dozen_and_none_for_several_runs_a_side)
{
    struct store *store = open_store(*state, 0);
    struct records base = make_run(50, 480, 1), head = make_run(51, 504, 1);

    for (int night = 0; night < 20; night++) {
        struct records r = make_run(night, (int64_t)night * 24, 1);
        keep(store, &r);
    }
    struct records earlier = load(store, &base, &head);
    assert_int_equal(earlier.nr_runs, COMPARE_EARLIER_MAX);
    records_release(&earlier);
    made_run(&head, 52, "aaaaaaa1", "gcc 12.2.0");
    earlier = load(store, &base, &head);
    assert_int_equal(earlier.nr_runs, 0);
    records_release(&base);
    records_release(&head);
    store_close(store);
}

/* Runs of the same minutes share what lies between others. */
SCRATCH_TEST(runs_of_the_same_minutes_are_none)
{
    struct store *store = open_store(*state, 0);
    struct records base = make_run(50, 6, 1), head = make_run(51, 6, 1);

    for (int nth = 0; nth < 6; nth++) {
        struct records r = make_run(nth, 0, 1);
        r.runs[0].started_ms += (int64_t)nth * 60000;
        keep(store, &r);
    }
    head.runs[0].started_ms += 60000;
    struct records earlier = load(store, &base, &head);
    assert_int_equal(earlier.nr_runs, 0);
    records_release(&base);
    records_release(&head);
    store_close(store);
}

static struct comparison compare(const struct compare_sides *sides)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct error err;

    assert_ok(compare_sides_run(sides, &settings, &c, &err), &err);
    return c;
}

static double width(const struct compare_row *row)
{
    return row->interval.high - row->interval.low;
}

/* One benchmark, 6 % slower: what it may be without earlier runs is what runs of any machine may
 * differ by. Quiet nights before narrow it down, nights that differ by 5 % widen it. */
SCRATCH_TEST(earlier_runs_tell_what_two_runs_differ_by)
{
    struct store *store = open_store(*state, 0);
    struct records base = make_run(50, 240, 1), head = make_run(51, 264, 1.06);

    for (int night = 0; night < 10; night++) {
        struct records r = make_run(night, (int64_t)night * 24, 1);
        keep(store, &r);
    }
    struct records quiet = load(store, &base, &head), loud = load(store, &base, &head);
    for (size_t i = 0; i < loud.nr; i++)
        for (size_t j = 0; loud.items[i].run % 2 && j < loud.items[i].m.nr_samples; j++)
            loud.items[i].m.samples[j] += loud.items[i].m.samples[j] / 20;
    struct comparison without = compare(&(struct compare_sides) { &base, &head, NULL });
    struct comparison with = compare(&(struct compare_sides) { &base, &head, &quiet });
    struct comparison wide = compare(&(struct compare_sides) { &base, &head, &loud });
    assert_int_equal(with.rows[0].item->evidence.earlier.nr, 10);
    assert_int_equal(without.rows[0].verdict, VERDICT_UNDECIDED);
    assert_int_equal(with.rows[0].verdict, VERDICT_REGRESSED);
    assert_int_equal(wide.rows[0].verdict, VERDICT_UNDECIDED);
    assert_true(2 * width(&with.rows[0]) < width(&without.rows[0]));
    assert_true(width(&wide.rows[0]) > width(&without.rows[0]));
    assert_true(without.rows[0].stays > 0.5 && with.rows[0].stays < without.rows[0].stays);
    comparison_release(&without);
    comparison_release(&with);
    comparison_release(&wide);
    records_release(&quiet);
    records_release(&loud);
    records_release(&base);
    records_release(&head);
    store_close(store);
}

RUN_TESTS(NULL, NULL)
