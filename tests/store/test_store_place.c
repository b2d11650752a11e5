/* SPDX-License-Identifier: MIT */
/* A history that is replaced, restored, removed or moved while somebody has it open, or after
 * somebody who had it open was killed: each change times each user.
 * Features: U-05. */
#include "store_histories.h"

#include "history/merge.h"
#include "history/restore.h"
#include "knocks.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BEFORE = 5, AFTER = 5, BASE_RUNS = 2 };

/* Where things are, all in one folder of their own. */
struct site {
    char top[160], folder[192], away[192];   /* folder: top/h; away: top/away */
    char path[224], real[224];               /* of the history; real: where path is a link */
    char other[224], older[224], extra[224]; /* another history, a copy of an older state, shards */
    char spare[224], moved[224], result[224];
    char *base_text, *other_text, *older_text;
};

/* ---- those who use it, each a process ---- */

enum user { NOBODY, READER, READER_INSIDE, RUN, RUN_AGAIN, KILLED, MERGE, NR_USERS };

static const char *const user_names[] = {
    [NOBODY] = "nobody",
    [READER] = "an open reader",
    [READER_INSIDE] = "a reader in a transaction",
    [RUN] = "a run in progress",
    [RUN_AGAIN] = "a run that measures again what was disturbed",
    [KILLED] = "a run that was killed",
    [MERGE] = "a merge in progress",
};

struct hands {
    pid_t pid;
    int ready, go; /* pipes: to us, from us */
};

static void wait_for_go(int ready, int go)
{
    char byte = '+';

    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
        _exit(3);
}

static int add_some(struct store *s, int64_t launch, unsigned from, unsigned nr, struct error *err)
{
    int rc = 0;

    for (unsigned i = from; rc == 0 && i < from + nr; i++) {
        struct measurement m = sample_measurement(i);
        rc = store_add_measurement(s, launch, &m, err);
        measurement_release(&m);
    }
    return rc;
}

/* What the run's process found at its end: the file that it is in, and what it says. */
static int tell_result(const struct site *site, struct store *s, struct error *err)
{
    char *note = store_take_note(s);
    struct strbuf text;

    strbuf_init(&text);
    strbuf_addf(&text, "%s\n%s", store_path(s), note ? note : "");
    int rc = file_write(site->result, text.data, text.length, err);
    strbuf_release(&text);
    free(note);
    return rc;
}

/* What is made `again` belongs to a launch that is looked for. */
static int be_run(const struct site *site, bool again, int ready, int go, struct error *err)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    struct store *s;
    int64_t id;

    if (store_open(&s, site->path, STORE_WRITE, err) || store_begin_run(s, &run, err) ||
        store_begin_launch(s, run.id, &launch, &id, err) || add_some(s, id, 0, BEFORE, err))
        return -1;
    wait_for_go(ready, go);
    if ((again && store_find_launch(s, run.id, launch.seq, &id, err)) ||
        add_some(s, id, BEFORE, AFTER, err) || store_end_launch(s, id, &launch, err) ||
        store_end_run(s, run.id, run.started_ms + 9, err) || tell_result(site, s, err))
        return -1;
    store_close(s);
    return 0;
}

/* What it reads after the change is the old content, the new one, or an error: never a mixture. */
static int be_reader(const struct site *site, bool inside, int ready, int go, struct error *err)
{
    struct error ignored;
    struct store *s;
    int64_t before, now;

    if (store_open(&s, site->path, STORE_READ, err) || (inside && sql_execute(s, "BEGIN", err)) ||
        sql_one_int(s, "SELECT count(*) FROM measurement", &before, err))
        return -1;
    wait_for_go(ready, go);
    int rc = sql_one_int(s, "SELECT count(*) FROM measurement", &now, &ignored);
    if (rc == 0 && inside && now != before && store_fate(s) == STORE_IN_PLACE)
        return error_set(err, "%lld became %lld", (long long)before, (long long)now);
    if (inside && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    store_close(s);
    return 0;
}

/* A merge that cannot go on says so; its sources are as they were. */
static int be_merge(const struct site *site, int ready, int go, struct error *err)
{
    struct store_merged merged = { 0 };
    struct error refused;
    struct store *s;

    if (store_open(&s, site->path, STORE_WRITE, err) || store_merge(s, site->extra, &merged, err))
        return -1;
    wait_for_go(ready, go);
    int rc = store_merge(s, site->spare, &merged, &refused);
    if (rc && !strstr(refused.message, "while it was in use"))
        rc = error_set(err, "%s", refused.message);
    else
        rc = tell_result(site, s, err);
    store_merged_release(&merged);
    store_close(s);
    return rc;
}

static int be(const struct site *site, enum user user, int ready, int go, struct error *err)
{
    switch (user) {
    case RUN:
    case RUN_AGAIN:
    case KILLED:
        return be_run(site, user == RUN_AGAIN, ready, go, err);
    case MERGE:
        return be_merge(site, ready, go, err);
    default:
        return be_reader(site, user == READER_INSIDE, ready, go, err);
    }
}

static struct hands start(const struct site *site, enum user user)
{
    struct hands hands = { .pid = 0 };
    struct error err;
    int ready[2], go[2];
    char byte;

    if (user == NOBODY)
        return hands;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    hands = (struct hands) { fork(), ready[0], go[1] };
    assert_true(hands.pid >= 0);
    if (hands.pid == 0) {
        close(ready[0]);
        close(go[1]);
        int rc = be(site, user, ready[1], go[0], &err);
        if (rc)
            fprintf(stderr, "%s: %s\n", user_names[user], err.message);
        _exit(rc ? 1 : 0);
    }
    close(ready[1]);
    close(go[0]);
    assert_int_equal(read(hands.ready, &byte, 1), 1);
    return hands;
}

/* Kills it, or lets it go on to its end. */
static void finish(struct hands *hands, bool kill_it)
{
    char byte = '+';
    int status;

    if (hands->pid == 0)
        return;
    if (kill_it)
        assert_int_equal(kill(hands->pid, SIGKILL), 0);
    else
        assert_int_equal(write(hands->go, &byte, 1), 1);
    assert_int_equal(waitpid(hands->pid, &status, 0), hands->pid);
    if (!kill_it)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(hands->ready);
    close(hands->go);
    hands->pid = 0;
}

/* ---- what happens to the file ---- */

enum change {
    NOTHING,
    MOVED_OVER,
    OLDER_MOVED_OVER,
    COPIED_OVER,
    OLDER_COPIED_OVER,
    RESTORED,
    REMOVED,
    MOVED,
    FOLDER_RENAMED,
    LINK_SWITCHED,
    HARD_LINK,
    CUT_TO_NOTHING,
    FOLDER_IN_ITS_PLACE,
    NR_CHANGES,
};

static const char *const change_names[] = {
    [NOTHING] = "nothing",
    [MOVED_OVER] = "mv of another over it",
    [OLDER_MOVED_OVER] = "mv of an older copy over it",
    [COPIED_OVER] = "cp of another over it",
    [OLDER_COPIED_OVER] = "cp of an older copy over it",
    [RESTORED] = "history restore",
    [REMOVED] = "rm",
    [MOVED] = "mv to another name",
    [FOLDER_RENAMED] = "its folder renamed",
    [LINK_SWITCHED] = "its symbolic link switched",
    [HARD_LINK] = "a hard link to it",
    [CUT_TO_NOTHING] = "cut to nothing",
    [FOLDER_IN_ITS_PLACE] = "a folder in its place",
};

static void copy_over(const char *from, const char *to)
{
    struct error err;
    size_t length;
    char *bytes = file_read(from, FILE_RECORDS_MOST, &length, &err);
    FILE *file = fopen(to, "wb"); /* in place, as cp does */

    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

static void move_copy_over(const char *from, const char *to)
{
    char copy[256];

    snprintf(copy, sizeof(copy), "%s.copy", from);
    copy_over(from, copy);
    assert_int_equal(rename(copy, to), 0);
}

static void restore_over(const struct site *site)
{
    struct store_restored restored;
    struct error err;

    assert_ok(store_restore(site->path, site->other, NULL, &restored, &err), &err);
    assert_false(restored.aside);
    store_restored_release(&restored);
}

static void apply(struct site *site, enum change change)
{
    switch (change) {
    case MOVED_OVER:
        move_copy_over(site->other, site->path);
        break;
    case OLDER_MOVED_OVER:
        move_copy_over(site->older, site->path);
        break;
    case COPIED_OVER:
        copy_over(site->other, site->path);
        break;
    case OLDER_COPIED_OVER:
        copy_over(site->older, site->path);
        break;
    case RESTORED:
        restore_over(site);
        break;
    case REMOVED:
        assert_int_equal(unlink(site->path), 0);
        break;
    case MOVED:
        assert_int_equal(rename(site->path, site->moved), 0);
        break;
    case FOLDER_RENAMED:
        assert_int_equal(rename(site->folder, site->away), 0);
        break;
    case LINK_SWITCHED:
        assert_int_equal(unlink(site->path), 0);
        assert_int_equal(symlink(site->other, site->path), 0);
        break;
    case HARD_LINK:
        assert_int_equal(link(site->path, site->moved), 0);
        break;
    case CUT_TO_NOTHING:
        assert_int_equal(truncate(site->path, 0), 0);
        break;
    case FOLDER_IN_ITS_PLACE:
        assert_int_equal(unlink(site->path), 0);
        assert_int_equal(mkdir(site->path, 0777), 0);
        break;
    default:
        break;
    }
}

/* ---- what has to be true then ---- */

/* Where the old content is, if it was not destroyed by the change itself. */
static const char *old_place(struct site *site, enum change change, char name[224])
{
    switch (change) {
    case NOTHING:
    case HARD_LINK:
        return site->path;
    case MOVED:
        return site->moved;
    case FOLDER_RENAMED:
        snprintf(name, 224, "%.190s/history.db", site->away);
        return name;
    case LINK_SWITCHED:
        return site->real;
    default:
        return NULL;
    }
}

static const char *new_text(const struct site *site, enum change change)
{
    if (change == MOVED_OVER || change == COPIED_OVER || change == RESTORED ||
        change == LINK_SWITCHED)
        return site->other_text;
    return change == OLDER_MOVED_OVER || change == OLDER_COPIED_OVER ? site->older_text : NULL;
}

/* Opens it as the next command would, and gives what that says. */
static char *open_next(const char *path, enum store_mode mode)
{
    struct error err;
    struct store *s;

    assert_ok(store_open(&s, path, mode, &err), &err);
    char *note = store_take_note(s);
    store_close(s);
    return note;
}

static void assert_refused(const char *path, const char *why)
{
    struct error err;
    struct store *s;

    assert_int_equal(store_open(&s, path, STORE_WRITE, &err), -1);
    assert_non_null(strstr(err.message, why));
}

/* The log that was put aside. */
static bool find_left(const char *folder, char name[256])
{
    DIR *d = opendir(folder);
    bool found = false;

    for (struct dirent *e; d && !found && (e = readdir(d));)
        if ((found = strstr(e->d_name, ".left-") != NULL))
            snprintf(name, 256, "%.190s/%.60s", folder, e->d_name);
    if (d)
        closedir(d);
    return found;
}

static void assert_left(const struct site *site, const char *note)
{
    char name[256];

    assert_non_null(note);
    assert_true(find_left(site->folder, name));
    assert_non_null(strstr(note, strrchr(name, '/') + 1));
}

/* As the note says: the log that was left behind, beside the file again. */
static void bring_together(struct site *site)
{
    char *note = open_next(site->path, STORE_WRITE);
    char name[256];

    assert_left(site, note);
    free(note);
    assert_true(find_left(site->folder, name));
    name[strlen(name) - strlen("-wal")] = '\0';
    assert_int_equal(rename(site->moved, name), 0);
    snprintf(site->moved, sizeof(site->moved), "%.223s", name);
}

static void assert_result(const struct site *site, enum change change)
{
    static const char finished[] =
        "SELECT count(*) FROM measurement m JOIN launch l ON l.id = m.launch JOIN run r ON "
        "r.id = l.run WHERE r.ended_ms = r.started_ms + 9";
    struct error err;
    char *text = file_read(site->result, FILE_RECORDS_MOST, NULL, &err);

    assert_non_null(text);
    char *note = strchr(text, '\n');
    *note++ = '\0';
    bool elsewhere = strstr(text, ".kept-") != NULL;
    if (change == NOTHING || change == HARD_LINK)
        assert_false(elsewhere);
    if (elsewhere)
        assert_non_null(strstr(note, "history merge"));
    else if (change != NOTHING && change != HARD_LINK && change != OLDER_COPIED_OVER)
        assert_true(note[0] != '\0');
    const char *file = change == LINK_SWITCHED && !elsewhere ? site->real : text;
    assert_sound(file);
    assert_int_equal(count_in(file, finished), BEFORE + AFTER);
    free(text);
}

static void assert_old(struct site *site, enum change change, enum user user)
{
    char name[224];
    const char *path = old_place(site, change, name);

    if (!path)
        return;
    if (change == MOVED && user == KILLED)
        bring_together(site);
    if (change == HARD_LINK) {
        assert_refused(site->path, "2 names");
        assert_refused(site->moved, "2 names");
    }
    assert_sound(path);
    char *text = all_runs_as_text(path);
    assert_non_null(strstr(text, site->base_text)); /* newest runs first */
    free(text);
    if (user == KILLED)
        assert_int_equal(count_in(path, "SELECT count(*) FROM measurement"),
                         BASE_RUNS * 2 + BEFORE);
}

static void assert_new(struct site *site, enum change change, enum user user)
{
    const char *expected = new_text(site, change);

    if (!expected)
        return;
    char *note = open_next(site->path, STORE_READ);
    char *text = all_runs_as_text(site->path);
    assert_sound(site->path);
    assert_string_equal(text, expected);
    if (user == KILLED && change != RESTORED && change != LINK_SWITCHED)
        assert_left(site, note);
    free(text);
    free(note);
    /* And it can be written to. */
    make_runs(site->path, 70, 1, 1);
    assert_sound(site->path);
}

/* A new history at the old name has nothing of the old one; that one's log is not thrown away. */
static void assert_anew(struct site *site, enum change change, enum user user)
{
    if (change != REMOVED && change != CUT_TO_NOTHING)
        return;
    char *note = open_next(site->path, STORE_WRITE);
    assert_sound(site->path);
    assert_int_equal(count_in(site->path, "SELECT count(*) FROM run"), 0);
    if (user == KILLED)
        assert_left(site, note);
    free(note);
}

/* ---- the table ---- */

/* One site, from which all others are copied: making a history waits for the disk many times. */
static void make_first(const struct site *site)
{
    make_runs(site->real, 1, 1, 1);
    copy_over(site->real, site->older);
    make_runs(site->real, 2, BASE_RUNS - 1, 1);
    make_runs(site->other, 30, 3, 2);
    make_runs(site->extra, 40, 2, 2);
    make_runs(site->spare, 50, 2, 2);
}

static void copy_first(const struct site *first, const struct site *site)
{
    struct error err;

    assert_ok(file_make_directory(site->folder, &err), &err);
    copy_over(first->real, site->real);
    copy_over(first->older, site->older);
    copy_over(first->other, site->other);
    copy_over(first->extra, site->extra);
    copy_over(first->spare, site->spare);
}

static void name_site(struct site *site, const struct scratch *scratch, int number, bool link)
{
    *site = (struct site) { .top = "" };
    snprintf(site->top, sizeof(site->top), "%.100s/%d", scratch->folder, number);
    snprintf(site->folder, sizeof(site->folder), "%s/h", site->top);
    snprintf(site->away, sizeof(site->away), "%s/away", site->top);
    snprintf(site->path, sizeof(site->path), "%s/%s", site->folder,
             link ? "link.db" : "history.db");
    snprintf(site->real, sizeof(site->real), "%s/history.db", site->folder);
    snprintf(site->other, sizeof(site->other), "%s/other.db", site->top);
    snprintf(site->older, sizeof(site->older), "%s/older.db", site->top);
    snprintf(site->extra, sizeof(site->extra), "%s/extra.db", site->top);
    snprintf(site->spare, sizeof(site->spare), "%s/spare.db", site->top);
    snprintf(site->moved, sizeof(site->moved), "%s/moved.db", site->top);
    snprintf(site->result, sizeof(site->result), "%s/result", site->top);
}

static void make_site(struct site *site, const struct site *first, const struct scratch *scratch,
                      int number, bool link)
{
    name_site(site, scratch, number, link);
    copy_first(first, site);
    if (link)
        assert_int_equal(symlink("history.db", site->path), 0);
    site->base_text = all_runs_as_text(site->real);
    site->other_text = all_runs_as_text(site->other);
    site->older_text = all_runs_as_text(site->older);
}

static void release_site(struct site *site)
{
    free(site->base_text);
    free(site->other_text);
    free(site->older_text);
}

SCRATCH_TEST(test_table)
{
    const struct scratch *scratch = *state;
    struct site first;
    int number = 0;

    name_site(&first, scratch, NR_CHANGES * NR_USERS, false);
    make_first(&first);
    for (int change = 0; change < NR_CHANGES; change++) {
        for (int user = 0; user < NR_USERS; user++, number++) {
            struct site site;
            print_message("%s, %s\n", change_names[change], user_names[user]);
            make_site(&site, &first, scratch, number, change == LINK_SWITCHED);
            struct hands hands = start(&site, (enum user)user);
            if (user == KILLED)
                finish(&hands, true);
            apply(&site, (enum change)change);
            finish(&hands, false);
            if (user == RUN || user == RUN_AGAIN)
                assert_result(&site, (enum change)change);
            assert_old(&site, (enum change)change, (enum user)user);
            assert_new(&site, (enum change)change, (enum user)user);
            assert_anew(&site, (enum change)change, (enum user)user);
            release_site(&site);
        }
    }
    knock("a history replaced, restored, removed or moved while in use", number, number,
          "%d changes, %d users: old and new data whole, and said", NR_CHANGES, NR_USERS);
}

/* ---- a log from before there were seals ---- */

/* As an older harness that was killed leaves it. */
static void leave_old_log(const char *path)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *db;
        bool done =
            sqlite3_open(path, &db) == SQLITE_OK &&
            sqlite3_exec(db, "PRAGMA journal_mode = WAL; UPDATE run SET label = 'in the log'", NULL,
                         NULL, NULL) == SQLITE_OK;
        _exit(done ? 0 : 1); /* without closing it */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* It is taken beside the old file, as SQLite would, and not beside one that has a seal. */
SCRATCH_TEST(test_log_of_an_older_harness)
{
    char old[160], other[160];

    path_in(*state, "old.db", old);
    path_in(*state, "new.db", other);
    make_version(old, 3);
    leave_old_log(old);
    assert_null(open_next(old, STORE_READ));
    assert_int_equal(count_in(old, "SELECT count(*) FROM run WHERE label = 'in the log'"), 1);
    remove(old);
    make_version(old, 3);
    leave_old_log(old);
    make_runs(other, 1, 2, 2);
    char *text = all_runs_as_text(other);
    assert_int_equal(rename(other, old), 0);
    char *note = open_next(old, STORE_WRITE);
    assert_non_null(note);
    free(note);
    char *now = all_runs_as_text(old);
    assert_string_equal(now, text);
    assert_sound(old);
    free(now);
    free(text);
    knock("a history put beside the log of an older harness", 1, 1,
          "the log is not applied, and said");
}

/* ---- an upgrade that alone is in the log ---- */

static void die_upgraded(const char *path)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct error err;
        struct store *s;
        _exit(store_open(&s, path, STORE_WRITE, &err) ? 1 : 0); /* without closing it */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Of the newest version: runs that an older program has begun since the upgrade. */
static void make_to_be_upgraded(const char *path, int version)
{
    if (version < SCHEMA_NOW) {
        make_version(path, version);
        execute_in(path, "PRAGMA journal_mode = WAL");
    } else {
        make_runs(path, 1, 1, 1);
        execute_in(path, "UPDATE run SET kind = ''");
    }
}

/* Its log has a seal, by which it is known. While somebody reads, the file is not written anew. */
SCRATCH_TEST(test_killed_behind_an_upgrade)
{
    int nr = 0;

    for (int version = SCHEMA_SEAL; version <= SCHEMA_NOW; version++, nr++) {
        struct site site = { .top = "" };
        snprintf(site.path, sizeof(site.path), "%.150s/%d.db",
                 ((const struct scratch *)*state)->folder, version);
        make_to_be_upgraded(site.path, version);
        struct hands hands = start(&site, READER);
        die_upgraded(site.path);
        finish(&hands, true);
        assert_null(open_next(site.path, STORE_READ));
        assert_int_equal(count_in(site.path, "PRAGMA user_version"), SCHEMA_NOW);
        assert_int_equal(count_in(site.path, "SELECT count(*) FROM run WHERE kind <> ''"), 1);
        assert_sound(site.path);
    }
    knock("kill -9 of a writer that had done no more than upgrade a history", nr, nr,
          "the log is the file's own");
}

/* ---- the journal of a history that was being made ---- */

/* Undone, as it says, a file is cut to nothing. */
SCRATCH_TEST(test_journal_of_a_new_file)
{
    unsigned char journal[512] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    char path[160], name[200];
    struct error err;

    path_in(*state, "history.db", path);
    snprintf(name, sizeof(name), "%s-journal", path);
    make_runs(path, 1, 2, 2);
    journal[12] = 1;    /* a random number */
    journal[22] = 2;    /* sectors of 512 bytes */
    journal[26] = 0x10; /* pages of 4096 */
    char *text = all_runs_as_text(path);
    assert_ok(file_write(name, journal, sizeof(journal), &err), &err);
    char *note = open_next(path, STORE_WRITE);
    char *now = all_runs_as_text(path);
    assert_string_equal(now, text);
    assert_non_null(note);
    assert_non_null(strstr(note, "-journal"));
    free(note);
    free(now);
    free(text);
    knock("a history put beside the journal of one that was being made", 1, 1,
          "the journal is not applied, and said");
}

/* ---- what a user who may not write to the history puts beside it ---- */

/* As long as nobody closes it a history has a log: of a copy of `path` that goes on, so that it has
 * the right seal, as whoever may read the history can make it. */
static void plant_log(const char *path, const char *copy, const char *as)
{
    struct error err;
    char log[200];
    size_t length;
    char *bytes = file_read(path, FILE_RECORDS_MOST, &length, &err);

    assert_ok(file_write(copy, bytes, length, &err), &err);
    free(bytes);
    struct store *s = open_store(copy, STORE_WRITE);
    add_run_of(s, 66, 2, NULL);
    snprintf(log, sizeof(log), "%s-wal", copy);
    bytes = file_read(log, FILE_RECORDS_MOST, &length, &err);
    assert_ok(file_write(as, bytes, length, &err), &err);
    free(bytes);
    store_close(s);
}

static void plant_others(const char *as)
{
    struct error err;
    char bytes[4096] = "planted";

    assert_ok(file_write(as, bytes, sizeof(bytes), &err), &err);
}

SCRATCH_TEST(test_planted)
{
    enum { OWNER = 12345, STRANGER = 54321 };
    static const struct {
        const char *end;
        uid_t owner;
        mode_t mode; /* of the history */
        bool taken;  /* to be read */
        bool written;
    } cases[] = {
        { "-wal", STRANGER, 0644, false, false }, { "-journal", STRANGER, 0644, false, false },
        { "-shm", STRANGER, 0644, true, false },  { "-wal", STRANGER, 0664, false, false },
        { "-wal", OWNER, 0644, true, true },      { "-wal", 0, 0644, true, true },
        { "-wal", STRANGER, 0666, true, true },   { "-shm", OWNER, 0644, true, true },
    };
    char path[160], copy[160], beside[200];
    long nr = sizeof(cases) / sizeof(cases[0]);

    if (geteuid() != 0) {
        printf("skipped: only root can make files that belong to others\n");
        skip();
    }
    path_in(*state, "history.db", path);
    path_in(*state, "copy.db", copy);
    make_runs(path, 1, 2, 2);
    for (long i = 0; i < 2 * nr; i++) {
        enum store_mode mode = i % 2 ? STORE_WRITE : STORE_READ;
        bool expected = mode == STORE_READ ? cases[i / 2].taken : cases[i / 2].written;
        struct error err = { .message = "" };
        struct store *s;
        snprintf(beside, sizeof(beside), "%s%s", path, cases[i / 2].end);
        if (strcmp(cases[i / 2].end, "-wal") == 0)
            plant_log(path, copy, beside);
        else
            plant_others(beside);
        assert_int_equal(chown(path, OWNER, OWNER), 0);
        assert_int_equal(chown(beside, cases[i / 2].owner, cases[i / 2].owner), 0);
        assert_int_equal(chmod(path, cases[i / 2].mode), 0);
        bool taken = store_open(&s, path, mode, &err) == 0;
        store_close(s);
        if (taken != expected || (!taken && !strstr(err.message, beside)))
            fail_msg("%s of %u beside mode %o: %s %s", cases[i / 2].end, cases[i / 2].owner,
                     cases[i / 2].mode, taken ? "taken" : "refused", err.message);
        if (!taken) /* for whoever looks into it */
            assert_int_equal(access(beside, F_OK), 0);
        remove(beside);
    }
    knock("a log, a journal, an index of somebody who may not write to the history", 2 * nr, 2 * nr,
          "not applied, and said; those of its writers are");
}

/* ---- a link to what is no history ---- */

/* The file that it leads to is kept with the log beside it; the link stays. */
SCRATCH_TEST(test_restore_through_a_link)
{
    static const char damaged[] = "this was a history", log[] = "and this its log";
    char path[160], real[160], backup[160], beside[200];
    struct store_restored restored;
    struct strbuf kept;
    struct error err;
    struct stat st;

    path_in(*state, "link.db", path);
    path_in(*state, "history.db", real);
    path_in(*state, "backup.db", backup);
    snprintf(beside, sizeof(beside), "%s-wal", real);
    assert_int_equal(symlink("history.db", path), 0);
    make_runs(backup, 1, 2, 2);
    assert_ok(file_write(real, damaged, strlen(damaged), &err), &err);
    assert_ok(file_write(beside, log, strlen(log), &err), &err);
    assert_ok(store_restore(path, backup, NULL, &restored, &err), &err);
    assert_true(restored.aside);
    assert_non_null(strstr(restored.kept.data, "/history.db.before-"));
    assert_same_bytes(restored.kept.data, damaged, strlen(damaged));
    strbuf_init(&kept);
    strbuf_addf(&kept, "%s-wal", restored.kept.data);
    assert_same_bytes(kept.data, log, strlen(log));
    strbuf_release(&kept);
    store_restored_release(&restored);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(count_in(real, "SELECT count(*) FROM run"), 2);
    assert_sound(path);
    knock("a backup restored through a link to what is no history", 1, 1,
          "the file is kept with its log, the link stays");
}

/* ---- a lock that is held for longer than anybody waits ---- */

/* Only the run's own patience is short here. */
SCRATCH_TEST(test_kept_locked)
{
    const struct scratch *scratch = *state;
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    struct store_merged merged = { 0 };
    struct error err;
    struct store *s;
    int64_t id;

    make_runs(scratch->path, 1, 1, 1);
    s = open_store(scratch->path, STORE_WRITE);
    struct store *other = open_store(scratch->path, STORE_WRITE);
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    assert_ok(add_some(s, id, 0, BEFORE, &err), &err);
    assert_ok(sql_execute(other, "BEGIN IMMEDIATE", &err), &err);
    store_set_patience(s, 50);
    assert_ok(add_some(s, id, BEFORE, AFTER, &err), &err);
    assert_ok(store_end_launch(s, id, &launch, &err), &err);
    assert_ok(store_end_run(s, run.id, run.started_ms + 9, &err), &err);
    assert_true(store_is_elsewhere(s));
    char *note = store_take_note(s);
    assert_non_null(strstr(note, "kept locked"));
    free(note);
    assert_ok(sql_execute(other, "COMMIT", &err), &err);
    /* Merged, as the note says, it takes the place of what had been written of it. */
    assert_ok(store_merge(other, store_path(s), &merged, &err), &err);
    assert_int_equal(merged.runs_grown, 1);
    assert_int_equal(merged.conflicts.nr, 0);
    store_merged_release(&merged);
    store_close(s);
    store_close(other);
    assert_int_equal(count_in(scratch->path, "SELECT count(*) FROM run WHERE ended_ms > 0"), 2);
    assert_int_equal(count_in(scratch->path, "SELECT count(*) FROM measurement"),
                     2 + BEFORE + AFTER);
    knock("a history kept locked for longer than writers wait", 1, 1,
          "a run goes on in a new file, and can be merged");
}

RUN_TESTS(NULL, NULL)
