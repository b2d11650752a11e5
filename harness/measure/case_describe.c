/* SPDX-License-Identifier: MIT */
/* What is known of a case before anything runs, and whether it can run here at all. */
#include "measure/case_parts.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/clock.h"
#include "core/device_label.h"
#include "core/names.h"
#include "device/device_host.h"
#include "host/host_cache.h"
#include "measure/buffers.h"
#include "measure/copies.h"
#include "measure/oracle_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void case_end(struct measurement *m, enum outcome outcome, const char *message)
{
    m->outcome = outcome;
    free(m->message);
    m->message = memory_string(message);
}

void case_name(const struct benchmark *bench, const struct device *device, struct measurement *m)
{
    *m = (struct measurement) {
        .vendor = (bench->variant->flags & VARIANT_VENDOR) != 0,
        .max_error = NAN,
        .tolerance = NAN,
        .tokens = NAN,
        .started_ms = clock_epoch_ms(),
    };
    benchmark_name_of(bench, device, &m->bench);
    /* Who is in a process of its own reads the host's there, whatever the device. */
    snprintf(m->clock, sizeof(m->clock), "%s",
             bench->variant->repeat ? CLOCK_NS_NAME : device->ops->clock);
}

/* Of sizes that no machine could hold, which are refused in words soon. */
static double amount_or_unknown(double amount)
{
    return fact_is_amount(amount) ? amount : NAN;
}

void case_describe(const struct benchmark *bench, const struct device *device,
                   struct measurement *m)
{
    const struct variant *v = bench->variant;
    struct work work = v->kernel->work(v->kernel, &bench->shape, v->dtype, v->math);

    case_name(bench, device, m);
    m->tolerance = v->kernel->tolerance(v->kernel, &bench->shape, v->dtype, v->math);
    m->flops = amount_or_unknown(work.flops);
    m->bytes = amount_or_unknown(work.bytes);
    if (v->kernel->tokens)
        m->tokens = amount_or_unknown(v->kernel->tokens(v->kernel, &bench->shape));
    m->footprint = kernel_footprint(v->kernel, &bench->shape, v->dtype);
    if (m->footprint > FACT_COUNT_MAX)
        m->footprint = FACT_COUNT_MAX;
}

struct need {
    int64_t bytes;
    int64_t have, allowed; /* allowed: by settings.memory_limit */
    const char *what;
};

static bool is_met(const struct need *need, struct error *why)
{
    bool limited = need->allowed < need->have;
    char needed[TEXT_UNIT_SIZE], most[TEXT_UNIT_SIZE];

    if (need->bytes <= (limited ? need->allowed : need->have))
        return true;
    error_set(why, "needs %s %s, %s are %s", text_bytes((double)need->bytes, needed), need->what,
              text_bytes((double)(limited ? need->allowed : need->have), most),
              limited ? "allowed (--memory-limit)" : "available");
    return false;
}

/* Bytes that empty the host's caches; what runs in a process of its own has some there, too. */
static int64_t flush_needs(const struct benchmark *bench, const struct device *device,
                           const struct case_settings *settings)
{
    if (bench->cache != CACHE_COLD || device->kind != DEVICE_CPU || settings->verify_only)
        return 0;
    size_t apart = bench->variant->repeat ? host_cache_flush_bytes(1) : 0;
    return (int64_t)(host_cache_flush_bytes(device->threads) + apart);
}

/* Of so many calls; there may be many of large tensors, where a launch touches little of them. At
 * most a part of all, so that sums stay below. */
static int64_t bytes_of(int64_t calls, int64_t each)
{
    const int64_t most = INT64_MAX / 16;

    return each > most / calls ? most : each * calls;
}

static int64_t workspace_of(const struct benchmark *bench, struct device *device)
{
    const struct variant *v = bench->variant;
    struct call call = {
        .variant = v, .kernel = v->kernel, .shape = bench->shape, .device = device
    };

    if (!v->workspace)
        return 0;
    call.nr_tensors = v->kernel->layout(v->kernel, &bench->shape, v->dtype, call.tensor);
    return v->workspace(&call);
}

/* What there is beside the tensors of one call and their copies on the host. */
struct extra {
    int64_t turns;     /* copies that take turns */
    int64_t workspace; /* of all calls */
    int64_t seen;      /* on the host: the weights as the check rounds them */
    int64_t flush;
};

static struct extra extra_of(const struct benchmark *bench, struct device *device,
                             const struct case_settings *settings, int64_t one)
{
    bool rotates = bench->cache == CACHE_ROTATE;
    int64_t copies = rotates ? copies_needed(bench, device) : 1;
    /* What code in another process returns for each is kept there until it is looked at. */
    int64_t kept = bench->variant->repeat ? 2 : 1;

    return (struct extra) { .turns = rotates ? kept * bytes_of(copies, one) : 0,
                            .workspace = bytes_of(copies, workspace_of(bench, device)),
                            .seen = seen_inputs_bytes(bench),
                            .flush = flush_needs(bench, device, settings) };
}

/* Of a variant whose problem stands: what is available is beside its tensors, what is allowed is
 * not. */
static bool workspace_fits(const struct benchmark *bench, struct device *device, int64_t limit,
                           struct error *why)
{
    int64_t allowed = limit - buffers_bytes(bench) - seen_inputs_bytes(bench);
    struct need need = { workspace_of(bench, device), device->ops->available(device), allowed,
                         "(packed weights and workspace, beside inputs and outputs)" };

    return is_met(&need, why);
}

/* True where the case's memory can be had; else why not. A GPU has memory of its own, and the host
 * keeps a copy. */
static bool benchmark_fits(const struct benchmark *bench, struct device *device,
                           const struct case_settings *settings, struct error *why)
{
    int64_t both = buffers_bytes(bench), one = both == INT64_MAX ? both : both / 2;
    struct extra extra = { 0 };
    int64_t allowed = settings->memory_limit > 0 ? settings->memory_limit : INT64_MAX;
    bool gpu = device->ops->own_memory;

    if (settings->problem && problem_is(settings->problem, bench, device, settings->seed))
        return workspace_of(bench, device) == 0 ||
               workspace_fits(bench, device, gpu ? INT64_MAX : allowed, why);
    if (both < INT64_MAX / 2)
        extra = extra_of(bench, device, settings, one);
    int64_t beside = extra.turns + extra.workspace + extra.flush;
    struct need own = { (gpu ? one : both + extra.seen) + beside, device->ops->available(device),
                        gpu ? INT64_MAX : allowed,
                        gpu ? "on the device (inputs and outputs)"
                        : extra.flush
                            ? "(inputs, outputs and their check, and what empties the caches)"
                        : extra.workspace
                            ? "(inputs, outputs and their check, packed weights and workspace)"
                            : "(inputs, outputs and their check)" };
    struct need copies = { gpu ? one + extra.seen : 0, gpu ? device_host_available(device) : 0,
                           allowed, "on the host (copies of inputs and outputs, for the check)" };

    return is_met(&own, why) && is_met(&copies, why);
}

/* Of code in a process of its own. */
static const char *refuse_apart(const struct device *device, const struct case_settings *settings)
{
    if (device_label_of(device->label).graph)
        return "it runs in a process of its own, and a CUDA graph is captured in the one that "
               "launches: use --device cuda; what captures a graph itself may replay it there";
    if (settings->profiling)
        return "it runs in a process of its own, whose scopes are not read; Python has profilers "
               "of its own";
    if (settings->plant > 0)
        return "a slow-down can be planted in code that runs in this process alone";
    return NULL;
}

static const char *refuse_rotation(const struct benchmark *bench, const struct device *device,
                                   const struct case_settings *settings)
{
    if (!device->ops->rotates)
        return "--cache rotate is for a device whose launches take turns, as those of the CPU and "
               "of CUDA do; try cold";
    if (device_label_of(device->label).graph)
        return "--cache rotate is for launches one by one: a graph has its addresses within; try "
               "--device cuda";
    if (settings->profiling || settings->plant > 0)
        return "with --cache rotate nothing is profiled and no slow-down planted";
    if (copies_needed(bench, device) > COPIES_MAX)
        return "a launch touches so little that --cache rotate would need thousands of copies; try "
               "cold";
    return NULL;
}

/* What is filled is what holds random numbers, and must hold what the file has. */
static bool inputs_fit(const struct benchmark *bench, struct error *why)
{
    const struct variant *v = bench->variant;
    struct tensor t[TENSOR_MAX];
    int nr = v->kernel->layout(v->kernel, &bench->shape, v->dtype, t), reached = 0;

    if (input_fill_check_names(bench->inputs, t, nr, why)) {
        error_prefix(why, "--fill");
        return false;
    }
    for (int i = 0; i < nr; i++) {
        const struct input_fill *fill = input_fill_of(bench->inputs, &t[i]);
        int64_t beyond = fill ? input_fill_beyond(fill, &t[i]) : -1;
        if (beyond >= 0) {
            error_set(why, "--fill: element %lld of %s is beyond what %s holds (tensor %s)",
                      (long long)beyond, fill->path, dtype_name(t[i].dtype), t[i].name);
            return false;
        }
        reached += fill != NULL;
    }
    if (reached > 0 || bench->inputs->kind == INPUT_EACH)
        return true;
    error_set(why,
              "--fill %s: none of its inputs is of random numbers; tokens, constants and "
              "the parameters of a model stay as they are",
              bench->inputs->name);
    return false;
}

bool case_supported(const struct benchmark *bench, struct device *device,
                    const struct case_settings *settings, struct measurement *m)
{
    const struct variant *v = bench->variant;
    const char *refusal = v->kernel->refuses ? v->kernel->refuses(v->kernel, &bench->shape) : NULL;
    struct error why;

    if (!refusal && v->repeat)
        refusal = refuse_apart(device, settings);
    if (!refusal && settings->profiling && settings->sampling.steady)
        refusal = "with --clock steady nothing is profiled: the times of a profile are not its aim";
    if (!refusal && bench->cache == CACHE_ROTATE)
        refusal = refuse_rotation(bench, device, settings);
    if (refusal) {
        case_end(m, OUTCOME_UNSUPPORTED, refusal);
    } else if (bench->inputs && !inputs_fit(bench, &why)) {
        case_end(m, OUTCOME_UNSUPPORTED, why.message);
    } else if (!benchmark_fits(bench, device, settings, &why)) {
        case_end(m, OUTCOME_UNSUPPORTED, why.message);
    } else if (v->supports && !v->supports(v->kernel, &bench->shape, device, &why)) {
        case_end(m, OUTCOME_UNSUPPORTED, why.message);
    } else {
        return true;
    }
    return false;
}
