/* SPDX-License-Identifier: MIT */
/* Races of settings, from what is asked to the winner that is kept. A plugin for the fake device
 * has them (tests/fixtures/plugins/tunable.c): all settings take the same time, BM=7 is wrong and
 * BM=3 unsupported. How the rule of a race does is in tests/statistics. */
#include "session_launches.h"

#include "base/json.h"
#include "json_facts.h"
#include "session/tune/tuned_key.h"
#include "session/tune/tuned_workload.h"
#include "session/tune/tuning.h"

enum { TEXTS_MOST = 3 };

/* A request and what it owns. */
struct asked {
    struct tuning_request request;
    char words[TEXTS_MOST][64], *filters[TEXTS_MOST];
};

/* NULL-ended. Without a plugin it is about the variants of this build. */
static void ask(struct asked *a, bool plugin, const char *const *filters, const char *const *params)
{
    struct workload_options *what = &a->request.what;

    *a = (struct asked) { .request = { .what = { .device = "fake:base=2000,sd=0.001,seed=3" } } };
    for (size_t i = 0; i < TEXTS_MOST && filters[i]; i++) {
        snprintf(a->words[i], sizeof(a->words[i]), "%s", filters[i]);
        a->filters[i] = a->words[i];
        a->request.nr_filters++;
    }
    for (size_t i = 0; i < TEXTS_MOST && params[i]; i++)
        string_list_add(&what->params, params[i]);
    if (plugin)
        string_list_add(&what->plugins, SCRIPTED_PLUGIN);
    if (plugin)
        string_list_add(&what->dims, "n=64");
    a->request.filters = a->filters;
    a->request.measuring.seed = 1;
}

static void asked_release(struct asked *a)
{
    string_list_release(&a->request.what.params);
    string_list_release(&a->request.what.plugins);
    string_list_release(&a->request.what.dims);
}

/* ---- what a setting holds for ---- */

/* "cuda1" is a place: the model tells two GPUs of one machine apart. Of what kind they are is not
 * asked. */
TEST(what_an_accelerator_is)
{
    static const struct {
        struct device device;
        const char *is;
    } rows[] = {
        { { .kind = DEVICE_CUDA, .model = "NVIDIA H200" }, "NVIDIA H200" },
        { { .kind = DEVICE_CUDA, .model = "NVIDIA L4", .index = 1 }, "NVIDIA L4" },
        { { .kind = DEVICE_SYCL, .driver = "1.3.27", .model = "Max 1550" }, "1.3.27, Max 1550" },
        { { .kind = DEVICE_HIP, .driver = "6.4.1" }, "6.4.1" },
        { { .kind = DEVICE_CPU }, "" },
    };
    char driver[TUNED_DRIVER_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tuned_key_driver(&rows[i].device, driver);
        assert_string_equal(driver, rows[i].is);
    }
}

/* What is kept of a race with BM=16, for a device that is as the race's but for its driver. */
static int keep_of_driver(const struct tuning *t, const struct device *with,
                          const struct device *now, size_t *nr, struct error *err)
{
    const struct workload *w = &t->workload;
    struct benchmark_list list = { 0 };
    struct tuned tuned = { 0 };
    struct guest_setting setting;

    for (size_t i = 0; i < w->list.nr; i++)
        *array_push(&list) = w->list.items[i];
    assert_true(guests_setting(&w->guests, list.items[0].variant, &setting));
    struct store_tuned *kept = array_push(&tuned.kept);
    *kept = (struct store_tuned) { .setting = memory_string("BM=16"), .decided = true };
    tuned_key_fill(kept, &list.items[0], with, &setting);
    int rc = tuned_keep(&tuned, &w->guests, now, &list, err);
    *nr = list.nr;
    array_release(&list);
    tuned_close(&tuned);
    return rc;
}

TEST(a_setting_holds_with_its_driver_alone)
{
    static const struct {
        const char *with[2], *now[2]; /* driver, model */
        const char *says;             /* NULL: it holds */
    } rows[] = {
        { { "1.0", "Max 1550" }, { "1.0", "Max 1550" }, NULL },
        { { "", "" }, { "", "" }, NULL },
        { { "1.0", "Max 1550" },
          { "2.0", "Max 1550" },
          "BM=16, was found with driver 1.0, Max 1550, and this is 2.0, Max 1550: `harness tune` "
          "again" },
        { { "1.0", "Max 1550" },
          { "1.0", "Max 1100" },
          "was found with driver 1.0, Max 1550, and this is 1.0, Max 1100" },
        { { "", "" }, { "2.0", "" }, "was found with driver none, and this is 2.0" },
        { { "1.0", "" }, { "", "" }, "was found with driver 1.0, and this is none" },
    };
    static const char *const none[] = { NULL }, *const params[] = { "BM=16,64", NULL };
    struct asked a;
    struct tuning t;
    struct error err = { "" };

    ask(&a, true, none, params);
    assert_ok(tuning_open(&t, &a.request, &err), &err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device with = t.workload.devices.items[0], now = with;
        size_t nr;
        snprintf(with.driver, sizeof(with.driver), "%s", rows[i].with[0]);
        snprintf(with.model, sizeof(with.model), "%s", rows[i].with[1]);
        snprintf(now.driver, sizeof(now.driver), "%s", rows[i].now[0]);
        snprintf(now.model, sizeof(now.model), "%s", rows[i].now[1]);
        int rc = keep_of_driver(&t, &with, &now, &nr, &err);
        if (rc != (rows[i].says ? -1 : 0) || (rc && !strstr(err.message, rows[i].says)))
            fail_msg("row %zu: %d \"%s\"", i, rc, err.message);
        assert_true(rc || nr == 1);
    }
    tuning_close(&t);
    asked_release(&a);
}

/* ---- what races ---- */

TEST(what_is_not_to_be_tuned)
{
    static const struct {
        bool plugin;
        const char *filters[TEXTS_MOST], *params[TEXTS_MOST];
        const char *says;
    } cases[] = {
        { false, { "null/copy/right" }, { NULL }, "there is no parameter to tune: give --param" },
        { true, { "mine/twice/plain" }, { NULL }, "there is no parameter to tune: give --param" },
        { true, { NULL }, { "BM=64" }, "there is one setting alone" },
        { true, { NULL }, { "BM=64", "stages=2" }, "there is one setting alone" },
        { true, { "mine/twice/plain" }, { "BM=16,64" }, "nothing that was chosen has a parameter" },
        { true, { NULL }, { "BN=1,2" }, "no variant has such a parameter" },
        { true, { NULL }, { "BM=1:1000", "stages=1:3" }, "3000 settings, more than 2000" },
        { true, { NULL }, { "BM=1,1" }, "the value 1 is there twice" },
        { true, { "nobody" }, { "BM=1,2" }, "nobody" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct asked a;
        struct tuning t;
        struct error err = { "" };
        ask(&a, cases[i].plugin, cases[i].filters, cases[i].params);
        int rc = tuning_open(&t, &a.request, &err);
        if (rc == 0 || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        tuning_close(&t);
        asked_release(&a);
    }
}

TEST(a_race_for_each_benchmark)
{
    static const struct {
        const char *params[TEXTS_MOST], *sizes;
        size_t races, runners;
        int64_t rounds;
        int launches;
    } cases[] = {
        { { "BM=16,64" }, "n=64", 1, 2, 0, TUNING_ROUNDS },
        { { "BM=16,64", "stages=1,2,3" }, "n=64,1024", 2, 6, 7, 7 },
        { { NULL }, "n=1024", 1, 12, 0, TUNING_ROUNDS }, /* what the variant says itself */
    };
    static const char *const none[] = { NULL };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct asked a;
        struct tuning t;
        struct error err;
        ask(&a, true, none, cases[i].params);
        string_list_release(&a.request.what.dims);
        string_list_add(&a.request.what.dims, cases[i].sizes);
        a.request.rounds = cases[i].rounds;
        a.request.tolerance = 0.2;
        assert_ok(tuning_open(&t, &a.request, &err), &err);
        assert_int_equal(t.races.nr, cases[i].races);
        assert_int_equal(t.workload.suite.launches, cases[i].launches);
        assert_close(t.rule.tolerance, 0.2, 1e-12);
        assert_int_equal(t.workload.list.nr, cases[i].races * cases[i].runners); /* no "plain" */
        for (size_t r = 0; r < t.races.nr; r++) {
            const struct tuning_race *race = &t.races.items[r];
            assert_int_equal(race->runners.nr, cases[i].runners);
            assert_lacks(race->bench.key, "BM=");
            assert_string_equal(race->key.key, race->bench.key);
            assert_has(race->key.code, ".so");
            assert_true(strlen(race->key.digest) > 0);
            assert_false(tuning_race_has_winner(race));
        }
        tuning_close(&t);
        asked_release(&a);
    }
}

/* ---- what comes of them ---- */

static const struct tuning_runner *runner_of(const struct tuning *t, const char *setting)
{
    for (size_t i = 0; i < t->races.items[0].runners.nr; i++)
        if (strcmp(t->races.items[0].runners.items[i].setting, setting) == 0)
            return &t->races.items[0].runners.items[i];
    fail_msg("no setting %s", setting);
    return NULL;
}

static volatile sig_atomic_t interrupted;

static void interrupt_sweep(void *context, const struct sweep_progress *p)
{
    if (p->launch == *(const int *)context)
        interrupted = SIGINT;
}

struct outcome_of_race {
    const char *params[TEXTS_MOST];
    int64_t rounds;
    int interrupt_in; /* the round; 0: never */
    bool winner, decided, kept, ended;
    const char *facts; /* of the first race */
};

static const struct outcome_of_race outcomes[] = {
    { { "BM=3,7,16,64" },
      0,
      0,
      true,
      true,
      true,
      true,
      "decided=true; kept=true; #settings=4; settings.0.setting=BM=3; settings.0.state=out; "
      "settings.0.message~no power of two; settings.0.outcome=UNSUPPORTED; "
      "settings.1.outcome=WRONG; settings.1.rounds=0; settings.1.left=1; !settings.2.message; "
      "at_most=0.01" },
    { { "BM=16,32,64" }, 2, 0, true, true, true, true, "rounds=2" },
    { { "BM=16,32,64" }, 1, 0, true, false, true, true, "decided=false; kept=true; rounds=1" },
    { { "BM=3,7" }, 0, 0, false, true, false, true, "decided=false; kept=false; !setting" },
    { { "BM=16,64" }, 0, 1, false, false, false, false, "kept=false; rounds=0" },
    { { "BM=16,64" }, 0, 2, true, false, false, false, "kept=false; rounds=1" },
};

/* What the history keeps of it. */
static void check_kept(const struct outcome_of_race *o, const struct tuning *t, struct store *store)
{
    const struct tuning_race *race = &t->races.items[0];
    struct store_tuned_list kept = { 0 };
    struct store_listing runs = { 0 };
    struct error err;

    assert_ok(store_tuned_find(store, race->bench.key, t->run.machine.id, &kept, &err), &err);
    assert_int_equal(kept.nr, o->kept);
    if (kept.nr) {
        const char *winner = race->runners.items[race->race.leader].setting;
        assert_string_equal(kept.items[0].setting, winner);
        assert_string_equal(kept.items[0].run, t->run.uuid);
        assert_int_equal(kept.items[0].decided, o->decided);
        assert_close(tuning_time(race, race->race.leader), 2000, 20);
    }
    assert_ok(store_list_runs(store, NULL, 0, &runs, &err), &err);
    assert_int_equal(runs.nr, 1);
    assert_int_equal(runs.items[0].run.kind, RUN_TRIAL);
    assert_string_equal(runs.items[0].run.label, "tune");
    assert_int_equal(runs.items[0].run.ended_ms > 0, o->ended);
    store_listing_release(&runs);
    store_tuned_release(&kept);
}

static void check_race(const struct outcome_of_race *o, const struct tuning *t)
{
    const struct tuning_race *race = &t->races.items[0];
    cJSON *json = tuning_to_json(t);

    assert_facts(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "races"), 0), o->facts);
    cJSON_Delete(json);
    assert_int_equal(tuning_race_has_winner(race), o->winner);
    assert_int_equal(race->race.decided, o->decided);
    assert_int_equal(race->kept, o->kept);
}

PLACE_TEST(winners_are_kept)
{
    static const char *const none[] = { NULL };
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        struct session_sink sink = { .context = (void *)&outcomes[i].interrupt_in,
                                     .sweep = interrupt_sweep };
        struct asked a;
        struct tuning t;
        struct error err;
        char path[160];
        snprintf(path, sizeof(path), "%s/%zu.db", scratch->folder, i);
        struct store *store = open_history(path, STORE_WRITE);
        ask(&a, true, none, outcomes[i].params);
        interrupted = 0;
        a.request.rounds = outcomes[i].rounds;
        a.request.measuring.sink = &sink;
        a.request.measuring.interrupted = &interrupted;
        assert_ok(tuning_open(&t, &a.request, &err), &err);
        assert_ok(tuning_run(&t, store, &err), &err);
        check_race(&outcomes[i], &t);
        check_kept(&outcomes[i], &t, store);
        tuning_close(&t);
        asked_release(&a);
        store_close(store);
    }
}

/* One history: what it keeps after each of these races. */
static const struct {
    const char *params[TEXTS_MOST];
    int64_t rounds; /* 1: it cannot be decided */
    bool decided, kept;
} in_turn[] = {
    { { "BM=16,32,64" }, 1, false, true },
    { { "BM=16,64" }, 1, false, true },
    { { "BM=16,32" }, 0, true, true },
    { { "BM=64,128" }, 1, false, false }, /* what was decided stays */
    { { "BM=64,128" }, 0, true, true },
};

static void check_stands(const struct tuning *t, struct store *store, bool kept, char before[64])
{
    const struct tuning_race *race = &t->races.items[0];
    struct store_tuned_list newest = { 0 };
    struct error err;

    assert_ok(store_tuned_newest(store, t->run.machine.id, &newest, &err), &err);
    assert_int_equal(newest.nr, 1);
    assert_int_equal(race->kept, kept);
    if (kept)
        snprintf(before, 64, "%s", race->runners.items[race->race.leader].setting);
    else
        assert_string_equal(race->stands, before);
    assert_int_equal(race->stands == NULL, kept);
    assert_string_equal(newest.items[0].setting, before);
    store_tuned_release(&newest);
}

PLACE_TEST(what_was_decided_stands)
{
    static const char *const none[] = { NULL };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    char before[64] = "";

    for (size_t i = 0; i < sizeof(in_turn) / sizeof(in_turn[0]); i++) {
        struct asked a;
        struct tuning t;
        struct error err;
        ask(&a, true, none, in_turn[i].params);
        a.request.rounds = in_turn[i].rounds;
        assert_ok(tuning_open(&t, &a.request, &err), &err);
        assert_ok(tuning_run(&t, store, &err), &err);
        assert_int_equal(t.races.items[0].race.decided, in_turn[i].decided);
        check_stands(&t, store, in_turn[i].kept, before);
        tuning_close(&t);
        asked_release(&a);
    }
    store_close(store);
}

/* Who is out is not measured again, and costs the others nothing. */
PLACE_TEST(who_is_out_is_measured_once)
{
    static const char *const none[] = { NULL }, *const params[] = { "BM=7,16,64", NULL };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct store_listing runs = { 0 };
    struct asked a;
    struct tuning t;
    struct error err;

    ask(&a, true, none, params);
    a.request.label = "mine";
    assert_ok(tuning_open(&t, &a.request, &err), &err);
    assert_ok(tuning_run(&t, store, &err), &err);
    assert_ok(store_list_runs(store, NULL, 0, &runs, &err), &err);
    assert_string_equal(runs.items[0].run.label, "mine");
    assert_int_equal(runs.items[0].outcomes[OUTCOME_WRONG], 1);
    assert_int_equal(runs.items[0].outcomes[OUTCOME_OK], t.measured - 1);
    assert_int_equal(runner_of(&t, "BM=7")->outcome, OUTCOME_WRONG);
    assert_true(isnan(tuning_time(&t.races.items[0], 0)));
    assert_int_equal(runner_of(&t, "BM=16")->outcome, OUTCOME_OK);
    store_listing_release(&runs);
    tuning_close(&t);
    asked_release(&a);
    store_close(store);
}

PLACE_TEST(a_history_that_cannot_be_written)
{
    static const char *const none[] = { NULL }, *const params[] = { "BM=16,64", NULL };
    struct scratch *scratch = *state;
    struct asked a;
    struct tuning t;
    struct error err;

    store_close(open_history(scratch->path, STORE_WRITE));
    struct store *store = open_history(scratch->path, STORE_READ);
    ask(&a, true, none, params);
    assert_ok(tuning_open(&t, &a.request, &err), &err);
    assert_fails(tuning_run(&t, store, &err), &err, scratch->path);
    assert_int_equal(t.measured, 0);
    tuning_close(&t);
    asked_release(&a);
    store_close(store);
}

/* ---- numbers of a race ---- */

TEST(times_and_how_far_the_winner_may_be)
{
    static const struct {
        double times[4][3]; /* of each round; 0: there is no such round, -1: not measured */
        int out;            /* taken out at the end; -1: nobody */
        double time[3];     /* median; 0: none */
        bool winner, known; /* known: tuning_at_most() says something */
    } cases[] = {
        { { { 0 } }, -1, { 0, 0, 0 }, false, false },
        { { { 100, 200, 300 } }, -1, { 100, 200, 300 }, true, false },
        { { { 100, 200, 300 }, { 104, 200, 300 }, { 102, 200, 900 } },
          -1,
          { 102, 200, 300 },
          true,
          true },
        { { { 100, 200, 300 }, { 104, -1, 300 }, { 102, -1, 300 } },
          0,
          { 0, 200, 300 },
          true,
          false },
        { { { 100, -1, 300 } }, -1, { 100, 0, 300 }, true, false },
    };
    const struct race_rule rule = RACE_DEFAULTS;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tuning_race r = { .kept = false };
        race_init(&r.race, 3, &rule);
        for (int round = 0; round < 4 && cases[i].times[round][0] > 0; round++) {
            double times[3];
            for (int k = 0; k < 3; k++)
                times[k] = cases[i].times[round][k] > 0 ? cases[i].times[round][k] : NAN;
            race_round(&r.race, times);
        }
        if (cases[i].out >= 0)
            race_take_out(&r.race, (size_t)cases[i].out);
        assert_int_equal(tuning_race_has_winner(&r), cases[i].winner);
        for (size_t k = 0; k < 3; k++)
            if (cases[i].time[k] > 0)
                assert_close(tuning_time(&r, k), cases[i].time[k], 1e-6);
            else
                assert_true(isnan(tuning_time(&r, k)));
        double most = tuning_at_most(&r);
        if (cases[i].winner && (isfinite(most) != cases[i].known || most < rule.tolerance))
            fail_msg("case %zu: %g", i, most);
        race_release(&r.race);
    }
}

RUN_TESTS_AND_LAUNCHES()
