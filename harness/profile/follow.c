/* SPDX-License-Identifier: MIT */
/* What only some programs ask for: memory, a GPU's marks, named ranges. */
#include "profile/internal.h"

static int64_t live_of(const struct prof_state *state, int device)
{
    return __atomic_load_n(&state->live[device], __ATOMIC_RELAXED);
}

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

void prof_memory(struct prof *prof, int device, int64_t delta)
{
    struct prof_state *state = prof_state_of(prof);

    if (!state || !is_device(device))
        return;
    int64_t live = __atomic_add_fetch(&state->live[device], delta, __ATOMIC_RELAXED);
    raise_to(&state->peak[device], live);
    __atomic_store_n(&state->following, 1, __ATOMIC_RELEASE);
    struct prof_thread *t = prof_is_on(prof) ? prof_thread_of(prof) : NULL;
    if (!t)
        return;
    prof_thread_refresh(t);
    t->peak[device] = larger(t->peak[device], live);
    if (t->depth == 0 || !t->skipping)
        prof_thread_sample(t, device, live);
}

int64_t prof_memory_live(const struct prof *prof, int device)
{
    const struct prof_state *state = __atomic_load_n(&prof->state, __ATOMIC_ACQUIRE);

    return state && is_device(device) ? live_of(state, device) : 0;
}

int64_t prof_memory_peak(const struct prof *prof, int device)
{
    const struct prof_state *state = __atomic_load_n(&prof->state, __ATOMIC_ACQUIRE);

    return state && is_device(device) ? __atomic_load_n(&state->peak[device], __ATOMIC_RELAXED) : 0;
}

static const struct prof_hooks *hooks_of(const struct prof_thread *t)
{
    return __atomic_load_n(&t->state->hooks, __ATOMIC_ACQUIRE);
}

void prof_follow_begin(struct prof_thread *t, struct prof_record *r, void *stream)
{
    struct prof_extra *extra = prof_extra_of(t, r);
    const struct prof_hooks *hooks = hooks_of(t);

    r->begun = BEGUN_MEMORY;
    extra->outer_peak = t->peak[r->device];
    t->peak[r->device] = live_of(t->state, r->device);
    if (hooks && hooks->push) {
        hooks->push(hooks->context, r->site->name);
        r->begun |= BEGUN_PUSHED;
    }
    if (hooks && hooks->mark && r->device >= PROF_GPU) {
        extra->stream = stream;
        extra->marks[0] = hooks->mark(hooks->context, r->device, stream);
        extra->gpu = (struct prof_span) { -1, -1 };
        r->begun |= extra->marks[0] ? BEGUN_MARKED : 0;
    }
}

void prof_follow_end(struct prof_thread *t, struct prof_record *r)
{
    struct prof_extra *extra = prof_extra_of(t, r);
    const struct prof_hooks *hooks = hooks_of(t);

    if (r->begun & BEGUN_MARKED) {
        extra->marks[1] = hooks->mark(hooks->context, r->device, extra->stream);
        r->ended |= ENDED_MARKED;
    }
    if (r->begun & BEGUN_PUSHED && hooks->pop)
        hooks->pop(hooks->context);
    extra->live = live_of(t->state, r->device);
    extra->peak = larger(t->peak[r->device], extra->live);
    t->peak[r->device] = larger(extra->peak, extra->outer_peak);
}

static void forget_marks(const struct prof_thread *t, const struct prof_record *r,
                         struct prof_extra *extra)
{
    const struct prof_hooks *hooks = hooks_of(t);

    for (int i = 0; i < (r->ended & ENDED_MARKED ? 2 : 1); i++) {
        if (extra->marks[i] && hooks && hooks->forget)
            hooks->forget(hooks->context, extra->marks[i]);
        extra->marks[i] = NULL;
    }
}

void prof_follow_forget(struct prof_thread *t)
{
    for (struct prof_chunk *chunk = prof_chunk_first(t, t->count); chunk;
         chunk = prof_chunk_after(chunk, t->count)) {
        for (uint32_t i = 0; i < chunk->nr && chunk->base + i < t->count; i++) {
            if (chunk->records[i].begun & BEGUN_MARKED)
                forget_marks(t, &chunk->records[i], &chunk->extras[i]);
        }
    }
}
