/* SPDX-License-Identifier: MIT */
/* A folder to be in, with files and runs in it, and what is noted meanwhile. */
#ifndef HARNESS_TESTS_SESSION_TESTING_H
#define HARNESS_TESTS_SESSION_TESTING_H

#include "test_store.h"

#include "analysis_fixture.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "session/measure/measuring.h"

/* ---- the folder ---- */

/* The test stands in a scratch folder, which is nobody's project, and has no settings of whoever
 * runs it. */
static inline int place_setup(void **state)
{
    if (scratch_setup(state))
        return -1;
    const struct scratch *scratch = *state;
    unsetenv("HARNESS_DB");
    unsetenv("HARNESS_FAKE");
    unsetenv("XDG_CONFIG_HOME");
    return setenv("HOME", scratch->folder, 1) || chdir(scratch->folder) ? -1 : 0;
}

static inline int place_teardown(void **state)
{
    return chdir("/") ? -1 : scratch_teardown(state);
}

#define PLACE_TEST(name) TEST_WITH(name, place_setup, place_teardown)

/* A file of the current folder, with the folders above it. */
static inline void put_file(const char *path, const char *text)
{
    struct error err;

    assert_ok(file_make_parent(path, &err), &err);
    assert_ok(file_write(path, text, strlen(text), &err), &err);
}

static inline void put_folder(const char *path)
{
    struct error err;

    assert_ok(file_make_directory(path, &err), &err);
}

/* ---- runs ---- */

static inline struct store *open_history(const char *path, enum store_mode mode)
{
    struct store *store;
    struct error err;

    assert_ok(store_open(&store, path, mode, &err), &err);
    return store;
}

/* A finished run of one class of machines, without measurements yet; keep_run() puts it into a
 * history. */
static inline struct run *new_run(struct records *r, int64_t started_ms)
{
    struct run *run = fixture_run(r, "class", started_ms);

    random_uuid(run->uuid);
    run->ended_ms = started_ms + 1;
    return run;
}

/* Takes the records; the number of their run. */
static inline int64_t keep_run(struct store *store, struct records *r)
{
    struct error err;
    bool added;

    assert_ok(store_add_run(store, r, 0, &added, &err), &err);
    assert_true(added);
    int64_t id = r->runs[0].id;
    records_release(r);
    return id;
}

/* A finished run with one benchmark, a launch for each of the times. */
static inline int64_t keep_times(struct store *store, const char *key, const double *ns, int nr,
                                 int64_t started_ms)
{
    struct records r = { 0 };

    new_run(&r, started_ms);
    fixture_launches(&r, key, ns, nr);
    return keep_run(store, &r);
}

/* A file of the records, which it takes. */
static inline void put_json(const char *path, struct records *r)
{
    char *text = json_take_text(records_to_json(r));

    put_file(path, text);
    free(text);
    records_release(r);
}

/* A file of records with one run, as keep_times() makes it. */
static inline void put_records(const char *path, const char *key, const double *ns, int nr)
{
    struct records r = { 0 };

    new_run(&r, 1700000000000);
    fixture_launches(&r, key, ns, nr);
    put_json(path, &r);
}

/* ---- notes ---- */

struct notes {
    struct session_sink sink;
    struct strbuf text;
};

static inline void note_down(void *context, const char *text)
{
    struct notes *notes = context;

    strbuf_adds(&notes->text, text);
}

static inline void notes_init(struct notes *notes)
{
    strbuf_init(&notes->text);
    notes->sink = (struct session_sink) { .context = notes, .note = note_down };
}

#endif
