/* SPDX-License-Identifier: MIT */
/* Features: U-05 (roofline data), S2-08 (bound and share of roof) on constructed kernels. */
#include "analysis_fixture.h"
#include "testing.h"

#include "metrics/roofline.h"

#define ROOF(name_, value_)                                                                        \
    {                                                                                              \
        .name = name_, .device = "cpu-2t", .value = value_, .low = 0.98 * (value_),                \
        .high = 1.02 * (value_)                                                                    \
    }

static const struct roof roofs[] = {
    ROOF("bandwidth.L1", 200e9),  ROOF("bandwidth.L2", 100e9), ROOF("bandwidth.L3", 50e9),
    ROOF("bandwidth.dram", 20e9), ROOF("flops.fp32", 100e9),   ROOF("overhead.launch", 1000),
};

static const struct machine machine = {
    .cores = 2,
    .threads = 2,
    .l1d = 32 << 10,
    .l2 = 1 << 20,
    .l3 = 16 << 20,
    .l3_shared_by = 4,
};

static const struct metric_context context = {
    .machine = &machine,
    .roofs = roofs,
    .nr_roofs = sizeof(roofs) / sizeof(*roofs),
};

static struct measurement kernel(const char *device, const char *cache, double flops, double bytes)
{
    struct measurement m = { .flops = flops, .bytes = bytes, .footprint = (int64_t)bytes };
    char key[128];

    snprintf(key, sizeof(key), "gemm/linear/simd/fp32/m=1/%s/%s", device, cache);
    fixture_key(&m, key);
    return m;
}

static struct binding_roof roof(const struct measurement *m, double median)
{
    struct binding_roof result;

    binding_roof_of(m, median, &context, &result);
    return result;
}

TEST(test_bounds)
{
    struct measurement stream = kernel("cpu-2t", "cold", 1e6, 40e6);
    struct measurement dense = kernel("cpu-2t", "warm", 1e9, 1e6);
    struct measurement tiny = kernel("cpu-2t", "warm", 1000, 1000);
    struct binding_roof r = roof(&stream, 4e6);
    assert_int_equal(r.bound, BOUND_MEMORY);
    assert_int_equal(r.level, LEVEL_DRAM);
    assert_close(r.roof_ns, 2e6, 1e-3); /* 40 MB at 20 GB/s */
    assert_close(r.fraction, 0.5, 1e-9);
    assert_close(r.intensity, 0.025, 1e-12);
    assert_close(r.attainable, 0.5e9, 1); /* intensity x bandwidth */
    assert_string_equal(r.words, "memory: 40.00 MB over DRAM at 20.00 GB/s = 2.000 ms");
    r = roof(&dense, 20e6);
    assert_int_equal(r.bound, BOUND_COMPUTE);
    assert_close(r.roof_ns, 10e6, 1e-3);
    assert_close(r.fraction, 0.5, 1e-9);
    assert_close(r.attainable, 100e9, 1);
    r = roof(&tiny, 1500);
    assert_int_equal(r.bound, BOUND_LATENCY);
    assert_non_null(strstr(r.words, "empty launch"));
    /* Without a time there is a roof, but no share of it. */
    r = roof(&stream, NAN);
    assert_true(isnan(r.fraction) && !r.above_roof && r.bound == BOUND_MEMORY);
}

TEST(test_levels)
{
    static const struct {
        double bytes;
        enum memory_level level;
    } rows[] = {
        { 60e3, LEVEL_L1 }, /* two L1 caches of 32 KiB */
        { 1.9e6, LEVEL_L2 },
        { 15e6, LEVEL_L3 },
        { 40e6, LEVEL_DRAM },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct measurement m = kernel("cpu-2t", "warm", 0, rows[i].bytes);
        assert_int_equal(roof(&m, 1e9).level, rows[i].level);
        m = kernel("cpu-2t", "cold", 0, rows[i].bytes);
        assert_int_equal(roof(&m, 1e9).level, LEVEL_DRAM);
    }
}

/* A working set just beyond a cache: what still fits may come from it, so the roof has no step. */
TEST(test_outgrown_cache)
{
    double l3 = 16 << 20;
    struct measurement inside = kernel("cpu-2t", "warm", 0, l3);
    struct measurement beyond = kernel("cpu-2t", "warm", 0, l3 * 1.001);
    struct measurement twice = kernel("cpu-2t", "warm", 0, 2 * l3);
    assert_true(roof(&beyond, NAN).level == LEVEL_DRAM && roof(&inside, NAN).level == LEVEL_L3);
    double share = 1 - 2.0 * (1 << 20) / l3; /* what the two L2 caches do not hold */
    assert_close(roof(&inside, NAN).roof_ns, l3 * (share / 50 + (1 - share) / 100), 1e-3);
    assert_close(roof(&beyond, NAN).roof_ns / (l3 / 50), 1, 0.01);
    assert_close(roof(&twice, NAN).roof_ns, l3 / 20 + l3 / 50, 1);
    assert_non_null(strstr(roof(&twice, NAN).words, "up to 50 % of it from L3"));
}

/* A cache whose roof was not measured: the next faster one bounds it, else the next slower one.
 */
TEST(test_cache_without_a_roof)
{
    static const struct {
        const char *lacks[4];
        double bytes, speed; /* 0: unknown */
        enum memory_level level;
        const char *words;
    } cases[] = {
        { { "bandwidth.L3" }, 8 << 20, 100, LEVEL_L2, "over L2 at 100.0 GB/s (L3, where" },
        { { "bandwidth.L3", "bandwidth.L2" }, 8 << 20, 200, LEVEL_L1, "over L1 at 200.0 GB/s (L3" },
        { { "bandwidth.L1", "bandwidth.L2", "bandwidth.L3" },
          8 << 20,
          20,
          LEVEL_DRAM,
          "over DRAM" },
        { { "bandwidth.L1" }, 48 << 10, 100, LEVEL_L2, "over L2 at 100.0 GB/s (L1, where" },
        { { "bandwidth.dram" }, 1 << 30, 0, LEVEL_DRAM, "no roof bandwidth.dram" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct roof left[sizeof(roofs) / sizeof(roofs[0])];
        struct metric_context some = { .machine = &machine, .roofs = left };
        struct measurement m = kernel("cpu-2t", "warm", 0, cases[i].bytes);
        struct binding_roof r;
        for (size_t j = 0; j < sizeof(roofs) / sizeof(roofs[0]); j++) {
            bool lacks = strcmp(roofs[j].name, "overhead.launch") == 0; /* else latency binds */
            for (int k = 0; k < 4 && cases[i].lacks[k]; k++)
                lacks |= strcmp(roofs[j].name, cases[i].lacks[k]) == 0;
            if (!lacks)
                left[some.nr_roofs++] = roofs[j];
        }
        binding_roof_of(&m, NAN, &some, &r);
        assert_int_equal(r.level, cases[i].level);
        assert_has(r.words, cases[i].words);
        if (cases[i].speed > 0)
            assert_close(r.roof_ns, cases[i].bytes / cases[i].speed, 1e-3);
        else
            assert_true(isnan(r.roof_ns));
    }
}

TEST(test_above_roof)
{
    struct measurement m = kernel("cpu-2t", "cold", 0, 40e6);
    assert_false(roof(&m, 2e6).above_roof);
    assert_false(roof(&m, 1.97e6).above_roof); /* within the roof's own spread of 2 % */
    assert_true(roof(&m, 1.95e6).above_roof);
    m = kernel("cpu-2t", "warm", 1e9, 1e6);
    assert_true(roof(&m, 9e6).above_roof);
}

TEST(test_unknown)
{
    struct measurement other = kernel("cpu-8t", "warm", 1e6, 1e6);
    struct measurement none = kernel("cpu-2t", "warm", 0, 0);
    struct binding_roof r = roof(&other, 1e6);
    assert_int_equal(r.bound, BOUND_UNKNOWN);
    assert_true(isnan(r.fraction) && isnan(r.roof_ns) && !r.above_roof);
    assert_non_null(strstr(r.words, "cpu-8t"));
    assert_int_equal(roof(&none, 1e6).bound, BOUND_UNKNOWN);
    struct measurement half = kernel("cpu-2t", "warm", 1e9, 1e6);
    snprintf(half.bench.math, sizeof(half.bench.math), "bf16");
    assert_non_null(strstr(roof(&half, 1e6).words, "flops.bf16"));
    binding_roof_of(&other, 1e6, &(struct metric_context) { 0 }, &r);
    assert_int_equal(r.bound, BOUND_UNKNOWN);
}

TEST(test_capacity)
{
    struct machine many = {
        .cores = 16, .l1d = 32768, .l2 = 1 << 20, .l3 = 1 << 24, .l3_shared_by = 4
    };
    assert_close(memory_level_capacity(&many, LEVEL_L1, 8), 8 * 32768, 0);
    assert_close(memory_level_capacity(&many, LEVEL_L2, 32), 16 << 20, 0); /* only 16 cores */
    assert_close(memory_level_capacity(&many, LEVEL_L3, 1), 1 << 24, 0);
    assert_close(memory_level_capacity(&many, LEVEL_L3, 5), 2 << 24, 0);
    assert_true(isinf(memory_level_capacity(&many, LEVEL_DRAM, 1)));
    assert_close(memory_level_capacity(&many, LEVEL_L1, 0), 0, 0); /* not a CPU */
}

/* Two threads of one core: its L1 and L2 are counted once, as the roofs tell. */
TEST(test_shared_caches)
{
    static const struct roof shared[] = {
        ROOF("bandwidth.L1", 200e9),  ROOF("bandwidth.L2", 100e9),   ROOF("bandwidth.L3", 50e9),
        ROOF("bandwidth.dram", 20e9), ROOF("capacity.L1", 32 << 10), ROOF("capacity.L2", 1 << 20),
    };
    static const struct {
        double bytes;
        enum memory_level level;
    } rows[] = {
        { 30e3, LEVEL_L1 },
        { 60e3, LEVEL_L2 },
        { 1.9e6, LEVEL_L3 },
    };
    const struct metric_context told = { &machine, shared, sizeof(shared) / sizeof(*shared) };

    assert_close(roof_capacity(&told, LEVEL_L2, "cpu-2t"), 1 << 20, 0);
    assert_close(roof_capacity(&told, LEVEL_L3, "cpu-2t"), 16 << 20, 0);
    assert_close(roof_capacity(&told, LEVEL_L2, "cpu-1t"), 1 << 20, 0); /* by the machine */
    assert_close(roof_capacity(&context, LEVEL_L2, "cpu-2t"), 2 << 20, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct measurement m = kernel("cpu-2t", "warm", 0, rows[i].bytes);
        struct binding_roof r;
        binding_roof_of(&m, NAN, &told, &r);
        assert_int_equal(r.level, rows[i].level);
    }
}

TEST(test_metric)
{
    struct records r = { 0 };
    struct summary s;
    fixture_run(&r, "m", 1);
    struct measurement *m = fixture_add(&r, 0, "x/y/simd/fp32/m=1/cpu-2t/cold", 4e6, 9);
    m->bytes = 40e6;
    m->footprint = 40000000;
    summary_init_one(&s, m);
    assert_close(metric_get("roof", &s, &context).value, 0.5, 1e-9);
    assert_false(metric_get("roof", &s, &context).above_roof);
    summary_release(&s);
    records_release(&r);
}

#define GPU_ROOF(name_, value_)                                                                    \
    {                                                                                              \
        .name = name_, .device = "cuda", .value = value_, .low = value_, .high = value_            \
    }

/* A GPU has its own L2, and the same roofs whichever way it launches; cuda1 is another one. */
TEST(test_gpu)
{
    static const struct roof of_gpu[] = {
        GPU_ROOF("bandwidth.dram", 4e12),  GPU_ROOF("bandwidth.L2", 8e12),
        GPU_ROOF("capacity.L2", 60e6),     GPU_ROOF("flops.fp32", 50e12),
        GPU_ROOF("overhead.launch", 2000), GPU_ROOF("overhead.graph_node", 1000),
    };
    const struct metric_context gpu = { &machine, of_gpu, sizeof(of_gpu) / sizeof(*of_gpu) };
    struct measurement warm = kernel("cuda", "warm", 1e6, 40e6), m;
    struct binding_roof r;
    binding_roof_of(&warm, 1e4, &gpu, &r);
    assert_int_equal(r.level, LEVEL_L2);
    assert_close(r.roof_ns, 5000, 1e-6);
    assert_close(r.overhead_ns, 2000, 0);
    assert_int_equal(r.bound, BOUND_MEMORY);
    m = kernel("cuda-graph", "cold", 1e6, 40e6);
    binding_roof_of(&m, 1e5, &gpu, &r);
    assert_int_equal(r.level, LEVEL_DRAM);
    assert_close(r.roof_ns, 10000, 1e-6);
    assert_close(r.overhead_ns, 1000, 0);
    m = kernel("cuda", "warm", 1e6, 120e6); /* half of it may still be in the L2 */
    binding_roof_of(&m, 1e5, &gpu, &r);
    assert_close(r.roof_ns, 60e6 / 4e12 * 1e9 + 60e6 / 8e12 * 1e9, 1e-6);
    m = kernel("cuda1-graph", "warm", 1e6, 40e6);
    binding_roof_of(&m, 1e5, &gpu, &r);
    assert_int_equal(r.bound, BOUND_UNKNOWN);
}

RUN_TESTS(NULL, NULL)
