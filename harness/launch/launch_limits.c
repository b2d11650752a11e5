/* SPDX-License-Identifier: MIT */
/* When a measuring process has taken too long or too much, and is to be killed. */
#include "core/clock.h"
#include "launch/launch_words.h"

bool launch_is_loading(const struct launch_words *w)
{
    return w->framed && w->current < 0 && w->done < w->wanted && w->loads;
}

/* A case has what the user allows. Until the first begins, and between two, a process has at least
 * LAUNCH_START_TIMEOUT, and no more than that for its plugins. */
static bool out_of_time(const struct launch_words *w, double allowed, struct launch_result *r)
{
    double waited = (double)(clock_ns() - w->since) * 1e-9;
    bool loading = launch_is_loading(w);

    if (w->current < 0 &&
        (loading ? allowed > LAUNCH_START_TIMEOUT : allowed < LAUNCH_START_TIMEOUT))
        allowed = LAUNCH_START_TIMEOUT;
    r->allowed = allowed;
    return waited > allowed;
}

void launch_mind_limits(const struct launch_words *w, const struct launch_limits *limits,
                        struct memory_watch *memory, pid_t guard, struct launch_result *r)
{
    if (w->said[0])
        r->end = LAUNCH_MISSPOKE;
    else if (w->answered)
        return;
    else if (out_of_time(w, limits->case_timeout, r))
        r->end = LAUNCH_TIMED_OUT;
    else if (memory_watch_over(memory, guard))
        r->end = LAUNCH_TOO_LARGE;
    r->memory_held = memory->held;
}
