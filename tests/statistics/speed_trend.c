/* SPDX-License-Identifier: MIT */
/*
 * How long `harness trend` takes against the length of the history: a made-up history of each size
 * is read from SQLite into series, then searched for steps and drifts. Prints a table; only the
 * answer is asserted, never the time.
 *
 *     speed_trend                     series x points from 30 x 30 up, x HARNESS_TRIALS
 *     speed_trend SERIES POINTS FILE  one size; the history stays in FILE
 *
 * Features: U-07, U-11, S0-29.
 */
#include "long_history.h"
#include "testing.h"

#include "base/memory.h"
#include "core/clock.h"
#include "store/store.h"
#include "trend/trend.h"

#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 20, STEPS = 5 };

struct subject {
    struct store *store;
    struct records runs;
    struct series_list series;
    struct trends trends;
};

static double seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

static int add(void *context, size_t run, int launch_seq, struct measurement *m, struct error *err)
{
    (void)err;
    series_builder_add(context, run, launch_seq, m);
    return 0;
}

static int load(struct subject *s, const char *path, struct error *err)
{
    struct store_filter filter = { .without_telemetry = true };

    if (store_open(&s->store, path, STORE_READ, err) ||
        store_finished_runs(s->store, NULL, &s->runs, err))
        return -1;
    struct series_builder *b = series_builder_create(metric_find("p50", err), &s->runs);
    struct store_sink sink = { b, add };
    int64_t *ids = memory_zeroed(s->runs.nr_runs + 1, sizeof(*ids));
    for (size_t i = 0; i < s->runs.nr_runs; i++)
        ids[i] = s->runs.runs[i].id;
    int rc = store_scan(s->store, ids, s->runs.nr_runs, &filter, &sink, err);
    free(ids);
    if (rc == 0)
        series_builder_finish(b, &s->series);
    series_builder_free(b);
    return rc;
}

static void measure(const char *path, size_t series, size_t points)
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct subject s = { 0 };
    struct error err;

    double begin = seconds();
    assert_ok(load(&s, path, &err), &err);
    double middle = seconds();
    assert_ok(trends_find(&s.series, &s.runs, &settings, &s.trends, &err), &err);
    double end = seconds();
    printf("%8zu %8zu %10.3f %10.3f %10.3f %12.2f %8zu\n", series, points, middle - begin,
           end - middle, end - begin, (end - begin) * 1e6 / (double)(series * points),
           s.trends.moved);
    assert_int_equal(s.series.nr, series);
    assert_int_equal(s.series.items[0].nr, points);
    for (size_t i = 0; i < STEPS; i++) /* the first ones; 10 % at 1 % of noise cannot be missed */
        assert_true(s.trends.items[i].nr > 0 && s.trends.items[i].items[0].worse);
    trends_release(&s.trends);
    series_list_release(&s.series);
    records_release(&s.runs);
    store_close(s.store);
}

static void write_history(const char *path, size_t series, size_t points)
{
    struct long_history h = {
        .benchmarks = series, .runs = points, .samples = SAMPLES, .steps = STEPS, .seed = 5
    };
    struct error err;

    assert_ok(long_history_write(path, &h, &err), &err);
}

static void print_title(void)
{
    printf("%8s %8s %10s %10s %10s %12s %8s\n", "series", "points", "load s", "search s", "all s",
           "us a point", "moved");
}

TEST(test_sizes)
{
    static const size_t sizes[][2] = { { 30, 30 }, { 100, 30 }, { 100, 100 }, { 300, 100 } };
    const char *trials = getenv("HARNESS_TRIALS");
    size_t factor = trials ? (size_t)strtoul(trials, NULL, 10) : 1;
    print_title();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[] = "/tmp/harness-speed-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        close(fd);
        size_t series = sizes[i][0] * (factor ? factor : 1);
        write_history(path, series, sizes[i][1]);
        measure(path, series, sizes[i][1]);
        assert_int_equal(unlink(path), 0);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return cmocka_run_group_tests(file_tests, NULL, NULL);
    size_t series = strtoul(argv[1], NULL, 10), points = strtoul(argv[2], NULL, 10);
    if (access(argv[3], F_OK) != 0)
        write_history(argv[3], series, points);
    print_title();
    measure(argv[3], series, points);
    return 0;
}
