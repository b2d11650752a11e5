/* SPDX-License-Identifier: MIT */
/* What roofs are by their names, and those of other versions by their units. */
#include "testing.h"

#include "core/roof_name.h"

static const struct {
    const char *name, *unit; /* as a history has it */
    bool known;              /* a device of this version may have it */
    const char *of;          /* what its name says of the unit; "": nothing */
    enum roof_quantity quantity;
    enum better better;
} rows[] = {
    { "bandwidth.L1", "B/s", true, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "bandwidth.dram", "B/s", true, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "read.L3", "B/s", true, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "copy.dram", "B/s", true, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "flops.fp32", "FLOP/s", true, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "flops.fp8", "FLOP/s", true, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "dot.int8", "FLOP/s", true, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "mma.tf32", "FLOP/s", true, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "wgmma.fp8", "FLOP/s", true, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "capacity.L2", "B", true, "B", ROOF_SIZE, BETTER_NONE },
    { "overhead.launch", "ns", true, "ns", ROOF_TIME, BETTER_LOWER },
    { "overhead.graph_node", "ns", true, "ns", ROOF_TIME, BETTER_LOWER },
    { "overhead.graph_launch", "ns", true, "ns", ROOF_TIME, BETTER_LOWER },
    { "event.resolution", "ns", true, "ns", ROOF_TIME, BETTER_LOWER },
    { "flush.cold_over_warm", "x", true, "x", ROOF_RATIO, BETTER_NONE },
    /* Of a family, whatever the text of the unit. */
    { "flops.fp16", "FLOP/s", false, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "overhead.launch", "", true, "ns", ROOF_TIME, BETTER_LOWER },
    { "overhead.launch", "B/s", true, "ns", ROOF_TIME, BETTER_LOWER },
    { "capacity.L1", "B/s", true, "B", ROOF_SIZE, BETTER_NONE },
    { "bandwidth.", "", false, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "bandwidth.L1 ", "", false, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "bandwidth.L1 read.L1", "", false, "B/s", ROOF_RATE, BETTER_HIGHER },
    /* Of none: by the unit. */
    { "write.dram", "B/s", false, "", ROOF_RATE, BETTER_HIGHER },
    { "tensor.fp4", "FLOP/s", false, "", ROOF_RATE, BETTER_HIGHER },
    { "latency.dram", "ns", false, "", ROOF_TIME, BETTER_LOWER },
    { "shared.bytes", "B", false, "", ROOF_SIZE, BETTER_NONE },
    { "power.limit", "W", false, "", ROOF_OTHER, BETTER_NONE },
    { "power.limit", "", false, "", ROOF_OTHER, BETTER_NONE },
    { "bandwidth", "", false, "", ROOF_OTHER, BETTER_NONE },
    { "Flops.fp32", "", false, "", ROOF_OTHER, BETTER_NONE },
    { "L1", "", false, "", ROOF_OTHER, BETTER_NONE },
    { "", "", false, "", ROOF_OTHER, BETTER_NONE },
};

TEST(roofs_are_what_their_names_say)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct roof c = { .value = 1 };
        snprintf(c.name, sizeof(c.name), "%s", rows[i].name);
        snprintf(c.unit, sizeof(c.unit), "%s", rows[i].unit);
        assert_string_equal(roof_unit(c.name), rows[i].of);
        assert_int_equal(roof_is_name(c.name), rows[i].known);
        assert_int_equal(roof_family_of(&c)->quantity, rows[i].quantity);
        assert_int_equal(roof_family_of(&c)->better, rows[i].better);
    }
}

RUN_TESTS(NULL, NULL)
