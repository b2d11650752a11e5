/* SPDX-License-Identifier: MIT */
#include "launch/supervisor.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct state {
    const struct supervised *set;
    const struct case_sink *sink;
    struct benchmark *cases; /* in the order of the set, as are their slow-downs */
    double *plant;
    size_t base; /* where the job of the current process begins in these */
    size_t done; /* of that job */
};

const char *supervisor_last_words(const struct launch_result *r)
{
    enum { TAIL = 400 };
    size_t length = r->error_text ? strlen(r->error_text) : 0;

    if (length <= TAIL)
        return r->error_text ? r->error_text : "";
    const char *cut = r->error_text + length - TAIL, *newline = strchr(cut, '\n');
    return newline && newline[1] ? newline + 1 : cut;
}

static void on_begin(void *context, size_t index)
{
    const struct state *s = context;

    s->sink->begin(s->sink->context, s->set->order[index + s->base]);
}

/* What a program says of a variant that it lacks has no name yet. */
static void name_nameless(const struct state *s, const struct benchmark *b, struct measurement *m)
{
    struct measurement named;

    if (b->variant->kernel->guest) /* its code may have been what ended the process */
        case_name(b, s->set->device, &named);
    else
        case_describe(b, s->set->device, &named);
    if (s->set->what.settings.profiling)
        benchmark_name_operation(&named.bench, BENCHMARK_WHOLE);
    named.outcome = m->outcome;
    named.message = m->message;
    *m = named;
}

static int on_end(void *context, size_t index, struct measurement *m, struct error *err)
{
    struct state *s = context;

    s->done++;
    index += s->base;
    if (!m->bench.key[0])
        name_nameless(s, &s->cases[index], m);
    return s->sink->end(s->sink->context, s->set->order[index], m, err);
}

static int on_operation(void *context, size_t index, struct measurement *m, struct error *err)
{
    const struct state *s = context;

    return s->sink->operation(s->sink->context, s->set->order[index + s->base], m, err);
}

/* The case in hand of a process that did not come back. */
static int record_loss(struct state *s, const struct launch_result *r, struct error *err)
{
    const char *last = supervisor_last_words(r);
    struct measurement m = { .outcome = OUTCOME_FAILED };
    char held[TEXT_UNIT_SIZE], allowed[TEXT_UNIT_SIZE];
    struct error message;

    if (r->end == LAUNCH_TOO_LARGE)
        error_set(&message, "killed: out of memory limit, it held %s of %s allowed",
                  text_bytes((double)r->memory_held, held),
                  text_bytes((double)r->memory_limit, allowed));
    else if (r->end == LAUNCH_MISSPOKE)
        error_set(&message,
                  "killed: the channel said something that the measuring code did not: %s",
                  r->said);
    else if (r->end == LAUNCH_TIMED_OUT && r->loading)
        error_set(&message, "killed: the plugin was not loaded within %g s", r->allowed);
    else if (r->end == LAUNCH_TIMED_OUT)
        error_set(&message, "killed: no result within %g s", r->allowed);
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

/* What an earlier case of a plugin has left in the process (a thread, memory, a lock) may have been
 * what ended this one: it is made once more, as the first of a process. */
static bool may_be_innocent(const struct supervised *set, const struct launch_result *r)
{
    return r->current > 0 && guests_load(set->what.settings.guests);
}

/* Another process would fare no better. */
static int report_no_start(const struct supervised *set, const struct launch_result *r,
                           struct error *err)
{
    const char *program = set->what.limits.program;
    const char *last = r->end == LAUNCH_MISSPOKE ? r->said : supervisor_last_words(r);
    size_t length = strlen(last);

    if (length > 0 && last[length - 1] == '\n')
        length--;
    error_set(err, "the measuring process %s before its first case (status %d): %.*s",
              r->end == LAUNCH_TIMED_OUT   ? "said nothing and was killed"
              : r->end == LAUNCH_MISSPOKE  ? "said what no harness says"
              : r->end == LAUNCH_TOO_LARGE ? "held more than the memory limit and was killed"
                                           : "ended",
              r->exit_status, (int)length, last);
    return program ? error_prefix(err, "%s", program) : -1;
}

static int note_losses(struct state *s, const struct launch_result *r, struct error *err)
{
    if (r->end == LAUNCH_DONE || r->end == LAUNCH_INTERRUPTED)
        return 0;
    if (r->current >= 0)
        return may_be_innocent(s->set, r) ? 0 : record_loss(s, r, err);
    return s->done > 0 ? 0 : report_no_start(s->set, r, err);
}

/* One process over the cases from base on. Advances base past what is finished or lost. */
static int run_process(struct state *s, bool *interrupted, struct error *err)
{
    const struct supervised *set = s->set;
    const struct case_sink *up = s->sink;
    const struct case_sink sink = { .context = s,
                                    .begin = up->begin ? on_begin : NULL,
                                    .end = on_end,
                                    .operation = up->operation ? on_operation : NULL };
    struct job job = {
        .device_spec = set->device->spec,
        .settings = set->what.settings,
        .cases = s->cases + s->base,
        .plant = s->plant + s->base,
        .nr = set->nr - s->base,
    };
    struct launch_result result;

    s->done = 0;
    if (up->process_begin && up->process_begin(up->context, err))
        return -1;
    int rc = launch_run(&job, &set->what.limits, &sink, &result, err);
    if (rc == 0)
        rc = note_losses(s, &result, err);
    if (rc == 0 && up->process_end)
        rc = up->process_end(up->context, &result, err);
    s->base += s->done;
    *interrupted = result.end == LAUNCH_INTERRUPTED;
    free(result.error_text);
    return rc;
}

int supervisor_run(const struct supervised *set, const struct case_sink *sink, bool *interrupted,
                   struct error *err)
{
    struct state s = { .set = set, .sink = sink };
    int rc = 0;

    *interrupted = false;
    s.cases = memory_zeroed(set->nr + 1, sizeof(*s.cases));
    s.plant = memory_zeroed(set->nr + 1, sizeof(*s.plant));
    for (size_t i = 0; i < set->nr; i++) {
        s.cases[i] = set->what.benchmarks[set->order[i]];
        s.plant[i] = set->plant ? set->plant[set->order[i]] : 0;
    }
    while (rc == 0 && s.base < set->nr && !*interrupted)
        rc = run_process(&s, interrupted, err);
    free(s.cases);
    free(s.plant);
    return rc;
}
