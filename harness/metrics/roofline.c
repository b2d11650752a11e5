/* SPDX-License-Identifier: MIT */
#include "metrics/roofline.h"

#include "base/text.h"
#include "core/device_label.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *roof;
} levels[LEVEL_NR] = {
    [LEVEL_L1] = { "L1", "bandwidth.L1" },
    [LEVEL_L2] = { "L2", "bandwidth.L2" },
    [LEVEL_L3] = { "L3", "bandwidth.L3" },
    [LEVEL_DRAM] = { "DRAM", "bandwidth.dram" },
};

static const char *const bounds[] = {
    [BOUND_UNKNOWN] = "",
    [BOUND_MEMORY] = "memory",
    [BOUND_COMPUTE] = "compute",
    [BOUND_LATENCY] = "latency",
};

const char *bound_name(enum bound bound)
{
    return bounds[bound];
}

const char *memory_level_name(enum memory_level level)
{
    return levels[level].name;
}

const char *memory_level_roof(enum memory_level level)
{
    return levels[level].roof;
}

double memory_level_capacity(const struct machine *machine, enum memory_level level, int threads)
{
    if (level == LEVEL_DRAM)
        return INFINITY;
    if (!machine || threads <= 0)
        return 0;
    int cores = machine->cores > 0 && threads > machine->cores ? machine->cores : threads;
    int sharing = machine->l3_shared_by > 0 ? machine->l3_shared_by : cores;
    switch (level) {
    case LEVEL_L1:
        return (double)machine->l1d * cores;
    case LEVEL_L2:
        return (double)machine->l2 * cores;
    default:
        return (double)machine->l3 * ceil((double)cores / sharing);
    }
}

const struct roof *roof_find(const struct metric_context *context, const char *name,
                             const char *device)
{
    size_t length = device_label_of(device).hardware;

    for (size_t i = 0; context && i < context->nr_roofs; i++) {
        const struct roof *c = &context->roofs[i];
        if (strcmp(c->name, name) == 0 && strlen(c->device) == length &&
            strncmp(c->device, device, length) == 0 && c->value > 0)
            return c;
    }
    return NULL;
}

double roof_capacity(const struct metric_context *context, enum memory_level level,
                     const char *device)
{
    char name[48];

    if (!context)
        return 0; /* as where nothing is known of it */
    snprintf(name, sizeof(name), "capacity.%s", levels[level].name);
    const struct roof *told = roof_find(context, name, device);
    return told ? told->value
                : memory_level_capacity(context->machine, level, device_label_of(device).threads);
}

/* What must stay near for the next launch to find it: the bytes that a launch touches, which of an
 * embedding or a decode step is less than all of its tensors. */
static double roof_working_set(const struct measurement *m)
{
    return m->footprint > 0 ? fmin((double)m->footprint, m->bytes) : m->bytes;
}

/* Where the bytes come from: `share` of them at least from `level`, the rest from `faster`. */
struct traffic {
    enum memory_level level, faster;
    enum memory_level held; /* where the working set lies: `level`, unless that has no roof */
    double share;
    const struct roof *slow, *fast;
};

/* The largest cache below `level` that exists: what fits in it need not come from `level`. */
static void roof_find_faster(const struct measurement *m, const struct metric_context *context,
                             struct traffic *t)
{
    t->share = 1;
    t->fast = NULL;
    for (int l = (int)t->level - 1; l >= 0 && !t->fast; l--) {
        double capacity = roof_capacity(context, (enum memory_level)l, m->bench.device);
        if (!(capacity > 0))
            continue;
        t->faster = (enum memory_level)l;
        t->fast = roof_find(context, levels[l].roof, m->bench.device);
        if (t->fast)
            t->share = 1 - capacity / roof_working_set(m);
    }
}

/* A cache without a roof: that of the next faster one is above it as well, so the roof stays an
 * upper bound. Where there is none, the next slower one. */
static void roof_find_slow(const struct measurement *m, const struct metric_context *context,
                           struct traffic *t)
{
    t->held = t->level;
    t->slow = roof_find(context, levels[t->level].roof, m->bench.device);
    if (t->slow || t->held == LEVEL_DRAM)
        return;
    if (t->fast) {
        t->slow = t->fast;
        t->level = t->faster;
    }
    t->fast = NULL;
    t->share = 1;
    while (!t->slow && t->level < LEVEL_DRAM) {
        t->level++;
        t->slow = roof_find(context, levels[t->level].roof, m->bench.device);
    }
}

static void roof_find_traffic(const struct measurement *m, const struct metric_context *context,
                              struct traffic *t)
{
    int cache = cache_state_find(m->bench.cache);
    bool warm = cache != CACHE_COLD && cache != CACHE_ROTATE;

    *t = (struct traffic) { .level = LEVEL_DRAM, .share = 1 };
    for (int l = LEVEL_L1; warm && l < LEVEL_DRAM && t->level == LEVEL_DRAM; l++)
        if (roof_capacity(context, (enum memory_level)l, m->bench.device) >= roof_working_set(m))
            t->level = (enum memory_level)l;
    if (warm && roof_working_set(m) > 0)
        roof_find_faster(m, context, t);
    roof_find_slow(m, context, t);
}

static double roof_highest(const struct roof *c)
{
    return fmax(c->high, c->value);
}

/* Nanoseconds that the bytes take, at the median of the roofs or at their best repetition. */
static double roof_memory_time(const struct traffic *t, double bytes, bool best)
{
    double slow = best ? roof_highest(t->slow) : t->slow->value, time = bytes * t->share / slow;

    if (t->fast)
        time += bytes * (1 - t->share) / (best ? roof_highest(t->fast) : t->fast->value);
    return 1e9 * time;
}

static double roof_compute_time(const struct roof *c, double flops, bool best)
{
    return 1e9 * flops / (best ? roof_highest(c) : c->value);
}

static void roof_say_memory(const struct measurement *m, const struct traffic *t,
                            struct binding_roof *binding)
{
    char bytes[TEXT_UNIT_SIZE], speed[TEXT_UNIT_SIZE], time[TEXT_UNIT_SIZE], part[96] = "";

    if (t->fast)
        snprintf(part, sizeof(part), ", up to %.0f %% of it from %s at %s,", 100 * (1 - t->share),
                 levels[t->faster].name, text_rate(t->fast->value, "B/s", speed));
    else if (t->held != t->level)
        snprintf(part, sizeof(part), " (%s, where they are, has no roof)", levels[t->held].name);
    snprintf(binding->words, sizeof(binding->words), "memory: %s over %s at %s%s = %s",
             text_rate(m->bytes, "B", bytes), levels[t->level].name,
             text_rate(t->slow->value, "B/s", speed), part, text_time(binding->memory_ns, time));
}

static void roof_say_compute(const struct measurement *m, const struct roof *flops,
                             struct binding_roof *binding)
{
    char work[TEXT_UNIT_SIZE], speed[TEXT_UNIT_SIZE], time[TEXT_UNIT_SIZE];

    snprintf(binding->words, sizeof(binding->words), "compute: %s at %s = %s",
             text_rate(m->flops, "FLOP", work), text_rate(flops->value, "FLOP/s", speed),
             text_time(binding->compute_ns, time));
}

static void roof_say_latency(struct binding_roof *binding)
{
    char time[TEXT_UNIT_SIZE], overhead[TEXT_UNIT_SIZE];

    snprintf(binding->words, sizeof(binding->words),
             "latency: its roof of %s is below %g x the cost of an empty launch, %s",
             text_time(binding->roof_ns, time), ROOF_LATENCY_FACTOR,
             text_time(binding->overhead_ns, overhead));
}

static void roof_say_missing(struct binding_roof *binding, const char *roof, const char *device)
{
    snprintf(binding->words, sizeof(binding->words),
             "unknown: no roof %s was measured for %s on this machine", roof, device);
}

/* Fills the times; false, with the reason, where a roof is missing that would be needed. */
static bool roof_find_times(const struct measurement *m, const struct traffic *t,
                            const struct roof *flops, const char *flops_name,
                            struct binding_roof *binding)
{
    if (m->bytes > 0 && !t->slow)
        roof_say_missing(binding, levels[t->held].roof, m->bench.device);
    else if (m->flops > 0 && !flops)
        roof_say_missing(binding, flops_name, m->bench.device);
    else if (!(m->bytes > 0) && !(m->flops > 0))
        snprintf(binding->words, sizeof(binding->words), "unknown: it has no work model");
    else
        return true;
    return false;
}

static void roof_classify(const struct measurement *m, const struct traffic *t,
                          const struct roof *flops, struct binding_roof *binding)
{
    if (binding->roof_ns < ROOF_LATENCY_FACTOR * binding->overhead_ns) {
        binding->bound = BOUND_LATENCY;
        roof_say_latency(binding);
    } else if (binding->memory_ns >= binding->compute_ns) {
        binding->bound = BOUND_MEMORY;
        roof_say_memory(m, t, binding);
    } else {
        binding->bound = BOUND_COMPUTE;
        roof_say_compute(m, flops, binding);
    }
}

void binding_roof_of(const struct measurement *m, double median_ns,
                     const struct metric_context *context, struct binding_roof *binding)
{
    struct traffic t;
    char flops_name[32];
    double best = 0;

    *binding = (struct binding_roof) {
        .intensity = NAN, .roof_ns = NAN, .attainable = NAN, .fraction = NAN
    };
    snprintf(flops_name, sizeof(flops_name), "flops.%s", m->bench.math);
    roof_find_traffic(m, context, &t);
    binding->level = t.level;
    if (m->bytes > 0)
        binding->intensity = m->flops / m->bytes;
    const struct roof *flops = roof_find(context, flops_name, m->bench.device);
    if (!roof_find_times(m, &t, flops, flops_name, binding))
        return;
    if (m->bytes > 0) {
        binding->memory_ns = roof_memory_time(&t, m->bytes, false);
        best = roof_memory_time(&t, m->bytes, true);
    }
    if (m->flops > 0) {
        binding->compute_ns = roof_compute_time(flops, m->flops, false);
        best = fmax(best, roof_compute_time(flops, m->flops, true));
    }
    const char *empty =
        device_label_of(m->bench.device).graph ? "overhead.graph_node" : "overhead.launch";
    const struct roof *overhead = roof_find(context, empty, m->bench.device);
    binding->overhead_ns = overhead ? overhead->value : 0;
    binding->roof_ns = fmax(binding->memory_ns, binding->compute_ns);
    if (m->flops > 0)
        binding->attainable = 1e9 * m->flops / binding->roof_ns;
    binding->fraction = binding->roof_ns / median_ns;
    binding->above_roof = median_ns < best;
    roof_classify(m, &t, flops, binding);
}
