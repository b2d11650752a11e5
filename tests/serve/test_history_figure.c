/* SPDX-License-Identifier: MIT */
/* One benchmark over all runs of a history, however long that is. */
#include "test_store.h"

#include "serve/history_figure.h"
#include "store/rows.h"

#define KEY      "gemm/linear/simd/fp32/batch=1/cpu-2t/warm"
#define FIRST_MS INT64_C(1793538000000) /* 2026-11-01 13:00:00Z */

/* A finished run with that measurement, which it releases. */
static int add_run_of(struct store *s, struct run *run, struct measurement *m, int64_t started_ms,
                      struct error *err)
{
    struct launch launch = { .seq = 0, .ended_ms = 1 };
    int64_t id;

    run->started_ms = started_ms;
    run->ended_ms = started_ms + 1;
    int rc = write_run(s, run, err) || write_launch(s, run->id, &launch, &id, err) ||
                     write_measurement(s, id, m, err)
                 ? -1
                 : 0;
    measurement_release(m);
    return rc;
}

/* One that measured the benchmark once. */
static int add_run(struct store *s, int64_t started_ms, struct error *err)
{
    struct run run = sample_run();
    struct measurement m = sample_measurement(0);

    m.nr_samples = 1;
    return add_run_of(s, &run, &m, started_ms, err);
}

/* Of so many runs, one every `step_ms`. */
static struct figure *figure_of(const struct scratch *scratch, int runs, int64_t step_ms)
{
    struct failure failure;
    struct store *s;
    struct error err;
    int rc = 0;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    assert_ok(sql_begin(s, &err), &err);
    for (int i = 0; rc == 0 && i < runs; i++)
        rc = add_run(s, FIRST_MS + i * step_ms, &err);
    assert_ok(sql_end(s, rc, &err), &err);
    struct figure *f = history_figure(s, KEY, metric_find("p50", NULL), &failure);
    assert_non_null(f);
    store_close(s);
    return f;
}

/* No more than a picture can show, and of the runs those alone that it shows. */
SCRATCH_TEST(test_long_histories_are_thinned)
{
    enum { RUNS = PAGE_POINTS + 500 };
    struct figure *f = figure_of(*state, RUNS, 3600000);
    const struct panel *p = f->panels[0];

    assert_null(f->reason);
    assert_non_null(strstr(f->alt, "of 2500 of 2500 runs"));
    assert_non_null(strstr(f->caption, "points between the extremes are not shown"));
    for (size_t i = 0; i < p->nr; i++)
        assert_in_range(p->layers[i]->nr, 100, PAGE_POINTS);
    assert_in_range(f->runs.nr, 100, 2 * PAGE_POINTS);
    assert_int_equal(f->benchmarks.nr, 1);
    assert_string_equal(f->benchmarks.items[0], KEY);
    assert_int_equal(p->layers[1]->items[0].about.run, 1); /* the first run stays the first */
    figure_free(f);
}

SCRATCH_TEST(test_short_histories_are_whole)
{
    struct figure *f = figure_of(*state, 3, 86400000);
    const struct panel *p = f->panels[0];

    assert_null(strstr(f->caption, "not shown"));
    assert_int_equal(p->layers[1]->nr, 3);
    assert_int_equal(f->runs.nr, 3);
    assert_true(p->x.since_ms == FIRST_MS);
    for (size_t i = 1; i < p->x.ticks.nr; i++)
        assert_string_not_equal(p->x.ticks.items[i].text, p->x.ticks.items[i - 1].text);
    assert_string_equal(p->x.ticks.items[0].text, "11-02 00:00");
    figure_free(f);
}

enum { ROOF_RUNS = 5 };

/* A machine of its own name, and its only roof unless that is 0. */
static struct run run_on(struct store *s, const char *id, double flops)
{
    const struct roof roof = { "flops.fp32", "cpu-2t", "FLOP/s", flops, flops, flops, 0, 100 };
    struct run run = sample_run();
    struct error err;

    snprintf(run.machine.id, sizeof(run.machine.id), "%s", id);
    if (flops > 0)
        assert_ok(store_add_roofs(s, &run.machine, "", &roof, 1, &err), &err);
    return run;
}

/* 1 MFLOP in 100 us, or 10 GFLOP/s, on machines by turns; the last runs are of one without roofs,
 * as imported ones are. */
static void add_runs_on_machines(struct store *s)
{
    const struct run on[] = { run_on(s, "aaaaaaaaaaaaaaaa", 2e10),
                              run_on(s, "bbbbbbbbbbbbbbbb", 4e10),
                              run_on(s, "cccccccccccccccc", 0) };
    static const int machines[ROOF_RUNS] = { 0, 1, 0, 1, 2 };
    struct error err;

    for (int i = 0; i < ROOF_RUNS; i++) {
        struct run run = on[machines[i]];
        struct measurement m = sample_measurement(0);
        m.flops = 1e6;
        m.nr_samples = 1;
        random_uuid(run.uuid);
        assert_ok(sql_begin(s, &err), &err);
        int rc = add_run_of(s, &run, &m, FIRST_MS + i, &err);
        assert_ok(sql_end(s, rc, &err), &err);
    }
}

/* A share of the roof is of the roof of the machine that measured, whichever measured last. */
SCRATCH_TEST(test_each_machine_has_its_roofs)
{
    const struct scratch *scratch = *state;
    struct failure failure;
    struct store *s;
    struct error err;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    add_runs_on_machines(s);
    struct figure *f = history_figure(s, KEY, metric_find("roof", NULL), &failure);
    assert_non_null(f);
    const struct layer *points = f->panels[0]->layers[1];
    assert_null(f->reason);
    assert_non_null(strstr(f->alt, "of 4 of 5 runs"));
    assert_int_equal(points->nr, 4);
    for (size_t i = 0; i < points->nr; i++) {
        double percent = i % 2 ? 25 : 50;
        assert_float_equal(points->items[i].y, percent, 1e-9);
    }
    figure_free(f);
    store_close(s);
}

RUN_TESTS(NULL, NULL)
