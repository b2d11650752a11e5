/* SPDX-License-Identifier: MIT */
#include "measure/sweep.h"

#include "base/memory.h"
#include "base/random.h"
#include "core/clock.h"
#include "measure/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    const struct sweep *sweep;
    const struct sweep_sink *sink;
    struct device device;    /* ours only to name things */
    struct benchmark *order; /* the cases of the launch in hand */
    size_t *index;           /* of order[i] in sweep->benchmarks */
    size_t nr;               /* cases of the launch in hand */
    size_t base;             /* where the job of the current process begins in `order` */
    bool *dropped;           /* by index in sweep->benchmarks: not to be tried again */
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

static void on_begin(void *context, size_t index)
{
    struct state *s = context;
    struct benchmark_name name;

    benchmark_name_of(&s->order[s->base + index], &s->device, &name);
    tell_progress(s, name.key);
}

static int on_end(void *context, size_t index, struct measurement *m, struct error *err)
{
    struct state *s = context;

    s->done++;
    if (m->outcome == OUTCOME_FAILED || m->outcome == OUTCOME_UNSUPPORTED)
        s->dropped[s->index[s->base + index]] = true;
    return s->sink->measurement(s->sink->context, &s->launch, m, err);
}

/* The last lines of what a process wrote before it ended. */
static const char *tail(const char *text)
{
    enum { TAIL = 400 };
    size_t length = text ? strlen(text) : 0;

    if (length <= TAIL)
        return text ? text : "";
    const char *cut = text + length - TAIL, *newline = strchr(cut, '\n');
    return newline && newline[1] ? newline + 1 : cut;
}

/* The case in hand of a process that did not come back. */
static int record_loss(struct state *s, const struct launch_result *r, struct error *err)
{
    const struct benchmark *b = &s->order[s->base + (size_t)r->current];
    struct measurement m;
    struct error message;
    const char *last = tail(r->error_text);

    case_describe(b, &s->device, &m);
    m.outcome = OUTCOME_FAILED;
    m.checked = 0;
    if (r->end == LAUNCH_TIMED_OUT)
        error_set(&message, "killed: no result within %g s", s->sweep->case_timeout);
    else if (r->exit_status < 0)
        error_set(&message, "the process died by signal %d (%s)%s%s", -r->exit_status,
                  strsignal(-r->exit_status), *last ? ": " : "", last);
    else
        error_set(&message, "the process exited with status %d%s%s", r->exit_status,
                  *last ? ": " : "", last);
    m.message = memory_string(message.message);
    int rc = on_end(s, (size_t)r->current, &m, err);
    measurement_release(&m);
    return rc;
}

static void new_launch(struct state *s)
{
    int seq = s->launch.seq;

    launch_release(&s->launch);
    s->launch = (struct launch) { .seq = seq + 1, .started_ms = clock_epoch_ms() };
}

/* One process over order[base..nr). Advances base past what is finished or lost. */
static int run_process(struct state *s, bool *interrupted, struct error *err)
{
    struct launch_sink sink = { .context = s, .begin = on_begin, .end = on_end };
    struct launch_limits limits = { s->sweep->case_timeout, s->sweep->interrupted };
    struct job job = {
        .device_spec = s->sweep->device_spec,
        .settings = s->sweep->settings,
        .cases = s->order + s->base,
        .nr = s->nr - s->base,
    };
    struct launch_result result;
    size_t before = s->done;

    new_launch(s);
    job.settings.seed = random_u64(&s->random);
    if (s->sink->launch_begin(s->sink->context, &s->launch, err))
        return -1;
    int rc = launch_run(&job, &limits, &sink, &result, err);
    s->launch.ended_ms = clock_epoch_ms();
    s->launch.exit_status = result.exit_status;
    s->launch.error_text = result.end == LAUNCH_DONE ? NULL : memory_string(result.error_text);
    bool lost = result.end == LAUNCH_DIED || result.end == LAUNCH_TIMED_OUT;
    if (rc == 0 && lost && result.current >= 0)
        rc = record_loss(s, &result, err);
    else if (rc == 0 && lost && s->done == before) /* else the rest is tried in a new process */
        rc = error_set(err, "the measuring process ended before its first case (status %d): %s",
                       result.exit_status, tail(result.error_text));
    if (rc == 0)
        rc = s->sink->launch_end(s->sink->context, &s->launch, err);
    s->base += s->done - before;
    *interrupted = result.end == LAUNCH_INTERRUPTED;
    free(result.error_text);
    return rc;
}

static void shuffle_cases(struct state *s)
{
    size_t *order = memory_zeroed(s->sweep->nr, sizeof(*order));

    random_permutation(&s->random, order, s->sweep->nr);
    for (size_t i = 0; s->sweep->in_order && i < s->sweep->nr; i++)
        order[i] = i;
    s->nr = s->base = 0;
    for (size_t i = 0; i < s->sweep->nr; i++) {
        if (s->dropped[order[i]])
            continue;
        s->index[s->nr] = order[i];
        s->order[s->nr++] = s->sweep->benchmarks[order[i]];
    }
    free(order);
    s->total = s->done + s->nr * (size_t)(s->sweep->launches - s->round + 1);
}

static bool budget_spent(const struct state *s)
{
    return s->sweep->budget > 0 && (double)(clock_ns() - s->start) * 1e-9 > s->sweep->budget;
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
        while (s->base < s->nr && !interrupted)
            if (run_process(s, &interrupted, err))
                return -1;
        if (interrupted) {
            *end = SWEEP_INTERRUPTED;
            return 0;
        }
    }
    return 0;
}

int sweep_run(const struct sweep *sweep, const struct sweep_sink *sink, enum sweep_end *end,
              struct error *err)
{
    struct state s = { .sweep = sweep, .sink = sink, .launch.seq = -1, .start = clock_ns() };

    if (device_open(&s.device, sweep->device_spec, err))
        return -1;
    s.order = memory_zeroed(sweep->nr + 1, sizeof(*s.order));
    s.index = memory_zeroed(sweep->nr + 1, sizeof(*s.index));
    s.dropped = memory_zeroed(sweep->nr + 1, sizeof(*s.dropped));
    random_seed(&s.random, sweep->settings.seed ? sweep->settings.seed : random_fresh_seed());
    int rc = run_rounds(&s, end, err);
    launch_release(&s.launch);
    free(s.order);
    free(s.index);
    free(s.dropped);
    device_close(&s.device);
    return rc;
}

struct ceiling_sink {
    struct ceiling *out;
    int nr;
};

static int keep_ceilings(void *context, const struct ceiling *c, int nr, struct error *err)
{
    struct ceiling_sink *sink = context;

    (void)err;
    memcpy(sink->out, c, (size_t)nr * sizeof(*c));
    sink->nr = nr;
    return 0;
}

int sweep_ceilings(const char *device_spec, struct ceiling *out,
                   const volatile sig_atomic_t *interrupted, struct error *err)
{
    struct ceiling_sink kept = { .out = out };
    struct launch_sink sink = { .context = &kept, .ceilings = keep_ceilings };
    struct launch_limits limits = { 120, interrupted };
    struct job job = { .device_spec = device_spec,
                       .settings.sampling = sampling_default,
                       .ceilings = true };
    struct launch_result result;
    int rc = launch_run(&job, &limits, &sink, &result, err);

    if (rc == 0 && result.end != LAUNCH_DONE)
        rc = error_set(err, "measuring the machine's roofs failed (status %d): %s",
                       result.exit_status, tail(result.error_text));
    free(result.error_text);
    return rc ? -1 : kept.nr;
}
