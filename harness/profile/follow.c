/* SPDX-License-Identifier: MIT */
/* What the owner of a GPU, or of a program, has asked for: marks, named ranges, a word at the end.
 */
#include "profile/internal.h"

static const struct prof_hooks *hooks_of(const struct prof_thread *t)
{
    return __atomic_load_n(&t->state->hooks, __ATOMIC_ACQUIRE);
}

void prof_follow_begin(struct prof_thread *t, struct prof_record *r, void *stream)
{
    const struct prof_hooks *hooks = hooks_of(t);

    if (!hooks)
        return;
    r->begun |= BEGUN_HOOKED;
    if (hooks->push)
        hooks->push(hooks->context, r->site->name);
    if (!hooks->mark || r->device < PROF_GPU)
        return;
    struct prof_extra *extra = prof_extra_of(t, r);
    extra->stream = stream;
    extra->marks[0] = hooks->mark(hooks->context, r->device, stream);
    extra->gpu = (struct prof_span) { -1, -1 };
    r->begun |= extra->marks[0] ? BEGUN_MARKED : 0;
}

void prof_follow_finish(const struct prof_thread *t, const struct prof_record *r)
{
    const struct prof_hooks *hooks = hooks_of(t);

    if (hooks && hooks->finish)
        hooks->finish(hooks->context, r->site->name);
}

void prof_follow_end(struct prof_thread *t, struct prof_record *r)
{
    const struct prof_hooks *hooks = hooks_of(t);

    if (!hooks)
        return;
    if (r->begun & BEGUN_MARKED) {
        struct prof_extra *extra = prof_extra_of(t, r);
        extra->marks[1] = hooks->mark(hooks->context, r->device, extra->stream);
        r->ended |= ENDED_MARKED;
    }
    if (hooks->push && hooks->pop)
        hooks->pop(hooks->context);
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
