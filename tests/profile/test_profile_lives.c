/* SPDX-License-Identifier: MIT */
/* Threads that come and go, processes that fork, snapshots that nobody waits for, and names of one
 * spelling. Features: S4-05, S4-12. */
#include "profile_testing.h"

#include "profile/profile_parts.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_thread(void *(*body)(void *), void *own)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, own), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *record_three(void *own)
{
    struct prof *prof = own;

    for (int i = 0; i < 3; i++) {
        PROF_SCOPE_IN(prof, "work");
    }
    return NULL;
}

enum { LIVES = 3000 };

TEST(a_thread_takes_the_buffer_of_one_that_ended)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    for (int i = 0; i < LIVES; i++)
        run_thread(record_three, prof);
    assert_int_equal(prof->state->nr_buffers, 1);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 3 * LIVES);
    assert_in_range(trace.nr_tracks, 2, LIVES); /* the system may use a number again */
    prof_trace_release(&trace);
    prof_clear(prof);
    run_thread(record_three, prof);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 3);
    assert_int_equal(trace.nr_tracks, 1);
    assert_int_equal(prof->state->nr_buffers, 1);
    prof_trace_release(&trace);
    prof_free(prof);
}

/* Each has the room of its own, though the buffer is one. */
TEST(room_is_of_each_thread)
{
    struct prof *prof = create_on(&(struct prof_options) { .records = 2 });
    struct prof_trace trace;

    for (int i = 0; i < 5; i++)
        run_thread(record_three, prof);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 10);
    assert_int_equal(trace.meta.dropped, 5);
    prof_trace_release(&trace);
    prof_free(prof);
}

static void *end_inside(void *own)
{
    static const struct prof_site site = { "left open", "", "", 0 };

    prof_thread_name(own, "short");
    prof_begin(own, &site, NULL);
    return NULL;
}

TEST(a_thread_that_ends_inside_a_scope_ends_it)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    run_thread(end_inside, prof);
    run_thread(record_three, prof);
    take_snapshot(prof, &trace);
    const struct prof_slice *open = slice_named(&trace, "left open");
    assert_int_equal(open->flags, PROF_UNWOUND);
    assert_string_equal(trace.tracks[open->track].name, "short");
    assert_int_equal(slice_named(&trace, "work")->parent, PROF_ROOT);
    assert_true(slice_named(&trace, "work")->track != open->track);
    prof_trace_release(&trace);
    prof_free(prof);
}

/* A profiler may be freed before a thread that has used it ends. */
static void *outlive(void *unused)
{
    struct prof *prof = create_on(NULL);

    (void)unused;
    record_three(prof);
    prof_free(prof);
    prof = create_on(NULL);
    record_three(prof);
    prof_free(prof);
    return NULL;
}

TEST(threads_outlive_profilers)
{
    run_thread(outlive, NULL);
}

/* ---- while a snapshot is at work, in its callback ---- */

struct meanwhile {
    struct prof *prof;
    void (*act)(struct prof *prof);
    int calls;
};

static void *mark_once(void *context, int device, void *stream)
{
    (void)device, (void)stream;
    return context;
}

static int act_meanwhile(void *context, void *begin, void *end, struct prof_span *span)
{
    struct meanwhile *m = context;

    (void)begin, (void)end, (void)span;
    if (m->calls++ == 0)
        m->act(m->prof);
    return -1;
}

/* What it does would never end if the snapshot held a lock. Returns its slices. */
static size_t act_in_snapshot(void (*act)(struct prof *prof))
{
    struct prof *prof = create_on(NULL);
    struct meanwhile m = { prof, act, 0 };
    const struct prof_hooks hooks = { .context = &m, .mark = mark_once, .resolve = act_meanwhile };
    struct prof_trace trace;

    assert_int_equal(prof_set_hooks(prof, &hooks), 0);
    for (int i = 0; i < 200; i++) {
        PROF_SCOPE_IN(prof, "on the gpu", .device = PROF_GPU, .bytes = i);
        prof_memory(prof, PROF_GPU, 1);
    }
    take_snapshot(prof, &trace);
    assert_int_equal(m.calls, 200);
    assert_int_equal(count_named(&trace, "on the gpu"), 200);
    for (size_t i = 0; i < trace.nr_slices; i++)
        assert_int_equal(trace.slices[i].bytes, i); /* as they were, whatever happened meanwhile */
    size_t nr = trace.nr_slices;
    prof_trace_release(&trace);
    prof_set_hooks(prof, NULL);
    prof_free(prof);
    return nr;
}

static void begin_thread(struct prof *prof)
{
    run_thread(record_three, prof);
}

static void empty_and_record(struct prof *prof)
{
    struct prof_counts counts;

    prof_clear(prof);
    for (int i = 0; i < 500; i++) {
        PROF_SCOPE_IN(prof, "after", .bytes = -1);
        prof_memory(prof, PROF_GPU, -3);
    }
    begin_thread(prof);
    assert_int_equal(prof_count(prof, &counts), 0);
    assert_int_equal(counts.recorded, 503);
}

/* Whether a child's own scopes, and they alone, are its trace. */
static bool is_own_trace(const struct prof_trace *trace)
{
    return trace->nr_slices == 3 && trace->nr_tracks == 1 && trace->tracks[0].process == getpid() &&
           trace->tracks[0].thread == (int64_t)syscall(SYS_gettid) &&
           trace->slices[0].parent == PROF_ROOT && trace->slices[0].flags == 0;
}

static void check_child(struct prof *prof)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct prof_trace trace;
        record_three(prof);
        _exit(prof_snapshot(prof, &trace) == 0 && is_own_trace(&trace) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(nobody_waits_for_a_snapshot)
{
    assert_int_equal(act_in_snapshot(begin_thread), 200);
    assert_int_equal(act_in_snapshot(empty_and_record), 200);
    assert_int_equal(act_in_snapshot(check_child), 200);
}

TEST(a_child_begins_anew_inside_a_scope)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    {
        PROF_SCOPE_IN(prof, "of the parent");
        run_thread(record_three, prof);
        check_child(prof);
        PROF_SCOPE_IN(prof, "and on");
    }
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 5);
    assert_string_equal(parent_name(&trace, slice_named(&trace, "and on")), "of the parent");
    prof_trace_release(&trace);
    prof_free(prof);
}

/* ---- names ---- */

enum { NAMES = 100000 };

TEST(a_hundred_thousand_names)
{
    struct prof *prof = create_on(NULL);
    char name[32];

    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "name %d", i);
        const struct prof_site *site = prof_site_named(prof, name);
        assert_string_equal(site->name, name);
        if (i % 1000 == 0)
            assert_ptr_equal(prof_site_named(prof, name), site);
    }
    assert_int_equal(prof->state->sites.nr, NAMES);
    prof_free(prof);
}

static const struct prof_site places[] = {
    { "init", "init", "src/a.c", 3 },   { "init", "init", "src/b.c", 9 },
    { "init", "init", "tools/b.c", 9 }, { "init", "init", "src/a.c", 3 }, /* of another object */
    { "load", "init", "src/a.c", 4 },
};

static void record_places(struct prof *prof, size_t first, size_t nr)
{
    for (size_t i = first; i < first + nr; i++) {
        struct prof_scope scope = prof_begin(prof, &places[i], NULL);
        prof_end(&scope);
    }
}

TEST(two_places_of_one_name_are_two_operations)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    record_places(prof, 0, 5);
    take_snapshot(prof, &trace);
    assert_int_equal(count_named(&trace, "init (a.c:3)"), 2);
    assert_int_equal(count_named(&trace, "init (src/b.c:9)"), 1);
    assert_int_equal(count_named(&trace, "init (tools/b.c:9)"), 1);
    const struct prof_slice *load = slice_named(&trace, "load");
    assert_string_equal(load->file, "src/a.c");
    assert_string_equal(load->function, "init");
    assert_int_equal(load->line, 4);
    prof_trace_release(&trace);
    prof_clear(prof);
    record_places(prof, 1, 1); /* alone it needs no more than its name */
    take_snapshot(prof, &trace);
    assert_int_equal(count_named(&trace, "init"), 1);
    prof_trace_release(&trace);
    prof_free(prof);
}

RUN_TESTS(NULL, NULL)
