/* SPDX-License-Identifier: MIT */
/* Many writers at once, and writers that are killed: nothing that was finished is lost.
 * Features: U-05. */
#include "history/verify.h"
#include "test_store.h"

#include "history/restore.h"
#include "knocks.h"
#include "old_kernel.h"
#include "store/sql.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { WRITERS = 10, EACH = 50, KILLS = 200 };

/* One `harness run` in small; the children use no cmocka, which is not made for them. After each
 * stored measurement a byte goes to `report`, if that is open. */
static int write_run(const char *path, unsigned nr, int report, struct error *err)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    struct store *s;
    int64_t launch_id;
    int rc = store_open(&s, path, STORE_WRITE, err);

    if (rc == 0)
        rc = store_begin_run(s, &run, err);
    if (rc == 0)
        rc = store_begin_launch(s, run.id, &launch, &launch_id, err);
    for (unsigned i = 0; rc == 0 && i < nr; i++) {
        struct measurement m = sample_measurement(i);
        rc = store_add_measurement(s, launch_id, &m, err);
        measurement_release(&m);
        if (rc == 0 && report >= 0 && write(report, "+", 1) != 1)
            rc = error_set(err, "cannot report");
    }
    if (rc == 0)
        rc = store_end_launch(s, launch_id, &launch, err);
    if (rc == 0)
        rc = store_end_run(s, run.id, 1, err);
    store_close(s);
    return rc;
}

static pid_t start_writer(const char *path, unsigned nr, int report)
{
    struct error err;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    int rc = write_run(path, nr, report, &err);
    if (rc)
        fprintf(stderr, "writer: %s\n", err.message);
    _exit(rc ? 1 : 0);
}

static void wait_for_all(const pid_t *pids, size_t nr)
{
    int status;

    for (size_t i = 0; i < nr; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void assert_all_there(const char *path, unsigned writers, unsigned each)
{
    struct error err;
    struct store *s;
    struct store_health health;
    struct store_listing listing = { .nr = 0 };

    assert_ok(store_open(&s, path, STORE_READ, &err), &err);
    assert_ok(store_verify(s, &health, &err), &err);
    assert_int_equal(health.runs, writers);
    assert_int_equal(health.measurements, writers * each);
    assert_ok(store_list_runs(s, NULL, 0, &listing, &err), &err);
    for (size_t i = 0; i < listing.nr; i++) {
        assert_int_equal(listing.items[i].outcomes[OUTCOME_OK], each);
        assert_int_equal(listing.items[i].run.ended_ms, 1);
    }
    store_listing_release(&listing);
    store_close(s);
}

/* All ten find no file and make it; readers look at it meanwhile. */
SCRATCH_TEST(test_ten_at_once)
{
    const struct scratch *scratch = *state;
    struct error err;
    pid_t pids[WRITERS];

    for (int i = 0; i < WRITERS; i++)
        assert_true((pids[i] = start_writer(scratch->path, EACH, -1)) > 0);
    for (int i = 0; i < 20; i++) {
        struct store *s;
        struct store_health health;
        if (store_open(&s, scratch->path, STORE_READ, &err) == 0)
            assert_ok(store_verify(s, &health, &err), &err);
        store_close(s);
    }
    wait_for_all(pids, WRITERS);
    assert_all_there(scratch->path, WRITERS, EACH);
    knock("ten writers at once", WRITERS, WRITERS, "all %d measurements of each are there", EACH);
}

/* Creating the file is where a race would show: many short goes at it. */
SCRATCH_TEST(test_creation_race)
{
    const struct scratch *scratch = *state;
    pid_t pids[6];

    for (int round = 0; round < 15; round++) {
        char path[160];
        snprintf(path, sizeof(path), "%s/race-%d/history.db", scratch->folder, round);
        for (int i = 0; i < 6; i++)
            assert_true((pids[i] = start_writer(path, 1, -1)) > 0);
        wait_for_all(pids, 6);
        assert_all_there(path, 6, 1);
    }
    knock("six writers, and no file yet", 15, 15, "one makes it, nothing is lost");
}

static unsigned drain(int fd)
{
    char bytes[256];
    unsigned total = 0;

    for (ssize_t nr; (nr = read(fd, bytes, sizeof(bytes))) > 0;)
        total += (unsigned)nr;
    return total;
}

/* Lets a writer live for some microseconds, from when it has called one measurement stored where
 * that is asked for; gives how many it did. */
static unsigned kill_after(const char *path, long microseconds, bool from_the_first)
{
    struct timespec delay = { .tv_nsec = microseconds * 1000 };
    unsigned reported = 0;
    int ends[2], status;
    char byte;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = start_writer(path, 1000000, ends[1]);
    assert_true(pid > 0);
    close(ends[1]);
    if (from_the_first) {
        assert_int_equal(read(ends[0], &byte, 1), 1);
        reported++;
    }
    nanosleep(&delay, NULL);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    reported += drain(ends[0]);
    close(ends[0]);
    return reported;
}

/* From death while the file is made to death among thousands of measurements. */
SCRATCH_TEST(test_kill)
{
    const struct scratch *scratch = *state;
    struct random r;
    unsigned reported = 0;
    int64_t found = 0;

    uint64_t seed = knock_seed();
    random_seed(&r, seed);
    for (int i = 0; i < KILLS; i++) {
        struct error err;
        struct store *s;
        struct store_health health;
        bool late = i >= 9 * KILLS / 10;
        long delay = (long)random_below(&r, late ? 150000 : 15000);
        reported += kill_after(scratch->path, delay, late);
        assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
        assert_ok(store_verify(s, &health, &err), &err);
        /* Each writer may have died between storing one more and reporting it. */
        assert_in_range(health.measurements, reported, reported + (unsigned)i + 1);
        assert_true(health.measurements >= found);
        found = health.measurements;
        store_close(s);
    }
    assert_true(reported > 0);
    knock("kill -9 of a writer", KILLS, KILLS,
          "none of %u stored measurements lost, file sound (seed %" PRIu64 ")", reported, seed);
}

/* A reader that opens the file right after a death finds all of it too, without write access
 * being asked for. */
SCRATCH_TEST(test_read_after_kill)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;
    struct store_health health;

    unsigned reported = kill_after(scratch->path, 45000, true);
    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    assert_ok(store_verify(s, &health, &err), &err);
    assert_true(health.measurements >= reported);
    store_close(s);
}

/* Copies of a file that is being written: each sound, each holding at least what the one before
 * did, and the writer none the worse. */
SCRATCH_TEST(test_backups_while_writing)
{
    const struct scratch *scratch = *state;
    struct error err;
    int64_t last = 0;
    int status;
    pid_t writer = start_writer(scratch->path, 4 * EACH, -1);

    assert_true(writer > 0);
    for (int i = 0; i < 8; i++) {
        char copy[160];
        struct store *s;
        struct store_health health;
        snprintf(copy, sizeof(copy), "%s/copy-%d.db", scratch->folder, i);
        while (store_open(&s, scratch->path, STORE_READ, &err)) /* not made yet */
            assert_int_equal(waitpid(writer, &status, WNOHANG), 0);
        assert_ok(store_backup(s, copy, &err), &err);
        store_close(s);
        assert_ok(store_open(&s, copy, STORE_READ, &err), &err);
        assert_ok(store_verify(s, &health, &err), &err);
        assert_true(health.measurements >= last);
        last = health.measurements;
        store_close(s);
    }
    wait_for_all(&writer, 1);
    assert_all_there(scratch->path, 1, 4 * EACH);
    knock("a backup while somebody writes", 8, 8, "the copy is sound, the writer loses nothing");
}

/* ---- a file system that cannot lock, as some over a network; a disk that cannot read ---- */

enum lack { NO_SHARED_MEMORY, NO_LOCKS, NO_SECTORS, NO_LOOK };

static enum lack lack;
static sqlite3_vfs lacking_vfs;
static sqlite3_io_methods lacking_methods, whole_methods;

static int refuse_lock(sqlite3_file *file, int level)
{
    (void)file;
    return level > SQLITE_LOCK_NONE ? SQLITE_IOERR_LOCK : SQLITE_OK;
}

static int refuse_sectors(sqlite3_file *file, void *bytes, int nr, sqlite3_int64 at)
{
    enum { FIRST_BAD = 40960 };

    return at >= FIRST_BAD ? SQLITE_IOERR_READ : whole_methods.xRead(file, bytes, nr, at);
}

static int looks_until_lack; /* of NO_LOOK */

/* SQLite says that a file has moved also where it could not be looked at. */
static int refuse_look(sqlite3_file *file, int what, void *answer)
{
    if (what != SQLITE_FCNTL_HAS_MOVED || looks_until_lack-- != 0)
        return whole_methods.xFileControl(file, what, answer);
    *(int *)answer = 1;
    return SQLITE_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The system's own, but for what it lacks, of that one file. */
static int lacking_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *system = vfs->pAppData;
    int rc = system->xOpen(system, name, file, flags, out);

    if (rc != SQLITE_OK || !file->pMethods || !(flags & SQLITE_OPEN_MAIN_DB) ||
        !ends_with(name, "/history.db"))
        return rc;
    whole_methods = *file->pMethods;
    lacking_methods = *file->pMethods;
    if (lack == NO_SHARED_MEMORY)
        lacking_methods.iVersion = 1;
    else if (lack == NO_LOCKS)
        lacking_methods.xLock = refuse_lock;
    else if (lack == NO_LOOK)
        lacking_methods.xFileControl = refuse_look;
    else
        lacking_methods.xRead = refuse_sectors;
    file->pMethods = &lacking_methods;
    return rc;
}

static sqlite3_vfs *begin_lack(enum lack what)
{
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);

    lack = what;
    lacking_vfs = *system;
    lacking_vfs.zName = "lacking";
    lacking_vfs.pAppData = system;
    lacking_vfs.xOpen = lacking_open;
    assert_int_equal(sqlite3_vfs_register(&lacking_vfs, 1), SQLITE_OK);
    return system;
}

static void end_lack(sqlite3_vfs *system)
{
    assert_int_equal(sqlite3_vfs_unregister(&lacking_vfs), SQLITE_OK);
    assert_int_equal(sqlite3_vfs_register(system, 1), SQLITE_OK);
}

static void expect_without_locks(const char *path, enum lack what, const char *says)
{
    sqlite3_vfs *system = begin_lack(what);
    struct error err;
    struct store *s;
    int rc = store_open(&s, path, STORE_WRITE, &err);

    store_close(s);
    end_lack(system);
    assert_int_equal(rc, -1);
    if (!strstr(err.message, says) || !strstr(err.message, "network file system") ||
        !strstr(err.message, "--db"))
        fail_msg("not helpful: %s", err.message);
}

SCRATCH_TEST(test_no_locks)
{
    const struct scratch *scratch = *state;
    struct error err;

    expect_without_locks(scratch->path, NO_SHARED_MEMORY, "write-ahead log");
    assert_int_equal(remove(scratch->path), 0);
    expect_without_locks(scratch->path, NO_LOCKS, "cannot lock");
    assert_int_equal(write_run(scratch->path, 3, -1, &err), 0); /* on a better one it is used */
    assert_all_there(scratch->path, 1, 3);
    knock("a file system that cannot lock, as NFS", 2, 2, "refused, with what to do");
}

/* A look at the file that fails once is no other file at its place: the run is not kept elsewhere.
 * SQLite looks, too, before it makes a file's first journal, and refuses. */
SCRATCH_TEST(test_a_look_that_fails)
{
    enum { LOOKS = 12 };
    const struct scratch *scratch = *state;
    struct error err;
    int written = 0;

    for (int i = 0; i < LOOKS; i++) {
        sqlite3_vfs *system = begin_lack(NO_LOOK);
        looks_until_lack = i;
        int rc = write_run(scratch->path, 3, -1, &err);
        end_lack(system);
        written += rc == 0;
        if (rc && !strstr(err.message, "SQLite 1032")) /* SQLITE_READONLY_DBMOVED */
            fail_msg("look %d: %s", i, err.message);
    }
    assert_in_range(written, LOOKS - 3, LOOKS);
    assert_all_there(scratch->path, (unsigned)written, 3);
}

/* SQLite's memory ends at one place after another. What is there is no less sound for that: it
 * stays at its place, whole, and the restoring fails or succeeds. */
SCRATCH_TEST(test_restore_without_memory)
{
    enum { STEP = 4 << 10, REACH = 2 << 20 };
    const struct scratch *scratch = *state;
    struct store_restored out;
    char backup[160];
    struct error err;
    int failed = 0;

    snprintf(backup, sizeof(backup), "%s/backup.db", scratch->folder);
    assert_int_equal(write_run(backup, 3, -1, &err), 0);
    assert_int_equal(write_run(scratch->path, 3, -1, &err), 0);
    for (int room = 0; room < REACH; room += STEP) {
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + room + 1);
        int rc = store_restore(scratch->path, backup, NULL, &out, &err);
        sqlite3_hard_heap_limit64(0);
        if (out.aside || out.kept.length)
            fail_msg("with %d bytes: put aside: %s", room, rc ? err.message : "and restored");
        store_restored_release(&out);
        failed += rc != 0;
    }
    assert_in_range(failed, 10, REACH / STEP - 10); /* in between are all the places */
    assert_all_there(scratch->path, 1, 3);
}

/* A backup takes the place of a history on sectors that nobody can read any more; one that cannot
 * be locked stays. */
SCRATCH_TEST(test_restore_over_bad_sectors)
{
    const struct scratch *scratch = *state;
    struct store_restored out;
    char backup[160];
    struct error err;

    snprintf(backup, sizeof(backup), "%s/backup.db", scratch->folder);
    assert_int_equal(write_run(backup, 3, -1, &err), 0);
    assert_int_equal(write_run(scratch->path, 40, -1, &err), 0);
    sqlite3_vfs *system = begin_lack(NO_LOCKS);
    assert_int_equal(store_restore(scratch->path, backup, NULL, &out, &err), -1);
    end_lack(system);
    assert_false(out.aside);
    store_restored_release(&out);
    assert_all_there(scratch->path, 1, 40);
    system = begin_lack(NO_SECTORS);
    int rc = store_restore(scratch->path, backup, NULL, &out, &err);
    end_lack(system);
    assert_ok(rc, &err);
    assert_true(out.aside);
    assert_all_there(out.kept.data, 1, 40);
    assert_all_there(scratch->path, 1, 3);
    store_restored_release(&out);
    knock("a backup restored over sectors that cannot be read", 1, 1,
          "it is there, the old file is kept");
}

/* ---- locks that are refused ---- */

static bool locks_are_refused(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_GETLK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static const char *unlocked; /* the history there */

static bool it_is_said_at_once(void)
{
    enum { AT_ONCE = 20 }; /* s; others are waited for three times as long */
    static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };
    time_t begun = time(NULL);

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        struct error err = { "" };
        struct store *s;
        if (store_open(&s, unlocked, modes[i], &err) == 0 ||
            !strstr(err.message, "the file system cannot lock it"))
            return false;
    }
    return time(NULL) - begun < AT_ONCE;
}

/* SQLite calls it "busy": a minute was waited for nobody, who was said to keep it locked. */
SCRATCH_TEST(test_locks_are_refused)
{
    const struct scratch *scratch = *state;
    struct error err;

    assert_int_equal(write_run(scratch->path, 3, -1, &err), 0);
    unlocked = scratch->path;
    in_a_process(locks_are_refused, it_is_said_at_once);
}

RUN_TESTS(NULL, NULL)
