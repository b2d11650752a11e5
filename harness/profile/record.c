/* SPDX-License-Identifier: MIT */
/* Scopes as they begin and end: the only code that runs inside a measured program. */
#include "profile/profile_parts.h"

/* A number from a counter (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
 * generators": the finaliser of SplitMix64). */
static uint64_t scramble_counter(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static bool is_sampled(struct prof_thread *t)
{
    uint64_t threshold = __atomic_load_n(&t->state->threshold, __ATOMIC_RELAXED);

    if (threshold == UINT64_MAX)
        return true;
    uint64_t seed = __atomic_load_n(&t->state->seed, __ATOMIC_RELAXED);
    uint64_t start = scramble_counter(seed + 0x9e3779b97f4a7c15U * (t->serial + 1));
    return scramble_counter(start + 0x9e3779b97f4a7c15U * ++t->draws) < threshold;
}

static void begin_outermost(struct prof_thread *t)
{
    prof_thread_refresh(t);
    t->skipping = !is_sampled(t);
    if (t->skipping)
        __atomic_store_n(&t->skipped, t->skipped + 1, __ATOMIC_RELAXED);
}

/* A record that has begun, without its time. NULL: no room, counted. */
static struct prof_record *record_of(struct prof_thread *t, const struct prof_site *site)
{
    struct prof_record *r = prof_thread_take(t);

    if (__builtin_expect(!r, 0) && prof_ring_turn(t))
        r = prof_thread_take(t);
    if (__builtin_expect(!r, 0)) {
        __atomic_store_n(&t->dropped, t->dropped + 1, __ATOMIC_RELAXED);
        return NULL;
    }
    r->site = site;
    r->parent = t->current_index;
    r->begun = r->ended = 0;
    r->end = 0; /* nobody else looks before it is published */
    return r;
}

static void publish_record(struct prof_thread *t)
{
    __atomic_store_n(&t->count, t->count + 1, __ATOMIC_RELEASE);
}

static void set_work(struct prof_record *r, const struct prof_work *work)
{
    static const struct prof_work nothing;
    const struct prof_work *w = work ? work : &nothing;

    r->device = (uint8_t)(w->device >= 0 && w->device < PROF_DEVICES ? w->device : PROF_CPU);
    r->backend = w->backend;
    r->bytes = w->bytes;
    r->flops = w->flops;
}

/* The part in a scope of who owns the GPU, or the program: marks and ranges at its begin, what
 * counts as the scope's before it ends, marks and ranges at its end. Not inline: few ask for it. */
static __attribute__((noinline)) void hooks_begin(struct prof_thread *t, struct prof_record *r,
                                                  void *stream)
{
    const struct prof_hooks *hooks = prof_hooks_of(t);

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

static __attribute__((noinline)) void hooks_finish(const struct prof_thread *t,
                                                   const struct prof_record *r)
{
    const struct prof_hooks *hooks = prof_hooks_of(t);

    if (hooks && hooks->finish)
        hooks->finish(hooks->context, r->site->name);
}

static __attribute__((noinline)) void hooks_end(struct prof_thread *t, struct prof_record *r)
{
    const struct prof_hooks *hooks = prof_hooks_of(t);

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

/* What only some programs ask for. */
static void follow_scope(struct prof_thread *t, struct prof_record *r, const struct prof_work *work)
{
    uint32_t following = __atomic_load_n(&t->state->following, __ATOMIC_ACQUIRE);

    if (__builtin_expect(following == 0, 1))
        return;
    if (following & FOLLOWING_HOOKS)
        hooks_begin(t, r, work ? work->stream : NULL);
    if (following & FOLLOWING_MEMORY) {
        r->begun |= BEGUN_MEMORY;
        r->seen[0] = prof_seen(t, r->device);
    }
}

struct prof_scope prof_begin(struct prof *prof, const struct prof_site *site,
                             const struct prof_work *work)
{
    struct prof_scope scope = { NULL, NULL, 0, 0 };

    if (!prof_is_on(prof))
        return scope;
    struct prof_thread *t = prof_thread_of(prof);
    if (!t)
        return scope;
    if (t->depth == 0)
        begin_outermost(t);
    scope = (struct prof_scope) { t, NULL, t->depth++, t->generation };
    if (t->skipping)
        return scope;
    struct prof_record *r = record_of(t, site);
    if (!r)
        return scope;
    set_work(r, work);
    follow_scope(t, r, work);
    scope.record = t->current = r;
    t->current_index = t->count;
    t->open++;
    r->start = prof_clock_ticks();
    publish_record(t);
    return scope;
}

static void close_record(struct prof_thread *t, struct prof_record *r, uint64_t now, uint8_t how)
{
    /* analyzer: its callers have looked whether there is one */
    if (r->begun & BEGUN_HOOKED)
        hooks_end(t, r);
    if (r->begun & BEGUN_MEMORY)
        r->seen[1] = prof_seen(t, r->device);
    r->ended |= how;
    t->current_index = r->parent;
    t->current = prof_thread_record(t, r->parent);
    t->open--;
    __atomic_store_n(&r->end, now, __ATOMIC_RELEASE);
}

void prof_end(struct prof_scope *scope)
{
    struct prof_thread *t = scope->thread;
    struct prof_record *r = scope->record;

    if (!t)
        return;
    scope->thread = NULL;
    if (scope->generation != t->generation || scope->depth >= t->depth)
        return;                                   /* a scope around it has ended before */
    if (r && __builtin_expect(t->state->ring, 0)) /* it may have gone on elsewhere */
        r = scope->depth < t->open ? prof_ring_open(t, scope->depth) : NULL;
    if (r && r->end)
        return;
    if (r && __builtin_expect(r->begun & BEGUN_HOOKED, 0))
        hooks_finish(t, r);
    uint64_t now = prof_clock_ticks();
    t->depth = scope->depth;
    while (r && t->current != r)
        close_record(t, t->current, now, ENDED_UNWOUND);
    if (r)
        close_record(t, r, now, 0);
}

void prof_instant(struct prof *prof, const struct prof_site *site)
{
    struct prof_thread *t = prof_is_on(prof) ? prof_thread_of(prof) : NULL;

    if (!t)
        return;
    prof_thread_refresh(t);
    struct prof_record *r = t->depth && t->skipping ? NULL : record_of(t, site);
    if (!r)
        return;
    set_work(r, NULL);
    r->begun = BEGUN_INSTANT;
    r->start = r->end = prof_clock_ticks();
    publish_record(t);
}

unsigned prof_depth(struct prof *prof)
{
    const struct prof_thread *t = prof_thread_of(prof);

    return t ? t->depth : 0;
}

/* Of the open scopes the outer ones are recorded and the inner ones may be dropped, for want of
 * room; so the records to close are those deeper than `depth`. */
void prof_unwind(struct prof *prof, unsigned depth)
{
    struct prof_thread *t = prof_thread_of(prof);
    uint64_t now = prof_clock_ticks();

    if (!t || depth >= t->depth)
        return;
    for (unsigned nr = t->open; nr > depth; nr--)
        close_record(t, t->current, now, ENDED_UNWOUND);
    t->depth = depth;
}
