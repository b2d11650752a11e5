/* SPDX-License-Identifier: MIT */
/* Files with pages overwritten, cut off, without their start: what can be read is saved, is what it
 * was, and what is lost is counted. Features: U-05. */
#include "salvage_files.h"

#include "history/restore.h"
#include "knocks.h"
#include "old_kernel.h"

#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

SCRATCH_TEST(test_sound_file)
{
    struct files f = make_files(state);
    char *before, *after;

    copy_bytes(f.sound, f.damaged);
    struct salvaged out = salvage(&f);
    for (size_t i = 0; i < out.tables.nr; i++)
        assert_true(out.tables.items[i].lost == 0 && !out.tables.items[i].more &&
                    out.tables.items[i].restored == 0);
    assert_false(out.start_replaced || out.cut_off);
    salvaged_release(&out);
    before = all_runs_as_text(f.sound);
    after = all_runs_as_text(f.saved);
    assert_string_equal(before, after);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM annotation"), 1);
    assert_nothing_made_up(&f);
    free(before);
    free(after);
}

static void fill_junk(unsigned char junk[PAGE], int kind, struct random *r)
{
    for (size_t i = 0; i < PAGE; i++)
        junk[i] = kind == 0 ? 0 : kind == 1 ? 0x5a : (unsigned char)random_below(r, 256);
}

/* One page after the other, by zeros, a pattern and noise. */
SCRATCH_TEST(test_any_page)
{
    struct files f = make_files(state);
    unsigned char junk[PAGE];
    struct random r;
    int64_t least = MEASUREMENTS;

    random_seed(&r, 11);
    for (int64_t page = 1; page < f.pages; page++) {
        copy_bytes(f.sound, f.damaged);
        fill_junk(junk, (int)(page % 3), &r);
        overwrite(f.damaged, page, junk);
        struct salvaged out = salvage(&f);
        int64_t runs = count_in(f.saved, "SELECT count(*) FROM run");
        int64_t results = count_in(f.saved, "SELECT count(*) FROM measurement");
        assert_nothing_made_up(&f);
        /* A page has some fifty runs, and with each go its measurements. */
        if (runs < RUNS - 60 || results < (runs - 8) * 2 * RESULTS)
            fail_msg("page %lld: %lld runs, %lld measurements", (long long)page, (long long)runs,
                     (long long)results);
        if (results < MEASUREMENTS)
            assert_true(lost_of(&out, "measurement") >= MEASUREMENTS - results);
        least = results < least ? results : least;
        salvaged_release(&out);
    }
    knock("each page destroyed, one by one", (long)f.pages - 1, (long)f.pages - 1,
          "salvaged: at least %lld of %d measurements", (long long)least, MEASUREMENTS);
}

SCRATCH_TEST(test_several_pages)
{
    struct files f = make_files(state);
    unsigned char junk[PAGE];
    struct random r;

    uint64_t seed = knock_seed();
    random_seed(&r, seed);
    for (int round = 0; round < 20; round++) {
        copy_bytes(f.sound, f.damaged);
        for (int i = 0; i < 5; i++) {
            fill_junk(junk, 2, &r);
            overwrite(f.damaged, 1 + (int64_t)random_below(&r, (uint64_t)f.pages - 1), junk);
        }
        struct salvaged out = salvage(&f);
        assert_nothing_made_up(&f);
        salvaged_release(&out);
    }
    knock("five pages of noise", 20, 20, "salvaged: nothing made up (seed %" PRIu64 ")", seed);
}

SCRATCH_TEST(test_cut_off)
{
    struct files f = make_files(state);
    int64_t last = 0;

    for (int64_t tenths = 2; tenths < 10; tenths++) {
        copy_bytes(f.sound, f.damaged);
        assert_int_equal(truncate(f.damaged, tenths * f.pages * PAGE / 10 + 77), 0);
        struct salvaged out = salvage(&f);
        assert_true(out.cut_off);
        assert_nothing_made_up(&f);
        int64_t results = count_in(f.saved, "SELECT count(*) FROM measurement");
        assert_true(results >= last); /* the longer, the more */
        last = results;
        salvaged_release(&out);
    }
    assert_true(last > MEASUREMENTS / 2);
    knock("a file cut off, at 20 to 90 %", 8, 8, "salvaged: of the last %lld of %d measurements",
          (long long)last, MEASUREMENTS);
}

SCRATCH_TEST(test_lost_start)
{
    struct files f = make_files(state);
    unsigned char junk[PAGE] = { 0 };

    copy_bytes(f.sound, f.damaged);
    overwrite(f.damaged, 0, junk);
    struct salvaged out = salvage(&f);
    assert_true(out.start_replaced);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), MEASUREMENTS);
    assert_nothing_made_up(&f);
    salvaged_release(&out);
}

/* The start of a file of another version may not fit: then less is saved, or nothing, but none of
 * it is made up. */
SCRATCH_TEST(test_lost_start_of_older)
{
    struct files f = make_files(state);
    unsigned char junk[PAGE] = { 0 };
    struct salvaged out;
    struct error err;

    for (int version = 1; version <= 2; version++) {
        remove(f.damaged);
        remove(f.saved);
        make_version(f.damaged, version);
        overwrite(f.damaged, 0, junk);
        if (store_salvage(f.damaged, f.saved, &out, &err)) {
            assert_non_null(strstr(err.message, "start"));
            continue;
        }
        assert_sound(f.saved);
        assert_in_range(count_in(f.saved, "SELECT count(*) FROM measurement"), 0, 1);
        assert_int_equal(count_in(f.saved, "SELECT count(*) FROM annotation"), 0);
        assert_int_equal(count_in(f.saved, "SELECT count(*) FROM verdict"), 0);
        salvaged_release(&out);
    }
}

/* A writer died: what is in the log alone counts, too. */
SCRATCH_TEST(test_with_log)
{
    struct files f = make_files(state);
    char wal[170], wal_copy[170];
    struct error err;

    struct store *s = open_store(f.sound, STORE_WRITE);
    assert_ok(sql_execute(s, "PRAGMA wal_autocheckpoint = 0", &err), &err);
    add_run_of(s, 999, 3, NULL);
    copy_bytes(f.sound, f.damaged);
    snprintf(wal, sizeof(wal), "%s-wal", f.sound);
    snprintf(wal_copy, sizeof(wal_copy), "%s-wal", f.damaged);
    copy_bytes(wal, wal_copy);
    char whole[160];
    assert_true(snprintf(whole, sizeof(whole), "%s", f.damaged) > 0);
    path_in(*state, "link.db", f.damaged);
    assert_int_equal(symlink(whole, f.damaged), 0); /* the log is beside the file, not here */
    struct salvaged out = salvage(&f);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM run"), RUNS + 1);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), MEASUREMENTS + 6);
    salvaged_release(&out);
    store_close(s);
}

/* Samples and texts that cannot be decoded are lost; what refers to lost rows, too. */
SCRATCH_TEST(test_undecodable)
{
    struct files f = make_files(state);

    copy_bytes(f.sound, f.damaged);
    execute_in(f.damaged,
               "UPDATE measurement SET samples = x'0105' WHERE id = 2;"
               "UPDATE measurement SET outcome = 'FINE' WHERE id = 3;"
               "PRAGMA foreign_keys = OFF; DELETE FROM run WHERE id = 2;"
               "INSERT INTO selftest VALUES (1, 'm', 'd', 'aa', 1, 1, 'no JSON');"
               /* SQLite takes half of a character for JSON. */
               "INSERT INTO selftest VALUES (2, 'm', 'd', 'aa', 1, 1, '{\"a\":\"\\ud800\"}')");
    struct salvaged out = salvage(&f);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"),
                     MEASUREMENTS - 2 - 2 * RESULTS);
    assert_int_equal(lost_of(&out, "measurement"), 2 + 2 * RESULTS);
    assert_int_equal(lost_of(&out, "launch"), 2);
    assert_int_equal(lost_of(&out, "selftest"), 2);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM baseline_run"), 1);
    salvaged_release(&out);
}

SCRATCH_TEST(test_older_versions)
{
    struct files f = make_files(state);

    for (int version = 1; version < SCHEMA_NOW; version++) {
        remove(f.damaged);
        make_version(f.damaged, version);
        struct salvaged out = salvage(&f);
        assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), 1);
        assert_int_equal(count_in(f.saved, "PRAGMA user_version"), SCHEMA_NOW);
        salvaged_release(&out);
    }
}

/* Inner pages one below the other, each with the next one as all of its 300 children: a tree of
 * 300^6 leaves. */
SCRATCH_TEST(test_shared_pages)
{
    struct files f = make_files(state);
    unsigned char junk[PAGE] = { 5, 0, 0, 299 >> 8, 299 & 0xff };

    copy_bytes(f.sound, f.damaged);
    int64_t page = count_in(f.sound, "SELECT rootpage FROM sqlite_schema WHERE name = 'run'");
    for (int64_t next = f.pages - 5; next <= f.pages; page = next++) {
        for (int i = 0; i < 300; i++) {
            int at = i < 299 ? 2000 + 5 * i : 8; /* of its number: of a cell, or the last one */
            memcpy(junk + at, (unsigned char[]) { 0, 0, (unsigned char)(next >> 8) }, 3);
            junk[at + 3] = (unsigned char)next;
            junk[12 + 2 * i] = (unsigned char)(at >> 8);
            junk[13 + 2 * i] = (unsigned char)at;
        }
        overwrite_sealed(f.damaged, page - 1, junk);
    }
    overwrite_sealed(f.damaged, f.pages - 1, (unsigned char[PAGE]) { 13 }); /* a leaf */
    struct salvaged out = salvage(&f);
    assert_true(out.trees_rebuilt > 0);
    assert_nothing_made_up(&f);
    salvaged_release(&out);
}

SCRATCH_TEST(test_refused)
{
    struct files f = make_files(state);
    struct salvaged out;
    struct error err;

    assert_int_equal(store_salvage("/nowhere.db", f.saved, &out, &err), -1);
    assert_int_equal(store_salvage(f.sound, f.sound, &out, &err), -1);
    assert_non_null(strstr(err.message, "exists already"));
    assert_ok(file_write(f.damaged, "hi", 2, &err), &err);
    assert_int_equal(store_salvage(f.damaged, f.saved, &out, &err), -1);
    remove(f.damaged);
    execute_in(f.damaged, "CREATE TABLE mail (text)");
    assert_int_equal(store_salvage(f.damaged, f.saved, &out, &err), -1);
    assert_non_null(strstr(err.message, "not a history"));
    assert_false(file_exists(f.saved)); /* and nothing is left lying about */
}

/* ---- its own files ---- */

static void touch(const char *path)
{
    struct error err;

    assert_ok(file_write(path, "mine", 4, &err), &err);
}

static int count_partial(const char *folder)
{
    DIR *d = opendir(folder);
    int nr = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        nr += strstr(e->d_name, ".partial") != NULL;
    closedir(d);
    return nr;
}

/* Names that could be guessed were refused where somebody had planted them, and then removed. */
SCRATCH_TEST(test_planted_names)
{
    struct files f = make_files(state);
    char damaged[200], partial[200];

    copy_bytes(f.sound, f.damaged);
    snprintf(damaged, sizeof(damaged), "%s.%ld.damaged", f.saved, (long)getpid());
    snprintf(partial, sizeof(partial), "%s.%ld.partial", f.saved, (long)getpid());
    touch(damaged);
    touch(partial);
    struct salvaged out = salvage(&f);
    salvaged_release(&out);
    assert_true(file_exists(damaged) && file_exists(partial));
}

/* Of each kind, with its log; what somebody holds is not left. */
SCRATCH_TEST(test_left_overs)
{
    static const char *const kinds[] = { "backup", "salvaged", "damaged", "fresh", "restored" };
    enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
    const struct scratch *scratch = *state;
    struct files f = make_files(state);
    char path[200], held[200], other[200];

    copy_bytes(f.sound, f.damaged);
    for (int i = 0; i < KINDS; i++) {
        snprintf(path, sizeof(path), "%s.%s-0a1b2c3%d.partial", f.saved, kinds[i], i);
        touch(path);
        strcat(path, "-wal");
        touch(path);
    }
    snprintf(held, sizeof(held), "%s/x.damaged-0a1b2c3d.partial", scratch->folder);
    snprintf(other, sizeof(other), "%s/mine.damaged-0a1b2c.partial", scratch->folder);
    touch(held);
    touch(other);
    int fd = open(held, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    struct salvaged out = salvage(&f);
    salvaged_release(&out);
    assert_true(file_exists(held) && file_exists(other));
    assert_int_equal(count_partial(scratch->folder), 2);
    close(fd);
}

static const struct files *unlocked;

static bool locks_fail(void)
{
    return calls_fail(SYS_flock, SYS_flock, ENOLCK);
}

static bool salvage_says_so(void)
{
    struct salvaged out;
    struct error err = { 0 };
    int rc = store_salvage(unlocked->damaged, unlocked->saved, &out, &err);

    return rc < 0 && strstr(err.message, "cannot be locked: ") && !file_exists(unlocked->saved);
}

/* It tried again under other names, left an empty file of each and did not say why. */
SCRATCH_TEST(test_file_system_without_locks)
{
    const struct scratch *scratch = *state;
    struct files f = make_files(state);

    copy_bytes(f.sound, f.damaged);
    unlocked = &f;
    in_a_process(locks_fail, salvage_says_so);
    assert_int_equal(count_partial(scratch->folder), 0);
}

/* Kills it after so long; true if it was not through. */
static bool killed_after(int us, int (*work)(const struct files *f), const struct files *f)
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(work(f) ? 1 : 0);
    usleep((useconds_t)us);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status);
}

static int do_salvage(const struct files *f)
{
    struct salvaged out;
    struct error err;
    int rc = store_salvage(f->damaged, f->saved, &out, &err);

    salvaged_release(&out);
    return rc;
}

/* A backup of an older version, which is upgraded beside the history. */
static int do_restore(const struct files *f)
{
    struct store_restored out;
    struct error err;
    int rc = store_restore(f->sound, f->damaged, NULL, &out, &err);

    store_restored_release(&out);
    return rc;
}

SCRATCH_TEST(test_kills)
{
    enum { KILLS = 10, LONGEST_US = 60000 };
    const struct scratch *scratch = *state;
    struct files f = make_files(state);
    uint64_t seed = knock_seed();
    struct random r;
    int killed = 0;

    random_seed(&r, seed);
    for (int i = 0; i < 2 * KILLS; i++) {
        remove(f.damaged);
        remove(f.saved);
        if (i < KILLS)
            copy_bytes(f.sound, f.damaged);
        else
            make_version(f.damaged, 2);
        killed += killed_after((int)random_below(&r, LONGEST_US),
                               i < KILLS ? do_salvage : do_restore, &f);
        if (file_exists(f.saved))
            assert_sound(f.saved);
        assert_sound(f.sound);
    }
    copy_bytes(f.sound, f.damaged);
    struct salvaged out = salvage(&f);
    salvaged_release(&out);
    assert_int_equal(count_partial(scratch->folder), 0);
    knock("kill -9 of a salvage, of a restore of an older version", 2 * KILLS, 2 * KILLS,
          "whole or not there, and the next one removes what is left (%d in time) (seed %" PRIu64
          ")",
          killed, seed);
}

RUN_TESTS(NULL, NULL)
