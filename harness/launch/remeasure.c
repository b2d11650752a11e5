/* SPDX-License-Identifier: MIT */
#include "launch/remeasure.h"

void remeasure_init(struct remeasure *r, struct disturbed_watch *watch, size_t benchmarks)
{
    *r = (struct remeasure) { .watch = watch };
    r->spare = memory_zeroed(benchmarks + 1, sizeof(*r->spare));
}

void remeasure_release(struct remeasure *r)
{
    for (size_t i = 0; i < r->waiting.nr; i++)
        disturbed_case_release(&r->waiting.items[i].tries);
    array_release(&r->waiting);
    free(r->spare);
}

/* Until it is known what is usual, nobody can say whether a thing was disturbed. */
bool remeasure_take(struct remeasure *r, size_t which, int seq, struct measurement *m)
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

void remeasure_take_again(struct remeasure *r, size_t which, struct measurement *m)
{
    struct remeasure_waiting *w = worst_of(r, which);

    disturbed_watch_note(r->watch, m);
    r->spare[which]--;
    if (w)
        disturbed_case_take(&w->tries, r->watch, m);
}

/* Takes the i-th out of those that wait. */
static int hand_up(struct remeasure *r, size_t i, const struct remeasure_sink *sink,
                   struct error *err)
{
    struct remeasure_waiting *w = &r->waiting.items[i];
    struct launch l = { .seq = w->seq };
    struct measurement m = disturbed_case_end(&w->tries, r->watch);

    memmove(w, w + 1, (r->waiting.nr - i - 1) * sizeof(*w));
    r->waiting.nr--;
    int rc = sink->stands(sink->context, &l, &m, err);
    measurement_release(&m);
    return rc;
}

static bool stands(const struct remeasure *r, const struct remeasure_waiting *w)
{
    return w->tries.best.outcome != OUTCOME_OK || !disturbed_is(r->watch, &w->tries.best);
}

int remeasure_settle(struct remeasure *r, const struct remeasure_sink *sink, struct error *err)
{
    for (size_t i = 0; i < r->waiting.nr;) {
        if (!stands(r, &r->waiting.items[i]))
            i++;
        else if (hand_up(r, i, sink, err))
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

int remeasure_end(struct remeasure *r, int rc, const struct remeasure_sink *sink, struct error *err)
{
    struct error later;

    while (r->waiting.nr > 0)
        if (hand_up(r, 0, sink, rc ? &later : err))
            return -1;
    return rc;
}
