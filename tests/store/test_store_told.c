/* SPDX-License-Identifier: MIT */
/* What lies beside a history and is not its own: who comes first is told, and who has nobody to
 * tell leaves it there. Features: U-05. */
#include "store_histories.h"

#include "history/merge.h"
#include "history/restore.h"

/* ---- who is told ---- */

enum way { READING, WRITING, REFUSED, MERGING, BACKUP, RESTORING, MOVING, NR_WAYS };

static void tell_test(void *context, const char *text)
{
    strbuf_addf(context, "%s\n", text);
}

static int merge_telling(const char *to, const char *from, const struct store_teller *tell,
                         struct error *err)
{
    struct store_merged merged = { 0 };
    struct store *s = NULL;
    int rc = store_merge_check(to, from, err) ||
             store_open_telling(&s, to, STORE_WRITE, tell, err) ||
             store_merge(s, from, &merged, err);

    store_close(s);
    store_merged_release(&merged);
    return rc;
}

static int restore_telling(const char *to, const char *backup, const struct store_teller *tell,
                           struct error *err)
{
    struct store_restored restored;
    int rc = store_restore(to, backup, tell, &restored, err);

    store_restored_release(&restored);
    return rc;
}

static int open_in(enum way way, const char *path, const char *other,
                   const struct store_teller *tell, struct error *err)
{
    struct store *s = NULL;

    if (way == MERGING)
        return merge_telling(other, path, tell, err);
    if (way == BACKUP)
        return restore_telling(other, path, tell, err);
    if (way == RESTORING)
        return restore_telling(path, other, tell, err);
    if (way == MOVING)
        return store_move(path, other, tell, err);
    int rc = store_open_telling(&s, path, way == WRITING ? STORE_WRITE : STORE_READ, tell, err);
    store_close(s);
    return rc;
}

/* Whoever comes first, also where the file is refused: it would not be told again. */
SCRATCH_TEST(test_told_at_once)
{
    char path[160], other[160];
    struct strbuf notes;
    struct error err;

    strbuf_init(&notes);
    path_in(*state, "history.db", path);
    path_in(*state, "other.db", other);
    for (int way = 0; way < NR_WAYS; way++) {
        const struct store_teller tell = { tell_test, &notes };
        strbuf_clear(&notes);
        remove(path);
        remove(other);
        make_runs(path, 1, 2, 2);
        if (way != MOVING)
            make_runs(other, 3, 1, 2);
        if (way == REFUSED)
            execute_in(path, "PRAGMA user_version = 4711");
        put_foreign_log(path);
        int rc = open_in((enum way)way, path, other, &tell, &err);
        assert_int_equal(rc, way == REFUSED ? -1 : 0);
        assert_int_equal(times_left(notes.data), 1);
    }
    strbuf_release(&notes);
}

static int64_t look(const char *path)
{
    struct store *s = open_store(path, STORE_LOOK);
    struct error err;
    int64_t runs;

    assert_null(store_take_note(s));
    assert_int_equal(sql_begin(s, &err), -1);
    assert_ok(sql_one_int(s, "SELECT count(*) FROM run", &runs, &err), &err);
    store_close(s);
    return runs;
}

/* Who has nobody to tell leaves a log where it is, be it another's, which is not read, or its own.
 */
SCRATCH_TEST(test_look)
{
    char path[160], log[200];
    struct error err;
    size_t length;

    path_in(*state, "history.db", path);
    snprintf(log, sizeof(log), "%s-wal", path);
    make_runs(path, 1, 2, 2);
    put_foreign_log(path);
    for (int own = 0; own < 2; own++) {
        char *before = file_read(log, FILE_RECORDS_MOST, &length, &err);
        for (int i = 0; i < 2; i++)
            assert_int_equal(look(path), 2 + own);
        assert_same_bytes(log, before, length);
        free(before);
        struct store *s = open_store(path, STORE_READ);
        char *note = store_take_note(s);
        assert_int_equal(note ? times_left(note) : 0, !own);
        free(note);
        store_close(s);
        assert_int_equal(access(log, F_OK), -1);
        if (!own)
            begin_run_and_die(path);
    }
}

/* A damaged one is not copied, and what is behind the damage is not thrown away. */
SCRATCH_TEST(test_look_at_a_damaged_log)
{
    char path[160], log[200], kept[220];
    struct error err;
    size_t length;

    path_in(*state, "history.db", path);
    snprintf(log, sizeof(log), "%s-wal", path);
    snprintf(kept, sizeof(kept), "%s.damaged.1", log);
    make_runs(path, 1, 2, 2);
    begin_run_and_die(path);
    char *bytes = file_read(log, FILE_RECORDS_MOST, &length, &err);
    bytes[100] ^= 1;
    assert_ok(file_write(log, bytes, length, &err), &err);
    assert_int_equal(look(path), 2);
    assert_same_bytes(log, bytes, length);
    assert_false(file_exists(kept));
    struct store *s = open_store(path, STORE_READ);
    char *note = store_take_note(s);
    assert_non_null(note);
    assert_non_null(strstr(note, " lost"));
    assert_same_bytes(kept, bytes, length);
    free(note);
    store_close(s);
    free(bytes);
}

RUN_TESTS(NULL, NULL)
