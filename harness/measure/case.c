/* SPDX-License-Identifier: MIT */
#include "measure/case_parts.h"

#include "base/array.h"
#include "base/text.h"
#include "core/clock.h"
#include "machine/probe.h"
#include "machine/telemetry.h"
#include "measure/copies.h"
#include "measure/gbench_loop.h"
#include "measure/plant.h"
#include "measure/profiling_counters.h"
#include "measure/steady.h"
#include "measure/warmup.h"
#include "process/peak_memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>

/* Batches that tell how long a launch takes, before a share of it is planted. */
enum { PLANT_LOOKS = 15 };
/* ns that are lost before and behind the calls of another process: reading its clock there, and
 * being woken; of a device's also waiting for that. */
enum { FAR_STEP_NS = 1000, FAR_DEVICE_STEP_NS = 5000 };
/* Samples whose instructions are counted. */
enum { COUNT_LOOKS = 3 };

/* What the steps below share. */
struct state {
    const struct case_settings *settings;
    struct measurement *m;
    struct problem own, *problem;
    struct call call;
    struct plant plant;
    const struct input_fill *inputs;
    struct copies copies;       /* beside the first, which `call` is */
    uint64_t turns;             /* launches of copies so far */
    const struct call *current; /* whose turn it is; copies end with the first */
    bool prepared, begun, cold, rotates;
    bool restores;     /* in-out tensors are as they were before each launch */
    double elapsed_ns; /* of the samples so far */
    struct steady steady;
    struct telemetry_probe telemetry; /* of the samples; zeros before them */
    size_t capacity;
    uint64_t told; /* when the parent last heard of a run */
};

/* What a variant's own runtime met comes first: what the device says of it is a consequence. */
static int with_fault(const struct state *s, int rc, struct error *err)
{
    const struct variant *v = s->call.variant;
    const char *fault = v->fault ? v->fault(&s->call) : NULL;

    return fault ? error_set(err, "launch(): %s", fault) : rc;
}

static int set_up(struct state *s, const struct benchmark *bench, struct device *device,
                  struct error *err)
{
    const struct variant *v = bench->variant;

    device->shares = v->repeat != NULL;
    if (problem_ask(s->problem, bench, device, s->settings->seed, err))
        return -1;
    s->call = (struct call) {
        .variant = v,
        .kernel = v->kernel,
        .shape = bench->shape,
        .device = device,
        .nr_tensors = s->problem->buffers.nr,
        .cold = s->cold,
    };
    memcpy(s->call.tensor, s->problem->buffers.on_device, sizeof(s->call.tensor));
    int rc = v->prepare ? v->prepare(&s->call, err) : 0;
    if (rc == CALL_UNSUPPORTED) {
        case_end(s->m, OUTCOME_UNSUPPORTED, err->message);
        return 0;
    }
    if (rc)
        return error_prefix(err, "prepare");
    s->prepared = true;
    s->current = &s->call;
    if (device->ops->begin && with_fault(s, device->ops->begin(device, &s->call, err), err))
        return -1;
    s->begun = true;
    return 0;
}

/* Numbers that no kernel's tolerance was derived for. */
static bool is_from_file(const struct state *s)
{
    return input_fill_has_file(s->inputs);
}

static int judge_outputs(struct state *s, bool right, const char *when)
{
    struct check *c = &s->problem->check;
    const struct variant *v = s->call.variant;
    const char *known = v->explain ? v->explain(&s->call) : "";
    struct error message;

    s->m->max_error = c->max_error;
    if (right)
        return 0;
    if (!c->where[0])
        return -1; /* the download failed: err says how */
    if (known && *known)
        error_set(&message, "%s%s", when, known);
    else if (c->max_error > c->tolerance)
        error_set(&message, "%s%s (error %.3g, tolerance %.3g, relative to rms)%s", when, c->where,
                  c->max_error, c->tolerance,
                  is_from_file(s) ? "; that tolerance is for numbers around 0 of a spread of 1, "
                                    "and those of --fill's file may be harder"
                                  : "");
    else
        error_set(&message, "%s%s%s", when, c->where,
                  isnan(c->max_error) ? ": never written, or no number" : "");
    case_end(s->m, OUTCOME_WRONG, message.message);
    return 0;
}

/* Not before each of many short runs: the parent that wakes for it is their noise. */
static void tell_alive(struct state *s)
{
    uint64_t now = clock_ns();

    if (!s->settings->alive || (s->told && now - s->told < 100000000))
        return;
    s->told = now;
    s->settings->alive(s->settings->alive_context);
}

/* Of a program alone: what is no program is never timed before it was right. */
static bool takes_all_runs(const struct state *s)
{
    return s->settings->sampling.unwarmed && s->call.variant->execute;
}

static int verify_outputs(struct state *s, struct error *err)
{
    struct problem *q = s->problem;
    struct check *c = &q->check;

    tell_alive(s);
    if (problem_expect(q, s->call.variant->math, s->m->tolerance, s->settings->verify_only, err))
        return -1;
    s->m->checked = c->checked;
    if (is_from_file(s) && !check_expects_numbers(c, &q->buffers)) {
        case_end(
            s->m, OUTCOME_UNSUPPORTED,
            "with the numbers of --fill's file the right result is beyond what its type holds");
        return 0;
    }
    if (takes_all_runs(s)) /* each is looked at behind the samples */
        return 0;
    if (with_fault(s, s->call.device->ops->run(s->call.device, &s->call, err), err))
        return -1;
    if (judge_outputs(s, check_outputs(c, &q->buffers, err), ""))
        return -1;
    measurement_add_telemetry(s->m, "weights_error", c->weights_error); /* not where it is NaN */
    if (s->m->outcome != OUTCOME_OK)
        return 0;
    return judge_outputs(s, check_inputs_unchanged(c, &q->buffers, err), "");
}

/* A guest that joins a kernel of harness may change of its in-out tensors what that never does. */
static bool has_to_restore(const struct state *s)
{
    bool has = false;

    for (int i = 0; i < s->call.nr_tensors; i++)
        has |= s->call.tensor[i].role == TENSOR_INOUT;
    return has && (s->call.variant->flags & VARIANT_GUEST);
}

static int restore_tensors(struct state *s, struct error *err)
{
    struct device *d = s->call.device;

    for (int i = 0; s->restores && i < s->call.nr_tensors; i++) {
        const struct tensor *t = &s->problem->buffers.host[i];
        if (t->role == TENSOR_INOUT &&
            d->ops->upload(d, s->current->tensor[i].data, t->data, (size_t)tensor_bytes(t), err))
            return -1;
    }
    return 0;
}

static void next_turn(struct state *s)
{
    for (unsigned i = 0; s->rotates && i < s->m->batch; i++)
        s->current = s->current->next;
    s->turns += s->m->batch;
}

/* Makes the caches and in-out tensors what they are to be, and runs a batch. */
static int time_batch(struct state *s, uint64_t *ns, struct error *err)
{
    struct device *d = s->call.device;

    if (restore_tensors(s, err) || (s->cold && d->ops->flush(d, err)) ||
        d->ops->time(d, s->current, s->m->batch, ns, err))
        return -1;
    next_turn(s);
    return 0;
}

/* Flushing counts as time spent: it may take a thousand times what it prepares for. A device may
 * still be at it when flush() returns, so the clock runs until the sample is there. */
static int take_sample(void *context, uint64_t *ns, struct error *err)
{
    struct state *s = context;
    struct measurement *m = s->m;

    tell_alive(s);
    uint64_t start = clock_ns();
    if (time_batch(s, ns, err))
        return -1;
    m->samples = array_grow(m->samples, m->nr_samples, &s->capacity, sizeof(*m->samples));
    m->samples[m->nr_samples++] = *ns;
    double whole = s->cold || s->restores ? (double)(clock_ns() - start) : 0;
    s->elapsed_ns += fmax((double)*ns, whole);
    steady_look(&s->steady, false, &m->nr_samples, &s->elapsed_ns);
    telemetry_look(&s->telemetry);
    return 0;
}

/* Whether what a launch takes is taken by this process. */
static bool is_own(const struct state *s)
{
    return s->call.device->kind == DEVICE_CPU && !s->call.variant->repeat;
}

/* Launches one by one, which are forgotten. */
static int warm_up(struct state *s, struct error *err)
{
    const struct sampling *rule = &s->settings->sampling;
    const struct clock_eye *eye = s->settings->eye;
    struct warmup_rule until;
    struct clock_eye usual;
    struct warmup w;
    uint64_t ns;

    s->m->batch = 1;
    if (takes_all_runs(s))
        return 0;
    if (!eye)
        eye = clock_eye_init(&usual, is_own(s), s->settings->gpu);
    until = warmup_rule(rule->warmup, rule->warmup_limit, eye);
    warmup_begin(&w, &until);
    do
        if (take_sample(s, &ns, err))
            return -1;
    while (!warmup_over(&w, s->m->samples, s->m->nr_samples, s->elapsed_ns));
    s->m->warmups = (unsigned)s->m->nr_samples;
    warmup_tell(&w, s->m);
    return rule->steady ? steady_begin(&s->steady, eye, warmup_mhz(&w), 2 * rule->max_time, err)
                        : 0;
}

/* A share of what a sample will show: of launches in batches, which pay for no clock and overlap.
 */
static int grow_plant(struct state *s, double launch_ns, struct error *err)
{
    double times[PLANT_LOOKS];
    struct device *d = s->call.device;
    uint64_t ns;

    if (s->m->batch > 1) {
        for (int i = 0; i < PLANT_LOOKS; i++) {
            if (d->ops->time(d, &s->call, s->m->batch, &ns, err))
                return -1;
            times[i] = (double)ns / s->m->batch;
        }
        launch_ns = stats_median(times, PLANT_LOOKS);
    }
    return plant_grow(&s->plant, &s->call, launch_ns, s->m->batch, err);
}

static int begin_sampling(struct state *s, struct error *err)
{
    struct measurement *m = s->m;
    bool alone = s->cold || s->restores || takes_all_runs(s);
    double launch_ns = m->nr_samples ? warmup_median(m->samples, m->nr_samples) : 0;

    double step = s->call.device->clock_step;
    if (s->call.variant->repeat)
        step = fmax(step, s->call.device->ops->own_memory ? FAR_DEVICE_STEP_NS : FAR_STEP_NS);
    m->batch = alone ? 1 : sampling_batch(launch_ns, step);
    m->nr_samples = 0;
    s->elapsed_ns = 0;
    return s->settings->plant > 0 ? grow_plant(s, launch_ns, err) : 0;
}

/* Rounds double, so that the rule's sorting stays cheap, but none is longer than a tenth of the
 * time allowed. */
static int64_t next_round(void *context)
{
    struct state *s = context;
    struct measurement *m = s->m;
    const struct sampling *rule = &s->settings->sampling;

    steady_look(&s->steady, true, &m->nr_samples, &s->elapsed_ns);
    int64_t nr = (int64_t)m->nr_samples;
    if (steady_is_lost(&s->steady))
        return 0;
    m->stop = sampling_decide(rule, m->samples, m->nr_samples, s->elapsed_ns * 1e-9);
    if (m->stop != STOP_NONE)
        return 0;
    if (rule->iterations > 0)
        return rule->iterations - nr;
    double tenth = 0.1 * rule->max_time * 1e9 / (s->elapsed_ns / (double)(nr ? nr : 1) + 1);
    int64_t first = takes_all_runs(s) ? 1 : 3;
    int64_t round = nr == 0 ? first : nr < (int64_t)tenth ? nr : (int64_t)tenth;
    int64_t room = rule->max_samples - nr;
    round = round < room ? round : room;
    return round < 1 ? 1 : round;
}

static int restore_for_profile(void *context, struct error *err)
{
    return restore_tensors(context, err);
}

static struct profiled_call profiled_call_of(struct state *s)
{
    return (struct profiled_call) { .call = &s->call,
                                    .cold = s->cold,
                                    .inputs = s->inputs,
                                    .gpu = s->settings->gpu,
                                    .restore = restore_for_profile,
                                    .context = s };
}

static int take_samples(struct state *s, struct error *err)
{
    const struct case_settings *settings = s->settings;
    struct loop loop = {
        .name = s->m->bench.key,
        .context = s,
        .sample = take_sample,
        .next = next_round,
    };

    if (!settings->profiling)
        return loop_run(&loop, err);
    const struct profiled_call what = profiled_call_of(s);
    return profiling_run(settings->profiling, &what, s->m, settings->profiled, err);
}

/* Samples beside the timed ones, so that no time has to do with it; their times are forgotten.
 * Flushing is not counted. */
static int count_events(struct state *s, struct error *err)
{
    double sums[COUNTER_NR] = { 0 }, counts[COUNTER_NR];
    struct device *d = s->call.device;
    uint64_t ns;

    if (!s->settings->counters || !is_own(s))
        return 0;
    for (int i = 0; i < COUNT_LOOKS; i++) {
        if (restore_tensors(s, err) || (s->cold && d->ops->flush(d, err)))
            return -1;
        counters_begin(s->settings->counters);
        int rc = d->ops->time(d, s->current, s->m->batch, &ns, err);
        counters_end(s->settings->counters, counts);
        if (rc)
            return -1;
        next_turn(s);
        for (int c = 0; c < COUNTER_NR; c++)
            sums[c] += counts[c] / ((double)COUNT_LOOKS * s->m->batch);
    }
    for (int c = 0; c < COUNTER_NR; c++)
        measurement_add_telemetry(s->m, counter_name((enum counter)c), sums[c]);
    return 0;
}

/* What the check has left of the outputs goes: a launch that finds its work done would be right for
 * nothing. Copies are made of that. */
static int make_ready(struct state *s, const struct benchmark *bench, struct error *err)
{
    s->restores = has_to_restore(s);
    if (buffers_poison_outputs(&s->problem->buffers, err))
        return -1;
    if (!s->rotates)
        return 0;
    return copies_make(&s->copies, &s->problem->buffers, &s->call,
                       copies_needed(bench, s->call.device), err);
}

/* Of copies each that was launched. */
static int verify_again(struct state *s, struct error *err)
{
    const char *when = takes_all_runs(s) ? "" : "after timing: ";
    int rc = judge_outputs(s, check_outputs(&s->problem->check, &s->problem->buffers, err), when);

    for (size_t i = 0; rc == 0 && i < s->copies.nr && i + 1 < s->turns; i++) {
        if (s->m->outcome != OUTCOME_OK)
            return 0;
        struct buffers view = copies_view(&s->problem->buffers, &s->copies.calls[i]);
        rc = judge_outputs(s, check_outputs(&s->problem->check, &view, err),
                           "after timing, of a copy: ");
    }
    return rc;
}

static int sample_case(struct state *s, struct error *err)
{
    bool own = is_own(s);
    double before = probe_ns(s->call.device);

    if (s->settings->plant > 0 &&
        plant_init(&s->plant, s->settings->plant, s->call.device, &s->call, err))
        return -1;
    if (warm_up(s, err) || begin_sampling(s, err))
        return -1;
    own = own && peak_memory_begin();
    telemetry_begin(&s->telemetry, s->settings->gpu);
    int rc = take_samples(s, err);
    telemetry_end(&s->telemetry, s->m);
    rc = rc ? rc : steady_end(&s->steady, s->m, err);
    if (own)
        measurement_add_telemetry(s->m, "peak_rss_bytes",
                                  peak_memory_bytes() - (double)s->call.device->flush_held);
    if (with_fault(s, rc, err))
        return -1;
    if (s->call.variant->facts) /* of the samples, behind which no launch was yet */
        s->call.variant->facts(&s->call, s->m);
    if (count_events(s, err))
        return -1;
    /* Behind the telemetry, which is that of the timed iterations. */
    const struct profiled_call what = profiled_call_of(s);
    if (s->settings->profiling &&
        profiling_count(s->settings->profiling, &what, &s->settings->profiled->kernels, err))
        return -1;
    if (s->settings->plant > 0) /* no history shall take it for the kernel's own time */
        measurement_add_telemetry(s->m, "planted_percent", 100 * s->settings->plant);
    measurement_add_telemetry(s->m, TELEMETRY_MACHINE, sqrt(before * probe_ns(s->call.device)));
    return verify_again(s, err);
}

static int run_steps(struct state *s, const struct benchmark *bench, struct device *device,
                     struct error *err)
{
    if (set_up(s, bench, device, err) || (s->prepared && verify_outputs(s, err)))
        return -1;
    if (s->m->outcome != OUTCOME_OK || s->settings->verify_only)
        return 0;
    return make_ready(s, bench, err) ? -1 : sample_case(s, err);
}

static void drop_samples(struct measurement *m)
{
    free(m->samples);
    numbers_release(m->numbers, m->nr_numbers);
    m->samples = NULL;
    m->nr_samples = 0;
    m->nr_numbers = 0;
    m->stop = STOP_NONE;
}

static void add_device_facts(const struct device *d, const struct case_settings *settings,
                             struct measurement *m)
{
    if (d->ops->own_memory)
        measurement_add_telemetry(m, "device_memory_peak_bytes", (double)d->memory_peak);
    telemetry_nvml_xid(settings->gpu, m);
}

/* The device may find a fault only now; then what was measured is worth nothing. */
static void take_down(struct state *s, struct device *device)
{
    plant_remove(&s->plant, &s->call);
    const struct variant *v = s->call.variant;

    copies_release(&s->copies, device);
    if (s->begun && device->ops->end)
        device->ops->end(device, &s->call);
    if (s->prepared && v->release)
        v->release(&s->call);
    problem_settle(s->problem, s->m->outcome == OUTCOME_OK && !device->broken);
    problem_release(&s->own);
    device->shares = false;
    if (device->broken && s->m->outcome == OUTCOME_OK)
        case_end(s->m, OUTCOME_FAILED, "the device failed after the last launch");
}

void case_measure(const struct benchmark *bench, struct device *device,
                  const struct case_settings *settings, struct measurement *m)
{
    uint64_t start = clock_ns();
    struct state s = { .settings = settings,
                       .m = m,
                       .inputs = bench->inputs,
                       .cold = bench->cache == CACHE_COLD,
                       .rotates = bench->cache == CACHE_ROTATE };
    struct error err = { "" };

    s.problem = settings->problem ? settings->problem : &s.own;
    if (!problem_is(s.problem, bench, device, settings->seed))
        problem_release(s.problem); /* this one may need its memory */

    case_describe(bench, device, m);
    if (settings->profiling)
        benchmark_name_operation(&m->bench, BENCHMARK_WHOLE);
    device->memory_peak = device->memory_live; /* the peak of this case */
    if (case_supported(bench, device, settings, m)) {
        if (run_steps(&s, bench, device, &err))
            case_end(m, OUTCOME_FAILED, err.message);
        take_down(&s, device);
        if (m->outcome != OUTCOME_OK)
            drop_samples(m); /* what is not right never gets a time */
        add_device_facts(device, settings, m);
    }
    m->seconds = (double)(clock_ns() - start) * 1e-9;
}
