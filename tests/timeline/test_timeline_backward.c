/* SPDX-License-Identifier: MIT */
/* Forward and backward passes of a training trace (S3-05, S3-06, S3-09): by markers alone. */
#include "profile_trace.h"

#include "timeline/timeline_backward.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_read.h"

TEST(what_says_so)
{
    static const struct {
        const char *name;
        bool backward;
    } cases[] = {
        { "backward", true },
        { "Backward pass", true },
        { "loss.backward", true },
        { "MmBackward0", true },
        { "autograd::engine::evaluate_function: AddmmBackward0", true },
        { "layer_0/backward", true },
        { "attention (backward)", true },
        { "forward", false },
        { "forward_backward", false },
        { "backwards", false },
        { "feedbackward", false },
        { "", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (timeline_says_backward(cases[i].name) != cases[i].backward)
            fail_msg("%s", cases[i].name);
}

/* Two steps; each layer runs forward, then backward for twice as long, with a kernel in each. */
static const char text[] =
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":100,\"name\":\"step\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":30,\"name\":\"forward\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":12,\"dur\":10,\"name\":\"layer 0\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":13,\"dur\":1,\"name\":\"cudaLaunchKernel\","
    "\"cat\":\"cuda_runtime\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":50,\"dur\":40,\"name\":\"backward\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":52,\"dur\":20,\"name\":\"layer 0\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":53,\"dur\":1,\"name\":\"cudaLaunchKernel\","
    "\"cat\":\"cuda_runtime\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":200,\"dur\":100,\"name\":\"step\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":212,\"dur\":10,\"name\":\"layer 0\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":250,\"dur\":40,\"name\":\"backward\"},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":252,\"dur\":22,\"name\":\"layer 0\"}]";

TEST(both_passes_are_operations)
{
    struct timeline_layers layers;
    struct prof_trace trace;
    struct error err;

    assert_ok(timeline_parse(text, sizeof(text) - 1, "passes", &trace, &err), &err);
    assert_ok(timeline_layers(&trace, -1, NULL, &layers, &err), &err);
    assert_int_equal(layers.nr_iterations, 2);
    const struct layer_samples *forward = timeline_layer(&layers, "layer 0");
    const struct layer_samples *backward = timeline_layer(&layers, "layer 0 (backward)");
    assert_non_null(forward);
    assert_non_null(backward);
    assert_int_equal(forward->total_ns[0], 10000);
    assert_int_equal(backward->total_ns[0], 20000);
    assert_int_equal(backward->total_ns[1], 22000);
    assert_null(timeline_layer(&layers, "backward (backward)"));
    for (size_t i = 0; i < trace.nr_slices; i++)
        assert_null(strstr(trace.slices[i].name, "Kernel (backward)"));
    timeline_layers_release(&layers);
    assert_int_equal(timeline_name_backward(&trace), 0);
    for (size_t i = 0; i < trace.nr_slices; i++)
        assert_null(strstr(trace.slices[i].name, "(backward) (backward)"));
    prof_trace_release(&trace);
}

RUN_TESTS(NULL, NULL)
