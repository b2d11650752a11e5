/* SPDX-License-Identifier: MIT */
/*
 * What a GPU does beside the scopes of a program: kernels, copies and fills by their streams, calls
 * of the CUDA runtime and driver inside the scopes that made them, and a flow from each launch to
 * what it started. Through NVIDIA's CUPTI, which is opened at run time: nothing links to CUDA, and
 * where there is none the program runs on with its scopes alone.
 *
 *     #include <harness/profile.h>
 *     #include <harness/trace.h>
 *     #include <harness/profile_cuda.h>
 *
 *     char why[PROF_CUDA_WORDS];
 *     struct prof_cuda *cuda = prof_cuda_start(NULL, why);
 *     if (!cuda)
 *         fprintf(stderr, "no kernels in the trace: %s\n", why);
 *     prof_set_on(prof_global(), 1);
 *     forward(model, stream);                      PROF_SCOPE("qkv", .device = PROF_GPU,
 *     struct prof_trace trace;                                 .stream = stream)
 *     if (prof_cuda_stop(cuda, prof_global(), &trace, why)) ...
 *     prof_write_trace(file, &trace);
 *
 * Start it before the first CUDA call where possible: CUPTI attaches to a running context, too, but
 * what is in flight then is lost. One at a time in a process, also beside other tools: CUPTI has
 * one subscriber. Scopes whose device is a GPU have the time of the kernels and copies that were
 * launched in them, and stand on their stream from the first to the last of these: no events are
 * put between kernels, which would take a scope 3.6 us and keep kernels from starting early.
 *
 * Nothing is lost in silence: what found no room is in meta.dropped, and meta.note says in words
 * what the trace lacks.
 *
 * Tested against stand-ins for CUPTI and the driver; what it is made of (records, flows, scopes on
 * streams) was seen on an H200 through `harness profile`.
 */
#ifndef HARNESS_PROFILE_CUDA_PROFILE_CUDA_H
#define HARNESS_PROFILE_CUDA_PROFILE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prof;
struct prof_trace;
struct prof_cuda;

/* All 0 is a good choice. */
struct prof_cuda_options {
    size_t buffer_bytes;   /* that CUPTI fills, each; 0: 1 MiB, about 5,000 kernels */
    unsigned buffers;      /* made at the start; 0: 8 */
    unsigned most_buffers; /* 0: 64; at most 256. Beyond, records are dropped and counted */
};

enum { PROF_CUDA_WORDS = 512 }; /* room for a reason */

/* Begins to collect. `options` may be NULL. NULL, with the reason in `why`: no CUPTI or one that is
 * too old, no driver, no rights, another collector at work. Memory that is missing for bookkeeping
 * ends the process with a message. */
struct prof_cuda *prof_cuda_start(const struct prof_cuda_options *options,
                                  char why[PROF_CUDA_WORDS]);

/* Waits for the current device of the calling thread (of several GPUs, wait for the others before),
 * stops, and makes a snapshot with all of it; `trace` is initialised here, to be released by the
 * caller. Frees `cuda`. -1, with the reason in `why`: the trace is that of the scopes alone, and
 * its note says so, or it is empty for want of memory. `cuda` NULL: a snapshot of the scopes. */
int prof_cuda_stop(struct prof_cuda *cuda, struct prof *prof, struct prof_trace *trace,
                   char why[PROF_CUDA_WORDS]);

#ifdef __cplusplus
}
#endif

#endif
