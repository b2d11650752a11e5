/* SPDX-License-Identifier: MIT */
/*
 * The measured roofs (only as ratios within one run), what is known of the machine and the build,
 * and telemetry, where absent is absent. Features: U-05, S0-09, S1-50, S2-08.
 */
#include "testing.h"

#include "base/json.h"
#include "core/clock.h"
#include "core/registry.h"
#include "core/roof_name.h"
#include "device/devices.h"
#include "launch/sweep.h"
#include "machine/datasheet.h"
#include "machine/environment.h"
#include "machine/measured_roofs.h"
#include "machine/probe.h"
#include "machine/roof_loops.h"
#include "machine/telemetry.h"

#include <stdbool.h>
#include <stdlib.h>

static const struct roof *find(const struct roof *c, int nr, const char *name)
{
    for (int i = 0; i < nr; i++)
        if (strcmp(c[i].name, name) == 0)
            return &c[i];
    return NULL;
}

static void assert_sane(const struct roof *c, int nr, const char *label)
{
    const struct roof *l1 = find(c, nr, "bandwidth.L1"), *copy = find(c, nr, "copy.L1");
    const struct roof *dram = find(c, nr, "bandwidth.dram");

    assert_true(nr >= 4 && nr <= ROOFS_MAX);
    for (int i = 0; i < nr; i++) {
        if (!(c[i].low > 0 && c[i].low <= c[i].value && c[i].value <= c[i].high &&
              isfinite(c[i].high)))
            fail_msg("%s: %g in [%g, %g]", c[i].name, c[i].value, c[i].low, c[i].high);
        assert_string_equal(c[i].device, label);
        assert_true(roof_is_name(c[i].name));
        assert_string_equal(c[i].unit, roof_unit(c[i].name));
        assert_true(c[i].spec >= 0 && c[i].measured_ms > 0);
        assert_ptr_equal(find(c, nr, c[i].name), &c[i]); /* each name once */
    }
    assert_string_equal(find(c, nr, "flops.fp32")->unit, "FLOP/s");
    assert_string_equal(find(c, nr, "overhead.launch")->unit, "ns");
    assert_non_null(dram);
    assert_string_equal(dram->unit, "B/s");
    if (!l1) /* the system does not tell the size of its L1 */
        return;
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
    print_message("skipped: which level is faster: what is around a load takes longer than it\n");
#else
    assert_true(l1->high >= dram->high);
#endif
    assert_true(l1->value >= copy->value); /* the better of reading and copying */
    assert_true(l1->value >= find(c, nr, "read.L1")->value);
    assert_true(find(c, nr, "capacity.L1")->value >= 1024);
    assert_string_equal(find(c, nr, "capacity.L1")->unit, "B");
}

TEST(roofs_of_a_fresh_process)
{
    struct roof c[ROOFS_MAX];
    struct error err = { "" };

    setenv("HARNESS_ROOFS", "quick", 1);
    int nr = sweep_roofs("cpu:1", c, NULL, &err);
    unsetenv("HARNESS_ROOFS");
    if (nr < 0)
        fail_msg("%s", err.message);
    assert_sane(c, nr, "cpu-1t");
}

/* A machine that does not tell its caches has the roofs that need none. */
TEST(roofs_without_cache_sizes)
{
    struct machine machine = { .cpu = "unknown processor" };
    struct roof c[ROOFS_MAX];
    struct device d;
    struct error err;
    bool bf16 = roof_has_dots(ROOF_DOT_BF16), int8 = roof_has_dots(ROOF_DOT_INT8);

    assert_ok(device_open(&d, "cpu:1", &err), &err);
    int nr = roofs_measure(&d, &machine, c, &err);
    assert_int_equal(nr, 7 + bf16 + int8);
    assert_sane(c, nr, "cpu-1t");
    assert_null(find(c, nr, "bandwidth.L1"));
    assert_true((find(c, nr, "dot.bf16") != NULL) == bf16);
    assert_true((find(c, nr, "dot.int8") != NULL) == int8);
    assert_true(find(c, nr, "flops.bf16")->value >= find(c, nr, "flops.fp32")->value);
    assert_true(find(c, nr, "flops.int8")->value >= find(c, nr, "flops.fp32")->value);
    assert_true(find(c, nr, "flops.fp32")->spec == 0);
    device_close(&d);
}

static const struct device_class *plain_class;
static int allocations_until_failure;

static void *alloc_but_one(struct device *d, size_t bytes, struct error *err)
{
    if (--allocations_until_failure != 0)
        return plain_class->alloc(d, bytes, err);
    error_set(err, "cannot allocate %zu bytes", bytes);
    return NULL;
}

/* A level that is absent passes for one that the machine has not got, for good. The walk through
 * the memory alone is looked for again. */
TEST(roofs_without_memory_for_them)
{
    static const struct {
        struct machine machine;
        int fails; /* which allocation */
        bool kept;
    } rows[] = { { { .l1d = 32 << 10, .l2 = 1 << 20 }, 1, false },
                 { { .l1d = 32 << 10, .l2 = 1 << 20 }, 2, false },
                 { { .l1d = 0 }, 1, true },
                 { { .l1d = 0 }, 2, false } };
    struct roof c[ROOFS_MAX];
    struct device d;
    struct error err;

    setenv("HARNESS_ROOFS", "quick", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_ok(device_open(&d, "cpu:1", &err), &err);
        struct device_class scarce = *d.ops;
        plain_class = d.ops;
        scarce.alloc = alloc_but_one;
        d.ops = &scarce;
        allocations_until_failure = rows[i].fails;
        int nr = roofs_measure(&d, &rows[i].machine, c, &err);
        d.ops = plain_class;
        device_close(&d);
        if (rows[i].kept) {
            assert_non_null(find(c, nr, "flops.fp32"));
            assert_null(find(c, nr, "bandwidth.dram"));
        } else {
            assert_int_equal(nr, -1);
            assert_non_null(strstr(err.message, "cannot allocate"));
        }
    }
    unsetenv("HARNESS_ROOFS");
}

/* Past all caches that the threads may lie on, and within an L3 but not within an L2. */
TEST(sizes_of_walks)
{
    enum { KIB = 1 << 10, MIB = 1 << 20 };
    static const struct {
        const char *what;
        struct machine machine;
        int threads;
        int walk; /* MiB */
        int l3;   /* KiB; 0: none */
    } cases[] = {
        { "EPYC 7763",
          { .cores = 64, .l2 = 512 * KIB, .l3 = 32 * MIB, .l3_shared_by = 8 },
          64,
          1024,
          1024 },
        { "with SMT",
          { .cores = 128, .l2 = 512 * KIB, .l3 = 32 * MIB, .l3_shared_by = 16 },
          64,
          1024,
          1024 },
        { "one thread of it",
          { .cores = 64, .l2 = 512 * KIB, .l3 = 32 * MIB, .l3_shared_by = 8 },
          1,
          130,
          8192 },
        { "four",
          { .cores = 64, .l2 = 512 * KIB, .l3 = 32 * MIB, .l3_shared_by = 8 },
          4,
          520,
          2048 },
        { "Ryzen 5950X",
          { .cores = 32, .l2 = 512 * KIB, .l3 = 32 * MIB, .l3_shared_by = 16 },
          32,
          320,
          1024 },
        { "Xeon 8480+",
          { .cores = 112, .l2 = 2 * MIB, .l3 = 105 * MIB, .l3_shared_by = 112 },
          56,
          868,
          0 },
        { "eight threads of it",
          { .cores = 112, .l2 = 2 * MIB, .l3 = 105 * MIB, .l3_shared_by = 112 },
          8,
          484,
          3360 },
        { "EPYC 9684X",
          { .cores = 96, .l2 = 1 * MIB, .l3 = 96 * MIB, .l3_shared_by = 8 },
          96,
          2496,
          3072 },
        { "a virtual machine", { .cores = 2, .l2 = 1 * MIB }, 2, 136, 0 },
        { "of much that is not its own",
          { .cores = 2, .l2 = 2 * MIB, .l3 = 480 * MIB, .l3_shared_by = 2 },
          2,
          1024,
          61440 },
        { "of little memory",
          { .cores = 2, .l2 = 2 * MIB, .l3 = 480 * MIB, .l3_shared_by = 2, .memory = 1024 * MIB },
          2,
          256,
          61440 },
        { "nothing told", { .cores = 0 }, 1, 128, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t walk = roofs_walk_bytes(&cases[i].machine, cases[i].threads, INT64_MAX) / MIB;
        size_t l3 = roofs_l3_bytes(&cases[i].machine, cases[i].threads) / KIB;
        if (walk != (size_t)cases[i].walk || l3 != (size_t)cases[i].l3)
            fail_msg("%s: a walk of %zu MiB, and %zu KiB of L3", cases[i].what, walk, l3);
    }
}

/* Within what a thread has of a cache, whoever shares it with others. */
TEST(sizes_within_shared_caches)
{
    enum { KIB = 1 << 10, MIB = 1 << 20 };
    static const struct {
        const char *what;
        int64_t cache;
        int sharing, threads, kib;
    } cases[] = {
        { "an L1 of its own", 32 * KIB, 1, 8, 16 },
        { "with SMT", 32 * KIB, 2, 16, 8 },
        { "one thread of it", 32 * KIB, 2, 1, 16 },
        { "an L2 of four cores", 1 * MIB, 4, 4, 128 },
        { "two threads there", 1 * MIB, 4, 2, 256 },
        { "nobody tells who shares it", 1 * MIB, 0, 4, 512 },
        { "not told", 0, 2, 4, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t bytes = roofs_level_bytes(cases[i].cache, cases[i].sharing, cases[i].threads) / KIB;
        if (bytes != (size_t)cases[i].kib)
            fail_msg("%s: %zu KiB", cases[i].what, bytes);
    }
}

/* Half of what may be taken, if that is more than the caches hold: of this processor 288 MiB by 64
 * threads, and 32.5 by one. */
TEST(walks_in_containers)
{
    enum { KIB = 1 << 10, MIB = 1 << 20 };
    static const struct machine machine = {
        .cores = 64, .l2 = 512 * KIB, .l3 = 32 * MIB, .l3_shared_by = 8, .memory = INT64_C(1) << 38
    };
    static const struct {
        int threads, room, walk; /* MiB */
    } cases[] = {
        { 64, 4096, 1024 }, { 64, 900, 450 }, { 64, 576, 288 }, { 64, 574, 0 },
        { 1, 260, 130 },    { 1, 100, 50 },   { 1, 64, 0 },     { 1, 0, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t room = (int64_t)cases[i].room * MIB;
        size_t walk = roofs_walk_bytes(&machine, cases[i].threads, room) / MIB;
        if (walk != (size_t)cases[i].walk)
            fail_msg("%d threads, %d MiB: %zu MiB", cases[i].threads, cases[i].room, walk);
    }
}

TEST(roofs_of_no_device_are_errors)
{
    struct roof c[ROOFS_MAX];
    struct error err = { "" };

    assert_int_equal(sweep_roofs("cpu:9999", c, NULL, &err), -1);
    assert_non_null(strstr(err.message, "measuring the machine's roofs failed"));
    assert_non_null(strstr(err.message, "threads: 9999 is out of range"));
}

/* One thread in place of two: the roof of two would be twice that of one. */
TEST(roofs_of_fewer_threads_are_errors)
{
    struct roof c[ROOFS_MAX];
    struct error err = { "" };

    if (device_cpu_cores() < 2) {
        print_message("skipped: this process may use one processor only\n");
        skip();
    }
    setenv("OMP_THREAD_LIMIT", "1", 1);
    int rc = sweep_roofs("cpu:2", c, NULL, &err);
    unsetenv("OMP_THREAD_LIMIT");
    assert_int_equal(rc, -1);
    assert_non_null(strstr(err.message, "2 threads are to be measured, and OpenMP gives 1"));
    assert_non_null(strstr(err.message, "OMP_THREAD_LIMIT is 1 here; unset it"));
}

/* The copying loops copy; the FLOPs grow with the rounds. */
TEST(loops_do_what_they_say)
{
    enum { N = 4096 };
    unsigned char *from = aligned_alloc(64, N), *to = aligned_alloc(64, N);

    assert_true(from && to);
    for (size_t i = 0; i < N; i++)
        from[i] = (unsigned char)(i * 7);
    memset(to, 0, N);
    roof_copy(to, from, N);
    assert_memory_equal(to, from, N);
    memset(to, 0, N);
    roof_stream(to, from, N);
    assert_memory_equal(to, from, N);
    roof_read(from, N);
    roof_fma(10);
    assert_true(roof_fma_flops(1) >= 2 * 4 && roof_fma_flops(10) == 10 * roof_fma_flops(1));
    for (unsigned dot = ROOF_DOT_BF16; dot <= ROOF_DOT_INT8; dot++)
        if (roof_has_dots((enum roof_dot)dot)) {
            roof_dots((enum roof_dot)dot, 10);
            assert_true(roof_dots_flops((enum roof_dot)dot, 10) ==
                        10 * roof_dots_flops((enum roof_dot)dot, 1));
        }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) /* whatever it has beside that: pairs by vpmaddwd */
        assert_true(roof_has_dots(ROOF_DOT_INT8));
#elif defined(__aarch64__)
    assert_true(roof_fma_flops(1) >= 2 * 4 * 16); /* four pipes, four cycles */
#endif
    free(from);
    free(to);
}

TEST(data_sheets_know_or_say_zero)
{
    double flops = -1, bandwidth = -1;

    datasheet_find("a processor that nobody makes", 2, &flops, &bandwidth);
    assert_true(flops == 0 && bandwidth == 0);
}

TEST(the_probe_is_for_cpus)
{
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "cpu:1", &err), &err);
    double ns = probe_ns(&d);
    assert_true(isfinite(ns) && ns > 0);
    device_close(&d);
    assert_ok(device_open(&d, "fake", &err), &err);
    assert_true(isnan(probe_ns(&d)));
    device_close(&d);
}

TEST(the_machine_is_the_same_twice)
{
    struct machine a, b;
    struct error err;

    assert_ok(environment_machine(&a, &err), &err);
    assert_ok(environment_machine(&b, &err), &err);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_int_equal(strlen(a.id), 16);
    assert_int_equal(strspn(a.id, "0123456789abcdef"), 16);
    assert_true(strlen(a.class_name) > 0);
    assert_int_equal(strspn(a.class_name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                     strlen(a.class_name)); /* it names files */
    assert_true(a.class_name[0] != '-' && a.class_name[strlen(a.class_name) - 1] != '-');
    assert_int_equal(a.cores, device_cpu_cores());
    assert_true(a.threads >= 1 && a.isa[0] && a.cpu[0]);
    assert_true(a.memory > 0 && a.memory % (1 << 30) == 0);
}

TEST(the_build_is_named)
{
    struct build b;

    environment_build(&b);
    assert_true(b.version[0] && b.compiler[0] && b.build_type[0]);
    assert_true(strlen(b.commit) == 0 || strlen(b.commit) == 40);
}

/* The environment is an allow-list: a variable that nobody asked for stays out of the history. */
TEST(no_secret_lands_in_the_environment)
{
    struct error err;

    setenv("SOME_API_TOKEN", "sesame-open", 1);
    setenv("OMP_PROC_BIND", "close", 1);
    setenv("OMP_THREAD_LIMIT", "3", 1);
    setenv("OMP_DYNAMIC", "true", 1);
    char *text = environment_json();
    unsetenv("OMP_DYNAMIC");
    unsetenv("OMP_THREAD_LIMIT");
    unsetenv("OMP_PROC_BIND");
    unsetenv("SOME_API_TOKEN");
    assert_null(strstr(text, "sesame-open"));
    cJSON *json = json_parse(text, strlen(text), "environment", &err);
    assert_non_null(json);
    assert_string_equal(json_string(json, "OMP_PROC_BIND", ""), "close");
    assert_string_equal(json_string(json, "OMP_THREAD_LIMIT", ""), "3");
    assert_string_equal(json_string(json, "OMP_DYNAMIC", ""), "true");
    assert_true(json_string(json, "kernel_release", "")[0]);
    cJSON_Delete(json);
    free(text);
}

static volatile double sink;

TEST(telemetry_tells_what_happened)
{
    struct measurement m = { 0 };
    struct telemetry_probe p;

    telemetry_begin(&p, NULL);
    uint64_t start = clock_ns();
    while (clock_ns() - start < 30000000)
        sink = sink + 1;
    telemetry_end(&p, &m);
    double seconds = measurement_telemetry(&m, "sampled_seconds");
    double cpu = measurement_telemetry(&m, "cpu_seconds_per_second");
    assert_true(seconds >= 0.03);
    assert_true(cpu > 0 && cpu < 3); /* one thread, give or take the kernel's ticks */
    assert_true(measurement_telemetry(&m, "max_rss_bytes") > 100000);
    assert_true(measurement_telemetry(&m, "minor_faults") >= 0);
    for (int i = 0; i < m.nr_telemetry; i++) {
        assert_true(isfinite(m.telemetry[i].value));
        assert_true(isnan(measurement_telemetry(&(struct measurement) { 0 }, m.telemetry[i].name)));
    }
}

/* What could not be read at the beginning is absent at the end: neither 0 nor a wild difference. */
TEST(absent_is_absent)
{
    struct measurement m = { 0 };
    struct telemetry_probe p;

    telemetry_begin(&p, NULL);
    p.stat_total = p.stat_steal = (double)NAN;
    p.energy.nr = 0;
    telemetry_end(&p, &m);
    assert_true(isnan(measurement_telemetry(&m, "steal_percent")));
    assert_true(isnan(measurement_telemetry(&m, "package_watts")));
    p.energy = (struct host_energy) { .root = "/nowhere", .nr = 1 }; /* it went away meanwhile */
    m.nr_telemetry = 0;
    telemetry_end(&p, &m);
    assert_true(isnan(measurement_telemetry(&m, "package_watts")));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "internal-launch") == 0) {
        struct error err = { "" };
        int rc = launch_serve(registry_builtin(), &err);
        fprintf(stderr, "%s", err.message);
        return rc ? 2 : 0;
    }
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
