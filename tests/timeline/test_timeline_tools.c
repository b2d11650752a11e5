/* SPDX-License-Identifier: MIT */
/*
 * Traces that other tools wrote on a real GPU (an H200, 2026-11-27): PyTorch 2.11's profiler of a
 * small GPT (eager, through CUDA graphs, a training step whose backward pass has a thread of its
 * own, two streams), JAX 0.11's of a compiled function. What is expected was counted in the files
 * by another program. Features: S4-22, S4-31.
 */
#include "profile_trace.h"

#include "profile/summary.h"
#include "timeline/timeline_findings.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_main.h"
#include "timeline/timeline_read.h"

#include <string.h>

#define FIXTURES HARNESS_SOURCE_DIR "/tests/fixtures/timeline/gpu/"

/* Work of a device. */
struct device_work {
    size_t kernels;
    int64_t kernel_ns, busy_ns;
};

static struct device_work work_of(const struct prof_trace *trace)
{
    int64_t *busy = calloc(trace->nr_slices + 1, sizeof(*busy));
    struct device_work w = { 0 };

    assert_non_null(busy);
    prof_trace_busy(trace, busy);
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        bool is_kernel = strcmp(s->category, PROF_KERNELS) == 0;
        w.kernels += is_kernel;
        w.kernel_ns += is_kernel ? s->duration : 0;
        w.busy_ns += busy[i];
    }
    free(busy);
    return w;
}

static int64_t sum_of(const int64_t *ns, size_t nr)
{
    int64_t sum = 0;

    for (size_t i = 0; i < nr; i++)
        sum += ns[i];
    return sum;
}

/* PyTorch's steps: all that the GPU did was launched inside them. */
TEST(steps_have_all_of_the_gpus_time)
{
    static const struct {
        const char *file;
        size_t kernels;
        int64_t kernel_ns;
        double covered; /* share of the steps in operations, at least */
    } rows[] = { { "torch_eager.json.gz", 108, 314479, 0.7 },
                 { "torch_train.json.gz", 429, 2461094, 0.7 },
                 { "torch_graph.json.gz", 81, 260801, 0.7 },
                 { "torch_streams.json.gz", 9, 2707902, 0.15 } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct prof_trace trace, main;
        struct timeline_layers layers;
        char path[512];
        struct error err;

        snprintf(path, sizeof(path), "%s%s", FIXTURES, rows[i].file);
        assert_ok(timeline_read(path, &trace, &err), &err);
        assert_ok(timeline_main(&trace, &main, &err), &err);
        assert_ok(timeline_layers(&main, -1, NULL, &layers, &err), &err);
        struct device_work w = work_of(&trace);
        assert_string_equal(layers.iteration, "ProfilerStep");
        assert_int_equal(layers.nr_iterations, 3);
        assert_int_equal(w.kernels, rows[i].kernels);
        assert_in_range(w.kernel_ns, rows[i].kernel_ns - 500, rows[i].kernel_ns + 500);
        int64_t launched = sum_of(layers.gpu_ns, 3);
        if (launched < w.busy_ns * 99 / 100 || launched > w.busy_ns)
            fail_msg("%s: of %lld ns on the GPU %lld are in the steps", rows[i].file,
                     (long long)w.busy_ns, (long long)launched);
        double covered = timeline_covered(&layers);
        if (covered < rows[i].covered)
            fail_msg("%s: operations cover %g of the steps", rows[i].file, covered);
        timeline_layers_release(&layers);
        prof_trace_release(&main);
        prof_trace_release(&trace);
    }
}

/* By a thread of its own, which the main one waits for. */
TEST(backward_passes_are_the_main_threads)
{
    struct prof_summary summary;
    struct prof_trace trace, main;
    struct error err;

    assert_ok(timeline_read(FIXTURES "torch_train.json.gz", &trace, &err), &err);
    assert_ok(timeline_main(&trace, &main, &err), &err);
    assert_int_equal(prof_summarise(&main, &summary), 0);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "aten::mm (backward)")->calls, 78);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "AddmmBackward0")->calls, 36);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "aten::addmm")->calls, 36);
    size_t threads = 0;
    for (size_t i = 0; i < main.nr_tracks; i++)
        threads += main.tracks[i].kind == PROF_TRACK_THREAD;
    assert_int_equal(threads, 1);
    prof_summary_release(&summary);
    prof_trace_release(&main);
    prof_trace_release(&trace);
}

/* A process for each GPU, no categories. */
TEST(streams_of_xla_are_streams)
{
    struct prof_summary summary;
    struct prof_trace trace;
    struct error err;

    assert_ok(timeline_read(FIXTURES "jax.json.gz", &trace, &err), &err);
    struct device_work w = work_of(&trace);
    assert_int_equal(w.kernels, 12);
    assert_in_range(w.kernel_ns, 55424 - 20, 55424 + 20);
    assert_true(w.busy_ns < w.kernel_ns); /* some start under the one in front of them */
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    const struct prof_row *row = prof_summary_row(&summary, PROF_DEVICE, "triton_softmax_2");
    assert_int_equal(row->calls, 3);
    assert_int_equal(row->device, PROF_GPU);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

/* There are no flows: call and kernel have one number, and steps have theirs. */
TEST(calls_of_xla_launch_its_kernels)
{
    struct timeline_layers layers;
    struct prof_summary summary;
    struct prof_trace trace;
    struct error err;

    assert_ok(timeline_read(FIXTURES "jax.json.gz", &trace, &err), &err);
    assert_int_equal(trace.nr_flows, 12);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    const struct prof_row *call = prof_summary_row(&summary, PROF_HOST, "triton_softmax_2");
    const struct prof_row *step = prof_summary_row(&summary, PROF_HOST, "step");
    assert_string_equal(call->category, PROF_DRIVER_CALLS);
    assert_in_range(call->gpu, 6912 - 20, 6912 + 20);
    assert_in_range(step->gpu, 51330 - 50, 51330 + 50);
    assert_true(step->launch > 0);
    assert_ok(timeline_layers(&trace, timeline_main_track(&trace), NULL, &layers, &err), &err);
    assert_string_equal(layers.iteration, "step"); /* the profiler itself takes longer */
    assert_int_equal(layers.nr_iterations, 3);
    timeline_layers_release(&layers);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

RUN_TESTS(NULL, NULL)
