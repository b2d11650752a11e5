/* SPDX-License-Identifier: MIT */
/* How long benchmarks last, by a history or a file, and what of a sweep is measured here. */
#include "session_testing.h"

#include "session/measure/sharding.h"

#define KEY(batch) "null/copy/right/fp32/batch=" batch ",seq=16/fake/warm"
#define KEY_A      KEY("1")
#define KEY_B      KEY("2")

static const char *const keys[] = { KEY_A, KEY_B };

/* ---- a history ---- */

/* A run with these seconds of both benchmarks (0: not measured) in one launch. */
struct lasted {
    double a, b;
    enum run_kind kind;
    bool unfinished;
    unsigned index, count; /* of its shards */
    const char *plan, *sweep;
    bool old; /* of a time before all others, as one that was merged */
};

static void keep_launch(struct store *store, int64_t run, int seq, const struct lasted *l)
{
    struct launch launch = { .seq = seq, .started_ms = 1700000000000 };
    struct error err;
    int64_t id;

    assert_ok(store_begin_launch(store, run, &launch, &id, &err), &err);
    for (int i = 0; i < 2; i++) {
        struct records r = { 0 };
        fixture_run(&r, "class", 1);
        struct measurement *m = fixture_add(&r, seq, keys[i], 100, 1);
        m->seconds = i ? l->b : l->a;
        if (m->seconds > 0)
            assert_ok(store_add_measurement(store, id, m, &err), &err);
        records_release(&r);
    }
    launch.ended_ms = launch.started_ms + 1;
    assert_ok(store_end_launch(store, id, &launch, &err), &err);
}

static void keep_lasted(struct store *store, const struct lasted *l, int nth)
{
    struct run run = sample_run();
    struct error err;

    run.started_ms = l->old ? 1600000000000 : 1700000000000 + nth * 1000;
    run.kind = l->kind;
    run.shard.index = l->index;
    run.shard.count = l->count;
    snprintf(run.shard.plan, sizeof(run.shard.plan), "%s", l->plan ? l->plan : "");
    snprintf(run.shard.sweep, sizeof(run.shard.sweep), "%s", l->sweep ? l->sweep : "");
    assert_ok(store_begin_run(store, &run, &err), &err);
    keep_launch(store, run.id, 0, l);
    if (!l->unfinished)
        assert_ok(store_end_run(store, run.id, run.started_ms + 1, &err), &err);
}

enum { RUNS_MOST = 5 };

SCRATCH_TEST(the_last_run_that_counts_says)
{
    static const struct {
        struct lasted runs[RUNS_MOST]; /* the oldest first; one of no benchmark ends them */
        double a, b;                   /* 0: not known */
    } cases[] = {
        { { { 0 } }, 0, 0 },
        { { { .a = 1, .b = 2 } }, 1, 2 },
        { { { .a = 1, .b = 2 }, { .a = 3, .b = 4 } }, 3, 4 },
        { { { .a = 1, .b = 2 }, { .a = 3 } }, 3, 2 }, /* each as it was last measured */
        { { { .a = 1, .b = 2 }, { .a = 3, .b = 4 }, { .a = 5 }, { .a = 6 } }, 6, 4 },
        { { { .a = 1 }, { .a = 9, .kind = RUN_TRIAL } }, 1, 0 },
        { { { .a = 1 }, { .a = 9, .kind = RUN_PROFILE } }, 1, 0 },
        { { { .a = 1 }, { .a = 9, .unfinished = true } }, 1, 0 },
        /* of shards none counts before all of their plan are there */
        { { { .a = 1 }, { .a = 9, .index = 1, .count = 2, .plan = "p" } }, 1, 0 },
        { { { .a = 1 },
            { .a = 9, .index = 1, .count = 2, .plan = "p" },
            { .b = 8, .index = 2, .count = 2, .plan = "p" } },
          9,
          8 },
        { { { .a = 1 },
            { .a = 9, .index = 1, .count = 2, .plan = "p" },
            { .b = 8, .index = 2, .count = 2, .plan = "q" } },
          1,
          0 },
        /* the second round of the first shard waits for the second round of the other */
        { { { .a = 9, .index = 1, .count = 2, .plan = "p" },
            { .b = 8, .index = 2, .count = 2, .plan = "p" },
            { .a = 7, .index = 1, .count = 2, .plan = "p" } },
          9,
          8 },
        { { { .a = 9, .index = 1, .count = 2, .plan = "p" },
            { .b = 8, .index = 2, .count = 2, .plan = "p" },
            { .a = 7, .index = 1, .count = 2, .plan = "p" },
            { .b = 6, .index = 2, .count = 2, .plan = "p" } },
          7,
          6 },
    };
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double seconds[] = { 0, 0 };
        char path[160];
        struct error err;
        snprintf(path, sizeof(path), "%s/%zu.db", scratch->folder, i);
        struct store *store = open_history(path, STORE_WRITE);
        for (int k = 0; k < RUNS_MOST && (cases[i].runs[k].a > 0 || cases[i].runs[k].b > 0); k++)
            keep_lasted(store, &cases[i].runs[k], k);
        assert_ok(durations_of_store(store, NULL, keys, 2, seconds, &err), &err);
        if (seconds[0] != cases[i].a || seconds[1] != cases[i].b)
            fail_msg("case %zu: %g, %g", i, seconds[0], seconds[1]);
        store_close(store);
    }
}

/* What the first shard of a sweep could know, all of that name know, and no more. */
SCRATCH_TEST(shards_of_a_named_sweep_know_the_same)
{
    static const struct lasted runs[] = {
        { .a = 1 },
        { .a = 9, .index = 1, .count = 2, .plan = "p", .sweep = "night", .unfinished = true },
        { .a = 5 },
        { .b = 6, .old = true },
        { .a = 7, .index = 1, .count = 2, .plan = "p", .sweep = "night" },
        { .b = 8, .index = 2, .count = 2, .plan = "p", .sweep = "night" },
    };
    static const struct {
        const char *sweep;
        double a, b; /* 0: not known */
    } cases[] = { { "night", 1, 0 }, { "day", 7, 8 }, { "", 7, 8 }, { NULL, 7, 8 } };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct error err;

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        keep_lasted(store, &runs[i], (int)i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double seconds[] = { 0, 0 };
        assert_ok(durations_of_store(store, cases[i].sweep, keys, 2, seconds, &err), &err);
        if (seconds[0] != cases[i].a || seconds[1] != cases[i].b)
            fail_msg("case %zu: %g, %g", i, seconds[0], seconds[1]);
    }
    store_close(store);
}

SCRATCH_TEST(several_launches_of_a_run_are_averaged)
{
    static const struct lasted first = { .a = 1, .b = 2 }, second = { .a = 3 };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct run run = sample_run();
    double seconds[] = { 0, 0 };
    struct error err;

    assert_ok(store_begin_run(store, &run, &err), &err);
    keep_launch(store, run.id, 0, &first);
    keep_launch(store, run.id, 1, &second);
    assert_ok(store_end_run(store, run.id, run.started_ms + 1, &err), &err);
    assert_ok(durations_of_store(store, NULL, keys, 2, seconds, &err), &err);
    assert_close(seconds[0], 2, 1e-12);
    assert_close(seconds[1], 2, 1e-12);
    store_close(store);
}

/* ---- a file ---- */

/* The JSON of two runs, the newer of which stands first and has one benchmark alone. */
static void put_runs(const char *path)
{
    struct records r = { 0 };

    new_run(&r, 1700000100000);
    fixture_add(&r, 0, KEY_A, 100, 1)->seconds = 3;
    new_run(&r, 1700000000000);
    fixture_add(&r, 0, KEY_A, 100, 1)->seconds = 1;
    fixture_add(&r, 0, KEY_B, 100, 1)->seconds = 2;
    put_json(path, &r);
}

PLACE_TEST(durations_from_files)
{
    static const struct {
        const char *path, *text; /* NULL: it is there already, or not at all */
        double a, b;             /* 0: not known */
        const char *says;        /* NULL: it is fine */
    } cases[] = {
        { "runs.json", NULL, 3, 2, NULL },
        { "history.db", NULL, 4, 0, NULL },
        { "map.json", "{\"schema_version\":1,\"seconds\":{\"" KEY_B "\":0.5,\"other\":-1}}", 0, 0.5,
          NULL },
        { "none.json", "{\"seconds\":{}}", 0, 0, NULL },
        { "zero.json", "{\"seconds\":{\"" KEY_A "\":0}}", 0, 0, "the seconds of " KEY_A " are no" },
        { "text.json", "{\"seconds\":{\"" KEY_A "\":\"1\"}}", 0, 0, "text.json: the seconds of" },
        { "list.json", "{\"seconds\":[1]}", 0, 0, "neither \"runs\" nor \"seconds\"" },
        { "empty.json", "{}", 0, 0, "give the JSON of `harness run --json`" },
        { "bad.json", "{\"runs\":7}", 0, 0, "bad.json" },
        { "words.json", "no JSON", 0, 0, "words.json" },
        { "nowhere.json", NULL, 0, 0, "nowhere.json" },
    };
    static const struct lasted lasted = { .a = 4 };
    struct error err;

    put_runs("runs.json");
    struct store *store = open_history("history.db", STORE_WRITE);
    keep_lasted(store, &lasted, 0);
    store_close(store);
    put_foreign_log("history.db"); /* which is none of theirs who read durations */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double seconds[] = { 0, 0 };
        if (cases[i].text)
            put_file(cases[i].path, cases[i].text);
        int rc = durations_of_file(cases[i].path, keys, 2, seconds, &err);
        if (cases[i].says)
            assert_fails(rc, &err, cases[i].says);
        else
            assert_ok(rc, &err);
        assert_close(seconds[0], cases[i].a, 1e-12);
        assert_close(seconds[1], cases[i].b, 1e-12);
    }
    assert_true(file_exists("history.db-wal"));
}

/* ---- shards ---- */

static void make_six(struct workload *w)
{
    struct workload_options o = { .device = "fake" };
    char filter[] = "null/copy/right", *filters[] = { filter };
    struct error err;

    assert_ok(workload_make(w, &o, filters, 1, "", &err), &err);
    assert_int_equal(w->list.nr, 6);
}

/* Batches that a shard keeps, as bits. */
static unsigned keep_shard(struct sharding *s, const char *durations, struct store *store)
{
    struct workload w;
    struct error err;
    unsigned batches = 0;

    make_six(&w);
    assert_ok(sharding_keep(s, &w, durations, store, &err), &err);
    for (size_t i = 0; i < w.list.nr; i++)
        batches |= 1U << w.list.items[i].shape.dim[0];
    workload_release(&w);
    return batches;
}

PLACE_TEST(each_benchmark_is_in_one_shard)
{
    static const char long_first[] =
        "{\"seconds\":{\"" KEY_A "\":10,\"" KEY_B
        "\":1,\"" KEY("3") "\":1,\"" KEY("4") "\":1,\"" KEY("5") "\":1,\"" KEY("6") "\":1}}";
    static const struct {
        size_t count;
        const char *text; /* what is known of durations */
        bool alone;       /* the first is in a shard of its own */
    } cases[] = {
        { 1, NULL, false }, { 2, NULL, false },      { 6, NULL, true },
        { 8, NULL, true },  { 2, long_first, true }, { 3, long_first, true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned all = 0, first = 0;
        uint64_t plan = 0;
        double seconds = 0, total = 0;
        if (cases[i].text)
            put_file("durations.json", cases[i].text);
        for (size_t index = 1; index <= cases[i].count; index++) {
            struct sharding s = { .index = index, .count = cases[i].count };
            unsigned batches = keep_shard(&s, cases[i].text ? "durations.json" : NULL, NULL);
            assert_int_equal(all & batches, 0);
            all |= batches;
            first = batches & 2 ? batches : first;
            assert_true(index == 1 || s.plan == plan);
            plan = s.plan;
            assert_int_equal(s.whole, 6);
            seconds += s.seconds;
            total = s.all;
        }
        assert_int_equal(all, 0x7e);
        assert_int_equal(first == 2, cases[i].alone);
        assert_close(seconds, total, 1e-9);
        assert_int_equal(total > 0, cases[i].text != NULL);
    }
}

/* Whoever divided by other durations, or into another number, has another plan. */
PLACE_TEST(plans_differ_where_divisions_do)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    const struct lasted lasted = { .a = 10, .b = 1 };
    struct sharding nothing_known = { .index = 1, .count = 2 }, three = { .index = 1, .count = 3 };
    struct sharding by_history = nothing_known, by_file = nothing_known;
    struct run_shard described = { .count = 0 };
    char plan[17];

    keep_shard(&nothing_known, NULL, store); /* which is empty yet */
    keep_lasted(store, &lasted, 0);
    put_file("durations.json", "{\"seconds\":{}}");
    keep_shard(&by_history, NULL, store);
    keep_shard(&by_file, "durations.json", store); /* rather than the history */
    keep_shard(&three, NULL, NULL);
    assert_true(by_history.plan != nothing_known.plan);
    assert_true(by_file.plan == nothing_known.plan);
    assert_true(three.plan != nothing_known.plan);
    assert_true(by_history.all > 11);
    sharding_describe(&by_history, &described);
    snprintf(plan, sizeof(plan), "%016llx", (unsigned long long)by_history.plan);
    assert_string_equal(described.plan, plan);
    assert_int_equal(described.index, 1);
    assert_int_equal(described.count, 2);
    store_close(store);
}

PLACE_TEST(without_a_shard_all_is_measured)
{
    struct sharding whole = { .count = 0 }, half = { .index = 1, .count = 2 };
    struct run_shard described = { .count = 0 };
    struct workload w;
    struct error err;

    assert_int_equal(keep_shard(&whole, "nowhere.json", NULL), 0x7e); /* nobody looks */
    sharding_describe(&whole, &described);
    assert_int_equal(described.count, 0);
    make_six(&w);
    assert_fails(sharding_keep(&half, &w, "nowhere.json", NULL, &err), &err,
                 "--durations: nowhere");
    assert_int_equal(w.list.nr, 6);
    workload_release(&w);
}

RUN_TESTS(NULL, NULL)
