/* SPDX-License-Identifier: MIT */
/* Ring mode (S4-14): the last scopes of a thread in memory that does not grow, whatever is open
 * while a part is full, with every record counted once. */
#include "profile_testing.h"

#include "profile/profile_parts.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { RECORDS = 1024, ROUNDS = 100000 };

static const struct prof_options ring = { .records = RECORDS, .ring = 1 };

static void work_twice(struct prof *prof)
{
    PROF_SCOPE_IN(prof, "step", .bytes = 8);
    {
        PROF_SCOPE_IN(prof, "inner");
    }
}

/* Every inner scope is in a step, every step in the outermost one. */
static void check_nesting(const struct prof_trace *trace, const char *outermost)
{
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const char *around = s->parent < 0 ? "" : trace->slices[s->parent].name;
        if (!strcmp(s->name, "inner"))
            assert_string_equal(around, "step");
        if (!strcmp(s->name, "step"))
            assert_string_equal(around, outermost);
    }
}

static size_t list_bytes(const struct prof_list *list, size_t size)
{
    size_t bytes = 0;

    for (const struct prof_list_chunk *c = list->first; c; c = c->next)
        bytes += sizeof(*c) + c->nr * size;
    return bytes;
}

static size_t chunk_bytes(const struct prof_chunk *chunk)
{
    size_t bytes = 0;

    for (; chunk; chunk = chunk->next)
        bytes += sizeof(*chunk) + chunk->nr * (sizeof(*chunk->records) + sizeof(*chunk->extras));
    return bytes;
}

/* What all threads hold. */
static size_t held_bytes(const struct prof *prof)
{
    size_t bytes = 0;

    for (const struct prof_thread *t = prof->state->threads; t; t = t->next) {
        bytes += chunk_bytes(t->chunks) + chunk_bytes(t->before.chunks);
        bytes += list_bytes(&t->samples, sizeof(struct prof_memory_sample)) +
                 list_bytes(&t->before.samples, sizeof(struct prof_memory_sample));
        bytes += list_bytes(&t->seen, sizeof(struct prof_seen)) +
                 list_bytes(&t->before.seen, sizeof(struct prof_seen));
        for (const struct prof_owner *o = t->owner; o; o = o->before)
            bytes += sizeof(*o);
        for (const struct prof_owner *o = t->before.owner; o; o = o->before)
            bytes += sizeof(*o);
    }
    return bytes;
}

static void check_counts(struct prof *prof, const struct prof_trace *trace, uint64_t recorded)
{
    struct prof_counts counts;

    assert_int_equal(prof_count(prof, &counts), 0);
    assert_int_equal(counts.recorded, recorded);
    assert_int_equal(counts.dropped, 0);
    assert_int_equal(counts.replaced, trace->meta.replaced);
}

TEST(the_last_ones_are_kept_whole)
{
    struct prof *prof = create_on(&ring);
    struct prof_trace trace;

    for (int i = 0; i < ROUNDS; i++)
        work_twice(prof);
    take_snapshot(prof, &trace);
    check_nesting(&trace, "");
    assert_in_range(trace.nr_slices, RECORDS / 2, RECORDS);
    check_counts(prof, &trace, 2 * ROUNDS);
    assert_int_equal(trace.meta.replaced + trace.nr_slices, 2 * ROUNDS);
    assert_non_null(strstr(trace.meta.note, "older scopes were replaced"));
    prof_trace_release(&trace);
    prof_free(prof);
}

/* One that lasts as long as the program, as main() does, and one that a part's end falls into. */
TEST(what_is_open_goes_on)
{
    struct prof *prof = create_on(&ring);
    struct prof_trace trace;
    int64_t begun = 0;

    {
        PROF_SCOPE_IN(prof, "whole");
        for (int i = 0; i < ROUNDS; i++)
            work_twice(prof);
        take_snapshot(prof, &trace);
        check_nesting(&trace, "whole");
        assert_int_equal(count_named(&trace, "whole"), 1);
        assert_true(trace.slices[0].flags & PROF_OPEN);
        begun = trace.slices[0].start;
        check_counts(prof, &trace, 2 * ROUNDS + 1);
        assert_int_equal(trace.meta.replaced + trace.nr_slices, 2 * ROUNDS + 1);
        prof_trace_release(&trace);
    }
    take_snapshot(prof, &trace);
    assert_int_equal(count_named(&trace, "whole"), 1);
    assert_false(trace.slices[0].flags & PROF_OPEN);
    assert_in_range(trace.slices[0].start, begun - 1000, begun + 1000); /* clocks are read anew */
    prof_trace_release(&trace);
    prof_free(prof);
}

/* 10^8 scopes in the usual room turn about 190 times; here it is 390. */
TEST(memory_does_not_grow)
{
    struct prof *prof = create_on(&ring);
    size_t early = 0;

    prof_memory(prof, PROF_CPU, 100);
    {
        PROF_SCOPE_IN(prof, "whole");
        for (int i = 0; i < ROUNDS; i++) {
            prof_memory(prof, PROF_CPU, i % 2 ? 8 : -8);
            work_twice(prof);
            if (i == 3 * RECORDS)
                early = held_bytes(prof);
        }
    }
    assert_true(early > 0);
    assert_int_equal(held_bytes(prof), early);
    prof_free(prof);
}

static void nest(struct prof *prof, int depth)
{
    PROF_SCOPE_IN(prof, "level");
    if (depth > 1)
        nest(prof, depth - 1);
    else
        for (int i = 0; i < 3 * RECORDS; i++)
            work_twice(prof);
}

TEST(deep_stacks_go_on_too)
{
    enum { DEPTH = 100 };
    struct prof *prof = create_on(&ring);
    struct prof_trace trace;

    nest(prof, DEPTH);
    assert_int_equal(prof_depth(prof), 0);
    take_snapshot(prof, &trace);
    check_nesting(&trace, "level");
    assert_int_equal(count_named(&trace, "level"), DEPTH);
    for (size_t i = 0; i < trace.nr_slices; i++)
        assert_int_equal(trace.slices[i].flags, 0);
    prof_trace_release(&trace);
    prof_free(prof);
}

/* No part has room for what is inside: that is dropped, and said. */
TEST(too_deep_is_dropped)
{
    struct prof *prof = create_on(&ring);
    struct prof_counts counts;
    struct prof_trace trace;

    nest(prof, RECORDS / 2);
    assert_int_equal(prof_count(prof, &counts), 0);
    assert_true(counts.dropped > 0);
    take_snapshot(prof, &trace);
    prof_trace_release(&trace);
    for (int i = 0; i < ROUNDS; i++) /* and goes on behind it */
        work_twice(prof);
    take_snapshot(prof, &trace);
    assert_int_equal(count_named(&trace, "level"), 0);
    prof_trace_release(&trace);
    prof_free(prof);
}

TEST(clear_and_unwind)
{
    struct prof *prof = create_on(&ring);
    struct prof_trace trace;

    for (int i = 0; i < ROUNDS; i++)
        work_twice(prof);
    prof_clear(prof);
    work_twice(prof);
    take_snapshot(prof, &trace);
    check_counts(prof, &trace, 2);
    assert_int_equal(trace.nr_slices, 2);
    assert_int_equal(trace.meta.replaced, 0);
    assert_null(trace.meta.note);
    prof_trace_release(&trace);
    static const struct prof_site lost = { "lost", __func__, __FILE__, __LINE__ };
    (void)prof_begin(prof, &lost, NULL); /* as one that longjmp() left */
    for (int i = 0; i < 3 * RECORDS; i++)
        work_twice(prof);
    prof_unwind(prof, 0);
    take_snapshot(prof, &trace);
    assert_int_equal(count_named(&trace, "lost"), 1);
    assert_true(trace.slices[0].flags & PROF_UNWOUND);
    prof_trace_release(&trace);
    prof_free(prof);
}

struct recorder {
    struct prof *prof;
    bool quit; /* atomic */
};

static void *record_on(void *own)
{
    struct recorder *r = own;

    PROF_SCOPE_IN(r->prof, "whole");
    while (!__atomic_load_n(&r->quit, __ATOMIC_RELAXED))
        work_twice(r->prof);
    return NULL;
}

/* A snapshot reads what a thread is about to fill anew. */
TEST(snapshots_meanwhile)
{
    struct recorder r = { .prof = create_on(&(struct prof_options) { .records = 256, .ring = 1 }) };
    pthread_t threads[2];
    struct prof_trace trace;

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, record_on, &r), 0);
    for (int i = 0; i < 200; i++) {
        take_snapshot(r.prof, &trace);
        check_nesting(&trace, "whole");
        prof_trace_release(&trace);
    }
    __atomic_store_n(&r.quit, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    take_snapshot(r.prof, &trace);
    assert_int_equal(count_named(&trace, "whole"), 2);
    assert_null(r.prof->state->retired);
    prof_trace_release(&trace);
    prof_free(r.prof);
}

RUN_TESTS(NULL, NULL)
