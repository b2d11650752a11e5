/* SPDX-License-Identifier: MIT */
/* Memory: what is live and its peak, for all threads together and inside each scope. */
#include "profile/internal.h"

/* A record looks twice, at its begin and at its end, and a call once: so much room is enough for
 * all records and for as many calls as make samples. */
enum { SEEN_A_RECORD = 3 };

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

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

static size_t most_seen(const struct prof_state *state)
{
    return state->most_records < (PROF_NONE - 1) / SEEN_A_RECORD
               ? SEEN_A_RECORD * state->most_records
               : PROF_NONE - 1;
}

uint32_t prof_seen_add(struct prof_thread *t, int device, int64_t live)
{
    struct prof_last_seen *last = &t->last[device];
    struct prof_seen *entry = prof_list_slot(&t->seen, sizeof(*entry), most_seen(t->state));

    if (!entry) {
        *last = (struct prof_last_seen) { INT64_MIN, PROF_NONE };
        return PROF_NONE;
    }
    *entry = (struct prof_seen) { live, device };
    *last = (struct prof_last_seen) { live, t->seen.nr };
    prof_list_publish(&t->seen);
    return last->at;
}

void prof_seen_empty(struct prof_thread *t)
{
    prof_list_empty(&t->seen);
    for (int d = 0; d < PROF_DEVICES; d++)
        t->last[d] = (struct prof_last_seen) { INT64_MIN, PROF_NONE };
}

bool prof_seen_between(const struct prof_thread *t, const struct prof_record *r,
                       const struct prof_list_chunk **chunk, int64_t *live, int64_t *peak)
{
    *peak = INT64_MIN;
    if (!(r->begun & BEGUN_MEMORY) || r->seen[0] == PROF_NONE || r->seen[1] == PROF_NONE)
        return false;
    for (uint32_t i = r->seen[0]; i <= r->seen[1]; i++) {
        const struct prof_seen *entry = prof_list_at(&t->seen, sizeof(*entry), i, chunk);
        if (entry->device != r->device)
            continue;
        *live = entry->live;
        *peak = larger(*peak, entry->live);
    }
    return true;
}

static void add_sample(struct prof_thread *t, int device, int64_t live)
{
    struct prof_memory_sample *sample =
        prof_list_slot(&t->samples, sizeof(*sample), t->state->most_records);

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
        add_sample(t, device, live);
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
