/* SPDX-License-Identifier: MIT */
/* Sessions of programs in turn, on the fake device: what ends them, what they become in the
 * history, and what an error leaves. */
#include "session_launches.h"

#include "base/json.h"
#include "json_facts.h"
#include "session/compare/compare_measured.h"

static const int64_t one_batch[] = { 1 }, two_batches[] = { 1, 2 };

static volatile sig_atomic_t interrupted;

/* Progress, and when to interrupt. */
struct watched {
    struct session_sink sink;
    int cases, ends, interrupt_in; /* interrupt_in: the block; 0: never */
};

static void watch_blocks(void *context, const struct ab_progress *p)
{
    struct watched *watched = context;

    watched->cases++;
    if (p->block == watched->interrupt_in)
        interrupted = SIGINT;
}

static void watch_end(void *context)
{
    struct watched *watched = context;

    watched->ends++;
}

static struct ab_request make_request(struct store *store, const struct workload *workload,
                                      struct watched *watched)
{
    const struct compare_settings usual = COMPARE_DEFAULTS;

    watched->sink = (struct session_sink) { .context = watched,
                                            .blocks = watch_blocks,
                                            .progressed = watch_end };
    interrupted = 0;
    return (struct ab_request) {
        .workload = workload,
        .store = store,
        .compare = usual,
        .measuring = { .seed = 1, .sink = &watched->sink, .interrupted = &interrupted },
    };
}

/* ---- what ends it ---- */

struct ending {
    const char *head; /* settings of its program */
    int blocks_max, interrupt_in;
    double budget;
    bool whole;
    enum ab_end end;
    int blocks; /* finished; -1: as many as it takes */
    enum verdict verdict;
    const char *summary;
};

static const struct ending endings[] = {
    { "slow=0.8", 0, 0, 0, false, AB_DECIDED, 3, VERDICT_IMPROVED, "every benchmark is decided" },
    { "slow=1.2", 1, 0, 0, false, AB_BLOCKS, 1, VERDICT_UNDECIDED, "no more blocks are allowed" },
    { "slow=1.2", 4, 0, 0, true, AB_BLOCKS, 4, VERDICT_REGRESSED, "4 blocks of 2 launches a side" },
    { "slow=1.2", 0, 0, 1e-3, false, AB_BUDGET, 1, VERDICT_UNDECIDED, "the budget of 1.000 ms is" },
    { "slow=1.2", 0, 2, 0, false, AB_INTERRUPTED, 1, VERDICT_UNDECIDED, "1 block of 2 launches" },
};

/* What the session is, and what stays of it in the history. */
static void check_ending(const struct ending *e, const struct ab_request *r,
                         const struct ab_session *s)
{
    struct store_listing runs = { 0 };
    struct strbuf summary;
    struct error err;

    strbuf_init(&summary);
    ab_session_summary(s, &r->measuring, &summary);
    assert_has(summary.data, e->summary);
    assert_int_equal(s->end, e->end);
    if (e->blocks >= 0)
        assert_int_equal(s->blocks, e->blocks);
    assert_int_equal(s->comparison.nr, 1);
    assert_int_equal(s->comparison.rows[0].verdict, e->verdict);
    assert_ok(store_list_runs(r->store, NULL, 2, &runs, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(runs.items[i].run.ended_ms > 0, e->end != AB_INTERRUPTED);
        assert_true(runs.items[i].outcomes[OUTCOME_OK] >= 2 * s->blocks); /* kept all the same */
    }
    store_listing_release(&runs);
    strbuf_release(&summary);
}

PLACE_TEST(what_ends_a_session)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct workload workload;

    fake_workload(&workload, one_batch, 1);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct watched watched = { .interrupt_in = endings[i].interrupt_in };
        struct ab_request r = make_request(store, &workload, &watched);
        struct ab_session s;
        struct error err;
        put_program("head", endings[i].head);
        r.side[AB_HEAD].program = "./head";
        r.blocks_max = endings[i].blocks_max;
        r.whole = endings[i].whole;
        r.measuring.budget = endings[i].budget;
        assert_ok(ab_session_run(&r, &s, &err), &err);
        check_ending(&endings[i], &r, &s);
        assert_true(watched.cases >= 4 * s.blocks);
        assert_int_equal(watched.ends, 1);
        ab_session_release(&s);
    }
    workload_release(&workload);
    store_close(store);
}

PLACE_TEST(progress_where_it_is_wanted)
{
    static const struct {
        bool silent, quiet, rewrites, told;
    } cases[] = {
        { false, false, false, true },
        { false, true, false, false },
        { false, true, true, true },
        { true, false, true, false },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct workload workload;

    fake_workload(&workload, one_batch, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct watched watched = { .cases = 0 };
        struct ab_request r = make_request(store, &workload, &watched);
        struct ab_session s;
        struct error err;
        watched.sink.rewrites = cases[i].rewrites;
        r.silent = cases[i].silent;
        r.quiet = cases[i].quiet;
        r.blocks_max = 1;
        assert_ok(ab_session_run(&r, &s, &err), &err);
        assert_int_equal(watched.cases, cases[i].told ? 4 : 0);
        assert_int_equal(watched.ends, 1);
        ab_session_release(&s);
    }
    workload_release(&workload);
    store_close(store);
}

/* ---- runs of the history ---- */

PLACE_TEST(each_side_is_a_run_of_one_session)
{
    static const char *const names[] = { "base", "head", "head2" };
    static const char *const commits[] = { "ccccccc3", "aaaaaaa1", "aaaaaaa1" };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct watched watched = { .cases = 0 };
    struct workload workload;
    struct ab_session s;
    struct error err;

    put_program("head", "slow=1.1");
    put_program("other", "slow=0.9");
    fake_workload(&workload, two_batches, 2);
    struct ab_request r = make_request(store, &workload, &watched);
    r.nr_sides = 3;
    r.label = "tuning";
    r.blocks_max = 1;
    r.side[0] = (struct ab_request_side) { .name = "main", .commit = "ccccccc3" };
    r.side[1].program = "./head";
    r.side[2].program = "./other";
    assert_ok(ab_session_run(&r, &s, &err), &err);
    for (int i = 0; i < 3; i++) {
        const struct run *run = s.records[i].runs;
        char label[32], facts[256], what[64];
        const char *partner = s.records[i == 0 ? 1 : 0].runs->uuid;
        snprintf(label, sizeof(label), "tuning %s", names[i]);
        snprintf(what, sizeof(what), "%s (run %d)", i == 0 ? "main" : r.side[i].program, i + 1);
        snprintf(facts, sizeof(facts), "ab.partner=%s; ab.blocks=1; device~fake; sampling={}",
                 partner);
        assert_string_equal(run->label, label);
        assert_string_equal(s.what[i], what);
        assert_string_equal(run->ab.side, names[i]);
        assert_string_equal(run->ab.id, s.records[0].runs->ab.id);
        assert_int_equal(run->ab.block, AB_LAUNCHES);
        assert_int_equal(run->kind, RUN_TRIAL);
        assert_string_equal(run->build.commit, commits[i]);
        assert_string_equal(run->build.version[0] == '9' ? "9.9.9" : "own", i ? "9.9.9" : "own");
        cJSON *settings = json_parse(run->settings, strlen(run->settings), "settings", &err);
        assert_facts(settings, facts);
        cJSON_Delete(settings);
        assert_int_equal(s.records[i].nr, 2 * AB_LAUNCHES * s.blocks);
    }
    assert_ptr_equal(ab_session_comparison(&s, 1), &s.comparison);
    assert_close(ab_session_comparison(&s, 1)->rows[0].change, 0.1, 0.01);
    assert_close(ab_session_comparison(&s, 2)->rows[0].change, -0.1, 0.01);
    ab_session_release(&s);
    workload_release(&workload);
    store_close(store);
}

/* A side on which a benchmark crashes is broken there; the others are measured as ever. */
PLACE_TEST(a_crash_costs_its_benchmark_alone)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct watched watched = { .cases = 0 };
    struct workload workload;
    struct ab_session s;
    struct error err;

    put_program("head", "crash=2,slow=1.2");
    fake_workload(&workload, two_batches, 2);
    struct ab_request r = make_request(store, &workload, &watched);
    r.side[AB_HEAD].program = "./head";
    r.blocks_max = 1;
    assert_ok(ab_session_run(&r, &s, &err), &err);
    assert_int_equal(s.comparison.nr, 2);
    assert_int_equal(s.comparison.count[VERDICT_BROKEN], 1);
    assert_int_equal(s.comparison.count[VERDICT_UNDECIDED], 1);
    assert_close(s.comparison.rows[0].change, 0.2, 0.01);
    assert_int_equal(s.comparison.exit_status, 1);
    ab_session_release(&s);
    workload_release(&workload);
    store_close(store);
}

/* ---- errors ---- */

PLACE_TEST(programs_that_are_none)
{
    static const struct {
        const char *base, *head, *says;
    } cases[] = {
        { NULL, "./nowhere", "./nowhere" },
        { "./nowhere", NULL, "./nowhere" },
        { NULL, "/bin/echo", "/bin/echo" },
        { NULL, "/bin/false", "/bin/false" },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct store_listing runs = { 0 };
    struct workload workload;
    struct error err;

    fake_workload(&workload, one_batch, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct watched watched = { .cases = 0 };
        struct ab_request r = make_request(store, &workload, &watched);
        struct ab_session s;
        r.side[AB_BASE].program = cases[i].base;
        r.side[AB_HEAD].program = cases[i].head;
        assert_fails(ab_session_run(&r, &s, &err), &err, cases[i].says);
        assert_int_equal(watched.cases, 0);
        ab_session_release(&s);
    }
    assert_ok(store_list_runs(store, NULL, 0, &runs, &err), &err);
    assert_int_equal(runs.nr, 0); /* asked before anything begins */
    store_listing_release(&runs);
    workload_release(&workload);
    store_close(store);
}

PLACE_TEST(a_history_that_cannot_be_written)
{
    struct scratch *scratch = *state;
    struct watched watched = { .cases = 0 };
    struct workload workload;
    struct ab_session s;
    struct error err;

    store_close(open_history(scratch->path, STORE_WRITE));
    struct store *store = open_history(scratch->path, STORE_READ);
    fake_workload(&workload, one_batch, 1);
    struct ab_request r = make_request(store, &workload, &watched);
    assert_fails(ab_session_run(&r, &s, &err), &err, scratch->path);
    assert_int_equal(watched.cases, 0);
    ab_session_release(&s);
    workload_release(&workload);
    store_close(store);
}

/* ---- into a comparison ---- */

TEST(a_comparison_takes_over_what_was_measured)
{
    static const struct {
        enum ab_end end;
        bool finished;
        int interrupted; /* what the comparison has */
        const char *note;
    } cases[] = {
        { AB_DECIDED, true, 0,
          "0 blocks of 2 launches a side in 1.000 s: every benchmark is decided\n" },
        { AB_INTERRUPTED, true, SIGINT, "0 blocks of 2 launches a side in 1.000 s: interrupted\n" },
        { AB_INTERRUPTED, false, 0, "" },
    };

    interrupted = SIGINT;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ab_session s = { .end = cases[i].end, .seconds = 1, .what = { "old", "new" } };
        struct compared c = { .store = NULL };
        struct notes notes;
        notes_init(&notes);
        const struct measuring m = { .sink = &notes.sink, .interrupted = &interrupted };
        new_run(&s.records[AB_BASE], 1);
        new_run(&s.records[AB_HEAD], 2);
        compared_take_session(&c, &s, cases[i].finished, &m);
        assert_string_equal(notes.text.data, cases[i].note);
        assert_int_equal(c.interrupted, cases[i].interrupted);
        assert_string_equal(c.base.what, "old");
        assert_string_equal(c.head.what, "new");
        assert_int_equal(c.base.records.runs[0].started_ms, 1);
        assert_int_equal(c.head.records.runs[0].started_ms, 2);
        assert_null(s.records[AB_BASE].runs);
        compared_release(&c);
        strbuf_release(&notes.text);
    }
}

/* ---- sampling ---- */

TEST(launches_are_short)
{
    static const struct {
        struct sampling given, made;
    } cases[] = {
        { { .min_time = 1, .max_time = 5, .warmup = 1, .min_samples = 10, .max_samples = 100000 },
          { .min_time = 0.01,
            .max_time = 0.1,
            .warmup = 0.01,
            .min_samples = 10,
            .max_samples = 1000 } },
        { { .min_time = 0.001, .max_time = 0.002, .warmup = 0, .min_samples = 5, .max_samples = 7 },
          { .min_time = 0.001,
            .max_time = 0.002,
            .warmup = 0,
            .min_samples = 5,
            .max_samples = 7 } },
        { { .min_samples = 5000, .max_samples = 9000 }, /* no more at least than at most */
          { .min_samples = 1000, .max_samples = 1000 } },
        { { .min_time = 1, .max_time = 5, .max_samples = 5000, .unwarmed = true },
          { .min_time = 1, .max_time = 5, .max_samples = 5000, .unwarmed = true } },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sampling s = ab_sampling(&cases[i].given);
        const struct sampling *made = &cases[i].made;
        assert_close(s.min_time, made->min_time, 0);
        assert_close(s.max_time, made->max_time, 0);
        assert_close(s.warmup, made->warmup, 0);
        assert_int_equal(s.min_samples, made->min_samples);
        assert_int_equal(s.max_samples, made->max_samples);
    }
}

RUN_TESTS_AND_LAUNCHES()
