/* SPDX-License-Identifier: MIT */
/*
 * Operations by iteration (S3-05, S3-06, S4-31) and parts of a trace, on a trace worked out by hand
 * and on one that a team recorded.
 */
#include "profile_trace.h"

#include "timeline/timeline_layers.h"
#include "timeline/timeline_main.h"
#include "timeline/timeline_typical.h"

#include <pthread.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void layers_of(const struct prof_trace *trace, const char *iteration,
                      struct timeline_layers *layers)
{
    struct error err;

    assert_ok(timeline_layers(trace, -1, iteration, layers, &err), &err);
}

/* Self times and the rest add up to each iteration. */
static void check_sums(const struct timeline_layers *layers)
{
    for (size_t i = 0; i < layers->nr_iterations; i++) {
        int64_t sum = layers->rest_ns[i];
        for (size_t k = 0; k < layers->nr; k++)
            sum += layers->items[k].self_ns[i];
        assert_int_equal(sum, layers->ns[i]);
        assert_in_range(layers->rest_launch_ns[i], 0, layers->rest_ns[i]);
        for (size_t k = 0; k < layers->nr; k++)
            assert_in_range(layers->items[k].launch_ns[i], 0, layers->items[k].self_ns[i]);
    }
}

struct layer_row {
    const char *name;
    int iteration, depth;
    int64_t total, self, gpu, gpu_self;
};

static void check_layers(const struct timeline_layers *layers, const struct layer_row *rows,
                         size_t nr)
{
    for (size_t r = 0; r < nr; r++) {
        const struct layer_samples *l = timeline_layer(layers, rows[r].name);
        int i = rows[r].iteration;
        assert_non_null(l);
        assert_int_equal(l->depth, rows[r].depth);
        assert_int_equal(l->total_ns[i], rows[r].total);
        assert_int_equal(l->self_ns[i], rows[r].self);
        assert_int_equal(l->gpu_ns[i], rows[r].gpu);
        assert_int_equal(l->gpu_self_ns[i], rows[r].gpu_self);
    }
}

TEST(by_hand)
{
    static const struct layer_row rows[] = {
        { "qkv", 0, 0, 300, 300, 200, 200 }, /* the kernel it launched */
        { "qkv", 1, 0, 100, 100, 0, 0 },
        { "attention", 0, 0, 500, 500, 0, 0 }, /* the inner one not twice */
        { "attention", 1, 0, 0, 0, 0, 0 },
    };
    struct timeline_layers layers;
    struct prof_trace trace;

    make_trace(&trace);
    layers_of(&trace, NULL, &layers);
    check_sums(&layers);
    assert_string_equal(layers.iteration, "forward");
    assert_int_equal(layers.nr_iterations, 2);
    assert_int_equal(layers.start[1], 2000);
    assert_int_equal(layers.ns[0], 1000);
    assert_int_equal(layers.rest_ns[0], 1000 - 300 - 500); /* with the copying call */
    assert_int_equal(layers.rest_ns[1], 500);
    assert_int_equal(layers.rest_launch_ns[0], 30);
    assert_int_equal(layers.nr, 2); /* calls are no operations */
    check_layers(&layers, rows, COUNT(rows));
    assert_int_equal(layers.gpu_ns[0], 300); /* qkv's and the copy of the iteration itself */
    const struct layer_samples *qkv = timeline_layer(&layers, "qkv");
    assert_ptr_equal(qkv, &layers.items[0]);
    assert_int_equal(qkv->calls, 2);
    assert_close(qkv->bytes, (2000 + 1000) / 2.0, 0);
    assert_close(qkv->flops, 8e3 / 2, 0);
    assert_string_equal(qkv->backend, "cublas");
    assert_int_equal(timeline_layer(&layers, "attention")->calls, 2);
    assert_close(layers.bytes, 1500, 0);
    timeline_layers_release(&layers);
    prof_trace_release(&trace);
}

/* Without flows the scopes' own marks count, and go up to scopes without any. */
TEST(marks_and_nesting)
{
    static const struct layer_row rows[] = {
        { "layer 0", 0, 0, 50, 10, 12, 0 },
        { "qkv", 0, 1, 20, 20, 7, 7 },
        { "proj", 0, 1, 20, 20, 5, 5 },
    };
    struct timeline_layers layers;
    struct prof_trace trace;

    prof_trace_init(&trace);
    int track = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
    add_slice(&trace, track, 0, 100, "pass", PROF_SCOPES);
    add_slice(&trace, track, 10, 60, "layer 0", PROF_SCOPES);
    int a = add_slice(&trace, track, 10, 30, "qkv", PROF_SCOPES);
    int b = add_slice(&trace, track, 30, 50, "proj", PROF_SCOPES);
    int open = add_slice(&trace, track, 200, 250, "pass", PROF_SCOPES);
    add_slice(&trace, track, 120, 121, "other", PROF_SCOPES);
    trace.slices[a].gpu = 7;
    trace.slices[b].gpu = 5;
    trace.slices[b].flops = 100;
    trace.slices[open].flags = PROF_OPEN;
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    layers_of(&trace, "pass", &layers);
    check_sums(&layers);
    assert_int_equal(layers.nr_iterations, 1);
    check_layers(&layers, rows, COUNT(rows));
    assert_int_equal(layers.gpu_ns[0], 12);
    assert_close(timeline_layer(&layers, "layer 0")->flops, 100, 0);
    assert_close(layers.flops, 100, 0);
    assert_null(timeline_layer(&layers, "other"));
    timeline_layers_release(&layers);
    prof_trace_release(&trace);
}

/* pass ( layer ( qkv ( launch ) launch ) ): 7 ns of the GPU are qkv's, 5 the layer's own, by flows
 * or by the scopes' marks. */
TEST(work_on_a_gpu_is_the_innermost_operations_own)
{
    static const struct layer_row rows[] = {
        { "layer", 0, 0, 50, 30, 12, 5 },
        { "qkv", 0, 1, 20, 20, 7, 7 },
    };

    for (int marks = 0; marks < 2; marks++) {
        struct timeline_layers layers;
        struct prof_trace trace;
        prof_trace_init(&trace);
        int track = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
        int stream = prof_trace_track(
            &trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM, .device = PROF_GPU });
        add_slice(&trace, track, 0, 100, "pass", PROF_SCOPES);
        int layer = add_slice(&trace, track, 10, 60, "layer", PROF_SCOPES);
        int qkv = add_slice(&trace, track, 10, 30, "qkv", PROF_SCOPES);
        int first = add_slice(&trace, track, 12, 14, "cudaLaunchKernel", PROF_RUNTIME_CALLS);
        int second = add_slice(&trace, track, 50, 52, "cudaLaunchKernel", PROF_RUNTIME_CALLS);
        int gemm = add_slice(&trace, stream, 20, 27, "gemm", PROF_KERNELS);
        int sum = add_slice(&trace, stream, 60, 65, "sum", PROF_KERNELS);
        trace.slices[layer].gpu = marks ? 12 : 0;
        trace.slices[qkv].gpu = marks ? 7 : 0;
        if (!marks)
            assert_true(prof_trace_flow(&trace, first, gemm) >= 0 &&
                        prof_trace_flow(&trace, second, sum) >= 0);
        assert_int_equal(prof_trace_sort(&trace, NULL), 0);
        layers_of(&trace, NULL, &layers);
        check_layers(&layers, rows, COUNT(rows));
        assert_close(timeline_typical_own(&layers, timeline_layer(&layers, "layer"), true), 5, 0);
        assert_close(timeline_typical_own(&layers, timeline_layer(&layers, "layer"), false), 30, 0);
        timeline_layers_release(&layers);
        prof_trace_release(&trace);
    }
}

TEST(no_iterations)
{
    struct timeline_layers layers;
    struct prof_trace trace;
    struct error err;

    prof_trace_init(&trace);
    assert_int_equal(timeline_main_track(&trace), -1);
    assert_int_equal(timeline_layers(&trace, -1, NULL, &layers, &err), -1);
    assert_int_equal(layers.nr, 0);
    prof_trace_release(&trace);
    make_trace(&trace);
    assert_int_equal(timeline_layers(&trace, -1, "backward", &layers, &err), -1);
    assert_non_null(strstr(err.message, "\"backward\""));
    prof_trace_release(&trace);
}

enum { ITERATIONS = 20, TEAM = 3 };

static pthread_barrier_t barrier;

static void *member(void *prof)
{
    for (int i = 0; i < ITERATIONS; i++) {
        pthread_barrier_wait(&barrier);
        {
            PROF_SCOPE_IN(prof, "gemm");
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* The leader's iterations, the others' gemm alone, which it waits for: however late one of them
 * goes on behind the last meeting, it is the leader's time that is the longest. */
static void record_team(struct prof *prof, struct prof_trace *trace)
{
    pthread_t threads[TEAM];

    assert_int_equal(prof_thread_name(prof, "leader"), 0);
    pthread_barrier_init(&barrier, NULL, TEAM + 1);
    for (int i = 0; i < TEAM; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, member, prof), 0);
    for (int i = 0; i < ITERATIONS; i++) {
        PROF_SCOPE_IN(prof, "forward");
        pthread_barrier_wait(&barrier);
        {
            PROF_SCOPE_IN(prof, "gemm", .flops = 10);
        }
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < TEAM; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    take_snapshot(prof, trace);
}

/* The thread that runs the iterations is the main one; of it alone the table is. */
TEST(a_team)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace, one;
    struct timeline_layers layers;
    struct error err;

    record_team(prof, &trace);
    assert_int_equal(trace.nr_slices, (TEAM + 2) * ITERATIONS);
    int track = timeline_main_track(&trace);
    assert_string_equal(trace.tracks[track].name, "leader");
    assert_ok(timeline_main(&trace, &one, &err), &err);
    assert_int_equal(one.nr_slices, 2 * ITERATIONS);
    layers_of(&one, NULL, &layers);
    check_sums(&layers);
    assert_string_equal(layers.iteration, "forward");
    assert_int_equal(layers.items[0].calls, ITERATIONS);
    assert_close(layers.items[0].flops, 10, 1e-12);
    timeline_layers_release(&layers);
    prof_trace_release(&one);
    prof_trace_release(&trace);
    prof_free(prof);
}

/* Of make_trace() all is kept but the order of tracks' use. */
TEST(parts_of_a_trace)
{
    struct prof_trace trace, main;
    struct error err;
    char why[256];

    make_trace(&trace);
    assert_ok(timeline_main(&trace, &main, &err), &err);
    assert_int_equal(prof_trace_check(&main, why, sizeof(why)), 0);
    assert_int_equal(main.nr_slices, trace.nr_slices);
    assert_int_equal(main.nr_flows, 2);
    assert_int_equal(main.nr_samples, 2);
    prof_trace_release(&trace); /* the part stands alone */
    assert_int_equal(prof_trace_check(&main, why, sizeof(why)), 0);
    prof_trace_release(&main);
}

/* Its process' first thread wins over a longer one, if it has half of its time. */
TEST(which_is_main)
{
    struct prof_trace trace;

    for (int64_t first = 40; first <= 60; first += 20) {
        prof_trace_init(&trace);
        int worker = prof_trace_track(&trace, &(struct prof_track) { .process = 5, .thread = 6 });
        int main = prof_trace_track(&trace, &(struct prof_track) { .process = 5, .thread = 5 });
        add_slice(&trace, worker, 0, 100, "work", PROF_SCOPES);
        add_slice(&trace, main, 0, first, "wait", PROF_SCOPES);
        assert_int_equal(prof_trace_sort(&trace, NULL), 0);
        assert_int_equal(timeline_main_track(&trace), first == 60 ? main : worker);
        prof_trace_release(&trace);
    }
}

RUN_TESTS(NULL, NULL)
