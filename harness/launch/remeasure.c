/* SPDX-License-Identifier: MIT */
#include "launch/remeasure.h"

#include "core/clock.h"

void remeasure_init(struct remeasure *r, struct disturbed_watch *watch,
                    const struct measurement_sink *sink, size_t benchmarks)
{
    *r = (struct remeasure) { .watch = watch, .sink = sink, .launch.seq = -1 };
    r->lost = memory_zeroed(benchmarks + 1, sizeof(*r->lost));
    r->spare = memory_zeroed(benchmarks + 1, sizeof(*r->spare));
}

void remeasure_release(struct remeasure *r)
{
    for (size_t i = 0; i < r->waiting.nr; i++)
        disturbed_case_release(&r->waiting.items[i].tries);
    array_release(&r->waiting);
    launch_release(&r->launch);
    free(r->lost);
    free(r->spare);
}

int remeasure_launch_begin(struct remeasure *r, int seq, struct error *err)
{
    const struct measurement_sink *sink = r->sink;

    if (r->again)
        return 0;
    launch_release(&r->launch);
    r->launch = (struct launch) { .seq = seq, .started_ms = clock_epoch_ms() };
    return sink->launch_begin ? sink->launch_begin(sink->context, &r->launch, err) : 0;
}

int remeasure_launch_end(struct remeasure *r, struct error *err)
{
    const struct measurement_sink *sink = r->sink;

    if (r->again || !sink->launch_end)
        return 0;
    return sink->launch_end(sink->context, &r->launch, err);
}

void remeasure_process_end(struct remeasure *r, const struct launch_result *result)
{
    struct launch *l = &r->launch;

    if (r->again)
        return;
    l->ended_ms = clock_epoch_ms();
    if (l->error_text)
        return;
    l->exit_status = result->exit_status;
    l->error_text = result->end == LAUNCH_DONE ? NULL : memory_string(result->error_text);
}

/* True: it waits; false: it stands. Until it is known what is usual, nobody can say whether a thing
 * was disturbed. */
static bool put_aside(struct remeasure *r, size_t which, int seq, struct measurement *m)
{
    disturbed_watch_note(r->watch, m);
    r->spare[which]++;
    if (!disturbed_can_tell(m) || (disturbed_watch_ready(r->watch) && !disturbed_is(r->watch, m)))
        return false;
    struct remeasure_waiting *w = array_push(&r->waiting);
    w->which = which;
    w->seq = seq;
    disturbed_case_take(&w->tries, r->watch, m);
    return true;
}

/* The most disturbed one of a benchmark; NULL: none waits. */
static struct remeasure_waiting *worst_of(const struct remeasure *r, size_t which)
{
    struct remeasure_waiting *worst = NULL;
    double most = -1;

    for (size_t i = 0; i < r->waiting.nr; i++) {
        struct remeasure_waiting *w = &r->waiting.items[i];
        double degree = w->which == which ? disturbed_degree(r->watch, &w->tries.best, NULL) : -1;
        if (degree > most) {
            worst = w;
            most = degree;
        }
    }
    return worst;
}

static void take_again(struct remeasure *r, size_t which, struct measurement *m)
{
    struct remeasure_waiting *w = worst_of(r, which);

    disturbed_watch_note(r->watch, m);
    r->spare[which]--;
    if (w)
        disturbed_case_take(&w->tries, r->watch, m);
}

int remeasure_measured(struct remeasure *r, size_t which, struct measurement *m, struct error *err)
{
    if (m->outcome == OUTCOME_FAILED || m->outcome == OUTCOME_UNSUPPORTED)
        r->lost[which] = true;
    if (r->again) {
        take_again(r, which, m);
        return 0;
    }
    if (!r->once && put_aside(r, which, r->launch.seq, m))
        return 0;
    return r->sink->measurement(r->sink->context, &r->launch, m, err);
}

/* Takes the i-th out of those that wait. */
static int hand_up(struct remeasure *r, size_t i, struct error *err)
{
    struct remeasure_waiting *w = &r->waiting.items[i];
    struct launch l = { .seq = w->seq };
    struct measurement m = disturbed_case_end(&w->tries, r->watch);

    memmove(w, w + 1, (r->waiting.nr - i - 1) * sizeof(*w));
    r->waiting.nr--;
    int rc = r->sink->measurement(r->sink->context, &l, &m, err);
    measurement_release(&m);
    return rc;
}

static bool stands(const struct remeasure *r, const struct remeasure_waiting *w)
{
    return w->tries.best.outcome != OUTCOME_OK || !disturbed_is(r->watch, &w->tries.best);
}

int remeasure_settle(struct remeasure *r, struct error *err)
{
    for (size_t i = 0; i < r->waiting.nr;) {
        if (!stands(r, &r->waiting.items[i]))
            i++;
        else if (hand_up(r, i, err))
            return -1;
    }
    return 0;
}

static bool is_in(const size_t *which, size_t nr, size_t one)
{
    for (size_t i = 0; i < nr; i++)
        if (which[i] == one)
            return true;
    return false;
}

size_t remeasure_wanted(const struct remeasure *r, size_t *which)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->waiting.nr; i++) {
        const struct remeasure_waiting *w = &r->waiting.items[i];
        if (!stands(r, w) && r->spare[w->which] > 0 && !is_in(which, nr, w->which))
            which[nr++] = w->which;
    }
    return nr;
}

int remeasure_end(struct remeasure *r, int rc, struct error *err)
{
    struct error later;

    while (r->waiting.nr > 0)
        if (hand_up(r, 0, rc ? &later : err))
            return -1;
    return rc;
}
