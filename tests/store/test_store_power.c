/* SPDX-License-Identifier: MIT */
/* Power cuts: what a command has said is done is there, whatever the disk had not written yet, and
 * what SQLite recovers is taken. HARNESS_POWER_STATES=100000 looks at so many states.
 * Features: U-05. */
#include "history/verify.h"
#include "store_histories.h"

#include "history/merge.h"
#include "history/prune.h"
#include "history/restore.h"
#include "history/salvage.h"
#include "knocks.h"
#include "recording_vfs.h"
#include "store/annotations.h"
#include "store/verdicts.h"

#include <dirent.h>
#include <sys/syscall.h>

enum { STATES = 2000 };

/* Something that was said: from that moment on the query gives this, until it is taken back. */
struct said {
    size_t from, to; /* events; to: SIZE_MAX while it holds */
    char query[256];
    int64_t expected;
};

enum reader { NO_READER, OPEN_READER, READER_INSIDE, NR_READERS };

static const char *const reader_names[] = { "alone", "beside a reader",
                                            "beside a reader in a transaction" };

/* Another history, which is there from some moment on. */
struct copy {
    char path[300];
    size_t from;  /* event */
    int64_t runs; /* that it has when it is finished */
    bool grows;   /* and before it may be anything; else it has its name when it is finished */
};

enum { COPIES_MOST = 4 };

struct writer {
    char folder[160], path[192], other[192], moved[192], gone[192];
    struct store *store, *reader;
    ARRAY(struct said) said;
    struct copy copies[COPIES_MOST];
    int nr_copies;
};

/* ---- what the store does without SQLite ---- */

/* In the place of the C library's. */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    int rc = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);

    if (rc == 0)
        recording_renamed(from, to);
    return rc;
}

/* Nothing here waits for the disk. */
int fsync(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        recording_folder();
    return 0;
}

static void say(struct writer *w, int64_t expected, const char *query)
{
    struct said *s = array_push(&w->said);

    *s = (struct said) { .from = recording_now(), .to = SIZE_MAX, .expected = expected };
    snprintf(s->query, sizeof(s->query), "%s", query);
}

/* What the next step may change does not hold any more from now on. */
static void take_back(struct writer *w)
{
    for (size_t i = 0; i < w->said.nr; i++)
        if (w->said.items[i].to == SIZE_MAX)
            w->said.items[i].to = recording_now();
}

/* ---- what is done ---- */

static int64_t measure_run(struct writer *w, const char *label, unsigned results)
{
    struct run run = sample_run();
    struct error err;
    char query[200];

    snprintf(run.label, sizeof(run.label), "%s", label);
    run.started_ms += (int64_t)recording_now();
    assert_ok(store_begin_run(w->store, &run, &err), &err);
    add_launch_of(w->store, run.id, 0, 0, results);
    assert_ok(store_end_run(w->store, run.id, run.started_ms + 5, &err), &err);
    snprintf(query, sizeof(query),
             "SELECT count(*) FROM measurement m JOIN launch l ON l.id = m.launch JOIN run r "
             "ON r.id = l.run WHERE r.ended_ms > 0 AND r.label = '%s'",
             label);
    say(w, results, query);
    return run.id;
}

static void name_and_annotate(struct writer *w, int64_t run)
{
    struct error err;

    assert_ok(store_baseline_save(w->store, "main", &run, 1, 5, NULL, false, &err), &err);
    say(w, 1, "SELECT count(*) FROM baseline WHERE name = 'main'");
    assert_ok(store_annotate(w->store, run, 7, "new BIOS", &err), &err);
    say(w, 1, "SELECT count(*) FROM annotation WHERE text = 'new BIOS'");
    assert_ok(store_baseline_save(w->store, "other", &run, 1, 5, NULL, false, &err), &err);
    assert_ok(store_baseline_remove(w->store, "other", &err), &err);
    say(w, 0, "SELECT count(*) FROM baseline WHERE name = 'other'");
}

static void decide(struct writer *w)
{
    struct store_comparison c = { .decided_ms = 1, .rule = 1 };
    struct acceptance a = { .id = 0 };
    struct store_selftest t = { .id = 0 };
    struct run run = sample_run();
    struct roof roof = { .name = "flops.fp32", .device = "cpu-2t", .unit = "FLOP/s" };
    struct error err;

    c.base = memory_string("a");
    c.head = memory_string("b");
    c.base_commit = memory_string("");
    c.head_commit = memory_string("");
    c.settings = memory_string("{}");
    assert_ok(store_comparison_add(w->store, &c, &err), &err);
    store_comparison_release(&c);
    say(w, 1, "SELECT count(*) FROM comparison");
    a.key = memory_string("k");
    a.metric = memory_string("p50");
    a.machine = memory_string("");
    a.commit = memory_string("");
    a.reason = memory_string("meant");
    a.author = memory_string("me");
    assert_ok(store_acceptance_add(w->store, &a, 1, &err), &err);
    say(w, 1, "SELECT count(*) FROM acceptance");
    snprintf(t.machine, sizeof(t.machine), "m");
    snprintf(t.device, sizeof(t.device), "cpu");
    snprintf(t.kind, sizeof(t.kind), "aa");
    t.result = memory_string("{}");
    assert_ok(store_selftest_add(w->store, &t, &err), &err);
    free(t.result);
    say(w, 1, "SELECT count(*) FROM selftest");
    assert_ok(store_add_roofs(w->store, &run.machine, "", &roof, 1, &err), &err);
    say(w, 1, "SELECT count(*) FROM ceiling");
    free(a.key);
    free(a.metric);
    free(a.machine);
    free(a.commit);
    free(a.reason);
    free(a.author);
}

static void merge(struct writer *w)
{
    struct store_merged merged = { 0 };
    struct error err;

    assert_ok(store_merge(w->store, w->other, &merged, &err), &err);
    assert_int_equal(merged.runs_new, 2);
    store_merged_release(&merged);
    say(w, 2, "SELECT count(*) FROM run WHERE started_ms > 1790100000000");
}

static void prune(struct writer *w)
{
    const struct store_prune rules = { .now_ms = 1800000000000, .keep_runs = 2 };
    struct store_pruned pruned;
    struct error err;

    take_back(w);
    assert_ok(store_prune(w->store, &rules, &pruned, &err), &err);
    assert_true(pruned.removed > 0);
    say(w, 0, "SELECT count(*) FROM run WHERE label IN ('first', 'a', 'b', 'c', 'imported')");
    say(w, 1, "SELECT count(*) FROM baseline WHERE name = 'main'");
}

static void say_copy(struct writer *w, const char *path, int64_t runs, bool grows)
{
    struct copy *c = &w->copies[w->nr_copies++];

    assert_true(w->nr_copies <= COPIES_MOST);
    *c = (struct copy) { .from = recording_now(), .runs = runs, .grows = grows };
    snprintf(c->path, sizeof(c->path), "%s", path);
}

static void back_up(struct writer *w)
{
    struct error err;
    char path[224];
    int64_t runs;

    snprintf(path, sizeof(path), "%s/copy.db", w->folder);
    assert_ok(store_backup(w->store, path, &err), &err);
    assert_ok(sql_one_int(w->store, "SELECT count(*) FROM run", &runs, &err), &err);
    say_copy(w, path, runs, false);
}

static void import(struct writer *w)
{
    struct records in = { .nr = 0 };
    struct error err;
    bool added;

    *records_add_run(&in) = sample_run();
    snprintf(in.runs[0].label, sizeof(in.runs[0].label), "imported");
    in.runs[0].ended_ms = in.runs[0].started_ms + 5;
    for (unsigned i = 0; i < 5; i++)
        records_add(&in, 0, (int)i / 3)->m = sample_measurement(i);
    assert_ok(store_add_run(w->store, &in, 0, &added, &err), &err);
    assert_true(added);
    records_release(&in);
    say(w, 5,
        "SELECT count(*) FROM measurement m JOIN launch l ON l.id = m.launch JOIN run r "
        "ON r.id = l.run WHERE r.ended_ms > 0 AND r.label = 'imported'");
}

/* Where there is no history, and out of a file. */
static void restore_and_salvage(struct writer *w)
{
    struct store_restored restored;
    struct salvaged salvaged;
    struct error err;
    char path[224];

    snprintf(path, sizeof(path), "%s/new.db", w->folder);
    assert_ok(store_restore(path, w->other, NULL, &restored, &err), &err);
    store_restored_release(&restored);
    say_copy(w, path, 2, false);
    snprintf(path, sizeof(path), "%s/salvaged.db", w->folder);
    assert_ok(store_salvage(w->other, path, &salvaged, &err), &err);
    salvaged_release(&salvaged);
    say_copy(w, path, 2, false);
}

/* Alone with the file. */
static void move(struct writer *w)
{
    struct error err;

    store_close(w->store);
    assert_ok(store_move(w->path, w->moved, NULL, &err), &err);
    say(w, 2, "SELECT count(*) FROM run WHERE started_ms > 1790100000000");
    w->store = open_store(w->moved, STORE_WRITE);
    measure_run(w, "moved", 2);
}

/* Somebody takes the file away while a run is measured. */
static void keep_elsewhere(struct writer *w)
{
    struct run run = sample_run();
    struct error err;

    assert_ok(store_begin_run(w->store, &run, &err), &err);
    add_launch_of(w->store, run.id, 0, 0, 2);
    assert_int_equal(rename(w->moved, w->gone), 0);
    recording_renamed(w->moved, w->gone);
    recording_folder();
    add_launch_of(w->store, run.id, 1, 0, 2);
    assert_ok(store_end_run(w->store, run.id, run.started_ms + 5, &err), &err);
    assert_true(store_is_elsewhere(w->store));
    say_copy(w, store_path(w->store), 1, true);
}

static void restore(struct writer *w)
{
    struct store_restored restored;
    struct error err;

    take_back(w);
    store_close(w->store);
    assert_ok(store_restore(w->path, w->other, NULL, &restored, &err), &err);
    assert_false(restored.aside);
    store_restored_release(&restored);
    say(w, 0, "SELECT count(*) FROM run WHERE label IN ('named', 'after', 'last')");
    say(w, 2, "SELECT count(*) FROM run WHERE started_ms > 1790100000000");
    w->store = open_store(w->path, STORE_WRITE);
}

/* ---- one state ---- */

static void write_file(const char *path, const struct disk_file *f)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    if (f->nr > 0)
        assert_int_equal(fwrite(f->bytes, 1, f->nr, file), f->nr);
    assert_int_equal(fclose(file), 0);
}

static void empty_folder(const char *folder)
{
    char path[512];
    DIR *d = opendir(folder);

    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (d)
        closedir(d);
}

static void lay_out(const struct disk *d, const char *folder)
{
    char path[512];

    empty_folder(folder);
    for (size_t i = 0; i < d->nr; i++) {
        const char *slash = strrchr(d->files[i].name, '/');
        if (!slash || strstr(slash, "-shm"))
            continue;
        snprintf(path, sizeof(path), "%s%s", folder, slash);
        write_file(path, &d->files[i]);
    }
}

static bool plain_sqlite_takes(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *stmt = NULL;
    bool fine = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
                sqlite3_step(stmt) == SQLITE_ROW &&
                strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;

    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return fine;
}

/* Once it has its name, it is whole; and it has it once that was said. */
static bool copy_holds(const struct copy *c, size_t end, const char *folder)
{
    char path[512];
    bool there, whole;

    snprintf(path, sizeof(path), "%s%s", folder, strrchr(c->path, '/'));
    there = access(path, F_OK) == 0;
    if (end < c->from && (c->grows || !there))
        return true;
    /* Plain SQLite would write a log into it without checksums. */
    whole = there && (c->grows || plain_sqlite_takes(path)) &&
            count_in(path, "SELECT count(*) FROM run WHERE ended_ms > 0") == c->runs;
    if (!whole)
        print_message("%s is %s\n", path, there ? "not whole" : "not there");
    return whole;
}

static bool copies_hold(const struct writer *w, size_t end, const char *folder)
{
    bool hold = true;

    for (int i = 0; i < w->nr_copies; i++)
        hold &= copy_holds(&w->copies[i], end, folder);
    return hold;
}

/* Under the name that it had, or got, by then. */
static void find_history(const struct writer *w, const char *folder, char path[512])
{
    const char *const names[] = { w->gone, w->moved, w->path };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, 512, "%s%s", folder, strrchr(names[i], '/'));
        if (access(path, F_OK) == 0)
            return;
    }
}

/* True where it holds; else it says what does not. */
static bool state_holds(const struct writer *w, const struct disk *d, size_t end,
                        const char *folder)
{
    char path[512];
    struct error err;
    struct store *s;
    bool holds = true;

    lay_out(d, folder);
    find_history(w, folder, path);
    bool plain = access(path, F_OK) == 0 && plain_sqlite_takes(path);
    lay_out(d, folder);
    if (store_open(&s, path, STORE_WRITE, &err)) {
        print_message("refused (plain SQLite %s it): %s\n", plain ? "takes" : "refuses",
                      err.message);
        return false;
    }
    char *note = store_take_note(s);
    /* That it ends in what was never promised may be said; not that it is another file's. */
    holds = !note || !strstr(note, "of another file");
    if (!holds)
        print_message("a log was put aside: %s\n", note);
    free(note);
    for (size_t i = 0; i < w->said.nr; i++) {
        const struct said *said = &w->said.items[i];
        int64_t found = -1;
        if (said->from > end || said->to < end)
            continue;
        if (sql_one_int(s, said->query, &found, &err) || found != said->expected) {
            print_message("lost: %s gives %lld, not %lld\n", said->query, (long long)found,
                          (long long)said->expected);
            holds = false;
        }
    }
    struct store_health health;
    if (store_verify(s, &health, &err)) {
        print_message("%s\n", err.message);
        holds = false;
    }
    store_close(s);
    return copies_hold(w, end, folder) && holds;
}

static size_t states_of_recording(const struct writer *w, size_t nr, const char *folder,
                                  struct random *r)
{
    size_t held = 0;

    for (size_t i = 0; i < nr; i++) {
        size_t end = (size_t)random_below(r, recording.events.nr + 1);
        enum loss loss = (enum loss)random_below(r, NR_LOSSES);
        struct disk d = disk_after(end, loss, r);
        bool holds = state_holds(w, &d, end, folder);
        if (!holds)
            print_message("after event %zu of %zu, loss %d\n", end, recording.events.nr, loss);
        held += holds;
        disk_release(&d);
    }
    return held;
}

/* ---- what is recorded ---- */

static void begin(struct writer *w, const struct scratch *scratch, int number, enum reader reader,
                  int version)
{
    struct error err;

    *w = (struct writer) { .folder = "" };
    snprintf(w->folder, sizeof(w->folder), "%s/%d", scratch->folder, number);
    snprintf(w->path, sizeof(w->path), "%s/history.db", w->folder);
    snprintf(w->other, sizeof(w->other), "%s/other.db", scratch->folder);
    snprintf(w->moved, sizeof(w->moved), "%s/moved.db", w->folder);
    snprintf(w->gone, sizeof(w->gone), "%s/gone.db", w->folder);
    assert_ok(file_make_directory(w->folder, &err), &err);
    if (version)
        make_version(w->path, version);
    recording_keep(w->path);
    recording_keep(w->other);
    recording_begin();
    w->store = open_store(w->path, STORE_WRITE);
    store_set_patience(w->store, 20); /* for the reader, when the log is to be cut */
    if (version)
        say(w, 1, "SELECT count(*) FROM baseline WHERE name = 'old'");
    measure_run(w, "first", 2);
    if (reader != NO_READER)
        w->reader = open_store(w->path, STORE_READ);
    if (reader == READER_INSIDE)
        assert_ok(sql_execute(w->reader, "BEGIN; SELECT count(*) FROM run", &err), &err);
}

static void finish(struct writer *w)
{
    store_close(w->store);
    if (w->reader && !sqlite3_get_autocommit(w->reader->db))
        sqlite3_exec(w->reader->db, "ROLLBACK", NULL, NULL, NULL);
    store_close(w->reader);
    recording_settle();
}

static void do_all(struct writer *w)
{
    struct error err;
    int64_t run = measure_run(w, "named", 3);

    name_and_annotate(w, run);
    decide(w);
    merge(w);
    for (int i = 0; i < 3; i++)
        measure_run(w, (const char *[]) { "a", "b", "c" }[i], 4);
    import(w);
    back_up(w);
    restore_and_salvage(w);
    prune(w);
    measure_run(w, "after", 1);
    assert_ok(store_vacuum(w->store, &err), &err);
    measure_run(w, "last", 2);
    restore(w);
    measure_run(w, "restored", 2);
    if (!w->reader) {
        move(w);
        keep_elsewhere(w);
    }
}

static size_t wanted_states(void)
{
    const char *given = getenv("HARNESS_POWER_STATES");

    return given ? (size_t)strtoull(given, NULL, 10) : (size_t)knock_times(STATES);
}

/* In memory where there is such a place: thousands of files are made and removed. */
static void name_states(const struct scratch *scratch, char states[160])
{
    struct error err;

    snprintf(states, 160, "/dev/shm/harness-power-XXXXXX");
    if (mkdtemp(states))
        return;
    snprintf(states, 160, "%s/states", scratch->folder);
    assert_ok(file_make_directory(states, &err), &err);
}

/* Three ways to be read meanwhile, and a file of each older version. */
SCRATCH_TEST(test_cuts)
{
    const struct scratch *scratch = *state;
    enum { OLDER = 4, WAYS = NR_READERS + OLDER };
    uint64_t seed = knock_seed();
    size_t wanted = wanted_states(), lost = 0;
    char states[160], other[192];
    struct random r;

    random_seed(&r, seed);
    recording_install();
    name_states(scratch, states);
    snprintf(other, sizeof(other), "%s/other.db", scratch->folder);
    make_runs(other, 100, 2, 2);
    for (int way = 0; way < WAYS; way++) {
        enum reader reader = way < NR_READERS ? (enum reader)way : NO_READER;
        int version = way < NR_READERS ? 0 : way - NR_READERS + 1;
        size_t nr = wanted / WAYS + (way == 0 ? wanted % WAYS : 0);
        char what[160];
        struct writer w;
        begin(&w, scratch, way, reader, version);
        do_all(&w);
        finish(&w);
        size_t held = states_of_recording(&w, nr, states, &r);
        if (version)
            snprintf(what, sizeof(what), "a power cut, a history of version %d upgraded", version);
        else
            snprintf(what, sizeof(what), "a power cut, %s", reader_names[reader]);
        knock(what, (long)held, (long)nr,
              "what was said to be done is there, no state is refused (seed %" PRIu64 ")", seed);
        lost += nr - held;
        array_release(&w.said);
        recording_end();
    }
    empty_folder(states);
    rmdir(states);
    assert_int_equal(lost, 0);
}

RUN_TESTS(NULL, NULL)
