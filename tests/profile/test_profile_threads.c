/* SPDX-License-Identifier: MIT */
/* Scopes on many threads, snapshots while they run, and a GPU that is made up. Features: S4-05,
 * S4-12, S4-28. */
#include "profile_testing.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 3000, INNER = 3 };

static void *work(void *own)
{
    struct prof *prof = own;
    static int last;
    char name[32];

    snprintf(name, sizeof(name), "worker %d", __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED));
    assert_int_equal(prof_thread_name(prof, name), 0);
    for (int i = 0; i < ROUNDS; i++) {
        PROF_SCOPE_IN(prof, "round", .bytes = 1);
        for (int k = 0; k < INNER; k++) {
            PROF_SCOPE_IN(prof, "step");
            prof_memory(prof, PROF_CPU, k % 2 ? -8 : 8);
        }
        prof_memory(prof, PROF_CPU, -8);
    }
    return NULL;
}

static void start(pthread_t threads[THREADS], struct prof *prof)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, prof), 0);
}

static void join(pthread_t threads[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST(nothing_is_lost_between_threads)
{
    struct prof *prof = create_on(NULL);
    pthread_t threads[THREADS];
    size_t per_track[THREADS] = { 0 };
    struct prof_trace trace;

    start(threads, prof);
    join(threads);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_tracks, THREADS);
    assert_int_equal(trace.nr_slices, THREADS * ROUNDS * (INNER + 1));
    assert_int_equal(trace.nr_samples, THREADS * ROUNDS * (INNER + 1));
    assert_int_equal(trace.meta.dropped, 0);
    for (size_t i = 0; i < trace.nr_slices; i++) {
        const struct prof_slice *s = &trace.slices[i];
        per_track[s->track]++;
        assert_int_equal(s->flags, 0);
        assert_string_equal(parent_name(&trace, s), strcmp(s->name, "step") ? "" : "round");
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(per_track[t], ROUNDS * (INNER + 1));
        assert_true(!strncmp(trace.tracks[t].name, "worker ", 7));
        assert_int_equal(trace.tracks[t].process, getpid());
    }
    assert_int_equal(prof_memory_live(prof, PROF_CPU), 0);
    assert_in_range(prof_memory_peak(prof, PROF_CPU), 8, 16 * THREADS);
    prof_trace_release(&trace);
    prof_free(prof);
}

TEST(drops_are_counted_on_all_threads)
{
    struct prof *prof = create_on(&(struct prof_options) { .records = 1000 });
    pthread_t threads[THREADS];
    struct prof_trace trace;

    start(threads, prof);
    join(threads);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, THREADS * 1000);
    assert_int_equal(trace.meta.dropped, THREADS * (ROUNDS * (INNER + 1) - 1000));
    assert_int_equal(trace.meta.lost_samples, THREADS * (ROUNDS * (INNER + 1) - 1000));
    prof_trace_release(&trace);
    prof_free(prof);
}

/* Each snapshot is whole as of its moment: take_snapshot() checks nesting and order. */
TEST(snapshots_and_clears_while_threads_run)
{
    struct prof *prof = create_on(NULL);
    pthread_t threads[THREADS];
    struct prof_trace trace;

    start(threads, prof);
    for (int i = 0; i < 20; i++) {
        take_snapshot(prof, &trace);
        assert_true(trace.nr_slices <= THREADS * ROUNDS * (INNER + 1));
        prof_trace_release(&trace);
        if (i % 7 == 6)
            prof_clear(prof);
        prof_set_on(prof, i % 5 != 4);
    }
    prof_set_on(prof, 1);
    join(threads);
    take_snapshot(prof, &trace);
    for (size_t i = 0; i < trace.nr_slices; i++)
        assert_int_equal(trace.slices[i].flags, 0);
    prof_trace_release(&trace);
    prof_free(prof);
}

/* A later snapshot holds all of an earlier one. */
TEST(snapshots_grow)
{
    struct prof *prof = create_on(NULL);
    pthread_t threads[THREADS];
    struct prof_trace trace;
    size_t before = 0;

    start(threads, prof);
    for (int i = 0; i < 10; i++) {
        take_snapshot(prof, &trace);
        assert_true(trace.nr_slices >= before);
        before = trace.nr_slices;
        prof_trace_release(&trace);
    }
    join(threads);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, THREADS * ROUNDS * (INNER + 1));
    prof_trace_release(&trace);
    prof_free(prof);
}

/* Its n-th mark is reached at n * 1000 ns; those beyond `reached` are not there yet. */
struct gpu {
    int64_t base, marks[64];
    int nr, reached, forgotten, depth, deepest, pushed;
};

static void *fake_mark(void *context, int device, void *stream)
{
    struct gpu *gpu = context;

    assert_int_equal(device, PROF_GPU_AT(1));
    assert_ptr_equal(stream, (void *)gpu);
    gpu->marks[gpu->nr] = gpu->nr;
    return &gpu->marks[gpu->nr++];
}

static int fake_resolve(void *context, void *begin, void *end, struct prof_span *span)
{
    struct gpu *gpu = context;
    int64_t from = *(int64_t *)begin, to = *(int64_t *)end;

    if (from == 4)
        return -1; /* lost */
    if (to >= gpu->reached)
        return 1;
    *span = (struct prof_span) { gpu->base + from * 1000, (to - from) * 1000 };
    return 0;
}

static void fake_forget(void *context, void *mark)
{
    struct gpu *gpu = context;

    assert_non_null(mark);
    gpu->forgotten++;
}

static void fake_push(void *context, const char *name)
{
    struct gpu *gpu = context;

    assert_non_null(name);
    gpu->pushed++;
    gpu->depth++;
    gpu->deepest = gpu->depth > gpu->deepest ? gpu->depth : gpu->deepest;
}

static void fake_pop(void *context)
{
    ((struct gpu *)context)->depth--;
}

static void gpu_scopes(struct prof *prof, struct gpu *gpu)
{
    PROF_SCOPE_IN(prof, "host"); /* no marks, but a range */
    for (int i = 0; i < 3; i++) {
        PROF_SCOPE_IN(prof, "on the gpu", .device = PROF_GPU_AT(1), .stream = gpu);
    }
    PROF_SCOPE_IN(prof, "never reached", .device = PROF_GPU_AT(1), .stream = gpu);
}

static void check_spans(const struct prof_trace *trace, const struct gpu *gpu, size_t nr)
{
    size_t seen = 0;

    assert_int_equal(trace->nr_flows, nr);
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (trace->tracks[s->track].kind != PROF_TRACK_STREAM)
            continue;
        seen++;
        assert_string_equal(s->category, PROF_GPU_SCOPES);
        assert_int_equal(s->duration, 1000);
        assert_int_equal((s->start - gpu->base) % 1000, 0);
        assert_int_equal(trace->tracks[s->track].process, 1);
    }
    assert_int_equal(seen, nr);
}

TEST(gpu_times_come_when_they_are_known)
{
    struct prof *prof = create_on(NULL);
    struct gpu gpu = { .reached = 3 };
    struct prof_hooks hooks = { .context = &gpu,
                                .mark = fake_mark,
                                .resolve = fake_resolve,
                                .forget = fake_forget,
                                .push = fake_push,
                                .pop = fake_pop };
    struct prof_trace trace;
    struct timespec now;

    assert_int_equal(prof_set_hooks(prof, &hooks), 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* Behind all that the host does here, whatever keeps it from going on. */
    gpu.base = ((int64_t)now.tv_sec + 600) * 1000000000;
    gpu_scopes(prof, &gpu);
    assert_int_equal(gpu.nr, 8);
    assert_int_equal(gpu.depth, 0);
    assert_int_equal(gpu.deepest, 2);
    assert_int_equal(gpu.pushed, 5);

    take_snapshot(prof, &trace); /* the first is there, the third is lost */
    check_spans(&trace, &gpu, 1);
    assert_int_equal(slice_named(&trace, "on the gpu")->gpu, 1000);
    prof_trace_release(&trace);
    assert_int_equal(gpu.forgotten, 4);
    gpu.reached = 6;
    take_snapshot(prof, &trace);
    check_spans(&trace, &gpu, 2);
    assert_int_equal(slice_named(&trace, "never reached")->gpu, 0);
    prof_trace_release(&trace);
    prof_free(prof);
    assert_int_equal(gpu.forgotten, gpu.nr); /* each given back once */
}

TEST(all_that_began_is_counted)
{
    struct prof *small = create_on(&(struct prof_options) { .records = 10 });
    struct prof_counts counts;

    for (int i = 0; i < 8; i++) {
        PROF_SCOPE_IN(small, "outer");
        PROF_SCOPE_IN(small, "inner");
    }
    assert_int_equal(prof_set_sampling(small, 0, 0), 0);
    for (int i = 0; i < 3; i++) {
        PROF_SCOPE_IN(small, "outer");
        PROF_SCOPE_IN(small, "inner");
    }
    assert_int_equal(prof_count(small, &counts), 0);
    assert_int_equal(counts.recorded, 10);
    assert_int_equal(counts.dropped, 6);
    assert_int_equal(counts.skipped, 3);
    prof_clear(small);
    assert_int_equal(prof_count(small, &counts), 0);
    assert_int_equal(counts.recorded + counts.dropped + counts.skipped, 0);
    prof_free(small);
}

/* Waits inside the scopes of one name. */
static void wait_in(void *name, const char *scope)
{
    struct timespec pause = { 0, 5000000 };

    if (!strcmp(scope, name))
        nanosleep(&pause, NULL);
}

/* One place in the source, so one name. */
static void slow_scope(struct prof *prof)
{
    PROF_SCOPE_IN(prof, "slow");
}

TEST(what_is_done_at_the_end_is_the_scopes)
{
    static char name[] = "slow";
    const struct prof_hooks hooks = { .context = name, .finish = wait_in };
    struct prof *prof = create_on(NULL);
    struct prof_trace trace;

    assert_int_equal(prof_set_hooks(prof, &hooks), 0);
    {
        PROF_SCOPE_IN(prof, "around");
        slow_scope(prof);
        {
            PROF_SCOPE_IN(prof, "fast");
        }
    }
    assert_int_equal(prof_set_hooks(prof, NULL), 0);
    slow_scope(prof);
    take_snapshot(prof, &trace);
    const struct prof_slice *slow = slice_named(&trace, "slow"),
                            *fast = slice_named(&trace, "fast");
    assert_true(slow->duration >= 5000000);
    assert_true(fast->start >= slow->start + slow->duration);
    assert_int_equal(slow->memory_peak, -1);
    prof_trace_release(&trace);
    prof_free(prof);
}

RUN_TESTS(NULL, NULL)
