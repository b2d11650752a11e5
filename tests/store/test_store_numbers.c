/* SPDX-License-Identifier: MIT */
/* What programs say of themselves, in histories: kept, met when one is opened, merged, salvaged,
 * and absent in those of before schema 6. Features: U-05, U-11. */
#include "store_histories.h"

#include "core/number.h"
#include "history/merge.h"
#include "history/salvage.h"

static const double said[] = { 812.5, 0.1, -3, 1.0000000000000002 };
enum { SAID = sizeof(said) / sizeof(said[0]) };

static void add_number(struct measurement *m, const char *name, const char *unit,
                       enum better better)
{
    struct error err;
    struct number *n = &m->numbers[m->nr_numbers++];

    *n = (struct number) { number_kind_of(name, unit, better, &err),
                           memory_zeroed(SAID, sizeof(*n->values)), SAID };
    memcpy(n->values, said, sizeof(said));
}

/* A run with one measurement, which says `name` in that unit. */
static void add_said(const char *path, unsigned number, const char *name, const char *unit)
{
    struct store *s = open_store(path, STORE_WRITE);
    struct launch launch = { .seq = 0, .started_ms = 1790000000000 };
    struct run run = sample_run();
    struct error err;
    int64_t id;

    run.started_ms += (int64_t)number * 3600000;
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    struct measurement m = sample_measurement(number);
    add_number(&m, name, unit, BETTER_HIGHER);
    assert_ok(store_add_measurement(s, id, &m, &err), &err);
    measurement_release(&m);
    assert_ok(store_end_run(s, run.id, run.started_ms + 1, &err), &err);
    store_close(s);
    run_release(&run);
}

/* How many measurements say it, each with all values to the last bit. */
static size_t count_said(const char *path, const char *name, const char *unit)
{
    struct store *s = open_store(path, STORE_READ);
    struct records records = { 0 };
    struct error err;
    size_t found = 0;
    const struct number_kind *kind = number_kind_of(name, unit, BETTER_HIGHER, &err);

    assert_ok(store_series(s, NULL, NULL, &records, &err), &err);
    for (size_t i = 0; i < records.nr; i++) {
        const struct number *n = measurement_number(&records.items[i].m, kind);
        if (!n)
            continue;
        found++;
        assert_int_equal(n->nr, SAID);
        assert_memory_equal(n->values, said, sizeof(said));
    }
    records_release(&records);
    store_close(s);
    return found;
}

SCRATCH_TEST(test_kept)
{
    char path[160];

    path_in(*state, "a.db", path);
    add_said(path, 1, "kept_a", "x/s");
    add_said(path, 2, "kept_b", "");
    assert_int_equal(count_said(path, "kept_a", "x/s"), 1);
    assert_int_equal(count_said(path, "kept_b", ""), 1);
    assert_int_equal(count_said(path, "kept_a", "y/s"), 0);
    assert_sound(path);
}

/* Older files have none, until something is written to them. */
SCRATCH_TEST(test_older_versions)
{
    for (int version = 1; version < SCHEMA_NUMBERS; version++) {
        char path[160];
        path_in(*state, "old.db", path);
        remove(path);
        make_version(path, version);
        assert_int_equal(count_said(path, "old_a", "u"), 0);
        assert_int_equal(count_in(path, "PRAGMA user_version"), version);
        add_said(path, 1, "old_a", "u");
        assert_int_equal(count_in(path, "PRAGMA user_version"), SCHEMA_NOW);
        assert_int_equal(count_said(path, "old_a", "u"), 1);
        assert_sound(path);
    }
}

/* Out of older ones and of new ones, twice, with units that differ: all of it is there once. */
SCRATCH_TEST(test_merged)
{
    char old[160], a[160], b[160];
    struct error err;

    path_in(*state, "old.db", old);
    path_in(*state, "a.db", a);
    path_in(*state, "b.db", b);
    make_version(old, SCHEMA_FACTS);
    add_said(a, 1, "merged", "x/s");
    add_said(b, 2, "merged", "y/s");
    for (int i = 0; i < 4; i++) {
        struct store_merged merged = { 0 };
        struct store *to = open_store(b, STORE_WRITE);
        assert_ok(store_merge(to, i % 2 ? a : old, &merged, &err), &err);
        assert_int_equal(merged.runs_new, i < 2);
        assert_int_equal(merged.conflicts.nr, 0);
        store_merged_release(&merged);
        store_close(to);
    }
    assert_int_equal(count_said(b, "merged", "x/s"), 1);
    assert_int_equal(count_said(b, "merged", "y/s"), 1);
    assert_sound(b);
}

SCRATCH_TEST(test_salvaged)
{
    struct salvaged saved;
    char path[160], new[160];
    struct error err;

    path_in(*state, "a.db", path);
    path_in(*state, "new.db", new);
    add_said(path, 1, "salvaged", "x/s");
    assert_ok(store_salvage(path, new, &saved, &err), &err);
    salvaged_release(&saved);
    assert_int_equal(count_said(new, "salvaged", "x/s"), 1);
}

/* A stranger's file: what is none is refused with the row, and opening it is none the worse. */
SCRATCH_TEST(test_damaged)
{
    static const char *const texts[] = { "7", "[", "{\"a\":1}", "{\"a b\":{}}",
                                         "{\"a\":{\"better\":\"up\",\"values\":[1]}}" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char path[160], update[200];
        struct records records = { 0 };
        struct error err = { "" };
        path_in(*state, "a.db", path);
        remove(path);
        add_said(path, 1, "damaged", "x/s");
        snprintf(update, sizeof(update), "UPDATE measurement SET numbers = '%s'", texts[i]);
        struct store *s = open_store(path, STORE_WRITE);
        assert_ok(sql_execute(s, update, &err), &err);
        store_close(s);
        s = open_store(path, STORE_READ);
        assert_int_equal(store_series(s, NULL, NULL, &records, &err), -1);
        assert_has(err.message, "numbers");
        records_release(&records);
        store_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_kept),     scratch_test(test_older_versions), scratch_test(test_merged),
        scratch_test(test_salvaged), scratch_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
