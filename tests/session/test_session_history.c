/* SPDX-License-Identifier: MIT */
/* Where the history lies, what stands beside it, and what is read of many runs of it. */
#include "session_testing.h"

#include "machine/environment.h"
#include "session/history_file.h"
#include "session/measure/roofs.h"

#include <limits.h>
#include <sys/wait.h>

#define KEY_A "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"
#define KEY_B "layernorm/simd/fp32/rows=64/cpu-2t/warm"

/* ---- places ---- */

/* Is the scratch folder below what marks a project, so that nothing in it is outside of one? */
static bool is_in_project(void)
{
    struct strbuf top;

    strbuf_init(&top);
    history_project_top(&top);
    bool inside = strcmp(top.data, ".") != 0;
    strbuf_release(&top);
    return inside;
}

PLACE_TEST(the_top_is_the_nearest_folder_with_a_mark)
{
    static const struct {
        const char *mark; /* what is there; ends with "/" where it is a folder; NULL: nothing */
        const char *in;   /* the folder that the user is in */
        const char *top;  /* below the scratch folder; NULL: there is none */
    } cases[] = {
        { NULL, "none/deep", NULL },
        { "a/.git/", "a", "/a" },
        { "b/.harness/", "b/c/d", "/b" },
        { "e/.git", "e/f", "/e" },             /* a worktree's is a file */
        { "g/.git/", "g/h/.harness", "/g/h" }, /* inside the mark itself */
        { "i/.gitignore", "i", NULL },
        { "j/k/.harness/", "j", NULL },
    };
    struct scratch *scratch = *state;
    char expected[PATH_MAX];
    struct strbuf top;

    if (is_in_project()) {
        print_message("skipped: the folder of temporary files is in a project\n");
        skip();
    }
    strbuf_init(&top);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *mark = cases[i].mark;
        put_folder(cases[i].in);
        if (mark && mark[strlen(mark) - 1] == '/')
            put_folder(mark);
        else if (mark)
            put_file(mark, "");
        assert_int_equal(chdir(cases[i].in), 0);
        strbuf_clear(&top);
        history_project_top(&top);
        snprintf(expected, sizeof(expected), "%s%s", cases[i].top ? scratch->folder : ".",
                 cases[i].top ? cases[i].top : "");
        if (strcmp(top.data, expected) != 0)
            fail_msg("case %zu: %s, not %s", i, top.data, expected);
        assert_int_equal(chdir(scratch->folder), 0);
    }
    strbuf_release(&top);
}

PLACE_TEST(the_history_is_the_first_that_is_named)
{
    static const struct {
        const char *given, *variable;
        const char *path;   /* "/...": below the project */
        const char *builds; /* beside it; the same */
    } cases[] = {
        { "x.db", "y.db", "x.db", "builds" },
        { "far/x.db", NULL, "far/x.db", "far/builds" },
        { NULL, "near/y.db", "near/y.db", "near/builds" },
        { NULL, "", "/.harness/history.db", "/.harness/builds" },
        { NULL, NULL, "/.harness/history.db", "/.harness/builds" },
    };
    struct scratch *scratch = *state;
    char path[PATH_MAX], builds[PATH_MAX];
    struct strbuf found;

    put_folder(".harness");
    put_folder("sub");
    assert_int_equal(chdir("sub"), 0);
    strbuf_init(&found);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *top = cases[i].path[0] == '/' ? scratch->folder : "";
        if (cases[i].variable)
            setenv("HARNESS_DB", cases[i].variable, 1);
        else
            unsetenv("HARNESS_DB");
        snprintf(path, sizeof(path), "%s%s", top, cases[i].path);
        snprintf(builds, sizeof(builds), "%s%s", top, cases[i].builds);
        history_path(cases[i].given, &found);
        assert_string_equal(found.data, path);
        assert_string_equal(history_builds(cases[i].given, &found), builds);
    }
    unsetenv("HARNESS_DB");
    strbuf_release(&found);
}

PLACE_TEST(baselines_are_at_the_top_by_class)
{
    struct scratch *scratch = *state;
    struct machine machine;
    struct strbuf folder, file;
    char expected[PATH_MAX];
    struct error err;

    put_folder(".git");
    assert_ok(environment_machine(&machine, &err), &err);
    strbuf_init(&folder);
    strbuf_init(&file);
    strbuf_adds(&file, "left from before");
    history_baseline_file("some-class", "main", &file);
    snprintf(expected, sizeof(expected), "%s/baselines/some-class/main.json", scratch->folder);
    assert_string_equal(file.data, expected);
    assert_ok(history_baseline_folder(&folder, &err), &err);
    snprintf(expected, sizeof(expected), "%s/baselines/%s", scratch->folder, machine.class_name);
    assert_string_equal(folder.data, expected);
    strbuf_release(&folder);
    strbuf_release(&file);
}

TEST(what_stands_beside_a_history)
{
    static const struct {
        const char *history, *name, *path;
    } cases[] = {
        { ".harness/history.db", "plots", ".harness/plots" },
        { "/history.db", "plots", "/plots" },
        { "history.db", "plots", "plots" },
        { "a/b/", ".", "a/b/." },
    };
    struct strbuf path;

    strbuf_init(&path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        history_sibling(cases[i].history, cases[i].name, &path);
        assert_string_equal(path.data, cases[i].path);
    }
    strbuf_release(&path);
}

/* ---- runs ---- */

TEST(the_first_start_and_the_runs_that_stay)
{
    static const int64_t starts[] = { 30, 10, 20 };
    static const struct {
        bool keep[3];
        size_t nr;
        int64_t newest, first;
    } cases[] = {
        { { true, true, true }, 3, 20, 10 },
        { { true, false, true }, 2, 20, 20 },
        { { true, false, false }, 1, 30, 30 },
        { { false, false, false }, 0, 0, INT64_MAX },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct records r = { 0 };
        for (size_t k = 0; k < 3; k++)
            fixture_run(&r, "class", starts[k])->settings = memory_string("{}");
        history_keep_runs(&r, cases[i].keep);
        assert_int_equal(r.nr_runs, cases[i].nr);
        if (r.nr_runs)
            assert_int_equal(r.runs[r.nr_runs - 1].started_ms, cases[i].newest);
        assert_true(history_first_start(&r, "") == cases[i].first);
        assert_true(history_first_start(&r, "class") == cases[i].first);
        assert_true(history_first_start(&r, "other") == INT64_MAX);
        records_release(&r);
    }
}

/* Two nights of two benchmarks, in the second of which one failed, and a trial. */
static void keep_nights(struct store *store)
{
    static const double first[] = { 100, 102, 98 };
    struct records night = { 0 }, trial = { 0 };

    new_run(&night, 1700000000000);
    fixture_launches(&night, KEY_A, first, 3);
    fixture_add(&night, 0, KEY_B, 500, 3);
    keep_run(store, &night);
    new_run(&night, 1700000100000);
    fixture_add(&night, 0, KEY_A, 130, 3);
    fixture_add(&night, 0, KEY_B, 0, 0);
    keep_run(store, &night);
    new_run(&trial, 1700000200000)->kind = RUN_TRIAL;
    fixture_add(&trial, 0, KEY_A, 999, 3);
    keep_run(store, &trial);
}

SCRATCH_TEST(series_are_of_what_counts)
{
    static const char *const layers[] = { "layernorm" }, *const none[] = { "attention" };
    static const struct {
        struct store_filter filter;
        size_t nr, points; /* series; points of the first */
        double first, last;
    } cases[] = {
        { { .nr_filters = 0 }, 2, 2, 100, 130 },
        { { .filters = layers, .nr_filters = 1 }, 1, 1, 500, 500 },
        { { .filters = none, .nr_filters = 1 }, 0, 0, 0, 0 },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct records runs = { 0 };
    struct error err;
    const struct metric *p50 = metric_find("p50", &err);

    keep_nights(store);
    assert_ok(store_finished_runs(store, NULL, &runs, &err), &err);
    assert_int_equal(runs.nr_runs, 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct series_list list = { 0 };
        assert_ok(history_series(store, &runs, p50, &cases[i].filter, &list, &err), &err);
        assert_int_equal(list.nr, cases[i].nr);
        if (list.nr) {
            assert_int_equal(list.items[0].nr, cases[i].points);
            assert_close(list.items[0].items[0].value, cases[i].first, 1e-9);
            assert_close(list.items[0].items[cases[i].points - 1].value, cases[i].last, 1e-9);
        }
        series_list_release(&list);
    }
    records_release(&runs);
    store_close(store);
}

SCRATCH_TEST(no_runs_make_no_series_and_damage_is_told)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct records none = { 0 }, runs = { 0 };
    struct series_list list = { 0 };
    struct error err;
    const struct metric *p50 = metric_find("p50", &err);

    assert_ok(history_series(store, &none, p50, NULL, &list, &err), &err);
    assert_int_equal(list.nr, 0);
    keep_nights(store);
    assert_ok(store_finished_runs(store, NULL, &runs, &err), &err);
    execute_in(scratch->path, "PRAGMA foreign_keys = OFF; DROP TABLE measurement");
    assert_fails(history_series(store, &runs, p50, NULL, &list, &err), &err, scratch->path);
    assert_int_equal(list.nr, 0);
    series_list_release(&list);
    records_release(&runs);
    store_close(store);
}

/* ---- a side ---- */

/* A file of records with so many runs, where reviewed baselines of this machine lie. */
static void put_baseline(const char *name, int runs)
{
    struct machine machine;
    struct records r = { 0 };
    struct strbuf path;
    struct error err;

    assert_ok(environment_machine(&machine, &err), &err);
    for (int i = 0; i < runs; i++) {
        new_run(&r, 1700000000000 + i);
        fixture_add(&r, 0, KEY_A, 100, 3);
    }
    strbuf_init(&path);
    history_baseline_file(machine.class_name, name, &path);
    put_json(path.data, &r);
    strbuf_release(&path);
}

PLACE_TEST(a_ref_brings_runs_or_a_reviewed_baseline)
{
    static const double times[] = { 100, 101 };
    static const struct {
        const char *ref, *class;
        size_t runs; /* 0: an error that says ... */
        const char *says;
        bool nothing;
    } cases[] = {
        { "latest", NULL, 1, NULL, false },
        { "reviewed", NULL, 2, NULL, false },
        { "own", NULL, 1, NULL, false }, /* the history's goes before the file */
        { "release/1.0", NULL, 2, NULL, false },
        { "1", NULL, 1, NULL, false }, /* a run's number, as "latest" is a run */
        { "release/../reviewed", NULL, 0, "release/../reviewed", false },
        { "latest", "another", 0, "another", true },
        { "nobody", NULL, 0, "nobody", false },
        { "./missing.json", NULL, 0, "missing.json", false },
    };
    struct store *store;
    struct error err;

    put_folder(".harness");
    store = open_history(".harness/history.db", STORE_WRITE);
    int64_t id = keep_times(store, KEY_A, times, 2, 1700000000000);
    put_baseline("reviewed", 2);
    put_baseline("own", 2);
    put_baseline("release/1.0", 2);
    put_baseline("latest", 2); /* a file that is called like no baseline */
    put_baseline("1", 2);
    assert_ok(store_baseline_save(store, "own", &id, 1, 1, NULL, false, &err), &err);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ref_scope scope = { .classes = &cases[i].class,
                                         .nr_classes = cases[i].class != NULL };
        struct history_side side;
        int rc = history_load_side(store, cases[i].ref, &scope, NULL, &side, &err);
        if (cases[i].says)
            assert_fails(rc, &err, cases[i].says);
        else
            assert_ok(rc, &err);
        assert_int_equal(side.records.nr_runs, cases[i].runs);
        assert_int_equal(side.nothing, cases[i].nothing);
        history_side_release(&side);
    }
    store_close(store);
}

/* ---- metrics of programs ---- */

/* Another process, so that this one does not know the metric. */
static int write_metric(const char *path)
{
    struct records r = { 0 };
    struct store *store = NULL;
    struct error err;
    bool added;

    new_run(&r, 1700000000000);
    struct measurement *m = fixture_add(&r, 0, KEY_A, 100, 3);
    m->numbers[0].kind = number_kind_of("met_in_history", "ops/s", BETTER_HIGHER, &err);
    m->numbers[0].values = memory_zeroed(1, sizeof(double));
    m->numbers[0].values[0] = 7;
    m->numbers[0].nr = 1;
    m->nr_numbers = 1;
    int rc =
        store_open(&store, path, STORE_WRITE, &err) || store_add_run(store, &r, 0, &added, &err);
    store_close(store);
    records_release(&r);
    return rc;
}

PLACE_TEST(metrics_of_a_history_are_met)
{
    static const char *const nothing_there[] = { "missing.db", "words.txt", "." };
    struct error err;
    int status;

    put_file("words.txt", "no history\n");
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_metric("met.db") ? 1 : 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (size_t i = 0; i < sizeof(nothing_there) / sizeof(nothing_there[0]); i++)
        history_meet_metrics(nothing_there[i]);
    assert_null(metric_find("met_in_history", &err));
    assert_false(file_exists("missing.db"));
    history_meet_metrics("met.db");
    const struct metric *met = metric_find("met_in_history", &err);
    assert_non_null(met);
    assert_int_equal(met->direction, HIGHER_IS_BETTER);
}

/* ---- roofs ---- */

/* Roofs that were measured in quiet need nobody who may write. */
PLACE_TEST(roofs_that_are_there_are_told_without_writing)
{
    static const struct {
        double high; /* of repetitions, by the value; 0: there are no roofs */
        bool there;
    } rows[] = { { 0, false }, { 2, false }, { 1.1, true } };
    struct device device = { .kind = DEVICE_CPU, .label = "cpu-1t" };
    struct records r = { 0 };
    const struct run *run = new_run(&r, 1700000000000);
    struct store *store = open_history("roofs.db", STORE_WRITE);
    struct error err;
    char epoch[17];

    roofs_epoch(run, epoch);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct roof roof = { .name = "bandwidth.dram",
                                   .device = "cpu-1t",
                                   .unit = "B/s",
                                   .value = 1e10,
                                   .low = 1e10,
                                   .high = 1e10 * rows[i].high,
                                   .measured_ms = 1700000000000 + (int64_t)i };
        if (rows[i].high > 0)
            assert_ok(store_add_roofs(store, &run->machine, epoch, &roof, 1, &err), &err);
        struct store *reader = open_history("roofs.db", STORE_READ);
        assert_int_equal(roofs_there(reader, run, &device), rows[i].there);
        store_close(reader);
    }
    store_close(store);
    records_release(&r);
}

RUN_TESTS(NULL, NULL)
