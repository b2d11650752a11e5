/* SPDX-License-Identifier: MIT */
/* Trees of pages as damage and malice leave them: pages that lead to each other, pages named twice,
 * roots lost, numbers of 63 bits, pages of another size. A salvage ends, saves what is there, and
 * makes nothing up. Features: U-05. */
#include "salvage_files.h"

#include "knocks.h"
#include "vfs/page.h"

/* Pages count from 1 here, as in the file. */
static void read_page_of(const char *path, int64_t page, unsigned char bytes[PAGE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_int_equal(pread(fd, bytes, PAGE, (page - 1) * PAGE), PAGE);
    close(fd);
}

static void write_page_of(const char *path, int64_t page, const unsigned char bytes[PAGE])
{
    overwrite_sealed(path, page - 1, bytes);
}

static int64_t root_of(const char *path, const char *table)
{
    char query[160];

    snprintf(query, sizeof(query), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    return count_in(path, query);
}

static void set_length(const char *path, int64_t pages)
{
    unsigned char bytes[PAGE];

    read_page_of(path, 1, bytes);
    page_put(bytes + HEADER_PAGES, (uint32_t)pages, 4);
    write_page_of(path, 1, bytes);
}

static void lose_root(const char *path, const char *table)
{
    static const unsigned char nothing[PAGE];

    write_page_of(path, root_of(path, table), nothing);
}

/* ---- pages that lead to each other ---- */

enum { LEVELS = 7, CHILDREN = 200 };

/* An inner page whose children are all the same one. A cell is the child and `rest`, which for a
 * table is the row number and counts up. */
static void make_level(unsigned char page[PAGE], unsigned char type, int64_t child,
                       const unsigned char *rest, size_t length)
{
    uint32_t at = PAGE - PAGE_CHECKSUM_BYTES;

    memset(page, 0, PAGE);
    page[0] = type;
    page_put(page + PAGE_CELLS, CHILDREN, 2);
    page_put(page + INNER_LAST, (uint32_t)child, 4);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        at -= 4 + (uint32_t)length;
        page_put(page + at, (uint32_t)child, 4);
        memcpy(page + at + 4, rest, length);
        if (type == PAGE_INNER) {
            page[at + 4] = (unsigned char)(0x80 | (i + 1) >> 7);
            page[at + 5] = (i + 1) & 0x7f;
        }
        page_put(page + INNER_CELLS + 2 * i, at, 2);
    }
    page_put(page + PAGE_CONTENT, at, 2);
}

/* Puts levels of such pages between the root and what it was: 200^7 ways lead to each row. */
static void weave(const struct files *f, const char *table, unsigned char type)
{
    unsigned char page[PAGE], rest[64] = { 0 };
    int64_t root = root_of(f->damaged, table);
    size_t length = 2;

    read_page_of(f->damaged, root, page);
    write_page_of(f->damaged, f->pages + 1, page);
    if (type != PAGE_INNER) { /* an index keeps a whole row in its inner pages */
        uint32_t at = page_get(page + LEAF_CELLS, 2);
        length = 1 + (size_t)page[at];
        assert_true(length < sizeof(rest));
        memcpy(rest, page + at, length);
    }
    for (int64_t level = 1; level < LEVELS; level++) {
        make_level(page, type, f->pages + level, rest, length);
        write_page_of(f->damaged, f->pages + level + 1, page);
    }
    make_level(page, type, f->pages + LEVELS, rest, length);
    write_page_of(f->damaged, root, page);
    set_length(f->damaged, f->pages + LEVELS);
}

SCRATCH_TEST(test_woven_table)
{
    struct files f = make_files(state);

    copy_bytes(f.sound, f.damaged);
    weave(&f, "measurement", PAGE_INNER);
    struct salvaged out = salvage(&f);
    assert_nothing_made_up(&f);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), MEASUREMENTS);
    salvaged_release(&out);
    knock("a table whose pages lead to each other", 1, 1, "salvage ends, all %d measurements saved",
          MEASUREMENTS);
}

SCRATCH_TEST(test_woven_index)
{
    enum { INDEX_INNER = 2 };
    struct files f = make_files(state);

    copy_bytes(f.sound, f.damaged);
    weave(&f, "baseline_run", INDEX_INNER);
    struct salvaged out = salvage(&f);
    assert_nothing_made_up(&f);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM baseline_run"), 2);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), MEASUREMENTS);
    for (size_t i = 0; i < out.tables.nr; i++)
        assert_true(out.tables.items[i].more ==
                    (strcmp(out.tables.items[i].name, "baseline_run") == 0));
    salvaged_release(&out);
    knock("an index whose pages lead to each other", 1, 1, "salvage ends, nothing made up");
}

/* A page that is its own child. */
SCRATCH_TEST(test_ring)
{
    struct files f = make_files(state);
    unsigned char page[PAGE];
    const unsigned char number[2] = { 0 };

    copy_bytes(f.sound, f.damaged);
    int64_t root = root_of(f.damaged, "measurement");
    make_level(page, PAGE_INNER, root, number, sizeof(number));
    write_page_of(f.damaged, root, page);
    struct salvaged out = salvage(&f);
    assert_nothing_made_up(&f);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), MEASUREMENTS);
    salvaged_release(&out);
    knock("a page that is its own child", 1, 1, "salvage ends, all %d measurements saved",
          MEASUREMENTS);
}

/* ---- a leaf twice ---- */

/* A write that went astray: one leaf is named by two cells, and another one by none. Its rows come
 * once, and what is lost is what the other had. */
SCRATCH_TEST(test_leaf_twice)
{
    struct files f = make_files(state);
    unsigned char page[PAGE];

    copy_bytes(f.sound, f.damaged);
    int64_t root = root_of(f.damaged, "measurement");
    read_page_of(f.damaged, root, page);
    assert_int_equal(page[0], PAGE_INNER);
    assert_true(page_get(page + PAGE_CELLS, 2) > 6);
    uint32_t from = page_get(page + INNER_CELLS + 2 * 3, 2);
    uint32_t to = page_get(page + INNER_CELLS + 2 * 5, 2);
    memcpy(page + to, page + from, 4);
    write_page_of(f.damaged, root, page);
    struct salvaged out = salvage(&f);
    int64_t results = count_in(f.saved, "SELECT count(*) FROM measurement");
    assert_nothing_made_up(&f);
    assert_in_range(results, MEASUREMENTS - 60, MEASUREMENTS - 1);
    assert_int_equal(lost_of(&out, "measurement"), MEASUREMENTS - results);
    salvaged_release(&out);
    knock("a leaf in two places", 1, 1, "its rows come once, what is lost is counted");
}

/* ---- roots lost ---- */

#define ROWS "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < "

/* More leaves than one inner page names, and then another table: two levels are built, and the
 * pages that were added are nobody else's. */
SCRATCH_TEST(test_two_large_roots)
{
    enum { ROWS_NR = 12000 };
    struct files f = make_files(state);

    copy_bytes(f.sound, f.damaged);
    execute_in(f.damaged,
               "PRAGMA journal_mode = DELETE;"
               "INSERT INTO acceptance (key, metric, machine, commit_hash, change, "
               "reason, author, accepted_ms) " ROWS
               "11999) SELECT 'k', 'p50', '', "
               "'', NULL, printf('%0100d', i), 'a', i FROM n;"
               "INSERT INTO annotation (run, written_ms, text) " ROWS
               "11999) SELECT 1, i, printf('%0100d', i) FROM n");
    lose_root(f.damaged, "acceptance");
    lose_root(f.damaged, "annotation");
    struct salvaged out = salvage(&f);
    assert_int_equal(out.trees_rebuilt, 2);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM acceptance"), ROWS_NR);
    assert_int_equal(count_in(f.saved, "SELECT count(*) FROM annotation"), ROWS_NR + 1);
    assert_nothing_made_up(&f);
    salvaged_release(&out);
}

/* Row numbers may have 63 bits; those of nine bytes are written in another way than shorter ones.
 */
SCRATCH_TEST(test_large_numbers)
{
    static const char *const first[] = { "(1 << 28) - 999", "(1 << 56) - 499", "1 << 62",
                                         "9223372036854774807" };
    struct files f = make_files(state);
    char script[600];

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        remove(f.damaged);
        copy_bytes(f.sound, f.damaged);
        snprintf(script, sizeof(script),
                 "PRAGMA journal_mode = DELETE; INSERT INTO annotation (id, run, written_ms, text) "
                 "" ROWS "999) SELECT (%s) + i, 1, i, printf('%%0100d', i) FROM n",
                 first[i]);
        execute_in(f.damaged, script);
        lose_root(f.damaged, "annotation");
        struct salvaged out = salvage(&f);
        assert_int_equal(out.trees_rebuilt, 1);
        assert_int_equal(count_in(f.saved, "SELECT count(*) FROM annotation"), 1001);
        assert_int_equal(lost_of(&out, "annotation"), 0);
        salvaged_release(&out);
    }
}

/* ---- what cannot be mended is left as it is ---- */

SCRATCH_TEST(test_other_page_size)
{
    static const int sizes[] = { 1024, 8192 };
    struct files f = make_files(state);
    char script[120];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        remove(f.damaged);
        copy_bytes(f.sound, f.damaged);
        snprintf(script, sizeof(script),
                 "PRAGMA journal_mode = DELETE; PRAGMA page_size = %d; VACUUM", sizes[i]);
        execute_elsewhere(f.damaged, script);
        seal_all(f.damaged, (size_t)sizes[i]);
        struct salvaged out = salvage(&f);
        assert_int_equal(out.trees_rebuilt, 0);
        assert_int_equal(count_in(f.saved, "SELECT count(*) FROM measurement"), MEASUREMENTS);
        assert_nothing_made_up(&f);
        salvaged_release(&out);
    }
}

/* Roots that are no pages of the file, or the first one; names that would be SQL. */
SCRATCH_TEST(test_wrong_contents)
{
    static const char *const roots[] = { "0", "1", "4294967295", "123456" };
    struct files f = make_files(state);
    char script[300];

    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        remove(f.damaged);
        copy_bytes(f.sound, f.damaged);
        snprintf(script, sizeof(script),
                 "PRAGMA journal_mode = DELETE; CREATE TABLE \"a);b('\" (x);"
                 "PRAGMA writable_schema = ON;"
                 "UPDATE sqlite_schema SET rootpage = %s WHERE name = 'selftest'",
                 roots[i]);
        execute_in(f.damaged, script);
        struct salvaged out = { .cut_off = false };
        struct error err;
        remove(f.saved);
        if (store_salvage(f.damaged, f.saved, &out, &err) == 0) {
            assert_sound(f.saved);
            assert_nothing_made_up(&f);
        } else {
            assert_false(file_exists(f.saved));
        }
        salvaged_release(&out);
    }
}

RUN_TESTS(NULL, NULL)
