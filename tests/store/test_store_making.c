/* SPDX-License-Identifier: MIT */
/* The power goes while a history is made: whatever of the writes has reached the disk, the next
 * one that opens the file finds a history or makes one, as SQLite alone would; and somebody else's
 * file is left alone. With HARNESS_CASES each page is lost in turn, else one of them.
 * Features: U-05. */
#include "store_histories.h"

#include "knocks.h"

#include <sys/mman.h>
#include <sys/wait.h>

/* ---- a VFS that ends the process at its nth change of a file ---- */

static struct {
    long left;     /* changes to go; the next one ends it */
    int hidden;    /* page of the main file that does not reach the disk, from 1; 0: none */
    long *counter; /* shared: changes that were made */
    sqlite3_io_methods main_methods, other_methods;
    const sqlite3_io_methods *real;
    sqlite3_vfs vfs;
} cut;

static void change(void)
{
    if (cut.left-- == 0)
        _exit(0);
    ++*cut.counter;
}

static int cut_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset)
{
    change();
    return cut.real->xWrite(file, bytes, amount, offset);
}

static int cut_main_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset)
{
    change();
    if (cut.hidden && offset / amount + 1 == cut.hidden)
        return SQLITE_OK;
    return cut.real->xWrite(file, bytes, amount, offset);
}

static int cut_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    change();
    return cut.real->xTruncate(file, size);
}

/* What was hidden would be on the disk from here on. */
static int cut_main_sync(sqlite3_file *file, int flags)
{
    if (cut.hidden)
        _exit(0);
    return cut.real->xSync(file, flags);
}

static int cut_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    sqlite3_vfs *system = vfs->pAppData;

    change();
    return system->xDelete(system, name, sync);
}

static int cut_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *system = vfs->pAppData;
    int rc = system->xOpen(system, name, file, flags, out);

    bool is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0;

    if (rc != SQLITE_OK || !(flags & SQLITE_OPEN_READWRITE) ||
        !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL)))
        return rc;
    sqlite3_io_methods *methods = is_main ? &cut.main_methods : &cut.other_methods;
    cut.real = file->pMethods; /* writing and cutting is the same for both */
    *methods = *file->pMethods;
    methods->xWrite = is_main ? cut_main_write : cut_write;
    methods->xTruncate = cut_truncate;
    if (is_main)
        methods->xSync = cut_main_sync;
    file->pMethods = methods;
    return rc;
}

/* Opens the file for writing in a process that ends after `changes`. False: it got through. */
static bool make_until(const char *path, long changes, int hidden, long *counter)
{
    int status;

    *counter = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3_vfs *system = sqlite3_vfs_find(NULL);
        struct error err;
        struct store *s;
        cut.vfs = *system;
        cut.vfs.zName = "cut";
        cut.vfs.pAppData = system;
        cut.vfs.xOpen = cut_open;
        cut.vfs.xDelete = cut_delete;
        cut.left = changes;
        cut.hidden = hidden;
        cut.counter = counter;
        sqlite3_vfs_register(&cut.vfs, 1);
        _exit(store_open(&s, path, STORE_WRITE, &err) ? 2 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 2);
    return WEXITSTATUS(status) == 0;
}

static void copy_state(const char *from, const char *to)
{
    static const char *const suffixes[] = { "", "-journal", "-wal" };
    char source[200], target[200];
    struct error err;

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t length;
        snprintf(source, sizeof(source), "%s%s", from, suffixes[i]);
        snprintf(target, sizeof(target), "%s%s", to, suffixes[i]);
        remove(target);
        if (!file_exists(source))
            continue;
        char *bytes = file_read(source, FILE_RECORDS_MOST, &length, &err);
        assert_ok(file_write(target, bytes, length, &err), &err);
        free(bytes);
    }
}

/* Reading says what there is, and the next writer has a sound history. */
static void assert_recovered(const char *path, const char *copy, long changes)
{
    struct error err;
    struct store *s;

    copy_state(path, copy);
    if (file_exists(copy) && store_open(&s, copy, STORE_READ, &err) == 0)
        store_close(s);
    else if (file_exists(copy) && !strstr(err.message, "is empty"))
        fail_msg("after %ld changes: %s", changes, err.message);
    copy_state(path, copy);
    if (store_open(&s, copy, STORE_WRITE, &err))
        fail_msg("after %ld changes: %s", changes, err.message);
    add_run_of(s, 0, 1, NULL);
    store_close(s);
    assert_sound(copy);
}

static long try_all(const struct scratch *scratch, int hidden, long *counter)
{
    char path[160], copy[160];
    long nr = 0;

    path_in(scratch, "cut.db", path);
    path_in(scratch, "copy.db", copy);
    for (bool cut_off = true; cut_off; nr++) {
        static const char *const suffixes[] = { "", "-journal", "-wal", "-shm" };
        for (size_t i = 0; i < 4; i++) {
            char name[200];
            snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
            remove(name);
        }
        cut_off = make_until(path, nr, hidden, counter);
        assert_recovered(path, copy, nr);
        cut_off = cut_off && *counter == nr; /* else it ended where the disk was to be reached */
    }
    return nr;
}

SCRATCH_TEST(test_cut_off_while_made)
{
    const struct scratch *scratch = *state;
    long *counter =
        mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long nr = try_all(scratch, 0, counter);

    assert_true(counter != MAP_FAILED && nr > 40);
    for (int page = 1; page <= 12; page += getenv("HARNESS_CASES") ? 1 : 12)
        nr += try_all(scratch, page, counter);
    munmap(counter, sizeof(*counter));
    knock("a power cut while a history is made", nr, nr,
          "each prefix of the writes, also without one of the pages: recovered");
}

/* A file of somebody else with a journal of his: not one byte changes. */
SCRATCH_TEST(test_somebody_elses)
{
    static const char *const starts[] = { "SQLite format 3", "mail" };
    const struct scratch *scratch = *state;
    char journal[160], bytes[8192] = { 0 }, head[512] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    struct error err;
    size_t length;

    head[26] = 0x10; /* pages of 4096 bytes, none before */
    head[22] = 2;    /* sectors of 512 */
    snprintf(journal, sizeof(journal), "%s-journal", scratch->path);
    assert_ok(file_make_parent(scratch->path, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        snprintf(bytes, sizeof(bytes), "%s", starts[i]);
        assert_ok(file_write(scratch->path, bytes, sizeof(bytes), &err), &err);
        assert_ok(file_write(journal, head, sizeof(head), &err), &err);
        for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
            struct store *s;
            assert_int_equal(store_open(&s, scratch->path, (enum store_mode)mode, &err), -1);
            char *after = file_read(scratch->path, FILE_RECORDS_MOST, &length, &err);
            assert_int_equal(length, sizeof(bytes));
            assert_memory_equal(after, bytes, sizeof(bytes));
            free(after);
            assert_true(file_exists(journal));
        }
    }
    /* Of nothing but zeros, with a journal that had something before: not ours to undo. */
    memset(bytes, 0, sizeof(bytes));
    head[19] = 2;
    assert_ok(file_write(scratch->path, bytes, sizeof(bytes), &err), &err);
    assert_ok(file_write(journal, head, sizeof(head), &err), &err);
    struct store *s;
    assert_int_equal(store_open(&s, scratch->path, STORE_WRITE, &err), -1);
    assert_true(file_exists(journal));
}

RUN_TESTS(NULL, NULL)
