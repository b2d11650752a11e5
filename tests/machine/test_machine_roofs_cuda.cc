/* SPDX-License-Identifier: MIT */
/*
 * The roofs of a GPU on the host layer: their names, units and order are what they should be, their
 * loops compute (mma.sync included) and are timed; how fast says nothing there. Features: U-02,
 * S1-50.
 */
#include "test_cuda_host.h"

#include "device/device_cuda.h"

extern "C" {
#include "core/roof_name.h"
#include "device/devices.h"
#include "machine/datasheet.h"
#include "machine/measured_roofs.h"
}

static const struct roof *find(const struct roof *c, int nr, const char *name)
{
    for (int i = 0; i < nr; i++)
        if (strcmp(c[i].name, name) == 0)
            return &c[i];
    return nullptr;
}

static int measure(const char *spec, struct roof *c, struct error *err)
{
    struct machine machine = {};
    struct device d;

    assert_ok(device_open(&d, spec, err), err);
    int nr = roofs_measure(&d, &machine, c, err);
    device_close(&d);
    return nr;
}

static void assert_sane(const struct roof *c, int nr, const char *label)
{
    static const struct {
        const char *name, *unit;
    } wanted[] = { { "bandwidth.dram", "B/s" },      { "copy.dram", "B/s" },
                   { "bandwidth.L2", "B/s" },        { "capacity.L2", "B" },
                   { "flush.cold_over_warm", "x" },  { "flops.fp32", "FLOP/s" },
                   { "mma.tf32", "FLOP/s" },         { "flops.tf32", "FLOP/s" },
                   { "mma.bf16", "FLOP/s" },         { "flops.bf16", "FLOP/s" },
                   { "overhead.launch", "ns" },      { "overhead.graph_node", "ns" },
                   { "overhead.graph_launch", "ns" } };

    for (const auto &row : wanted) {
        const struct roof *one = find(c, nr, row.name);
        if (!one)
            fail_msg("no roof %s", row.name);
        assert_string_equal(one->unit, row.unit);
    }
    for (int i = 0; i < nr; i++) {
        if (!(c[i].low > 0 && c[i].low <= c[i].value && c[i].value <= c[i].high &&
              isfinite(c[i].high)))
            fail_msg("%s: %g in [%g, %g]", c[i].name, c[i].value, c[i].low, c[i].high);
        assert_string_equal(c[i].device, label);
        assert_true(roof_is_name(c[i].name));
        assert_ptr_equal(find(c, nr, c[i].name), &c[i]); /* each name once */
    }
    assert_true(find(c, nr, "bandwidth.dram")->value >= find(c, nr, "copy.dram")->value);
    assert_true(find(c, nr, "flops.bf16")->value >= find(c, nr, "mma.bf16")->value);
    assert_true(find(c, nr, "capacity.L2")->value == 1 << 20);
}

/* A GPU has one set of roofs, whatever its way of launching. All of this process is on cuda:1. */
CUDA_HOST_TEST(roofs_of_a_gpu)
{
    struct roof c[ROOFS_MAX];
    struct error err;

    inject("devices=2");
    int nr = measure("cuda:1,graph", c, &err);
    if (nr < 0)
        fail_msg("%s", err.message);
    assert_in_range(nr, 13, ROOFS_MAX);
    assert_sane(c, nr, "cuda1");
}

CUDA_HOST_TEST(roofs_that_cannot_be_measured_are_errors)
{
    static const struct {
        const char *inject, *says;
    } rows[] = { { "devices=2,fail=cudaMalloc:3:2", "cannot allocate" },
                 { "devices=2,fail=launch:40:700", "an illegal memory access" },
                 { "devices=2,fail=cudaEventCreate:9:2", "cudaEventCreate" } };
    struct roof c[ROOFS_MAX];
    struct error err;

    for (const auto &row : rows) {
        fresh_driver(nullptr);
        inject(row.inject);
        assert_int_equal(measure("cuda:1", c, &err), -1);
        if (!strstr(err.message, row.says))
            fail_msg("\"%s\" is not in: %s", row.says, err.message);
    }
}

RUN_TESTS(nullptr, nullptr)
