/* SPDX-License-Identifier: MIT */
/* What plot, report and serve look at: which settings count, which history, which runs, and where
 * what comes of it goes. */
#include "session_testing.h"

#include "session/viewing.h"
#include "timeline/timeline_read.h"

#include <unistd.h>

#define KEY_A "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"

static const double fast[] = { 100, 101, 102 }, slow[] = { 200, 201, 202 };

/* A history of two runs. */
static void put_history(const char *path)
{
    struct store *store = open_history(path, STORE_WRITE);

    keep_times(store, KEY_A, fast, 3, 1700000000000);
    keep_times(store, KEY_A, slow, 3, 1700000100000);
    store_close(store);
}

/* ---- settings ---- */

PLACE_TEST(later_settings_go_over_earlier_ones)
{
    static const struct {
        const char *home, *xdg, *project,
            *given; /* the delta of each file; NULL: it is not there */
        double option, delta;
        const char *from; /* ends so; NULL: nobody set it */
    } cases[] = {
        { NULL, NULL, NULL, NULL, 0, 0, NULL },
        { "1%", NULL, NULL, NULL, 0, 0.01, ".config/harness/harness.json" },
        { "1%", "2%", NULL, NULL, 0, 0.02, "xdg/harness/harness.json" },
        { "1%", NULL, "3%", NULL, 0, 0.03, "/harness.json" },
        { "1%", "2%", "3%", "4%", 0, 0.04, "given.json" },
        { NULL, NULL, "3%", "4%", 0.05, 0.05, "--delta" },
    };
    static const char *const paths[] = { ".config/harness/harness.json", "xdg/harness/harness.json",
                                         "harness.json", "given.json" };
    struct error err;

    put_folder(".git");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const deltas[] = { cases[i].home, cases[i].xdg, cases[i].project,
                                       cases[i].given };
        const struct viewing_options o = { .config = cases[i].given ? "given.json" : NULL,
                                           .delta = cases[i].option };
        struct viewing v;
        for (int k = 0; k < 4; k++) {
            char text[64];
            snprintf(text, sizeof(text), "{\"delta\":\"%s\"}", deltas[k] ? deltas[k] : "");
            unlink(paths[k]);
            if (deltas[k])
                put_file(paths[k], text);
        }
        if (cases[i].xdg)
            setenv("XDG_CONFIG_HOME", "xdg", 1);
        viewing_init(&v);
        assert_ok(viewing_configure(&v, &o, &err), &err);
        assert_close(v.config.delta, cases[i].delta, 1e-12);
        if (cases[i].from)
            assert_has(v.config.delta_from, cases[i].from);
        else
            assert_null(v.config.delta_from);
        viewing_release(&v);
        unsetenv("XDG_CONFIG_HOME");
    }
}

PLACE_TEST(settings_that_are_wrong)
{
    static const struct {
        const char *file, *text; /* that is there; NULL: none is */
        struct viewing_options options;
        const char *preset, *says;
    } cases[] = {
        { NULL, NULL, { .config = "nowhere.json" }, NULL, "nowhere.json" },
        { "harness.json", "{\"dleta\":\"3%\"}", { .db = NULL }, NULL, "dleta" },
        { ".config/harness/harness.json", "{", { .db = NULL }, NULL, "harness.json" },
        { NULL, NULL, { .db = NULL }, "nothing.json", "nothing.json" },
        { "mine.json", "{\"name\":\"mine\"}", { .db = NULL }, "mine.json", "mine.json" },
        { NULL, NULL, { .group_by = "comit" }, NULL, "--group-by" },
        { NULL, NULL, { .group_by = "comit" }, NULL, "commit" },
    };
    struct error err;

    put_folder(".git");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct viewing_options o = cases[i].options;
        struct viewing v;
        if (cases[i].file)
            put_file(cases[i].file, cases[i].text);
        if (cases[i].preset)
            string_list_add(&o.presets, cases[i].preset);
        viewing_init(&v);
        assert_fails(viewing_configure(&v, &o, &err), &err, cases[i].says);
        viewing_release(&v);
        string_list_release(&o.presets);
        if (cases[i].file)
            unlink(cases[i].file);
    }
}

/* ---- what is opened ---- */

enum { WORDS_MOST = 3 };

struct opening {
    const char *in; /* the folder that the user is in; NULL: at the top */
    const char *words[WORDS_MOST];
    const char *db, *baseline;
};

/* As a command does; the viewing is to be released, whatever comes. */
static int open_as(const struct opening *o, struct viewing *v, struct error *err)
{
    const struct viewing_options options = { .db = o->db, .baseline = o->baseline };
    char words[WORDS_MOST][64], *argv[WORDS_MOST];
    int argc = 0;

    for (; argc < WORDS_MOST && o->words[argc]; argc++) {
        snprintf(words[argc], sizeof(words[argc]), "%s", o->words[argc]);
        argv[argc] = words[argc];
    }
    viewing_init(v);
    v->arguments = argv;
    v->nr_arguments = argc;
    v->request.without_history = true;
    err->message[0] = '\0';
    return viewing_configure(v, &options, err) || viewing_open(v, &options, argc, argv, err) ? -1
                                                                                             : 0;
}

/* The project's history and another one, records in files and folders. */
static void put_all(void)
{
    put_folder(".git");
    put_history(".harness/history.db");
    put_history("other/history.db");
    put_records("files/a.json", KEY_A, fast, 3);
    put_records("files/b.json", KEY_A, slow, 3);
    put_records("latest/a.json", KEY_A, fast, 3); /* a word that the history knows, too */
}

PLACE_TEST(words_are_runs_files_folders_or_a_history)
{
    static const struct {
        struct opening opening;
        size_t runs;      /* that are looked at */
        bool store;       /* a history is open */
        const char *home; /* ends so */
        const char *base; /* in what the base is, a uuid with its "-"; NULL: nothing is compared */
    } cases[] = {
        { { .words = { NULL } }, 1, true, "/.harness", NULL },
        { { .in = "files" }, 1, true, "/.harness", NULL },
        { { .words = { "latest" } }, 1, true, "/.harness", NULL },
        { { .words = { "./latest" } }, 1, false, "./latest", NULL },
        { { .words = { "1", "2" } }, 2, true, "/.harness", "1" },
        { { .words = { "2" }, .baseline = "1" }, 1, true, "/.harness", "1" },
        { { .words = { "files/a.json" } }, 1, false, "files", NULL },
        { { .words = { "files/a.json", "files/b.json" } }, 2, false, "files", "a.json" },
        { { .words = { "files/" } }, 2, false, "files", "-" },
        { { .words = { "files" } }, 2, false, "./files", "-" },
        { { .words = { "files/a.json" }, .baseline = "1" }, 1, true, "files", "1" },
        { { .words = { "other" } }, 1, true, "other", NULL },
        { { .words = { "other/history.db", "1" } }, 1, true, "other", NULL },
        { { .words = { "." } }, 1, true, "./.harness", NULL },
        { { .words = { "2" }, .db = "other/history.db" }, 1, true, "other", NULL },
    };
    struct scratch *scratch = *state;
    struct error err;

    put_all();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct viewing v;
        if (cases[i].opening.in)
            assert_int_equal(chdir(cases[i].opening.in), 0);
        int rc = open_as(&cases[i].opening, &v, &err);
        const char *home = rc ? "" : v.home.data;
        size_t end = strlen(cases[i].home), length = strlen(home);
        if (rc || v.view.nr_runs != cases[i].runs || (v.store != NULL) != cases[i].store ||
            length < end || strcmp(home + length - end, cases[i].home) != 0)
            fail_msg("case %zu: %d \"%s\", %zu runs, %s, at %s", i, rc, err.message, v.view.nr_runs,
                     v.store ? "a history" : "none", home);
        if (v.view.compared != (cases[i].base != NULL) ||
            (cases[i].base && !strstr(v.view.base_what, cases[i].base)))
            fail_msg("case %zu: base \"%s\"", i, v.view.base_what);
        viewing_release(&v);
        assert_int_equal(chdir(scratch->folder), 0);
    }
}

PLACE_TEST(what_cannot_be_opened)
{
    static const struct {
        struct opening opening;
        const char *says;
    } cases[] = {
        { { .words = { "other", ".harness" } }, "are histories: one at a time" },
        { { .words = { "other" }, .db = ".harness/history.db" }, "two histories" },
        { { .words = { "nobody" } }, "nobody" },
        { { .words = { "./nowhere.json" } }, "nowhere.json" },
        { { .db = "nowhere.db" }, "nowhere.db" },
        { { .words = { "1" }, .db = "nowhere.db" }, "nowhere.db: " },
        { { .words = { "1" }, .baseline = "nobody" }, "nobody" },
        { { .words = { "empty/" } }, "empty" },
    };
    struct error err;

    put_all();
    put_folder("empty");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct viewing v;
        int rc = open_as(&cases[i].opening, &v, &err);
        if (rc == 0 || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        viewing_release(&v);
    }
}

PLACE_TEST(without_a_history_it_is_the_artifacts)
{
    const struct opening nothing = { .in = NULL };
    struct viewing v;
    struct error err;

    put_folder(".git");
    assert_fails(open_as(&nothing, &v, &err), &err, "no folder ./artifacts");
    assert_has(err.message, "`harness run` makes the first");
    viewing_release(&v);
    put_records("artifacts/night.json", KEY_A, fast, 3);
    assert_ok(open_as(&nothing, &v, &err), &err);
    assert_null(v.store);
    assert_string_equal(v.home.data, "./artifacts");
    viewing_release(&v);
    put_history("artifacts/.harness/history.db"); /* rather than the records beside it */
    assert_ok(open_as(&nothing, &v, &err), &err);
    assert_non_null(v.store);
    assert_int_equal(v.view.nr_runs, 1);
    viewing_release(&v);
    assert_false(file_exists(".harness")); /* looking makes none */
}

PLACE_TEST(an_empty_history_has_no_run_to_show)
{
    const struct opening nothing = { .in = NULL };
    struct viewing v;
    struct error err;

    put_folder(".git");
    store_close(open_history(".harness/history.db", STORE_WRITE));
    assert_int_equal(open_as(&nothing, &v, &err), -1);
    assert_has(err.message, "no run");
    viewing_release(&v);
}

PLACE_TEST(what_is_left_out_is_noted)
{
    const struct viewing_options o = { .db = NULL };
    char folder[] = "files/", *argv[] = { folder };
    struct viewing v;
    struct notes notes;
    struct error err;

    put_records("files/a.json", KEY_A, fast, 3);
    put_file("files/b.json", "{\"schema_version\":1,\"runs\":[{\"measurements\":[");
    put_file("harness.json", "{\"peaks\":{\"cuda\":{\"flops.fp32\":1e12}}}");
    put_folder(".git");
    notes_init(&notes);
    viewing_init(&v);
    v.sink = &notes.sink;
    assert_ok(viewing_configure(&v, &o, &err), &err);
    assert_ok(viewing_open(&v, &o, 1, argv, &err), &err);
    assert_int_equal(v.view.nr_runs, 1);
    assert_has(notes.text.data, "harness: left out: ");
    assert_has(notes.text.data, "b.json");
    assert_has(notes.text.data, "none is of a device measured here, such as cpu-2t\n");
    viewing_release(&v);
    strbuf_release(&notes.text);
}

/* Not by who looks for metrics alone, and has nobody to tell. */
PLACE_TEST(a_log_of_another_history_is_noted)
{
    const struct viewing_options o = { .db = NULL };
    struct viewing v;
    struct notes notes;
    struct error err;

    put_folder(".git");
    put_history(".harness/history.db");
    put_foreign_log(".harness/history.db");
    notes_init(&notes);
    viewing_init(&v);
    v.sink = &notes.sink;
    v.request.without_history = true;
    assert_ok(viewing_configure(&v, &o, &err), &err);
    assert_string_equal(notes.text.data, "");
    assert_true(file_exists(".harness/history.db-wal"));
    assert_ok(viewing_open(&v, &o, 0, NULL, &err), &err);
    assert_int_equal(v.view.nr_runs, 1);
    assert_int_equal(times_left(notes.text.data), 1);
    assert_has(notes.text.data, "harness: ");
    viewing_release(&v);
    strbuf_release(&notes.text);
}

/* ---- profiles ---- */

PLACE_TEST(profiles_that_cannot_be_shown)
{
    static const char trace[] =
        "{\"traceEvents\":[{\"name\":\"x\",\"ph\":\"X\",\"ts\":1,\"dur\":2,"
        "\"pid\":1,\"tid\":1}]}";
    static const struct {
        const char *paths[3];
        const char *says; /* NULL: fine */
        int shown;        /* of v.profiles */
    } cases[] = {
        { { NULL }, NULL, -1 },
        { { "one.json" }, NULL, 0 },
        { { "a", "b.json" }, NULL, 0 }, /* "a,b.json": the comma is of the name */
        { { "one.json", "two.json" }, NULL, 1 },
        { { "nowhere.json" }, "--profile: ", 0 },
        { { "words.json" }, "words.json", 0 },
        { { "one.json", "two.json", "one.json" }, "one profile, or two to compare", 0 },
    };
    struct error err;

    put_file("one.json", trace);
    put_file("two.json", trace);
    put_file("a,b.json", trace);
    put_file("words.json", "words\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct viewing_options o = { .db = NULL };
        struct viewing v;
        for (int k = 0; k < 3 && cases[i].paths[k]; k++)
            string_list_add(&o.profiles, cases[i].paths[k]);
        viewing_init(&v);
        int rc = viewing_profiles(&v, &o, &err);
        if (cases[i].says)
            assert_fails(rc, &err, cases[i].says);
        else if (rc)
            fail_msg("case %zu: %s", i, err.message);
        if (rc == 0)
            assert_ptr_equal(v.request.profile,
                             cases[i].shown < 0 ? NULL : &v.profiles[cases[i].shown]);
        if (rc == 0)
            assert_ptr_equal(v.request.profile_base, cases[i].shown == 1 ? &v.profiles[0] : NULL);
        viewing_release(&v);
        string_list_release(&o.profiles);
    }
}

/* One byte more than is read; none of them is looked at. */
static void put_large_trace(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)TIMELINE_BYTES_MOST + 1), 0);
    assert_int_equal(fclose(file), 0);
}

PLACE_TEST(tables_stand_in_for_a_trace_that_is_too_large)
{
    struct viewing_options o = { .db = NULL };
    struct viewing v;
    struct notes notes;
    struct error err;

    put_folder("big");
    put_large_trace("big/trace.json");
    string_list_add(&o.profiles, "big");
    viewing_init(&v);
    assert_fails(viewing_profiles(&v, &o, &err), &err, "larger than 256 MiB");
    viewing_release(&v);

    put_file(
        "big/profile.json",
        "{\"schema_version\":1,\"summary\":{\"columns\":[\"name\",\"side\",\"calls\",\"self\"],"
        "\"rows\":[[\"head\",0,3,10]]}}");
    notes_init(&notes);
    viewing_init(&v);
    v.sink = &notes.sink;
    assert_ok(viewing_profiles(&v, &o, &err), &err);
    assert_int_equal(v.profiles[0].rows.nr_rows, 1);
    assert_int_equal(v.profiles[0].trace.nr_slices, 0);
    assert_has(notes.text.data, "harness: big/trace.json: larger than 256 MiB");
    assert_has(notes.text.data, "; shown are the tables beside it, without single calls\n");
    viewing_release(&v);
    strbuf_release(&notes.text);
    unlink("big/trace.json");
    string_list_release(&o.profiles);
}

RUN_TESTS(NULL, NULL)
