/* SPDX-License-Identifier: MIT */
/* The search for a commit: what a comparison answers, and a whole search through a repository whose
 * builds are this program with a fake device of the commit's settings. The search alone is in
 * tests/trend. */
#include "session_git.h"
#include "session_launches.h"

#include "session/bisect_job.h"

#define KEY_A "null/copy/right/fp32/batch=1,seq=16/fake/warm"
#define KEY_B "null/copy/right/fp32/batch=2,seq=16/fake/warm"

static const int64_t batches[] = { 1, 2 };

/* ---- what a comparison answers ---- */

enum { ROWS_MOST = 3, BASE = 1, HEAD = 2 };

/* A row of a comparison, or of what is tracked. */
struct row {
    const char *key; /* NULL: no more */
    const char *metric;
    enum verdict verdict;
    double number; /* the change; of what is tracked the floor */
    int fails;     /* bits of these */
};

static void fill_rows(const struct row *rows, struct comparison *c, struct compare_row *out,
                      struct compare_item *items, struct benchmark_name *names)
{
    struct error err;

    *c = (struct comparison) { .rows = out };
    for (; c->nr < ROWS_MOST && rows[c->nr].key; c->nr++) {
        const struct row *row = &rows[c->nr];
        assert_ok(benchmark_name_parse(row->key, &names[c->nr], &err), &err);
        items[c->nr] = (struct compare_item) { .bench = &names[c->nr],
                                               .metric = metric_find(row->metric, &err) };
        out[c->nr] = (struct compare_row) {
            .item = &items[c->nr],
            .verdict = row->verdict,
            .change = row->number,
            .worse = row->number > 0,
            .base.outcome = row->fails & BASE ? OUTCOME_FAILED : OUTCOME_OK,
            .head.outcome = row->fails & HEAD ? OUTCOME_FAILED : OUTCOME_OK,
        };
    }
}

static void track(struct bisect_job *job, const struct row *rows)
{
    struct error err;

    for (size_t i = 0; i < ROWS_MOST && rows[i].key; i++) {
        struct bisect_tracked *one = array_push(&job->tracked);
        snprintf(one->key, sizeof(one->key), "%s", rows[i].key);
        one->metric = metric_find(rows[i].metric, &err);
        one->verdict = rows[i].verdict;
        one->floor = rows[i].number;
    }
}

struct told {
    struct row tracked[ROWS_MOST], rows[ROWS_MOST];
    bool answers;
    enum bisect_answer answer;
    size_t looks;
};

static const struct told told[] = {
    /* the first comparison: whatever got worse */
    { { { 0 } }, { { KEY_A, "p50", VERDICT_REGRESSED, 0.1, 0 } }, true, BISECT_WORSE, 1 },
    { { { 0 } }, { { KEY_A, "p50", VERDICT_BROKEN, NAN, HEAD } }, true, BISECT_WORSE, 1 },
    { { { 0 } }, { { KEY_A, "p50", VERDICT_SAME, 0, 0 } }, true, BISECT_NOT_WORSE, 1 },
    { { { 0 } }, { { KEY_A, "p50", VERDICT_IMPROVED, -0.1, 0 } }, true, BISECT_NOT_WORSE, 1 },
    { { { 0 } }, { { KEY_A, "p50", VERDICT_UNDECIDED, 0.1, 0 } }, true, BISECT_UNTOLD, 1 },
    { { { 0 } },
      { { KEY_A, "p50", VERDICT_SAME, 0, 0 }, { KEY_B, "p50", VERDICT_UNDECIDED, 0, 0 } },
      true,
      BISECT_UNTOLD,
      2 },
    { { { 0 } },
      { { KEY_A, "p50", VERDICT_REGRESSED, 0.1, 0 }, { KEY_B, "p50", VERDICT_UNDECIDED, 0, 0 } },
      true,
      BISECT_WORSE,
      2 },
    { { { 0 } }, { { 0 } }, false, BISECT_NOT_WORSE, 0 },
    { { { 0 } }, { { KEY_A, "p50", VERDICT_MISSING, NAN, HEAD } }, false, BISECT_NOT_WORSE, 1 },
    { { { 0 } },
      { { KEY_A, "p50", VERDICT_FAILING, NAN, BASE | HEAD }, { KEY_B, "p50", VERDICT_SAME, 0, 0 } },
      true,
      BISECT_NOT_WORSE,
      2 },
    /* the steps: whether a known change is there */
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 } },
      { { KEY_A, "p50", VERDICT_REGRESSED, 0.1, 0 } },
      true,
      BISECT_WORSE,
      1 },
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 } },
      { { KEY_A, "p50", VERDICT_REGRESSED, 0.02, 0 } },
      true,
      BISECT_UNTOLD,
      1 },
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 } },
      { { KEY_A, "p50", VERDICT_SAME, 0, 0 },
        { KEY_B, "p50", VERDICT_REGRESSED, 0.5, 0 },
        { KEY_A, "p95", VERDICT_REGRESSED, 0.5, 0 } },
      true,
      BISECT_NOT_WORSE,
      1 },
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 } },
      { { KEY_B, "p50", VERDICT_REGRESSED, 0.5, 0 } },
      false,
      BISECT_NOT_WORSE,
      0 },
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 } }, /* broke on the way: has no time */
      { { KEY_A, "p50", VERDICT_BROKEN, NAN, HEAD } },
      false,
      BISECT_NOT_WORSE,
      1 },
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 },
        { KEY_B, "p50", VERDICT_REGRESSED, 0.05, 0 } },
      { { KEY_A, "p50", VERDICT_SAME, 0, 0 }, { KEY_B, "p50", VERDICT_MISSING, NAN, HEAD } },
      false,
      BISECT_NOT_WORSE,
      2 },
    { { { KEY_A, "p50", VERDICT_REGRESSED, 0.05, 0 },
        { KEY_B, "p50", VERDICT_REGRESSED, 0.05, 0 } },
      { { KEY_A, "p50", VERDICT_REGRESSED, 0.1, 0 }, { KEY_B, "p50", VERDICT_MISSING, NAN, HEAD } },
      true,
      BISECT_WORSE,
      2 },
    /* what became broken is asked for its result alone */
    { { { KEY_A, "p50", VERDICT_BROKEN, 0.01, 0 } },
      { { KEY_A, "p50", VERDICT_REGRESSED, 0.5, 0 } },
      true,
      BISECT_NOT_WORSE,
      1 },
    { { { KEY_A, "p50", VERDICT_BROKEN, 0.01, 0 } },
      { { KEY_A, "p50", VERDICT_BROKEN, NAN, HEAD } },
      true,
      BISECT_WORSE,
      1 },
    { { { KEY_A, "p50", VERDICT_BROKEN, 0.01, 0 } },
      { { KEY_A, "p50", VERDICT_FAILING, NAN, BASE | HEAD } },
      false,
      BISECT_NOT_WORSE,
      1 },
};

TEST(what_a_comparison_answers)
{
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        struct compare_row rows[ROWS_MOST];
        struct compare_item items[ROWS_MOST];
        struct benchmark_name names[ROWS_MOST];
        struct bisect_job job = { .built = NULL };
        struct bisect_trial trial = { .blocks = 0 };
        struct comparison c;
        fill_rows(told[i].rows, &c, rows, items, names);
        track(&job, told[i].tracked);
        bool answers = bisect_job_answer(&job, &c, &trial);
        if (answers != told[i].answers || trial.looks.nr != told[i].looks ||
            (answers && trial.answer != told[i].answer))
            fail_msg("case %zu: %d, %d, %zu looks", i, answers, (int)trial.answer, trial.looks.nr);
        array_release(&trial.looks);
        bisect_job_release(&job);
    }
}

TEST(the_worst_of_the_looks)
{
    static const struct {
        double changes[3]; /* better below 0; NaN: not known; 0 ends them */
        int broken;        /* the one that is; -1: none */
        int worst;         /* -1: there is no look */
    } cases[] = {
        { { 0 }, -1, -1 },        { { 0.1, 0.3, 0.2 }, -1, 1 },
        { { -0.5, 0.1 }, -1, 1 }, { { -0.5, -0.1, -0.3 }, -1, 1 },
        { { NAN, -0.5 }, -1, 1 }, { { 0.9, NAN, 0.3 }, 1, 1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bisect_trial trial = { .blocks = 0 };
        for (int k = 0; k < 3 && cases[i].changes[k] != 0; k++)
            *array_push(&trial.looks) = (struct bisect_look) {
                .change = cases[i].changes[k],
                .worse = cases[i].changes[k] > 0,
                .verdict = k == cases[i].broken ? VERDICT_BROKEN : VERDICT_UNDECIDED,
            };
        const struct bisect_look *worst = bisect_worst(&trial);
        if (worst != (cases[i].worst < 0 ? NULL : &trial.looks.items[cases[i].worst]))
            fail_msg("case %zu", i);
        array_release(&trial.looks);
    }
}

TEST(the_evidence_against_a_place)
{
    static const struct {
        struct {
            size_t from, to;
            bool measured;
        } trials[3];  /* to 0 ends them */
        int evidence; /* against place 3: which of the trials; -1: none */
    } cases[] = {
        { { { 0, 3, true } }, 0 },
        { { { 0, 3, true }, { 2, 3, true } }, 1 },
        { { { 2, 3, true }, { 0, 3, true } }, 0 },
        { { { 0, 3, true }, { 0, 3, true } }, 1 }, /* the last one */
        { { { 0, 3, true }, { 2, 3, false } }, 0 },
        { { { 1, 3, true }, { 0, 2, true } }, -1 },
        { { { 0, 0, false } }, -1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bisect_job job = { .built = NULL };
        for (int k = 0; k < 3 && cases[i].trials[k].to; k++)
            *array_push(&job.trials) = (struct bisect_trial) {
                .question = { cases[i].trials[k].from, cases[i].trials[k].to },
                .measured = cases[i].trials[k].measured,
            };
        const struct bisect_trial *found = bisect_job_evidence(&job, 3);
        if (found != (cases[i].evidence < 0 ? NULL : &job.trials.items[cases[i].evidence]))
            fail_msg("case %zu", i);
        bisect_job_release(&job);
    }
}

/* ---- a whole search ---- */

static volatile sig_atomic_t interrupted;

/* A commit whose program has these settings; "": it does not build. */
static void commit_program(const char *settings, const char *title)
{
    put_file("fake", settings);
    GIT("add", "fake");
    commit(title);
}

struct search {
    struct bisect_job job;
    struct workload workload;
    struct git_commit bad;
};

/* Between HEAD~back and HEAD; the build copies a program that takes its settings from `fake`. */
static void search_init(struct search *s, const char *good, struct store *store)
{
    static const char build[] =
        "test -s fake || { echo nothing here >&2; exit 1; }\n"
        "sed \"s/SETTINGS/$(cat fake)/\" ../../../program >\"$BUILD/harness\"\n"
        "chmod +x \"$BUILD/harness\"\n";
    const struct compare_settings usual = COMPARE_DEFAULTS;
    const struct bisect_settings settings = BISECT_DEFAULTS;
    struct error err;

    interrupted = 0;
    put_program("program", "SETTINGS");
    *s = (struct search) { .job = { .store = store } };
    fake_workload(&s->workload, batches, 2);
    s->job.workload = &s->workload;
    s->job.recipe = (struct build_recipe) { .command = build, .folder = "builds" };
    s->job.request = (struct ab_request) {
        .compare = usual,
        .label = "bisect",
        .measuring = { .seed = 1, .interrupted = &interrupted },
    };
    assert_ok(git_resolve(good, &s->job.good, &err), &err);
    assert_ok(git_resolve("main", &s->bad, &err), &err);
    assert_ok(git_range(&s->job.good, &s->bad, &s->job.range, &err), &err);
    bisect_init(&s->job.search, s->job.range.nr, &settings);
}

static void search_release(struct search *s)
{
    bisect_job_release(&s->job);
    workload_release(&s->workload);
}

GIT_TEST(the_culprit_is_found_past_what_does_not_build)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct bisect_question question;
    struct search s;
    struct error err;
    size_t unbuilt = 0;

    commit_program("seed=3", "Good");
    GIT("tag", "good");
    commit_program("seed=4", "One");
    commit_program("", "Two: does not build");
    commit_program("slow=1.3,only=2", "Three");
    commit_program("slow=1.3,only=2,seed=5", "Four");
    search_init(&s, "good", store);
    while (bisect_next(&s.job.search, &question) == BISECT_ASK)
        assert_ok(bisect_job_step(&s.job, question, &err), &err);
    assert_int_equal(bisect_next(&s.job.search, &question), BISECT_FOUND);
    struct bisect_range range = bisect_range(&s.job.search);
    assert_int_equal(range.last, 3); /* "Two" cannot be told from it */
    assert_int_equal(range.first, 2);
    assert_string_equal(bisect_job_commit(&s.job, 3)->title, "Three");
    assert_string_equal(bisect_job_commit(&s.job, 0)->title, "Good");
    for (size_t i = 0; i < s.job.trials.nr; i++) {
        const struct bisect_trial *trial = &s.job.trials.items[i];
        if (trial->measured)
            continue;
        unbuilt++;
        assert_int_equal(trial->place, 2);
        assert_has(trial->complaint, "nothing here");
    }
    assert_int_equal(unbuilt, 1);
    /* what the first comparison found: one of two, and half of it is the floor of the steps */
    assert_int_equal(s.job.tracked.nr, 1);
    assert_string_equal(s.job.tracked.items[0].key, KEY_B);
    assert_close(s.job.tracked.items[0].change, 0.3, 0.02);
    assert_close(s.job.tracked.items[0].floor, sqrt(1.3) - 1, 0.02);
    assert_int_equal(s.workload.list.nr, 1);
    assert_int_equal(s.job.request.compare.nr_floors, 1);
    const struct bisect_trial *evidence = bisect_job_evidence(&s.job, 3);
    assert_non_null(evidence);
    assert_string_equal(bisect_worst(evidence)->key, KEY_B);
    search_release(&s);
    store_close(store);
}

GIT_TEST(ends_that_cannot_be_measured)
{
    static const struct {
        const char *good, *bad, *says, *why;
    } cases[] = {
        { "", "seed=3", "the good commit", "nothing here" },
        { "seed=3", "", "the bad commit", "nothing here" },
        { "unknown=3", "seed=3", "the good commit", "unknown" }, /* builds, measures nothing */
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct bisect_question first = { 0, 1 };
        struct search s;
        struct error err;
        commit_program(cases[i].good, "Good");
        commit_program(cases[i].bad, "Bad");
        search_init(&s, "main~1", store);
        int rc = bisect_job_step(&s.job, first, &err);
        assert_fails(rc, &err, cases[i].says);
        assert_has(err.message, "cannot be measured: ");
        assert_has(err.message, cases[i].why);
        assert_int_equal(s.job.trials.nr, 0);
        search_release(&s);
    }
    store_close(store);
}

/* A metric is asked for once, however many benchmarks got worse by it. */
GIT_TEST(more_got_worse_than_metrics_can_be_asked_for)
{
    enum { MANY = COMPARE_ASKED_MAX + 1 };
    static const char *const metrics[] = { "p50", NULL };
    const struct bisect_question questions[] = { { 0, 2 }, { 0, 1 } };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    int64_t many[MANY];
    struct search s;
    struct error err;

    for (int i = 0; i < MANY; i++)
        many[i] = i + 1;
    commit_program("seed=3", "Good");
    commit_program("seed=4", "One");
    commit_program("slow=1.3", "Two");
    search_init(&s, "main~2", store);
    workload_release(&s.workload);
    fake_workload(&s.workload, many, MANY);
    s.job.request.compare.metrics = metrics;
    for (size_t i = 0; i < 2; i++)
        assert_ok(bisect_job_step(&s.job, questions[i], &err), &err);
    assert_int_equal(s.job.tracked.nr, MANY);
    assert_string_equal(s.job.request.compare.metrics[0], "p50");
    assert_null(s.job.request.compare.metrics[1]);
    assert_int_equal(s.job.trials.items[1].answer, BISECT_NOT_WORSE);
    search_release(&s);
    store_close(store);
}

GIT_TEST(a_verdict_that_cannot_be_kept_is_an_answer_all_the_same)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    const struct bisect_question first = { 0, 1 };
    struct notes notes;
    struct search s;
    struct error err;

    execute_in(scratch->path, "PRAGMA foreign_keys = OFF; DROP TABLE verdict");
    notes_init(&notes);
    commit_program("seed=3", "Good");
    commit_program("slow=1.3", "Bad");
    search_init(&s, "main~1", store);
    s.job.request.measuring.sink = &notes.sink;
    assert_ok(bisect_job_step(&s.job, first, &err), &err);
    assert_int_equal(s.job.trials.items[0].answer, BISECT_WORSE);
    assert_has(notes.text.data, "harness: these verdicts are not recorded: ");
    strbuf_release(&notes.text);
    search_release(&s);
    store_close(store);
}

GIT_TEST(an_interrupt_tells_the_search_nothing)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    const struct bisect_question first = { 0, 1 };
    struct search s;
    struct error err;

    commit_program("seed=3", "Good");
    commit_program("slow=1.3", "Bad");
    search_init(&s, "main~1", store);
    interrupted = SIGINT;
    assert_int_equal(bisect_job_step(&s.job, first, &err), 1);
    assert_int_equal(s.job.trials.nr, 0);
    assert_int_equal(s.job.search.steps.nr, 0);
    search_release(&s);
    store_close(store);
}

RUN_TESTS_AND_LAUNCHES()
