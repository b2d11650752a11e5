/* SPDX-License-Identifier: MIT */
#include "machine/roof_fill.h"

#include "core/clock.h"
#include "core/device_label.h"
#include "stats/stats.h"

#include <stdio.h>
#include <string.h>

struct roof_times roof_times_of(double *times, size_t nr)
{
    stats_sort(times, nr);
    return (struct roof_times) { .least = times[0],
                                 .quarter = stats_quantile(times, nr, 0.25),
                                 .most = times[nr - 1] };
}

void roof_init(struct roof *c, const struct device *d, const char *name, const char *unit)
{
    *c = (struct roof) { .measured_ms = clock_epoch_ms() };
    snprintf(c->name, sizeof(c->name), "%s", name);
    device_label_hardware(d->label, c->device, sizeof(c->device));
    snprintf(c->unit, sizeof(c->unit), "%s", unit);
}

void roof_set_rate(struct roof *c, double work, const struct roof_times *ns)
{
    c->value = work / ns->quarter * 1e9;
    c->low = work / ns->most * 1e9;
    c->high = work / ns->least * 1e9;
}

void roof_set_time(struct roof *c, const struct roof_times *ns)
{
    c->value = ns->quarter;
    c->low = ns->least;
    c->high = ns->most;
}

bool roof_is_time(const struct roof *c)
{
    return strcmp(c->unit, "ns") == 0;
}

void roof_set_value(struct roof *c, double value)
{
    c->value = c->low = c->high = value;
}

void roof_raise(struct roof *c, const struct roof *other)
{
    if (other->value <= c->value)
        return;
    c->value = other->value;
    c->low = other->low;
    c->high = other->high;
}

bool roof_is_name(const char *name)
{
    static const char names[] =
        " bandwidth.L1 bandwidth.L2 bandwidth.L3 bandwidth.dram read.L1 read.L2 read.L3 read.dram "
        "copy.L1 copy.L2 copy.L3 copy.dram flops.fp32 flops.tf32 flops.bf16 flops.int8 flops.fp8 "
        "dot.bf16 dot.int8 mma.tf32 mma.bf16 wgmma.tf32 wgmma.bf16 wgmma.fp8 capacity.L1 "
        "capacity.L2 "
        "overhead.launch overhead.graph_node overhead.graph_launch event.resolution "
        "flush.cold_over_warm ";
    char word[64];

    snprintf(word, sizeof(word), " %s ", name);
    return *name && !strchr(name, ' ') && strlen(name) + 2 < sizeof(word) && strstr(names, word);
}
