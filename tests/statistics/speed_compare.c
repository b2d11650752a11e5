/* SPDX-License-Identifier: MIT */
/*
 * How long `harness compare` takes against the size of the two runs: made-up runs of each size are
 * read from SQLite, then compared. Prints a table; only the answer is asserted, never the time.
 *
 *     speed_compare                              from 30 benchmarks up, x HARNESS_TRIALS
 *     speed_compare BENCHMARKS LAUNCHES SAMPLES  one size
 *
 * Features: U-06, U-12, S0-29.
 */
#include "long_history.h"
#include "testing.h"

#include "core/clock.h"
#include "store/store.h"
#include "verdict/compare.h"

#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 5 };

static double seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

static void load(const char *path, struct records *base, struct records *head)
{
    const int64_t ids[] = { 1, 2 };
    struct store *store;
    struct error err;

    assert_ok(store_open(&store, path, STORE_READ, &err), &err);
    assert_ok(store_load(store, &ids[0], 1, NULL, base, &err), &err);
    assert_ok(store_load(store, &ids[1], 1, NULL, head, &err), &err);
    store_close(store);
}

static void measure(const char *path, const struct long_history *h)
{
    const struct compare_settings settings = COMPARE_DEFAULTS;
    struct records base = { 0 }, head = { 0 };
    struct comparison c;
    struct error err;

    double begin = seconds();
    load(path, &base, &head);
    double loaded = seconds();
    assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
    double compared = seconds();
    double launches = 2 * (double)(h->benchmarks * h->launches);
    printf("%10zu %8zu %8zu %10.3f %10.3f %10.3f %12.2f %8zu\n", h->benchmarks, h->launches,
           h->samples, loaded - begin, compared - loaded, compared - begin,
           (compared - begin) * 1e6 / launches, c.count[VERDICT_REGRESSED]);
    assert_int_equal(c.nr, h->benchmarks);
    for (size_t i = 0; i < STEPS; i++) /* 10 % at 1 % of noise cannot be missed */
        assert_int_equal(c.rows[i].verdict, VERDICT_REGRESSED);
    comparison_release(&c);
    records_release(&base);
    records_release(&head);
}

static void measure_size(size_t benchmarks, size_t launches, size_t samples)
{
    struct long_history h = { .benchmarks = benchmarks,
                              .runs = 2,
                              .launches = launches,
                              .samples = samples,
                              .steps = STEPS,
                              .seed = 6 };
    char path[] = "/tmp/harness-speed-XXXXXX";
    struct error err;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    assert_ok(long_history_write(path, &h, &err), &err);
    measure(path, &h);
    assert_int_equal(unlink(path), 0);
}

static void print_title(void)
{
    printf("%10s %8s %8s %10s %10s %10s %12s %8s\n", "benchmarks", "launches", "samples", "load s",
           "compare s", "all s", "us a launch", "worse");
}

TEST(test_sizes)
{
    static const size_t sizes[][3] = {
        { 30, 10, 100 }, { 100, 10, 100 }, { 30, 10, 1000 }, { 100, 10, 1000 }
    };
    const char *trials = getenv("HARNESS_TRIALS");
    size_t factor = trials ? (size_t)strtoul(trials, NULL, 10) : 1;

    print_title();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        measure_size(sizes[i][0] * (factor ? factor : 1), sizes[i][1], sizes[i][2]);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return cmocka_run_group_tests(file_tests, NULL, NULL);
    print_title();
    measure_size(strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10),
                 strtoul(argv[3], NULL, 10));
    return 0;
}
