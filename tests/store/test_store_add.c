/* SPDX-License-Identifier: MIT */
/* Whole runs from elsewhere: all or nothing, and once. Covers: U-05, U-10. */
#include "test_store.h"

static void add_launch(struct records *r, int launch, unsigned number)
{
    records_add(r, 0, launch)->m = sample_measurement(number);
}

SCRATCH_TEST(a_run_comes_in_once)
{
    const struct scratch *scratch = *state;
    struct records in = { .nr = 0 }, out = { .nr = 0 };
    struct error err;
    struct store *s;
    bool added;

    *records_add_run(&in) = sample_run();
    in.runs[0].ended_ms = in.runs[0].started_ms + 5;
    add_launch(&in, 3, 30); /* in any order, with gaps */
    add_launch(&in, 0, 1);
    add_launch(&in, 3, 31);
    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    assert_ok(store_add_run(s, &in, 0, &added, &err), &err);
    assert_true(added);
    int64_t id = in.runs[0].id;
    assert_true(id > 0);
    in.runs[0].id = 0;
    assert_ok(store_add_run(s, &in, 0, &added, &err), &err);
    assert_false(added);
    assert_int_equal(in.runs[0].id, id);
    assert_ok(store_load(s, &id, 1, NULL, &out, &err), &err);
    assert_int_equal(out.nr, 3);
    static const struct {
        int launch;
        unsigned number;
    } rows[] = { { 0, 1 }, { 3, 30 }, { 3, 31 } };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(out.items[i].launch_seq, rows[i].launch);
        assert_int_equal(out.items[i].m.footprint, rows[i].number);
        assert_int_equal(out.items[i].m.nr_samples, 200);
    }
    assert_int_equal(out.runs[0].ended_ms, in.runs[0].ended_ms);
    store_close(s);
    records_release(&in);
    records_release(&out);
}

/* The second measurement cannot be stored: the run and the first one are not there either. */
SCRATCH_TEST(a_run_that_fails_leaves_nothing)
{
    const struct scratch *scratch = *state;
    struct records in = { .nr = 0 }, out = { .nr = 0 };
    struct error err;
    struct store *s;
    bool added;

    *records_add_run(&in) = sample_run();
    in.runs[0].ended_ms = 1;
    add_launch(&in, 0, 1);
    add_launch(&in, 0, 2);
    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    execute_in(scratch->path, "CREATE UNIQUE INDEX stop ON measurement (outcome)");
    assert_int_equal(store_add_run(s, &in, 0, &added, &err), -1);
    assert_non_null(strstr(err.message, "UNIQUE"));
    execute_in(scratch->path, "DROP INDEX stop");
    assert_ok(store_finished_runs(s, NULL, &out, &err), &err);
    assert_int_equal(out.nr_runs, 0);
    assert_ok(store_add_run(s, &in, 0, &added, &err), &err); /* the handle stays usable */
    assert_true(added);
    store_close(s);
    records_release(&in);
    records_release(&out);
}

RUN_TESTS(NULL, NULL)
