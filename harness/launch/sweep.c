/* SPDX-License-Identifier: MIT */
#include "launch/sweep.h"

#include "base/memory.h"
#include "core/clock.h"
#include "device/devices.h"
#include "launch/remeasure.h"
#include "launch/supervisor.h"
#include "machine/measured_roofs.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct state {
    const struct sweep *sweep;
    const struct sweep_sink *sink;
    struct device_list devices; /* ours only to name things */
    size_t *order;              /* the cases of the round in hand: indices in sweep->benchmarks */
    size_t nr;
    size_t *part; /* those of them that one device has */
    struct disturbed_watch watch;
    struct remeasure repeats;
    bool again; /* what was disturbed is made again now */
    struct launch launch;
    struct random random;
    uint64_t start;
    size_t done, total;
    int round; /* 1-based */
};

static void tell_progress(struct state *s, const char *key)
{
    double elapsed = (double)(clock_ns() - s->start) * 1e-9;
    struct sweep_progress p = {
        .done = s->done,
        .total = s->total,
        .launch = s->round,
        .launches = s->sweep->launches,
        .elapsed = elapsed,
        .left = s->done ? elapsed / (double)s->done * (double)(s->total - s->done) : NAN,
        .key = key,
    };

    if (s->sink->progress)
        s->sink->progress(s->sink->context, &p);
}

static void on_begin(void *context, const char *key)
{
    tell_progress(context, key);
}

static int on_end(void *context, size_t which, struct measurement *m, struct error *err)
{
    struct state *s = context;

    s->done++;
    return remeasure_measured(&s->repeats, which, s->again ? NULL : &s->launch, m, err);
}

static int on_operation(void *context, size_t which, struct measurement *m, struct error *err)
{
    struct state *s = context;

    (void)which;
    return s->sink->measurement(s->sink->context, &s->launch, m, err);
}

/* Every process is a launch of its own, but for those that make something again. */
static int on_process_begin(void *context, struct error *err)
{
    struct state *s = context;
    int seq = s->launch.seq;

    if (s->again)
        return 0;

    launch_release(&s->launch);
    s->launch = (struct launch) { .seq = seq + 1, .started_ms = clock_epoch_ms() };
    return s->sink->launch_begin(s->sink->context, &s->launch, err);
}

static int on_process_end(void *context, const struct launch_result *r, struct error *err)
{
    struct state *s = context;

    if (s->again)
        return 0;
    supervisor_note_end(&s->launch, r);
    return s->sink->launch_end(s->sink->context, &s->launch, err);
}

static size_t sweep_device_of(const struct state *s, size_t benchmark)
{
    return s->sweep->device_of ? (size_t)s->sweep->device_of[benchmark] : 0;
}

static int run_set(struct state *s, size_t device, bool *interrupted, struct error *err)
{
    const struct supervisor_sink sink = {
        .context = s,
        .process_begin = on_process_begin,
        .process_end = on_process_end,
        .begin = on_begin,
        .end = on_end,
        .operation = on_operation,
    };
    struct supervised set = {
        .device = &s->devices.items[device],
        .limits = { .case_timeout = s->sweep->case_timeout, .interrupted = s->sweep->interrupted },
        .settings = s->sweep->settings,
        .benchmarks = s->sweep->benchmarks,
        .plant = s->sweep->plant,
        .order = s->part,
    };

    for (size_t i = 0; i < s->nr; i++)
        if (sweep_device_of(s, s->order[i]) == device)
            s->part[set.nr++] = s->order[i];
    if (set.nr == 0)
        return 0;
    set.settings.seed = random_u64(&s->random);
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
    return !s->sink->wants || s->sink->wants(s->sink->context, which);
}

static void shuffle_cases(struct state *s)
{
    const struct sweep *sweep = s->sweep;

    random_permutation(&s->random, s->order, sweep->nr);
    for (size_t i = 0; sweep->in_order && i < sweep->nr; i++)
        s->order[i] = i;
    s->nr = 0;
    for (size_t i = 0; i < sweep->nr; i++)
        if (!s->repeats.lost[s->order[i]] && sweep_wants(s, s->order[i]))
            s->order[s->nr++] = s->order[i];
    s->total = s->done + s->nr * (size_t)(sweep->launches - s->round + 1);
}

static bool budget_spent(const struct state *s)
{
    return s->sweep->budget > 0 && (double)(clock_ns() - s->start) * 1e-9 > s->sweep->budget;
}

/* As many rounds as it takes, or as the budgets allow. */
static int run_again(struct state *s, enum sweep_end *end, struct error *err)
{
    bool interrupted = false;
    int rc = 0;

    s->again = true;
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
    bool interrupted = false;

    *end = SWEEP_DONE;
    for (s->round = 1; s->round <= s->sweep->launches; s->round++) {
        if (s->round > 1 && budget_spent(s)) {
            *end = SWEEP_BUDGET;
            return 0;
        }
        shuffle_cases(s);
        if (s->sink->wants && s->nr == 0)
            return 0;
        if (run_sets(s, &interrupted, err) || remeasure_settle(&s->repeats, err))
            return -1;
        if (interrupted) {
            *end = SWEEP_INTERRUPTED;
            return 0;
        }
        if (s->sink->round_end && s->sink->round_end(s->sink->context, err))
            return -1;
    }
    return 0;
}

int sweep_run(const struct sweep *sweep, const struct sweep_sink *sink, enum sweep_end *end,
              struct error *err)
{
    struct state s = { .sweep = sweep, .sink = sink, .launch.seq = -1, .start = clock_ns() };

    if (devices_open(&s.devices, sweep->device_spec, err)) {
        devices_close(&s.devices);
        return -1;
    }
    s.part = memory_zeroed(sweep->nr + 1, sizeof(*s.part));
    s.order = memory_zeroed(sweep->nr + 1, sizeof(*s.order));
    remeasure_init(&s.repeats, &s.watch, sink, sweep->nr);
    s.repeats.once = sweep->once || sweep->settings.profiling;
    random_seed(&s.random, sweep->settings.seed ? sweep->settings.seed : random_fresh_seed());
    int rc = run_rounds(&s, end, err);
    if (rc == 0)
        rc = run_again(&s, end, err);
    rc = remeasure_end(&s.repeats, rc, err);
    launch_release(&s.launch);
    free(s.order);
    free(s.part);
    remeasure_release(&s.repeats);
    disturbed_watch_release(&s.watch);
    devices_close(&s.devices);
    return rc;
}

struct roof_sink {
    struct roof *out;
    int nr;
};

static int keep_roofs(void *context, const struct roof *c, int nr, struct error *err)
{
    struct roof_sink *sink = context;

    (void)err;
    memcpy(sink->out, c, (size_t)nr * sizeof(*c));
    sink->nr = nr;
    return 0;
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
    struct roof_sink kept = { .out = out };
    struct launch_sink sink = { .context = &kept, .roofs = keep_roofs };
    struct launch_limits limits = { .case_timeout = 120, .interrupted = interrupted };
    struct job job = { .device_spec = device_spec,
                       .settings.sampling = sampling_default,
                       .roofs = true };
    struct launch_result result;
    int rc = launch_run(&job, &limits, &sink, &result, err);

    if (rc == 0 && result.end == LAUNCH_TIMED_OUT)
        rc = error_set(err,
                       "measuring the machine's roofs took longer than %.0f s and was stopped: the "
                       "machine is busy: `harness doctor` says with what",
                       result.allowed);
    else if (rc == 0 && result.end != LAUNCH_DONE)
        rc = roofs_failed(&result, err);
    free(result.error_text);
    return rc ? -1 : kept.nr;
}
