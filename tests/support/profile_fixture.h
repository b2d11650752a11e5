/* SPDX-License-Identifier: MIT */
/*
 * A profile made up: three forwards of six layers on two threads and a GPU, with numbers that never
 * change. `slower` multiplies the time of "fc".
 */
#ifndef HARNESS_TESTS_PROFILE_FIXTURE_H
#define HARNESS_TESTS_PROFILE_FIXTURE_H

#include "profile_slice.h"

#include "profile/export.h"

#include <stdint.h>
#include <stdio.h>

enum { FORWARDS = 3, LAYERS = 6 };

struct forward {
    struct prof_trace *trace;
    int main, worker, stream, memory;
    int64_t now, device; /* the host's time, and until when the stream is busy */
    double slower;
    unsigned calls;
};

static const struct {
    const char *name;
    int64_t ns, kernel; /* on the host; on the device, 0: none */
    double flops;
    int64_t bytes;
} forward_steps[] = {
    { "ln_1", 14000, 0, 4e5, 400000 },           { "qkv", 90000, 61000, 4e9, 3000000 },
    { "attention", 52000, 30000, 1e9, 900000 },  { "proj", 41000, 24000, 1.3e9, 1000000 },
    { "ln_2", 13500, 0, 4e5, 400000 },           { "fc", 122000, 80000, 5.3e9, 4000000 },
    { "proj_2", 118000, 79000, 5.3e9, 4000000 },
};

/* A few percent, the same in every build. */
static inline int64_t forward_jitter(struct forward *f, int64_t ns)
{
    f->calls++;
    return ns + ns * (int64_t)(f->calls * 7919 % 41) / 1000;
}

static inline void forward_memory(struct forward *f, double live)
{
    assert_true(prof_trace_sample(f->trace, f->memory, f->now, live) >= 0);
}

static inline void forward_launch(struct forward *f, int64_t at, int64_t ns, const char *name,
                                  const char *category, int64_t bytes)
{
    int call = add_slice(f->trace, f->main, at, at + 5000, "cudaLaunchKernel", PROF_RUNTIME_CALLS);
    int64_t start = at + 8000 > f->device ? at + 8000 : f->device + 1500;
    int kernel = add_slice(f->trace, f->stream, start, start + ns, name, category);

    f->trace->slices[kernel].bytes = bytes;
    f->device = start + ns;
    assert_true(prof_trace_flow(f->trace, call, kernel) >= 0);
}

static inline void forward_step(struct forward *f, size_t s)
{
    bool fc = !strcmp(forward_steps[s].name, "fc");
    double factor = fc ? f->slower : 1;
    int64_t ns = (int64_t)((double)forward_jitter(f, forward_steps[s].ns) * factor);
    int scope =
        add_slice(f->trace, f->main, f->now, f->now + ns, forward_steps[s].name, PROF_SCOPES);

    f->trace->slices[scope].flops = forward_steps[s].flops;
    f->trace->slices[scope].bytes = forward_steps[s].bytes;
    f->trace->slices[scope].backend = prof_trace_text(f->trace, "simd");
    add_slice(f->trace, f->worker, f->now + 900, f->now + ns - 700, forward_steps[s].name,
              PROF_SCOPES);
    if (forward_steps[s].kernel)
        forward_launch(f, f->now + 2000, (int64_t)((double)forward_steps[s].kernel * factor),
                       s == 2 ? "attention_kernel" : "gemm_kernel", PROF_KERNELS, 0);
    f->now += ns;
}

static inline void forward_layer(struct forward *f, int layer)
{
    int64_t start = f->now;
    char name[24];

    snprintf(name, sizeof(name), "layer %d", layer);
    f->now += 600;
    for (size_t s = 0; s < sizeof(forward_steps) / sizeof(forward_steps[0]); s++) {
        forward_memory(f, 48e6 + 1e6 * layer + (s == 2 ? 6e6 : 0));
        forward_step(f, s);
    }
    f->now += 400;
    add_slice(f->trace, f->main, start, f->now, name, PROF_SCOPES);
}

static inline void forward_once(struct forward *f)
{
    int64_t start = f->now;

    f->now += 1500;
    int64_t embed = forward_jitter(f, 38000);
    add_slice(f->trace, f->main, f->now, f->now + embed, "embed", PROF_SCOPES);
    forward_launch(f, f->now + 3000, 16000, "copy to the device", PROF_MEMCPY, 262144);
    f->now += embed;
    for (int layer = 0; layer < LAYERS; layer++)
        forward_layer(f, layer);
    int64_t head = forward_jitter(f, 710000);
    int scope = add_slice(f->trace, f->main, f->now, f->now + head, "head", PROF_SCOPES);
    f->trace->slices[scope].flops = 3.9e10;
    f->trace->slices[scope].bytes = 60000000;
    forward_launch(f, f->now + 2000, 520000, "gemm_kernel", PROF_KERNELS, 0);
    f->now += head;
    forward_memory(f, 48e6);
    add_slice(f->trace, f->main, start, f->now, "gpt/nano/prefill", PROF_SCOPES);
    f->now += 20000;
}

static inline void make_some_forwards(struct prof_trace *trace, int nr, double slower)
{
    struct forward f = { .trace = trace, .slower = slower, .now = 1000 };
    char why[256];

    prof_trace_init(trace);
    f.main = prof_trace_track(
        trace,
        &(struct prof_track) { .process = 70, .thread = 70, .owner = "harness", .name = "main" });
    f.worker = prof_trace_track(
        trace, &(struct prof_track) {
                   .process = 70, .thread = 71, .owner = "harness", .name = "worker 1" });
    f.stream = prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM,
                                                              .device = PROF_GPU,
                                                              .thread = 7,
                                                              .owner = "GPU 0",
                                                              .name = "stream 7" });
    f.memory = prof_trace_counter(
        trace, &(struct prof_counter) { .process = 70, .name = "memory", .unit = "bytes" });
    for (int i = 0; i < nr; i++)
        forward_once(&f);
    trace->meta = (struct prof_meta) { .end = f.now, .rate = 1, .clock = "tsc" };
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    if (prof_trace_check(trace, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

static inline void make_forwards(struct prof_trace *trace, double slower)
{
    make_some_forwards(trace, FORWARDS, slower);
}

#endif
