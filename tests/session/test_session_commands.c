/* SPDX-License-Identifier: MIT */
/* Commands compared with each other: what is refused, what becomes of the first runs, of setup and
 * cleanup, and what is decided. Judged by numbers that they print, so that no clock has a say. */
#include "session_launches.h"

#include "session/compare/compare_commands.h"

enum { WORDS_MOST = 12 };

/* A request and what it owns. */
struct asked {
    struct commands_request request;
    struct compare_request how; /* where the rule comes from */
    struct compare_rule rule;
    char words[WORDS_MOST][64], *argv[WORDS_MOST];
};

/* Words as behind "--", NULL-ended; `number`: judged by "points N", lower is better. */
static void ask(struct asked *a, const char *const *words, const char *param, bool number)
{
    struct command_options *command = &a->request.command;
    struct error err;

    *a = (struct asked) { .how = { .baseline = "base" } };
    for (int i = 0; i < WORDS_MOST && words[i]; i++) {
        snprintf(a->words[i], sizeof(a->words[i]), "%s", words[i]);
        a->argv[i] = a->words[i];
        command->argv = (struct option_rest) { .argv = a->argv, .argc = i + 1 };
    }
    if (param)
        string_list_add(&command->params, param);
    if (number) {
        string_list_add(&a->how.numbers.metrics, "points=/points (.*)/");
        string_list_add(&a->how.numbers.betters, "lower");
        a->how.benches = true;
    }
    assert_ok(compare_request_rule(&a->how, &a->rule, &err), &err);
    assert_ok(compare_rule_declare(&a->rule, &err), &err);
    a->request.rule = &a->rule;
    a->request.measuring.seed = 1;
}

static void asked_release(struct asked *a)
{
    string_list_release(&a->request.command.params);
    string_list_release(&a->how.numbers.metrics);
    string_list_release(&a->how.numbers.betters);
    compare_rule_release(&a->rule);
}

/* ---- what is refused ---- */

#define LABEL_OF_90                                                                                \
    "123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 "

TEST(what_cannot_be_compared)
{
    static const struct {
        const char *words[WORDS_MOST], *param;
        int64_t runs, blocks;
        const char *label, *says; /* NULL: it is fine */
    } cases[] = {
        { { "true", "--versus", "false" }, NULL, 0, 0, NULL, NULL },
        { { "true", "--versus", "false" }, NULL, 4, 0, "label", NULL },
        { { "true", "--versus", "false" }, NULL, 3, 0, NULL, "--runs: an even number" },
        { { "true", "--versus", "false" }, NULL, 2, 2, NULL, "exclude each other" },
        { { "true", "--versus", "false" }, NULL, 0, 0, LABEL_OF_90, "--label" },
        { { "true" }, NULL, 0, 0, NULL, "there is only one command: give another one" },
        { { "true", "{n}" }, "n=1", 0, 0, NULL, "--param NAME=1,2" },
        { { "true", "{n}" }, "n=1,2", 0, 0, NULL, NULL },
        { { "true", "{n}" }, "n=1:17", 0, 0, NULL, "17 settings of one command: at most 16" },
        { { "true", "{n}" }, "n=1,,2", 0, 0, NULL, "a value is empty" },
        { { "true", "{n}", "--versus", "false" }, "n=1,2", 0, 0, NULL, NULL },
        { { "true", "--versus", "false" }, "n=1,2", 0, 0, NULL, "{n}" },
        { { "no-such-program", "--versus", "true" }, NULL, 0, 0, NULL, "no-such-program" },
        { { "true", "--versus", "no-such-program" }, NULL, 0, 0, NULL, "behind --versus: " },
        { { "true", "--versus", "sort -n" }, NULL, 0, 0, NULL, "leave out the quotes" },
        { { "true", "--versus" }, NULL, 0, 0, NULL, "--versus" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct commands_compared c = { .store = NULL };
        struct asked a;
        struct error err = { "" };
        ask(&a, cases[i].words, cases[i].param, false);
        a.request.runs = cases[i].runs;
        a.request.blocks = cases[i].blocks;
        a.request.label = cases[i].label;
        int rc = commands_compare_prepare(&a.request, &c, &err);
        if ((rc != 0) != (cases[i].says != NULL) || (rc && !strstr(err.message, cases[i].says)))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        commands_compared_release(&c);
        asked_release(&a);
    }
}

TEST(names_of_what_is_compared)
{
    static const struct {
        const char *words[WORDS_MOST], *param, *shell;
        const char *names[2]; /* --name */
        const char *shown[2];
    } cases[] = {
        { { "true", "a b", "--versus", "false", "" },
          NULL,
          NULL,
          { NULL },
          { "true 'a b'", "false ''" } },
        { { "true", "--versus", "false" }, NULL, NULL, { "old", "new" }, { "old", "new" } },
        { { "true", "--versus", "false" }, NULL, NULL, { "both" }, { "true", "false" } },
        { { "true", "x{n}" }, "n=1,2", NULL, { NULL }, { "true x1", "true x2" } },
        { { "true; true", "--versus", "false" }, NULL, "sh", { NULL }, { "true; true", "false" } },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct commands_compared c = { .store = NULL };
        struct asked a;
        struct error err;
        ask(&a, cases[i].words, cases[i].param, false);
        a.request.command.shell = cases[i].shell;
        for (int k = 0; k < 2 && cases[i].names[k]; k++)
            string_list_add(&a.request.command.names, cases[i].names[k]);
        assert_ok(commands_compare_prepare(&a.request, &c, &err), &err);
        assert_int_equal(c.nr, 2);
        assert_int_equal(c.report.nr_commands, 2);
        for (int k = 0; k < 2; k++)
            assert_string_equal(c.report.commands[k].name, cases[i].shown[k]);
        commands_compared_release(&c);
        string_list_release(&a.request.command.names);
        asked_release(&a);
    }
}

/* ---- what comes of it ---- */

static size_t count_verdicts(struct store *store)
{
    struct store_comparisons all = { 0 };
    struct error err;

    assert_ok(store_comparison_list(store, 0, &all, &err), &err);
    size_t nr = all.nr;
    store_comparisons_release(&all);
    return nr;
}

#define POINTS(n) "sh", "-c", "echo points " n

struct decided {
    const char *words[WORDS_MOST];
    int64_t runs;
    bool no_record;
    int status;
    size_t results, verdicts, runs_kept;
    const char *end;
    double change; /* of the second command; NaN: none is told */
};

static const struct decided decided[] = {
    { { POINTS("100"), "--versus", POINTS("300") },
      6,
      false,
      EXIT_REGRESSION,
      2,
      1,
      2,
      "blocks",
      2 },
    { { POINTS("100"), "--versus", POINTS("100") }, 6, false, EXIT_SAME, 2, 1, 2, "blocks", 0 },
    { { POINTS("100"), "--versus", POINTS("120") },
      2,
      true,
      EXIT_UNDECIDED,
      2,
      0,
      2,
      "blocks",
      0.2 },
    { { POINTS("9"), "--versus", POINTS("8"), "--versus", POINTS("9") },
      2,
      false,
      EXIT_UNDECIDED,
      3,
      2,
      3,
      "blocks",
      -1.0 / 9 },
    /* one that fails at once is told before anything is measured */
    { { POINTS("1"), "--versus", "sh", "-c", "echo bad >&2; exit 3" },
      2,
      false,
      EXIT_REGRESSION,
      1,
      0,
      0,
      "failed",
      NAN },
};

/* On a busy machine its probe may say so, and then nothing small is called. */
static bool machine_moved(const struct commands_compared *c)
{
    const struct compare_row *row = c->report.nr > 1 ? c->report.results[1].rows[0] : NULL;

    return row && strstr(row->why, "the machine itself moved");
}

static void check_decided(const struct decided *d, const struct commands_compared *c)
{
    struct store_listing runs = { 0 };
    struct error err;
    int status = machine_moved(c) ? EXIT_UNDECIDED : d->status;

    if (c->report.exit_status != status)
        fail_msg("case %zu: status %d", (size_t)(d - decided), c->report.exit_status);
    assert_string_equal(c->report.end, d->end);
    assert_int_equal(c->report.nr, d->results);
    if (isnan(d->change)) {
        assert_int_equal(c->report.results[0].command, 1);
        assert_has(c->report.results[0].message, "bad");
    } else {
        assert_null(c->report.results[0].rows[0]);
        assert_close(c->report.results[1].rows[0]->change, d->change, 1e-9);
        for (size_t i = 0; i < c->report.nr; i++)
            assert_int_equal(c->report.results[i].runs, d->runs);
    }
    assert_int_equal(count_verdicts(c->store), d->verdicts);
    assert_ok(store_list_runs(c->store, NULL, 0, &runs, &err), &err);
    assert_int_equal(runs.nr, d->runs_kept);
    store_listing_release(&runs);
}

PLACE_TEST(what_is_decided)
{
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof(decided) / sizeof(decided[0]); i++) {
        struct commands_compared c = { .store = NULL };
        struct asked a;
        struct error err;
        char path[160];
        snprintf(path, sizeof(path), "%s/%zu.db", scratch->folder, i);
        ask(&a, decided[i].words, NULL, true);
        a.request.runs = decided[i].runs;
        a.request.no_record = decided[i].no_record;
        assert_ok(commands_compare_prepare(&a.request, &c, &err), &err);
        c.store = open_history(path, STORE_WRITE);
        assert_ok(commands_compare_run(&a.request, &c, &err), &err);
        check_decided(&decided[i], &c);
        struct store *store = c.store;
        commands_compared_release(&c);
        store_close(store);
        asked_release(&a);
    }
}

PLACE_TEST(a_verdict_that_cannot_be_recorded_is_told_all_the_same)
{
    static const char *const words[WORDS_MOST] = { POINTS("100"), "--versus", POINTS("300") };
    struct scratch *scratch = *state;
    struct commands_compared c = { .store = open_history(scratch->path, STORE_WRITE) };
    struct store *store = c.store;
    struct notes notes;
    struct asked a;
    struct error err;

    execute_in(scratch->path, "PRAGMA foreign_keys = OFF; DROP TABLE verdict");
    notes_init(&notes);
    ask(&a, words, NULL, true);
    a.request.runs = 6;
    a.request.measuring.sink = &notes.sink;
    assert_ok(commands_compare_prepare(&a.request, &c, &err), &err);
    assert_ok(commands_compare_run(&a.request, &c, &err), &err);
    assert_int_equal(c.report.exit_status, machine_moved(&c) ? EXIT_UNDECIDED : EXIT_REGRESSION);
    assert_int_equal(c.report.nr, 2);
    assert_has(notes.text.data, "harness: these verdicts are not recorded: ");
    strbuf_release(&notes.text);
    commands_compared_release(&c);
    store_close(store);
    asked_release(&a);
}

/* What setup and cleanup have left. */
static void assert_log(const char *expected)
{
    struct error err;
    char *log = file_read("log", FILE_SETTINGS_MOST, NULL, &err);

    assert_non_null(log);
    assert_string_equal(log, expected);
    free(log);
}

/* Setup and cleanup are around each setting; what was set up is cleaned up whatever came. */
PLACE_TEST(setup_and_cleanup)
{
    static const struct {
        const char *setup, *cleanup, *param, *log;
        const char *says; /* NULL: it is fine */
    } cases[] = {
        { "echo up >>log", "echo down >>log", NULL, "up\ndown\n", NULL },
        { "echo up {n} >>log", "echo down {n} >>log", "n=1,2", "up 1\ndown 1\nup 2\ndown 2\n",
          NULL },
        { "(sleep 0.3; echo words; echo on >>log) & echo up >>log", /* a server, and its words */
          "for i in $(seq 100); do grep -q on log && break; sleep 0.05; done; echo down >>log",
          NULL, "up\non\ndown\n", NULL },
        { "echo words; exit 3", "echo down >>log", NULL, "down\n",
          "--setup exited with status 3: words" },
        { NULL, "kill -9 $$", NULL, "", "--cleanup died by signal 9" },
        { "exit 3", "exit 4", NULL, "", "--setup exited with status 3" }, /* the first of them */
    };
    static const char *const plain[WORDS_MOST] = { POINTS("1"), "--versus", POINTS("1") };
    static const char *const filled[WORDS_MOST] = { POINTS("{n}"), "--versus", POINTS("{n}") };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct commands_compared c = { .store = store };
        struct asked a;
        struct error err = { "" };
        put_file("log", "");
        ask(&a, cases[i].param ? filled : plain, cases[i].param, true);
        a.request.setup = cases[i].setup;
        a.request.cleanup = cases[i].cleanup;
        a.request.runs = 2;
        assert_ok(commands_compare_prepare(&a.request, &c, &err), &err);
        int rc = commands_compare_run(&a.request, &c, &err);
        if (cases[i].says)
            assert_fails(rc, &err, cases[i].says);
        else
            assert_ok(rc, &err);
        assert_log(cases[i].log);
        if (rc == 0)
            assert_int_equal(c.nr_sessions, cases[i].param ? 2 : 1);
        if (rc == 0)
            assert_string_equal(c.report.results[0].setting, cases[i].param ? "n=1" : "");
        commands_compared_release(&c);
        asked_release(&a);
    }
    store_close(store);
}

static volatile sig_atomic_t interrupted;

static void interrupt_block(void *context, const struct ab_progress *p)
{
    (void)context;
    if (p->block == 2)
        interrupted = SIGINT;
}

PLACE_TEST(an_interrupt_ends_it_and_records_nothing)
{
    static const char *const words[WORDS_MOST] = { POINTS("1"), "--versus", POINTS("2") };
    static const struct {
        int before; /* the signal is there at once; 0: it comes in the second block */
        size_t results;
        const char *cleanup, *log, *says;
    } cases[] = {
        { SIGTERM, 0, NULL, "", "" },
        { 0, 2, NULL, "", "" },
        { SIGTERM, 0, "sleep 0.2; echo down >>log", "down\n", "" },
        { 0, 2, "sleep 0.2; echo down >>log", "down\n", "" },
        { 0, 2, "echo words; exit 3", "", "harness: --cleanup exited with status 3: words\n" },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct commands_compared c = { .store = store };
        struct notes notes;
        struct asked a;
        struct error err;
        notes_init(&notes);
        notes.sink.blocks = interrupt_block;
        put_file("log", "");
        ask(&a, words, NULL, true);
        a.request.runs = 8;
        a.request.cleanup = cases[i].cleanup;
        a.request.measuring.sink = &notes.sink;
        a.request.measuring.interrupted = &interrupted;
        interrupted = cases[i].before;
        assert_ok(commands_compare_prepare(&a.request, &c, &err), &err);
        assert_ok(commands_compare_run(&a.request, &c, &err), &err);
        assert_int_equal(c.interrupted, cases[i].before ? cases[i].before : SIGINT);
        assert_string_equal(c.report.end, "interrupted");
        assert_int_equal(c.report.nr, cases[i].results);
        assert_int_equal(count_verdicts(store), 0);
        assert_log(cases[i].log);
        if (!strstr(notes.text.data, cases[i].says) ||
            (strstr(notes.text.data, "--cleanup") != NULL) != (cases[i].says[0] != '\0'))
            fail_msg("case %zu: %s", i, notes.text.data);
        strbuf_release(&notes.text);
        commands_compared_release(&c);
        asked_release(&a);
    }
    store_close(store);
}

RUN_TESTS_AND_LAUNCHES()
