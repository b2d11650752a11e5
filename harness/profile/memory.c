/* SPDX-License-Identifier: MIT */
/* Memory: what is live and its peak, for all threads together. */
#include "profile/profile_parts.h"

static void raise_to(int64_t *highest, int64_t value)
{
    int64_t seen = __atomic_load_n(highest, __ATOMIC_RELAXED);

    while (seen < value && !__atomic_compare_exchange_n(highest, &seen, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static bool is_device(int device)
{
    return device >= 0 && device < PROF_DEVICES;
}

static void add_memory_sample(struct prof_thread *t, int device, int64_t live)
{
    struct prof_memory_sample *sample =
        prof_list_slot(&t->samples, sizeof(*sample), t->most_samples);

    if (!sample && prof_ring_turn(t))
        sample = prof_list_slot(&t->samples, sizeof(*sample), t->most_samples);
    if (!sample) {
        __atomic_store_n(&t->lost_samples, t->lost_samples + 1, __ATOMIC_RELAXED);
        return;
    }
    *sample = (struct prof_memory_sample) { prof_clock_ticks(), live, device };
    prof_list_publish(&t->samples);
}

void prof_memory(struct prof *prof, int device, int64_t delta)
{
    struct prof_state *state = prof_state_of(prof);

    if (!state || !is_device(device))
        return;
    int64_t live = __atomic_add_fetch(&state->live[device], delta, __ATOMIC_RELAXED);
    raise_to(&state->peak[device], live);
    /* All scopes read it: it is written once. */
    if (!(__atomic_load_n(&state->following, __ATOMIC_RELAXED) & FOLLOWING_MEMORY))
        __atomic_fetch_or(&state->following, FOLLOWING_MEMORY, __ATOMIC_RELEASE);
    struct prof_thread *t = prof_is_on(prof) ? prof_thread_of(prof) : NULL;
    if (!t)
        return;
    prof_thread_refresh(t);
    if (t->current)
        prof_seen_value(t, device, live);
    if (t->depth == 0 || !t->skipping)
        add_memory_sample(t, device, live);
}

int64_t prof_memory_live(const struct prof *prof, int device)
{
    const struct prof_state *state = __atomic_load_n(&prof->state, __ATOMIC_ACQUIRE);

    return state && is_device(device) ? __atomic_load_n(&state->live[device], __ATOMIC_RELAXED) : 0;
}

int64_t prof_memory_peak(const struct prof *prof, int device)
{
    const struct prof_state *state = __atomic_load_n(&prof->state, __ATOMIC_ACQUIRE);

    return state && is_device(device) ? __atomic_load_n(&state->peak[device], __ATOMIC_RELAXED) : 0;
}
