/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_roof.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *roof, *words, *name;
} levels[TIMELINE_LEVELS] = {
    { "bandwidth.dram", "bandwidth of DRAM", "DRAM" },
    { "bandwidth.L3", "bandwidth of L3", "L3" },
    { "bandwidth.L2", "bandwidth of L2", "L2" },
    { "bandwidth.L1", "bandwidth of L1", "L1" },
};

const char *timeline_level_name(int level)
{
    return levels[level].name;
}

/* Measured times and roofs have errors of their own. */
static const double contradiction = 1.05;

static double measured_roof(const struct roof *roofs, size_t nr, const char *device,
                            const char *name)
{
    for (size_t i = 0; i < nr; i++) {
        if (!strcmp(roofs[i].name, name) && !strcmp(roofs[i].device, device))
            return roofs[i].value > 0 ? roofs[i].value : 0;
    }
    return 0;
}

struct timeline_roofs timeline_roofs_of(const struct roof *measured, size_t nr, const char *device,
                                        const char *math)
{
    struct timeline_roofs roofs = { .math = math };
    char name[sizeof(measured->name)];

    snprintf(name, sizeof(name), "flops.%s", math);
    roofs.flops = measured_roof(measured, nr, device, name);
    for (int i = 0; i < TIMELINE_LEVELS; i++)
        roofs.bandwidth[i] = measured_roof(measured, nr, device, levels[i].roof);
    return roofs;
}

/* Reduced arithmetic has units of its own: matrix units, dot products. */
static const char *product_roof(const char *math)
{
    static const char *const names[][2] = { { "tf32", "tf32 roof" },
                                            { "bf16", "bf16 roof" },
                                            { "fp16", "fp16 roof" },
                                            { "int8", "int8 roof" } };

    for (size_t i = 0; math && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(math, names[i][0]) == 0)
            return names[i][1];
    return "FMA roof";
}

struct timeline_roof timeline_roof_of(const struct timeline_roofs *roofs, double flops,
                                      double bytes, double ns)
{
    struct timeline_roof roof = { .fraction = NAN, .name = "", .roof_ns = NAN };
    double compute = roofs->flops > 0 && flops > 0 ? flops / roofs->flops * 1e9 : 0;
    double memory = 0;
    int level = 0;

    for (int i = 0; i < TIMELINE_LEVELS && bytes > 0; i++) {
        double at_level = roofs->bandwidth[i] > 0 ? bytes / roofs->bandwidth[i] * 1e9 : 0;
        if (at_level <= 0)
            continue;
        memory = at_level;
        level = i;
        if (memory <= ns * contradiction)
            break;
    }
    if (!(ns > 0) || (compute <= 0 && memory <= 0))
        return roof;
    roof.bound = compute >= memory ? TIMELINE_COMPUTE : TIMELINE_MEMORY;
    roof.name = compute >= memory ? product_roof(roofs->math) : levels[level].words;
    roof.roof_ns = compute >= memory ? compute : memory;
    roof.fraction = roof.roof_ns / ns;
    return roof;
}
