/* SPDX-License-Identifier: MIT */
/* Features: U-05, U-07: reading a long history past a sink gives what loading it gives. */
#include "test_store.h"

#include "store/store.h"

enum { RUNS = 4, LAUNCHES = 2, EACH = 9 };

static void add_launch(struct store *s, const struct run *run, int seq, unsigned number)
{
    struct launch launch = { .seq = seq };
    struct error err;
    int64_t id;

    assert_ok(store_begin_launch(s, run->id, &launch, &id, &err), &err);
    for (unsigned j = 0; j < EACH; j++) {
        struct measurement m = sample_measurement(number + j * 5);
        measurement_add_telemetry(&m, "load1", j);
        assert_ok(store_add_measurement(s, id, &m, &err), &err);
        measurement_release(&m);
    }
}

static struct store *make_history(const struct scratch *scratch, int64_t ids[RUNS])
{
    struct error err;
    struct store *s;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    for (int i = 0; i < RUNS; i++) {
        struct run run = sample_run();
        run.started_ms = 1000 - i; /* the last one stored is the oldest */
        run.ended_ms = i == 2 ? 0 : 2000;
        assert_ok(store_begin_run(s, &run, &err), &err);
        ids[i] = run.id;
        for (int k = 0; k < LAUNCHES; k++)
            add_launch(s, &run, k, (unsigned)i * 100);
    }
    return s;
}

/* What passed: sums that do not depend on the order within a launch. */
struct passed {
    size_t nr, telemetry, samples, runs[RUNS];
    uint64_t sum;
    size_t run; /* of the newest one */
    int launch;
    size_t stop_after;
};

static void count(struct passed *p, size_t run, const struct measurement *m)
{
    p->nr++;
    p->runs[run]++;
    p->telemetry += (size_t)m->nr_telemetry;
    p->samples += m->nr_samples;
    p->sum += (uint64_t)m->footprint;
    for (size_t i = 0; i < m->nr_samples; i++)
        p->sum += m->samples[i] * (i + 1);
    for (const char *c = m->bench.key; *c; c++)
        p->sum = p->sum + (unsigned char)*c;
}

static int see(void *context, size_t run, int launch_seq, struct measurement *m, struct error *err)
{
    struct passed *p = context;

    if (p->nr) {
        assert_true(run >= p->run);
        assert_true(run > p->run || launch_seq >= p->launch);
    }
    p->run = run;
    p->launch = launch_seq;
    count(p, run, m);
    return p->stop_after && p->nr == p->stop_after ? error_set(err, "seen enough") : 0;
}

static void check_scan(struct store *s, const int64_t *ids, const struct store_filter *filter)
{
    struct records records = { .nr = 0 };
    struct passed loaded = { .nr = 0 }, scanned = { .nr = 0 };
    struct store_sink sink = { &scanned, see };
    struct error err;

    assert_ok(store_load(s, ids, RUNS, filter, &records, &err), &err);
    for (size_t i = 0; i < records.nr; i++)
        count(&loaded, (size_t)records.items[i].run, &records.items[i].m);
    assert_ok(store_scan(s, ids, RUNS, filter, &sink, &err), &err);
    assert_int_equal(loaded.nr, scanned.nr);
    assert_int_equal(loaded.telemetry, scanned.telemetry);
    assert_int_equal(loaded.samples, scanned.samples);
    assert_true(loaded.sum == scanned.sum);
    assert_memory_equal(loaded.runs, scanned.runs, sizeof(loaded.runs));
    records_release(&records);
}

SCRATCH_TEST(test_scan_is_load)
{
    const char *const some[] = { "gemm/*/batch=1/*", "gemm/*/batch=6/*" };
    int64_t ids[RUNS];
    struct store *s = make_history(*state, ids);
    struct store_filter all = { 0 }, lean = { .without_samples = true, .without_telemetry = true };
    struct store_filter filtered = { .filters = some, .nr_filters = 2 };

    check_scan(s, ids, NULL);
    check_scan(s, ids, &all);
    check_scan(s, ids, &lean);
    check_scan(s, ids, &filtered);
    store_close(s);
}

SCRATCH_TEST(test_lean)
{
    int64_t ids[RUNS];
    struct store *s = make_history(*state, ids);
    struct passed passed = { .nr = 0 };
    struct store_sink sink = { &passed, see };
    struct store_filter lean = { .without_telemetry = true };
    struct error err;

    assert_ok(store_scan(s, ids, RUNS, &lean, &sink, &err), &err);
    assert_int_equal(passed.nr, RUNS * LAUNCHES * EACH);
    assert_int_equal(passed.samples, passed.nr * 200);
    assert_int_equal(passed.telemetry, 0);
    store_close(s);
}

SCRATCH_TEST(test_sink_may_stop)
{
    int64_t ids[RUNS], unknown = 77;
    struct store *s = make_history(*state, ids);
    struct passed passed = { .stop_after = 3 };
    struct store_sink sink = { &passed, see };
    struct error err;

    assert_int_equal(store_scan(s, ids, RUNS, NULL, &sink, &err), -1);
    assert_string_equal(err.message, "seen enough");
    assert_int_equal(passed.nr, 3);
    passed = (struct passed) { .nr = 0 };
    assert_ok(store_scan(s, &unknown, 1, NULL, &sink, &err), &err);
    assert_int_equal(passed.nr, 0);
    assert_ok(store_scan(s, ids, RUNS, NULL, &sink, &err), &err); /* the store is usable */
    assert_int_equal(passed.nr, RUNS * LAUNCHES * EACH);
    store_close(s);
}

SCRATCH_TEST(test_finished_runs)
{
    int64_t ids[RUNS];
    struct store *s = make_history(*state, ids);
    struct records runs = { .nr = 0 };
    struct error err;

    assert_ok(store_finished_runs(s, NULL, &runs, &err), &err);
    assert_int_equal(runs.nr_runs, RUNS - 1);
    assert_int_equal(runs.nr, 0);
    assert_int_equal(runs.runs[0].id, ids[3]); /* oldest first */
    assert_int_equal(runs.runs[2].id, ids[0]);
    assert_string_equal(runs.runs[0].machine.class_name, "class-a");
    records_release(&runs);
    assert_ok(store_finished_runs(s, "class-b", &runs, &err), &err);
    assert_int_equal(runs.nr_runs, 0);
    records_release(&runs);
    store_close(s);
}

RUN_TESTS(NULL, NULL)
