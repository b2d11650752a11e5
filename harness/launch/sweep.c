/* SPDX-License-Identifier: MIT */
#include "launch/sweep.h"

#include "base/memory.h"
#include "core/clock.h"
#include "device/devices.h"
#include "launch/remeasure.h"
#include "launch/supervisor.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct state {
    const struct sweep *sweep;
    struct device_list devices; /* ours only to name things */
    size_t *order; /* the cases of the round in hand: indices in sweep->what.benchmarks */
    size_t nr;
    size_t *part; /* those of them that one device has */
    struct disturbed_watch watch;
    struct remeasure repeats;
    struct random random;
    uint64_t start;
    size_t done, total;
    int round; /* 1-based */
};

static size_t sweep_device_of(const struct state *s, size_t benchmark)
{
    return s->sweep->device_of ? (size_t)s->sweep->device_of[benchmark] : 0;
}

static void on_begin(void *context, size_t which)
{
    const struct state *s = context;
    const struct sweep *sweep = s->sweep;
    struct benchmark_name name;
    double elapsed = (double)(clock_ns() - s->start) * 1e-9;
    struct sweep_progress p = {
        .done = s->done,
        .total = s->total,
        .launch = s->round,
        .launches = sweep->launches,
        .elapsed = elapsed,
        .left = s->done ? elapsed / (double)s->done * (double)(s->total - s->done) : NAN,
        .key = name.key,
    };

    benchmark_name_of(&sweep->what.benchmarks[which], &s->devices.items[sweep_device_of(s, which)],
                      &name);
    sweep->progress(sweep->context, &p);
}

static int on_end(void *context, size_t which, struct measurement *m, struct error *err)
{
    struct state *s = context;

    s->done++;
    return remeasure_measured(&s->repeats, which, m, err);
}

static int on_operation(void *context, size_t which, struct measurement *m, struct error *err)
{
    const struct remeasure *r = &((const struct state *)context)->repeats;

    (void)which;
    return r->sink->measurement(r->sink->context, &r->launch, m, err);
}

/* Every process is a launch of its own, but for those that make something again. */
static int on_process_begin(void *context, struct error *err)
{
    struct remeasure *r = &((struct state *)context)->repeats;

    return remeasure_launch_begin(r, r->launch.seq + 1, err);
}

static int on_process_end(void *context, const struct launch_result *r, struct error *err)
{
    struct state *s = context;

    remeasure_process_end(&s->repeats, r);
    return remeasure_launch_end(&s->repeats, err);
}

static int run_set(struct state *s, size_t device, bool *interrupted, struct error *err)
{
    const struct case_sink sink = {
        .context = s,
        .process_begin = on_process_begin,
        .process_end = on_process_end,
        .begin = s->sweep->progress ? on_begin : NULL,
        .end = on_end,
        .operation = on_operation,
    };
    struct supervised set = {
        .what = s->sweep->what,
        .device = &s->devices.items[device],
        .plant = s->sweep->plant,
        .order = s->part,
    };

    for (size_t i = 0; i < s->nr; i++)
        if (sweep_device_of(s, s->order[i]) == device)
            s->part[set.nr++] = s->order[i];
    if (set.nr == 0)
        return 0;
    set.what.settings.seed = random_u64(&s->random);
    return supervisor_run(&set, &sink, interrupted, err);
}

/* The cases in `order`, a process for each device. */
static int run_sets(struct state *s, bool *interrupted, struct error *err)
{
    size_t nr = s->devices.nr;
    size_t *devices = memory_zeroed(nr, sizeof(*devices));
    int rc = 0;

    for (size_t i = 0; i < nr; i++)
        devices[i] = i;
    if (nr > 1)
        random_shuffle(&s->random, devices, nr);
    for (size_t i = 0; rc == 0 && !*interrupted && i < nr; i++)
        rc = run_set(s, devices[i], interrupted, err);
    free(devices);
    return rc;
}

static bool sweep_wants(const struct state *s, size_t which)
{
    return !s->sweep->wants || s->sweep->wants(s->sweep->context, which);
}

static void shuffle_cases(struct state *s)
{
    const struct sweep *sweep = s->sweep;

    random_permutation(&s->random, s->order, sweep->what.nr);
    for (size_t i = 0; sweep->in_order && i < sweep->what.nr; i++)
        s->order[i] = i;
    s->nr = 0;
    for (size_t i = 0; i < sweep->what.nr; i++)
        if (!s->repeats.lost[s->order[i]] && sweep_wants(s, s->order[i]))
            s->order[s->nr++] = s->order[i];
    s->total = s->done + s->nr * (size_t)(sweep->launches - s->round + 1);
}

static bool budget_spent(const struct state *s)
{
    return s->sweep->what.budget > 0 &&
           (double)(clock_ns() - s->start) * 1e-9 > s->sweep->what.budget;
}

/* As many rounds as it takes, or as the budgets allow. */
static int run_again(struct state *s, enum sweep_end *end, struct error *err)
{
    bool interrupted = false;
    int rc = 0;

    s->repeats.again = true;
    s->round = s->sweep->launches;
    while (rc == 0 && *end == SWEEP_DONE && !budget_spent(s) &&
           (s->nr = remeasure_wanted(&s->repeats, s->order)) > 0) {
        random_shuffle(&s->random, s->order, s->nr);
        s->total = s->done + s->nr;
        rc = run_sets(s, &interrupted, err);
        if (rc == 0)
            rc = remeasure_settle(&s->repeats, err);
        if (interrupted)
            *end = SWEEP_INTERRUPTED;
    }
    return rc;
}

static int run_rounds(struct state *s, enum sweep_end *end, struct error *err)
{
    const struct sweep *sweep = s->sweep;
    bool interrupted = false;

    *end = SWEEP_DONE;
    for (s->round = 1; s->round <= sweep->launches; s->round++) {
        if (s->round > 1 && budget_spent(s)) {
            *end = SWEEP_BUDGET;
            return 0;
        }
        shuffle_cases(s);
        if (sweep->wants && s->nr == 0)
            return 0;
        if (run_sets(s, &interrupted, err) || remeasure_settle(&s->repeats, err))
            return -1;
        if (interrupted) {
            *end = SWEEP_INTERRUPTED;
            return 0;
        }
        if (sweep->round_end && sweep->round_end(sweep->context, err))
            return -1;
    }
    return 0;
}

int sweep_run(const struct sweep *sweep, const struct measurement_sink *sink, enum sweep_end *end,
              struct error *err)
{
    struct state s = { .sweep = sweep, .start = clock_ns() };

    if (devices_open(&s.devices, sweep->what.device_spec, err)) {
        devices_close(&s.devices);
        return -1;
    }
    s.part = memory_zeroed(sweep->what.nr + 1, sizeof(*s.part));
    s.order = memory_zeroed(sweep->what.nr + 1, sizeof(*s.order));
    remeasure_init(&s.repeats, &s.watch, sink, sweep->what.nr);
    s.repeats.once = sweep->what.once || sweep->what.settings.profiling;
    random_seed(&s.random,
                sweep->what.settings.seed ? sweep->what.settings.seed : random_fresh_seed());
    int rc = run_rounds(&s, end, err);
    if (rc == 0)
        rc = run_again(&s, end, err);
    rc = remeasure_end(&s.repeats, rc, err);
    free(s.order);
    free(s.part);
    remeasure_release(&s.repeats);
    disturbed_watch_release(&s.watch);
    devices_close(&s.devices);
    return rc;
}

static int roofs_failed(const struct launch_result *result, struct error *err)
{
    const char *words = *result->said ? result->said : supervisor_last_words(result);
    bool killed = result->exit_status < 0;

    return error_set(err, "measuring the machine's roofs failed (%s %d)%s%s",
                     killed ? "ended by signal" : "status",
                     killed ? -result->exit_status : result->exit_status, *words ? ": " : "",
                     words);
}

int sweep_roofs(const char *device_spec, struct roof *out, const volatile sig_atomic_t *interrupted,
                struct error *err)
{
    const struct case_sink none = { .context = NULL };
    struct launch_limits limits = { .case_timeout = LAUNCH_ROOFS_TIMEOUT,
                                    .interrupted = interrupted };
    struct job job = { .device_spec = device_spec,
                       .settings.sampling = sampling_default,
                       .roofs = true };
    struct launch_result result;
    int rc = launch_run(&job, &limits, &none, &result, err);

    if (rc == 0 && result.end == LAUNCH_TIMED_OUT)
        rc = error_set(err,
                       "measuring the machine's roofs took longer than %.0f s and was stopped: the "
                       "machine is busy: `harness doctor` says with what",
                       result.allowed);
    else if (rc == 0 && result.end != LAUNCH_DONE)
        rc = roofs_failed(&result, err);
    memcpy(out, result.roofs, (size_t)result.nr_roofs * sizeof(*out));
    free(result.error_text);
    return rc ? -1 : result.nr_roofs;
}
