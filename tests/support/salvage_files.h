/* SPDX-License-Identifier: MIT */
/* A history that test_history_salvage*.c damage and salvage, and what must be true of the result.
 */
#ifndef HARNESS_TESTS_SALVAGE_FILES_H
#define HARNESS_TESTS_SALVAGE_FILES_H

#include "store_histories.h"

#include "history/salvage.h"
#include "store/annotations.h"

#include <fcntl.h>

enum { PAGE = 4096, RUNS = 150, RESULTS = 2, MEASUREMENTS = RUNS * 2 * RESULTS };

struct files {
    char sound[160], damaged[160], saved[160];
    int64_t pages;
};

static inline void make_sound(const char *path)
{
    struct error err;

    make_runs(path, 0, RUNS, RESULTS);
    struct store *s = open_store(path, STORE_WRITE);
    assert_ok(store_baseline_save(s, "main", (const int64_t[]) { 2, 3 }, 2, 5, NULL, false, &err),
              &err);
    assert_ok(store_annotate(s, 5, 1, "new BIOS", &err), &err);
    store_close(s);
}

static inline struct files make_files(void **state)
{
    struct files f;
    struct stat st;
    struct error err;

    path_in(*state, "sound.db", f.sound);
    path_in(*state, "damaged.db", f.damaged);
    path_in(*state, "saved.db", f.saved);
    /* Made once: each run waits for the disk. */
    static char *made;
    static size_t length;
    if (!made) {
        make_sound(f.sound);
        made = file_read(f.sound, FILE_RECORDS_MOST, &length, &err);
    }
    assert_ok(file_write(f.sound, made, length, &err), &err);
    assert_int_equal(stat(f.sound, &st), 0);
    f.pages = st.st_size / PAGE;
    assert_true(f.pages > 60);
    return f;
}

static inline void copy_bytes(const char *from, const char *to)
{
    size_t length;
    struct error err;
    char *bytes = file_read(from, FILE_RECORDS_MOST, &length, &err);

    assert_non_null(bytes);
    assert_ok(file_write(to, bytes, length, &err), &err);
    free(bytes);
}

static inline void overwrite(const char *path, int64_t page, const unsigned char junk[PAGE])
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, junk, PAGE, page * PAGE), PAGE);
    close(fd);
}

/* With a checksum that holds, as somebody who means harm can make it. */
static inline void overwrite_sealed(const char *path, int64_t page, const unsigned char bytes[PAGE])
{
    unsigned char copy[PAGE];

    memcpy(copy, bytes, PAGE);
    page_checksum_seal(copy, PAGE, (uint32_t)page + 1);
    overwrite(path, page, copy);
}

static inline void seal_all(const char *path, size_t size)
{
    size_t length;
    struct error err;
    char *bytes = file_read(path, FILE_RECORDS_MOST, &length, &err);

    assert_non_null(bytes);
    for (size_t at = 0; at + size <= length; at += size)
        page_checksum_seal((unsigned char *)bytes + at, size, (uint32_t)(at / size) + 1);
    assert_ok(file_write(path, bytes, length, &err), &err);
    free(bytes);
}

static inline struct salvaged salvage(const struct files *f)
{
    struct salvaged out;
    struct error err;
    size_t before_length, after_length;
    char *before = file_read(f->damaged, FILE_RECORDS_MOST, &before_length, &err);

    remove(f->saved);
    assert_ok(store_salvage(f->damaged, f->saved, &out, &err), &err);
    assert_sound(f->saved);
    char *after = file_read(f->damaged, FILE_RECORDS_MOST, &after_length, &err);
    assert_int_equal(before_length, after_length);
    assert_memory_equal(before, after, before_length);
    free(before);
    free(after);
    return out;
}

/* Whatever is in the new file is what was in the old one, under the same number. */
static inline void assert_nothing_made_up(const struct files *f)
{
    static const char *const queries[] = {
        "SELECT count(*) FROM (SELECT * FROM saved.measurement EXCEPT SELECT * FROM measurement)",
        "SELECT count(*) FROM (SELECT * FROM saved.run EXCEPT SELECT * FROM run)",
        "SELECT count(*) FROM (SELECT * FROM saved.benchmark EXCEPT SELECT * FROM benchmark)",
        "SELECT count(*) FROM (SELECT * FROM saved.benchmark_dim EXCEPT SELECT * FROM "
        "benchmark_dim)",
        "SELECT count(*) FROM (SELECT id, run, seq FROM saved.launch EXCEPT "
        "SELECT id, run, seq FROM launch)",
        "SELECT count(*) FROM (SELECT * FROM saved.baseline_run EXCEPT SELECT * FROM "
        "baseline_run)",
    };
    struct store *s = open_store(f->sound, STORE_READ);
    struct error err;
    char text[200];

    snprintf(text, sizeof(text), "ATTACH '%s' AS saved", f->saved);
    assert_ok(sql_execute(s, text, &err), &err);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        int64_t nr;
        assert_ok(sql_one_int(s, queries[i], &nr, &err), &err);
        if (nr)
            fail_msg("%lld rows: %s", (long long)nr, queries[i]);
    }
    store_close(s);
}

static inline int64_t lost_of(const struct salvaged *out, const char *table)
{
    for (size_t i = 0; i < out->tables.nr; i++)
        if (strcmp(out->tables.items[i].name, table) == 0)
            return out->tables.items[i].lost;
    fail_msg("no table %s", table);
    return 0;
}

#endif
