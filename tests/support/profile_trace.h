/* SPDX-License-Identifier: MIT */
/*
 * A small trace whose numbers can be worked out by hand:
 *
 *   thread  forward 0-1000 ( qkv 100-400 ( cudaLaunchKernel 150-200 )
 *                            attention 400-900 ( attention 500-700 )
 *                            cudaMemcpyAsync 910-940 )
 *           forward 2000-2600 ( qkv 2000-2100 )
 *   stream  gemm_kernel 900-1100, launched at 150, and a copy 950-1050 beside it
 */
#ifndef HARNESS_TESTS_PROFILE_TRACE_H
#define HARNESS_TESTS_PROFILE_TRACE_H

#include "profile_slice.h"

/* Added in an order that is not the sorted one. */
static inline void make_trace(struct prof_trace *trace)
{
    char why[256];

    prof_trace_init(trace);
    int thread = prof_trace_track(
        trace, &(struct prof_track) { .process = 70, .thread = 71, .owner = "test" });
    int stream = prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM,
                                                                .device = PROF_GPU,
                                                                .thread = 7,
                                                                .owner = "GPU 0",
                                                                .name = "stream 7" });
    int kernel = add_slice(trace, stream, 900, 1100, "gemm_kernel", PROF_KERNELS);
    int copy = add_slice(trace, stream, 950, 1050, "copy", PROF_MEMCPY);
    int inner = add_slice(trace, thread, 500, 700, "attention", PROF_SCOPES);
    int launch = add_slice(trace, thread, 150, 200, "cudaLaunchKernel", PROF_RUNTIME_CALLS);
    int copying = add_slice(trace, thread, 910, 940, "cudaMemcpyAsync", PROF_RUNTIME_CALLS);
    add_slice(trace, thread, 2000, 2600, "forward", PROF_SCOPES);
    int qkv = add_slice(trace, thread, 2000, 2100, "qkv", PROF_SCOPES);
    add_slice(trace, thread, 0, 1000, "forward", PROF_SCOPES);
    int first = add_slice(trace, thread, 100, 400, "qkv", PROF_SCOPES);
    int attention = add_slice(trace, thread, 400, 900, "attention", PROF_SCOPES);
    trace->slices[attention].memory_peak = 4096;
    trace->slices[attention].gpu = 25;
    trace->slices[inner].gpu = 20;
    trace->slices[qkv].bytes = 1000;
    trace->slices[first].bytes = 2000;
    trace->slices[first].flops = 8e3;
    trace->slices[first].backend = prof_trace_text(trace, "cublas");
    trace->slices[kernel].correlation = trace->slices[launch].correlation = 42;
    assert_int_equal(prof_trace_flow(trace, launch, kernel), 0);
    assert_int_equal(prof_trace_flow(trace, copying, copy), 1);
    int counter = prof_trace_counter(
        trace, &(struct prof_counter) { .process = 70, .name = "live", .unit = "bytes" });
    assert_int_equal(prof_trace_sample(trace, counter, 800, 64), 0);
    assert_int_equal(prof_trace_sample(trace, counter, 10, 4096), 1);
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    if (prof_trace_check(trace, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

#endif
