/* SPDX-License-Identifier: MIT */
/* What goes into the history comes back: runs, launches, measurements, roofs, baselines.
 * Features: U-05, U-06, S0-03, S0-29. */
#include "test_store.h"

#include "same_records.h"

#include "core/names.h"

#include "store/sql.h"

#include <float.h>

static struct store *open_new(const struct scratch *scratch)
{
    struct error err;
    struct store *s;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    return s;
}

static int64_t add_run(struct store *s, struct run run)
{
    struct error err;

    assert_ok(store_begin_run(s, &run, &err), &err);
    return run.id;
}

static int64_t add_launch(struct store *s, int64_t run_id, int seq)
{
    struct error err;
    struct launch launch = { .seq = seq, .started_ms = 1 };
    int64_t id;

    assert_ok(store_begin_launch(s, run_id, &launch, &id, &err), &err);
    return id;
}

static void add_measurements(struct store *s, int64_t launch_id, unsigned from, unsigned nr)
{
    struct error err;

    for (unsigned i = from; i < from + nr; i++) {
        struct measurement m = sample_measurement(i);
        assert_ok(store_add_measurement(s, launch_id, &m, &err), &err);
        measurement_release(&m);
    }
}

/* Every field at a value that a sloppy conversion would lose. */
static struct measurement extreme_measurement(void)
{
    struct measurement m = sample_measurement(3);

    snprintf(m.bench.key, sizeof(m.bench.key), "it's \"odd\"/%%s/\xc3\xa9; DROP TABLE run");
    m.bench.nr_dims = SHAPE_MAX;
    for (int i = 0; i < SHAPE_MAX; i++) {
        snprintf(m.bench.dims[i].name, sizeof(m.bench.dims[i].name), "dim,=%d", i);
        m.bench.dims[i].value = i % 2 ? i - FACT_COUNT_MAX : FACT_COUNT_MAX - i;
    }
    m.outcome = OUTCOME_WRONG;
    m.message = memory_string("line 1\nline 'two' \xe2\x82\xac");
    m.vendor = true;
    m.max_error = INFINITY;
    m.tolerance = DBL_TRUE_MIN;
    m.checked = 0.1 + 0.2;
    m.flops = FACT_AMOUNT_MAX;
    m.bytes = NAN;
    m.footprint = FACT_COUNT_MAX;
    m.batch = UINT32_MAX;
    m.samples[0] = UINT64_MAX;
    m.samples[1] = 0;
    m.stop = STOP_NONE;
    m.warmups = UINT32_MAX;
    m.started_ms = FACT_DATE_MIN;
    m.seconds = 1.0 / 3;
    measurement_add_telemetry(&m, "cpu_mhz", 2999.999999999999);
    measurement_add_telemetry(&m, "a \"name\"", -1e-300);
    measurement_add_telemetry(&m, "big", 9007199254740993.0);
    return m;
}

enum { NR_ROUND_TRIP = 3 };

static void store_for_round_trip(struct store *s, struct run *run, const struct measurement *m)
{
    struct error err;
    int64_t launch_id;

    assert_ok(store_begin_run(s, run, &err), &err);
    launch_id = add_launch(s, run->id, 4);
    for (size_t i = 0; i < NR_ROUND_TRIP; i++)
        assert_ok(store_add_measurement(s, launch_id, &m[i], &err), &err);
    run->ended_ms = 1790000099999;
    assert_ok(store_end_run(s, run->id, run->ended_ms, &err), &err);
}

SCRATCH_TEST(test_round_trip)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s = open_new(scratch);
    struct records loaded = { .nr = 0 };
    struct run run = sample_run();
    struct measurement m[NR_ROUND_TRIP] = { extreme_measurement(), sample_measurement(1) };

    snprintf(m[2].bench.key, sizeof(m[2].bench.key), "an import");
    snprintf(m[2].bench.kernel, sizeof(m[2].bench.kernel), "an import");
    m[2].outcome = OUTCOME_UNSUPPORTED;
    m[2].message = memory_string("too big");
    run.environment = "{\"governor\":\"performance\"}";
    run.build.dirty = true;
    store_for_round_trip(s, &run, m);
    store_close(s);

    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    assert_string_equal(store_path(s), scratch->path);
    assert_ok(store_load(s, &run.id, 1, NULL, &loaded, &err), &err);
    assert_int_equal(loaded.nr_runs, 1);
    assert_true(run.id == loaded.runs[0].id);
    assert_same_run(&run, &loaded.runs[0]);
    assert_int_equal(loaded.nr, NR_ROUND_TRIP);
    for (size_t i = 0; i < NR_ROUND_TRIP; i++) {
        assert_int_equal(loaded.items[i].run, 0);
        assert_int_equal(loaded.items[i].launch_seq, 4);
        assert_same_measurement(&m[i], &loaded.items[i].m);
        measurement_release(&m[i]);
    }
    records_release(&loaded);
    store_close(s);
}

SCRATCH_TEST(test_launch_end_is_stored)
{
    struct error err;
    struct store *s = open_new(*state);
    struct launch launch = { .ended_ms = 77, .exit_status = -9, .error_text = "last words" };
    int64_t launch_id = add_launch(s, add_run(s, sample_run()), 0), found;

    assert_ok(store_end_launch(s, launch_id, &launch, &err), &err);
    assert_ok(sql_one_int(s,
                          "SELECT count(*) FROM launch WHERE ended_ms = 77 AND exit_status = -9 "
                          "AND error_text = 'last words'",
                          &found, &err),
              &err);
    assert_int_equal(found, 1);
    store_close(s);
}

/* Order: runs as asked for, launches by seq, then insertion. Machines and builds once. */
SCRATCH_TEST(test_order_and_sharing)
{
    struct error err;
    struct store *s = open_new(*state);
    struct records loaded = { .nr = 0 };
    int64_t first = add_run(s, sample_run()), second = add_run(s, sample_run()), rows;
    int64_t late = add_launch(s, first, 1), early = add_launch(s, first, 0);

    add_measurements(s, late, 0, 2);
    add_measurements(s, early, 10, 2);
    add_measurements(s, add_launch(s, second, 0), 20, 1);
    int64_t ids[] = { second, first };
    assert_ok(store_load(s, ids, 2, NULL, &loaded, &err), &err);
    static const unsigned expected[] = { 20, 10, 11, 0, 1 };
    assert_int_equal(loaded.nr, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(loaded.items[i].m.footprint, expected[i]);
        assert_int_equal(loaded.items[i].run, i > 0);
        assert_int_equal(loaded.items[i].launch_seq, i > 2);
    }
    records_release(&loaded);
    assert_ok(sql_one_int(s, "SELECT count(*) FROM machine", &rows, &err), &err);
    assert_int_equal(rows, 1);
    assert_ok(sql_one_int(s, "SELECT count(*) FROM build", &rows, &err), &err);
    assert_int_equal(rows, 1);
    assert_ok(sql_one_int(s, "SELECT count(*) FROM benchmark", &rows, &err), &err);
    assert_int_equal(rows, 5); /* 20 % 7 = 6, 10 % 7 = 3, 4, 0, 1 */
    store_close(s);
}

SCRATCH_TEST(test_filters)
{
    struct error err;
    struct store *s = open_new(*state);
    const char *const globs[] = { "*/batch=2/*" };
    const char *const keys[] = { "gemm/linear/simd/fp32/batch=5/cpu-2t/warm" };
    struct store_filter filter = { .filters = globs, .nr_filters = 1, .keys = keys, .nr_keys = 1 };
    struct records loaded = { .nr = 0 };
    int64_t run_id = add_run(s, sample_run());

    add_measurements(s, add_launch(s, run_id, 0), 0, 14);
    filter.without_samples = true;
    assert_ok(store_load(s, &run_id, 1, &filter, &loaded, &err), &err);
    assert_int_equal(loaded.nr, 4); /* batch 2 and 5, twice each */
    for (size_t i = 0; i < loaded.nr; i++) {
        assert_int_equal(loaded.items[i].m.bench.dims[0].value, i % 2 ? 5 : 2);
        assert_null(loaded.items[i].m.samples);
        assert_int_equal(loaded.items[i].m.nr_samples, 0);
    }
    records_release(&loaded);
    store_close(s);
}

SCRATCH_TEST(test_series)
{
    struct error err;
    struct store *s = open_new(*state);
    const char *const keys[] = { "gemm/linear/simd/fp32/batch=2/cpu-2t/warm" };
    struct store_filter filter = { .keys = keys, .nr_keys = 1 };
    struct records loaded = { .nr = 0 };
    /* started, ended, machine class, measurement; only the first and second belong in it */
    static const struct {
        int64_t started, ended;
        const char *class_name;
        unsigned number;
    } rows[] = { { 200, 201, "class-a", 1 },
                 { 100, 101, "class-a", 1 },
                 { 300, 0, "class-a", 1 },
                 { 400, 401, "class-b", 1 },
                 { 500, 501, "class-a", 2 } };

    for (size_t i = 0; i < 5; i++) {
        struct run run = sample_run();
        run.started_ms = rows[i].started;
        run.ended_ms = rows[i].ended;
        snprintf(run.machine.class_name, sizeof(run.machine.class_name), "%s", rows[i].class_name);
        add_measurements(s, add_launch(s, add_run(s, run), 0), rows[i].number, 1);
    }
    assert_ok(store_series(s, "class-a", &filter, &loaded, &err), &err);
    assert_int_equal(loaded.nr_runs, 2);
    assert_int_equal(loaded.nr, 2);
    assert_int_equal(loaded.runs[0].started_ms, 100);
    assert_int_equal(loaded.runs[1].started_ms, 200);
    assert_int_equal(loaded.items[1].run, 1);
    records_release(&loaded);
    assert_ok(store_series(s, NULL, NULL, &loaded, &err), &err);
    assert_int_equal(loaded.nr_runs, 4);
    records_release(&loaded);
    store_close(s);
}

SCRATCH_TEST(test_listing)
{
    struct error err;
    struct store *s = open_new(*state);
    struct store_listing listing = { .nr = 0 };
    struct run old = sample_run(), young = sample_run();
    struct measurement failed = { .outcome = OUTCOME_FAILED, .message = "signal 11" };

    young.started_ms++;
    snprintf(young.machine.class_name, sizeof(young.machine.class_name), "class-b");
    int64_t old_id = add_run(s, old), launch_id = add_launch(s, old_id, 0);
    add_measurements(s, launch_id, 0, 3);
    assert_ok(store_add_measurement(s, launch_id, &failed, &err), &err);
    add_launch(s, old_id, 1);
    int64_t young_id = add_run(s, young);

    assert_ok(store_list_runs(s, NULL, 0, &listing, &err), &err);
    assert_int_equal(listing.nr, 2);
    assert_int_equal(listing.items[0].run.id, young_id);
    assert_int_equal(listing.items[0].launches, 0);
    assert_int_equal(listing.items[1].launches, 2);
    assert_int_equal(listing.items[1].outcomes[OUTCOME_OK], 3);
    assert_int_equal(listing.items[1].outcomes[OUTCOME_FAILED], 1);
    assert_int_equal(listing.items[1].outcomes[OUTCOME_WRONG], 0);
    store_listing_release(&listing);
    assert_ok(store_list_runs(s, "class-a", 0, &listing, &err), &err);
    assert_int_equal(listing.nr, 1);
    assert_int_equal(listing.items[0].run.id, old_id);
    store_listing_release(&listing);
    assert_ok(store_list_runs(s, NULL, 1, &listing, &err), &err);
    assert_int_equal(listing.nr, 1);
    store_listing_release(&listing);
    store_close(s);
}

static const struct roof roofs[] = {
    { "bandwidth.dram", "cpu-2t", "B/s", 1.5e10, 1.4e10, 1.6e10, 2e10, 100 },
    { "flops.fp32", "cpu-2t", "FLOP/s", 1e11, NAN, 1.1e11, 0, 100 },
    { "flops.fp32", "cpu-1t", "FLOP/s", 5e10, 5e10, 5e10, 0, 100 },
    { "flops.fp32", "cpu-2t", "FLOP/s", 2e11, 2e11, 2e11, 0, 200 }, /* newer */
};

SCRATCH_TEST(test_roofs)
{
    struct error err;
    struct store *s = open_new(*state);
    struct run run = sample_run();
    struct records loaded = { .nr = 0 };

    assert_ok(store_add_roofs(s, &run.machine, "kernel 6.1", roofs, 3, &err), &err);
    assert_ok(store_add_roofs(s, &run.machine, "kernel 6.2", &roofs[3], 1, &err), &err);
    assert_ok(store_load_roofs(s, run.machine.id, NULL, NULL, &loaded, &err), &err);
    assert_int_equal(loaded.nr_roofs, 3);
    assert_string_equal(loaded.roofs_of, run.machine.id);
    assert_same_real(loaded.roofs[0].value, 2e11); /* newest first */
    records_release(&loaded);
    assert_ok(store_load_roofs(s, run.machine.id, "cpu-2t", "kernel 6.1", &loaded, &err), &err);
    assert_int_equal(loaded.nr_roofs, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct roof *got = &loaded.roofs[i], *put = &roofs[1 - i];
        assert_string_equal(got->name, put->name);
        assert_string_equal(got->device, put->device);
        assert_string_equal(got->unit, put->unit);
        assert_same_real(got->value, put->value);
        assert_same_real(got->low, put->low);
        assert_same_real(got->high, put->high);
        assert_same_real(got->spec, put->spec);
        assert_int_equal(got->measured_ms, put->measured_ms);
    }
    records_release(&loaded);
    store_close(s);
}

SCRATCH_TEST(test_load_brings_roofs)
{
    struct error err;
    struct store *s = open_new(*state);
    struct run run = sample_run(), newest = sample_run();
    struct records loaded = { .nr = 0 };

    newest.started_ms++;
    snprintf(newest.machine.id, sizeof(newest.machine.id), "fedcba9876543210");
    assert_ok(store_add_roofs(s, &run.machine, "", roofs, 3, &err), &err);
    assert_ok(store_add_roofs(s, &newest.machine, "", &roofs[3], 1, &err), &err);
    int64_t ids[] = { add_run(s, newest), add_run(s, run) };
    assert_ok(store_load(s, ids, 2, NULL, &loaded, &err), &err);
    assert_int_equal(loaded.nr_roofs, 1);
    assert_same_real(loaded.roofs[0].value, 2e11);
    /* Older runs that come later do not take them away. */
    assert_ok(store_load(s, &ids[1], 1, NULL, &loaded, &err), &err);
    assert_int_equal(loaded.nr_runs, 3);
    assert_int_equal(loaded.nr_roofs, 1);
    assert_string_equal(loaded.roofs_of, newest.machine.id);
    assert_same_real(loaded.roofs[0].value, 2e11);
    records_release(&loaded);
    store_close(s);
}

SCRATCH_TEST(test_baselines)
{
    struct error err;
    struct store *s = open_new(*state);
    struct store_baselines list = { .nr = 0 };
    int64_t ids[] = { add_run(s, sample_run()), add_run(s, sample_run()) };

    assert_ok(store_baseline_save(s, "release/1.0", ids, 2, 5, "good", false, &err), &err);
    assert_ok(store_baseline_save(s, "main", ids, 1, 6, NULL, false, &err), &err);
    assert_ok(store_baseline_list(s, &list, &err), &err);
    assert_int_equal(list.nr, 2);
    assert_string_equal(list.items[0].name, "main");
    assert_int_equal(list.items[0].nr_runs, 1);
    assert_int_equal(list.items[0].run_ids[0], ids[0]);
    assert_null(list.items[0].note);
    assert_int_equal(list.items[1].nr_runs, 2);
    assert_string_equal(list.items[1].note, "good");
    assert_int_equal(list.items[1].created_ms, 5);
    store_baselines_release(&list);
    store_close(s);
}

static void assert_only_baseline(struct store *s, const char *name, int64_t run_id)
{
    struct error err;
    struct store_baselines list = { .nr = 0 };

    assert_ok(store_baseline_list(s, &list, &err), &err);
    assert_int_equal(list.nr, 1);
    assert_string_equal(list.items[0].name, name);
    assert_int_equal(list.items[0].nr_runs, 1);
    assert_int_equal(list.items[0].run_ids[0], run_id);
    store_baselines_release(&list);
}

SCRATCH_TEST(test_baseline_replace_and_remove)
{
    struct error err;
    struct store *s = open_new(*state);
    int64_t ids[] = { add_run(s, sample_run()), add_run(s, sample_run()), 99 };

    assert_ok(store_baseline_save(s, "main", ids, 1, 6, NULL, false, &err), &err);
    assert_int_equal(store_baseline_save(s, "main", &ids[1], 1, 7, NULL, false, &err), -1);
    assert_non_null(strstr(err.message, "already"));
    assert_int_equal(store_baseline_save(s, "main", &ids[1], 2, 7, NULL, true, &err), -1);
    assert_non_null(strstr(err.message, "no run 99"));
    assert_only_baseline(s, "main", ids[0]); /* the failed replacement changed nothing */
    assert_ok(store_baseline_save(s, "main", &ids[1], 1, 7, "new", true, &err), &err);
    assert_only_baseline(s, "main", ids[1]);
    assert_int_equal(store_baseline_remove(s, "mian", &err), -1);
    assert_non_null(strstr(err.message, "did you mean \"main\"? There are: "));
    assert_ok(store_baseline_remove(s, "main", &err), &err);
    assert_int_equal(store_baseline_remove(s, "main", &err), -1);
    assert_non_null(strstr(err.message, "There are none"));
    store_close(s);
}

SCRATCH_TEST(test_baseline_names)
{
    static const char *const bad[] = { "", "latest", "12", "a b", "-x", "a\nb", "a;b" };
    struct error err;
    struct store *s = open_new(*state);
    int64_t id = add_run(s, sample_run());

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(store_baseline_save(s, bad[i], &id, 1, 1, NULL, false, &err), -1);
    assert_int_equal(store_baseline_save(s, "empty", &id, 0, 1, NULL, false, &err), -1);
    assert_ok(store_baseline_save(s, "v1.2-rc+3", &id, 1, 1, NULL, false, &err), &err);
    store_close(s);
}

SCRATCH_TEST(test_misuse_is_refused)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s = open_new(scratch);
    struct run run = sample_run();
    struct measurement m = sample_measurement(1);
    struct launch launch = { .seq = 0 };
    int64_t id, missing = 12345;
    struct records loaded = { .nr = 0 };

    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_int_equal(store_begin_run(s, &run, &err), -1); /* the same uuid */
    add_launch(s, run.id, 0);
    assert_int_equal(store_begin_launch(s, run.id, &launch, &id, &err), -1); /* the same seq */
    assert_int_equal(store_add_measurement(s, missing, &m, &err), -1);
    assert_int_equal(store_begin_launch(s, missing, &launch, &id, &err), -1);
    assert_int_equal(store_end_launch(s, missing, &launch, &err), -1);
    assert_int_equal(store_end_run(s, missing, 1, &err), -1);
    assert_non_null(strstr(err.message, "no run 12345"));
    assert_int_equal(store_load(s, &missing, 1, NULL, &loaded, &err), -1);
    assert_non_null(strstr(err.message, "no run 12345"));
    records_release(&loaded);
    store_close(s);

    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    run = sample_run();
    assert_int_equal(store_begin_run(s, &run, &err), -1);
    assert_non_null(strstr(err.message, "reading only"));
    store_close(s);
    measurement_release(&m);
}

RUN_TESTS(NULL, NULL)
