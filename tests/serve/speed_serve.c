/* SPDX-License-Identifier: MIT */
/*
 * How long each address of the live page takes, first and again, on a made-up history. Prints a
 * table; only that there is an answer is asserted, never the time.
 *
 *     speed_serve                          30 runs of 20 benchmarks
 *     speed_serve RUNS BENCHMARKS FILE     the history stays in FILE, and is used again
 *
 * Features: S1-23.
 */
#include "serving.h"

#include "base/file.h"
#include "core/clock.h"
#include "long_history.h"

static double now_ms(void)
{
    return (double)clock_ns() * 1e-6;
}

static double ask(int port, const char *target, size_t *bytes)
{
    struct reply r;
    double start = now_ms();

    client_ask(port, "GET", target, "Accept-Encoding: gzip\r\n", &r);
    double end = now_ms();
    if (r.status != 200)
        fail_msg("%s: %d %s", target, r.status, r.body.data);
    *bytes = r.body.length;
    reply_release(&r);
    return end - start;
}

static void report(int port, const char *target)
{
    size_t bytes;
    double first = ask(port, target, &bytes), again = ask(port, target, &bytes);

    printf("%-72s %9.1f %9.1f %10zu\n", target, first, again, bytes);
}

static void ask_all(struct serving *s, size_t runs)
{
    static const char *const targets[] = {
        "/healthz",
        "/",
        "/api/core",
        "/api/table",
        "/api/figure/trend",
        "/api/figure/roofline",
        "/api/figure/latency-kernels",
        "/api/core?run=%zu,%zu",
        "/api/table?run=%zu,%zu",
        "/api/figure/comparison?run=%zu,%zu",
        "/api/core?base=%zu",
        "/api/core?where=batch%%20%%3E%%3D%%204%%20and%%20kernel%%20%%3D%%20gemm/*",
        "/api/table?where=batch%%20%%3C%%2010",
        "/api/figure/trend?where=batch%%20%%3C%%2010",
        "/api/core?where=outcome%%20%%3D%%20WRONG",
        "/api/core?where=batch%%20%%3E%%20100000",
        "/api/core?where=commit%%20%%3D%%200000001",
        "/api/core?from=%zu",
        "/api/core?limit=500",
        "/api/samples?run=%zu&key=gemm/linear/simd/fp32/batch=2,seq=64,n=192,k=48/cpu-2t/warm",
    };
    char target[256];
    size_t bytes;

    double start = now_ms();
    ask(s->port, "/api/core?limit=1", &bytes);
    printf("until the first answer: %.0f ms\n", now_ms() - start);
    do {
        usleep(100000);
        ask(s->port, "/api/figure/trend", &bytes);
    } while (bytes < 1000 && now_ms() - start < 3e5); /* a reason is shorter than a figure */
    printf("until the trends are there: %.0f ms\n", now_ms() - start);
    printf("%-72s %9s %9s %10s\n", "ms", "first", "again", "bytes");
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(target, sizeof(target), targets[i], runs / 2, runs);
#pragma GCC diagnostic pop
        report(s->port, target);
    }
}

static const char *path;
static size_t runs = 30, benchmarks = 20;

static void test_speed(void **state)
{
    struct long_history h = {
        .benchmarks = benchmarks,
        .runs = runs,
        .launches = 3,
        .samples = 100,
        .steps = 5,
        .seed = 1,
    };
    struct serving s;
    struct error err;

    (void)state;
    if (!file_exists(path))
        assert_ok(long_history_write(path, &h, &err), &err);
    serving_open(&s, path, false);
    ask_all(&s, runs);
    serving_close(&s);
}

int main(int argc, char **argv)
{
    char scratch[] = "/tmp/harness-serve-XXXXXX", file[64];
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_speed) };

    if (argc == 4) {
        runs = strtoul(argv[1], NULL, 10);
        benchmarks = strtoul(argv[2], NULL, 10);
        path = argv[3];
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    if (!mkdtemp(scratch))
        return 1;
    snprintf(file, sizeof(file), "%s/history.db", scratch);
    path = file;
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    rmdir(scratch);
    return rc;
}
