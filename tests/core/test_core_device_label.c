/* SPDX-License-Identifier: MIT */
/* What labels of devices say: those that devices write, and what stands in their place in results
 * of other programs. */
#include "testing.h"

#include "core/device_label.h"

static const struct {
    const char *label, *hardware;
    int kind, threads;
    bool graph;
} rows[] = {
    { "cpu-1t", "cpu-1t", DEVICE_CPU, 1, false },
    { "cpu-2t", "cpu-2t", DEVICE_CPU, 2, false },
    { "cpu-16t", "cpu-16t", DEVICE_CPU, 16, false },
    { "cuda", "cuda", DEVICE_CUDA, 0, false },
    { "cuda1", "cuda1", DEVICE_CUDA, 0, false },
    { "cuda12", "cuda12", DEVICE_CUDA, 0, false },
    { "cuda-graph", "cuda", DEVICE_CUDA, 0, true },
    { "cuda1-graph", "cuda1", DEVICE_CUDA, 0, true },
    { "fake", "fake", DEVICE_FAKE, 0, false },
    { "process", "process", DEVICE_PROCESS, 0, false },
    { "hip", "hip", DEVICE_HIP, 0, false },
    { "sycl1", "sycl1", DEVICE_SYCL, 0, false },
    /* No device writes these. */
    { "", "", -1, 0, false },
    { "cpu", "cpu", -1, 0, false },
    { "cpu-", "cpu-", -1, 0, false },
    { "cpu-t", "cpu-t", -1, 0, false },
    { "cpu-2", "cpu-2", -1, 0, false },
    { "cpu2t", "cpu2t", -1, 0, false },
    { "cpu-0t", "cpu-0t", -1, 0, false },
    { "cpu-02t", "cpu-02t", -1, 0, false },
    { "cpu--2t", "cpu--2t", -1, 0, false },
    { "cpu- 2t", "cpu- 2t", -1, 0, false },
    { "cpu-2tx", "cpu-2tx", -1, 0, false },
    { "xcpu-2t", "xcpu-2t", -1, 0, false },
    { "CPU-2t", "CPU-2t", -1, 0, false },
    { "cpu-99999999999999999999t", "cpu-99999999999999999999t", -1, 0, false },
    { "cuda0", "cuda0", -1, 0, false },
    { "cuda:1", "cuda:1", -1, 0, false },
    { "cuda-graphs", "cuda-graphs", -1, 0, false },
    { "cuda-graph-graph", "cuda-graph", -1, 0, true },
    { "-graph", "-graph", -1, 0, false },
    { "fake1", "fake1", -1, 0, false },
    { "process2", "process2", -1, 0, false },
    { "processes", "processes", -1, 0, false },
    { "NVIDIA H200", "NVIDIA H200", -1, 0, false },
    { "A100-graph", "A100", -1, 0, true },
    { "imported", "imported", -1, 0, false },
};

TEST(labels_are_read)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device_label is = device_label_of(rows[i].label);
        char hardware[64];
        assert_string_equal(device_label_hardware(rows[i].label, hardware, sizeof(hardware)),
                            rows[i].hardware);
        assert_int_equal(is.kind, rows[i].kind);
        assert_int_equal(is.threads, rows[i].threads);
        assert_int_equal(is.graph, rows[i].graph);
        assert_int_equal(is.hardware, strlen(rows[i].hardware));
    }
}

/* Labels of results may be longer than those of devices. */
TEST(a_long_label)
{
    char label[200] = "cpu-2t", hardware[sizeof(label)], little[8];

    memset(label + 6, 't', sizeof(label) - 7);
    assert_int_equal(device_label_of(label).kind, -1);
    assert_string_equal(device_label_hardware(label, hardware, sizeof(hardware)), label);
    assert_string_equal(device_label_hardware(label, little, sizeof(little)), "cpu-2tt");
}

RUN_TESTS(NULL, NULL)
