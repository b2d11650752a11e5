/* SPDX-License-Identifier: MIT */
/*
 * PROF_SCOPE_IN() in a loop, into buffers that were touched before: prof_overhead() measures what
 * fresh memory adds. Limit: two readings of the clock for each scope that is recorded, a load and a
 * branch for one that is off.
 */
#include "kernels/host.h"
#include "kernels/scope/scope.h"
#include "profile/profile.h"

#include <math.h>

static void nest(struct prof *prof, int64_t depth)
{
    PROF_SCOPE_IN(prof, "nested");

    if (depth > 1)
        nest(prof, depth - 1);
}

/* The same, and how deep the innermost is. */
static unsigned nest_and_look(struct prof *prof, int64_t depth)
{
    PROF_SCOPE_IN(prof, "nested");

    return depth > 1 ? nest_and_look(prof, depth - 1) : prof_depth(prof);
}

/* Six standard deviations of the binomial, and one for whole numbers: never by chance. */
static bool as_set(double calls, double rate, double recorded)
{
    return fabs(recorded - calls * rate) <= 6 * sqrt(calls * rate * (1 - rate)) + (rate < 1);
}

static void tell(const struct call *call, unsigned deepest, float *y)
{
    const struct scope_setting *setting = call->kernel->config;
    double threads = host_threads(call), depth = (double)call->shape.dim[SCOPE_DEPTH];
    double calls = threads * (double)call->shape.dim[SCOPE_CALLS];
    struct prof_counts counts;

    prof_count(call->state, &counts);
    double outermost = (double)counts.recorded / depth;
    y[SCOPE_ACCOUNTED] = (float)((outermost + (double)counts.skipped) / threads);
    y[SCOPE_AS_SET] = as_set(calls, setting->rate, outermost) ? 1 : 0;
    y[SCOPE_DROPPED] = (float)counts.dropped;
    y[SCOPE_DEEPEST] = (float)deepest;
}

static void launch(const struct call *call)
{
    const struct scope_setting *setting = call->kernel->config;
    int64_t calls = call->shape.dim[SCOPE_CALLS], depth = call->shape.dim[SCOPE_DEPTH];
    struct prof *prof = call->state;
    unsigned deepest = 0;

    if (setting->on)
        prof_clear(prof);
#pragma omp parallel num_threads(host_threads(call)) reduction(max : deepest)
    {
        for (int64_t i = 1; i < calls; i++)
            nest(prof, depth);
        deepest = nest_and_look(prof, depth);
    }
    tell(call, deepest, call->tensor[0].data);
}

static int prepare(struct call *call, struct error *err)
{
    const struct scope_setting *setting = call->kernel->config;
    int64_t scopes = call->shape.dim[SCOPE_CALLS] * call->shape.dim[SCOPE_DEPTH];
    struct prof *prof = prof_create(
        &(struct prof_options) { .records = (size_t)scopes, .rate = setting->rate, .seed = 1 });

    if (!prof || prof_set_on(prof, setting->on)) {
        prof_free(prof);
        return error_set(err, "no memory for a profiler");
    }
    if (setting->memory)
        prof_memory(prof, PROF_CPU, 1);
    call->state = prof;
    return 0;
}

static void release(struct call *call)
{
    prof_free(call->state);
    call->state = NULL;
}

#define MACRO(of)                                                                                  \
    {                                                                                              \
        .name = "macro", .summary = "PROF_SCOPE() in a loop; limit: two readings of the clock",    \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_FP32, .math = MATH_FP32,             \
        .prepare = prepare, .launch = launch, .release = release,                                  \
    }

extern const struct variant scope_macro[];
const struct variant scope_macro[] = {
    MACRO(scope_on_kernel),  MACRO(scope_memory_kernel), MACRO(scope_sampled_kernel),
    MACRO(scope_off_kernel), { .name = NULL },
};
