/* SPDX-License-Identifier: MIT */
/* Memory inside scopes: live and peak, against a plain account of the same calls, of other threads,
 * and where there is no room. Features: S3-07, S4-01, S4-05, S0-27. */
#include "profile_testing.h"

#include "stats/random.h"

#include <pthread.h>

TEST(a_scope_knows_its_memory)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    prof_memory(prof, PROF_CPU, 100);
    {
        PROF_SCOPE_IN(prof, "outer");
        prof_memory(prof, PROF_CPU, 50);
        {
            PROF_SCOPE_IN(prof, "inner");
            prof_memory(prof, PROF_CPU, 1000);
            prof_memory(prof, PROF_CPU, -1000);
        }
        {
            PROF_SCOPE_IN(prof, "calm");
        }
        prof_memory(prof, PROF_CPU, -60);
        prof_memory(prof, PROF_GPU, 7);
    }
    take_snapshot(prof, &trace);
    assert_int_equal(slice_named(&trace, "outer")->memory_live, 90);
    assert_int_equal(slice_named(&trace, "outer")->memory_peak, 1150);
    assert_int_equal(slice_named(&trace, "inner")->memory_live, 150);
    assert_int_equal(slice_named(&trace, "inner")->memory_peak, 1150);
    assert_int_equal(slice_named(&trace, "calm")->memory_peak, 150);
    static const double expected[] = { 100, 150, 1150, 150, 90, 7 };
    assert_int_equal(trace.nr_samples, 6);
    assert_int_equal(trace.nr_counters, 2);
    for (int i = 0; i < 6; i++)
        assert_close(trace.samples[i].value, expected[i], 0);
    prof_trace_release(&trace);
    prof_clear(prof);
    assert_int_equal(prof_memory_live(prof, PROF_CPU), 90);
    assert_int_equal(prof_memory_peak(prof, PROF_CPU), 90);
    prof_free(prof);
}

/* The plain account: every open scope is told of every change. */
struct account {
    struct prof_scope scope;
    char name[16];
    int device;
    int64_t live, peak;
};

enum { OPEN_MOST = 8, STEPS = 3000 };

struct walk {
    struct prof *prof;
    struct random random;
    struct account open[OPEN_MOST], done[STEPS];
    int64_t live[2];
    int nr_open, nr_begun, nr_done;
};

static void begin_one(struct walk *w)
{
    struct account *a = &w->open[w->nr_open++];

    a->device = (int)random_below(&w->random, 2);
    a->peak = w->live[a->device];
    snprintf(a->name, sizeof(a->name), "%d", w->nr_begun++);
    a->scope = prof_begin(w->prof, prof_site_named(w->prof, a->name),
                          &(struct prof_work) { .device = a->device });
}

static void end_one(struct walk *w)
{
    struct account *a = &w->open[--w->nr_open];

    prof_end(&a->scope);
    a->live = w->live[a->device];
    w->done[w->nr_done++] = *a;
}

static void change(struct walk *w)
{
    int device = (int)random_below(&w->random, 2);
    int64_t delta = (int64_t)random_below(&w->random, 2001) - 1000;

    delta = w->live[device] + delta < 0 ? 0 : delta;
    w->live[device] += delta;
    prof_memory(w->prof, device, delta);
    for (int i = 0; i < w->nr_open; i++) {
        struct account *a = &w->open[i];
        if (a->device == device && a->peak < w->live[device])
            a->peak = w->live[device];
    }
}

static void step(struct walk *w)
{
    uint64_t what = random_below(&w->random, 4);

    if (what == 0 && w->nr_open < OPEN_MOST)
        begin_one(w);
    else if (what == 1 && w->nr_open > 0)
        end_one(w);
    else if (what == 2) /* so that many scopes see nothing new */
        change(w);
}

TEST(random_scopes_and_calls_agree_with_a_plain_account)
{
    static struct walk w;
    struct prof_trace trace;

    w = (struct walk) { .prof = create_on(NULL) };
    random_seed(&w.random, 11);
    change(&w);
    while (w.nr_begun < STEPS / 4)
        step(&w);
    while (w.nr_open > 0)
        end_one(&w);
    take_snapshot(w.prof, &trace);
    assert_int_equal(trace.nr_slices, w.nr_done);
    for (int i = 0; i < w.nr_done; i++) {
        const struct prof_slice *s = slice_named(&trace, w.done[i].name);
        assert_int_equal(s->memory_live, w.done[i].live);
        assert_int_equal(s->memory_peak, w.done[i].peak);
    }
    prof_trace_release(&trace);
    prof_free(w.prof);
}

static void *allocate(void *own)
{
    prof_memory(own, PROF_CPU, 100);
    return NULL;
}

static void *release(void *own)
{
    prof_memory(own, PROF_CPU, -100);
    return NULL;
}

static void by_another_thread(struct prof *prof, void *(*call)(void *))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, call, prof), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* What others do shows where the thread looks: at its own begins and ends. */
TEST(other_threads_show_at_begins_and_ends)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    prof_memory(prof, PROF_CPU, 7);
    {
        PROF_SCOPE_IN(prof, "outer");
        by_another_thread(prof, allocate);
        {
            PROF_SCOPE_IN(prof, "inner");
        }
        by_another_thread(prof, release);
    }
    {
        PROF_SCOPE_IN(prof, "blind");
        by_another_thread(prof, allocate);
        by_another_thread(prof, release);
    }
    take_snapshot(prof, &trace);
    assert_int_equal(slice_named(&trace, "outer")->memory_live, 7);
    assert_int_equal(slice_named(&trace, "outer")->memory_peak, 107);
    assert_int_equal(slice_named(&trace, "inner")->memory_live, 107);
    assert_int_equal(slice_named(&trace, "blind")->memory_peak, 7);
    prof_trace_release(&trace);
    prof_free(prof);
}

static void call_often(struct prof *prof, int times)
{
    for (int i = 0; i < times; i++)
        prof_memory(prof, PROF_CPU, i % 2 ? -1 : 1);
}

/* Where calls found no room, scopes say that they do not know; clearing makes room again. */
TEST(without_room_memory_is_not_known)
{
    struct prof *prof = create_on(&(struct prof_options) { .records = 10 });
    struct prof_trace trace;

    prof_memory(prof, PROF_CPU, 0);
    {
        PROF_SCOPE_IN(prof, "before");
        call_often(prof, 9);
    }
    {
        PROF_SCOPE_IN(prof, "full");
        call_often(prof, 100);
    }
    take_snapshot(prof, &trace);
    assert_int_equal(slice_named(&trace, "before")->memory_peak, 1);
    assert_int_equal(slice_named(&trace, "full")->memory_live, -1);
    assert_int_equal(slice_named(&trace, "full")->memory_peak, -1);
    assert_int_equal(trace.meta.lost_samples, 100);
    prof_trace_release(&trace);
    prof_clear(prof);
    {
        PROF_SCOPE_IN(prof, "again");
        call_often(prof, 9);
    }
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 1);
    assert_int_equal(trace.slices[0].memory_live, 2);
    assert_int_equal(trace.meta.lost_samples, 0);
    prof_trace_release(&trace);
    prof_free(prof);
}

RUN_TESTS(NULL, NULL)
