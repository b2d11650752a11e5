/* SPDX-License-Identifier: MIT */
#include "core/roof_name.h"

#include <string.h>

static const struct roof_family families[] = {
    { "bandwidth.", { "L1", "L2", "L3", "dram" }, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "read.", { "L1", "L2", "L3", "dram" }, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "copy.", { "L1", "L2", "L3", "dram" }, "B/s", ROOF_RATE, BETTER_HIGHER },
    { "flops.", { "fp32", "tf32", "bf16", "int8", "fp8" }, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "dot.", { "bf16", "int8" }, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "mma.", { "tf32", "bf16" }, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "wgmma.", { "tf32", "bf16", "fp8" }, "FLOP/s", ROOF_RATE, BETTER_HIGHER },
    { "capacity.", { "L1", "L2" }, "B", ROOF_SIZE, BETTER_NONE },
    { "overhead.", { "launch", "graph_node", "graph_launch" }, "ns", ROOF_TIME, BETTER_LOWER },
    { "event.", { "resolution" }, "ns", ROOF_TIME, BETTER_LOWER },
    { "flush.", { "cold_over_warm" }, "x", ROOF_RATIO, BETTER_NONE },
};

enum { FAMILY_NR = sizeof(families) / sizeof(families[0]) };

static const struct roof_family *family_named(const char *name)
{
    for (size_t i = 0; i < FAMILY_NR; i++)
        if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) == 0)
            return &families[i];
    return NULL;
}

bool roof_is_name(const char *name)
{
    const struct roof_family *family = family_named(name);

    for (size_t i = 0; family && family->members[i]; i++)
        if (strcmp(name + strlen(family->prefix), family->members[i]) == 0)
            return true;
    return false;
}

const char *roof_unit(const char *name)
{
    const struct roof_family *family = family_named(name);

    return family ? family->unit : "";
}

/* Histories outlive this table: a later program may have measured roofs of families that it lacks,
 * and an earlier one some that are gone. Of those the unit tells what they are: it is all that is
 * known of them. */
static const struct roof_family *family_by_unit(const char *unit)
{
    static const struct roof_family other = { .prefix = "", .unit = "", .better = BETTER_NONE };

    for (size_t i = 0; i < FAMILY_NR; i++)
        if (strcmp(unit, families[i].unit) == 0)
            return &families[i];
    return &other;
}

const struct roof_family *roof_family_of(const struct roof *c)
{
    const struct roof_family *family = family_named(c->name);

    return family ? family : family_by_unit(c->unit);
}
