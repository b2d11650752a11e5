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
 *     struct prof_cuda *cuda = prof_cuda_start(prof_global(), NULL, why);
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
 * one subscriber. Scopes whose device is a GPU are timed by events on their stream, from a pool
 * that is filled outside of them, and carry CUPTI's number of the stream, as its kernels do.
 *
 * Nothing is lost in silence: what found no room is in meta.dropped, and meta.note says in words
 * what the trace lacks.
 *
 * Tested against a stand-in for CUPTI and the driver; not verified on a device yet.
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
    size_t events;         /* ready before the first scope, two a scope of a GPU; 0: 1,024 */
};

enum { PROF_CUDA_WORDS = 512 }; /* room for a reason */

/* Sets the hooks of `prof` and begins to collect; no scope may be open. `options` may be NULL.
 * NULL, with the reason in `why`: no CUPTI or one that is too old, no driver, no rights, another
 * collector at work. Memory that is missing for bookkeeping ends the process with a message. */
struct prof_cuda *prof_cuda_start(struct prof *prof, const struct prof_cuda_options *options,
                                  char why[PROF_CUDA_WORDS]);

/* Waits for the device, stops, and makes a snapshot with all of it; `trace` is initialised here, to
 * be released by the caller. Frees `cuda`, and takes the hooks away, so no scope of a GPU may be
 * open or begin meanwhile. -1, with the reason in `why`: the trace is that of the scopes alone, and
 * its note says so, or it is empty for want of memory. `cuda` NULL: a snapshot of the scopes. */
int prof_cuda_stop(struct prof_cuda *cuda, struct prof *prof, struct prof_trace *trace,
                   char why[PROF_CUDA_WORDS]);

/* So far, of this collector; for programs that want to say it while they run. */
struct prof_cuda_counts {
    size_t events;  /* made; above those asked for, the pool was too small */
    size_t untimed; /* scopes of a GPU without events, for want of one */
    size_t in_use;  /* events that wait for their snapshot */
};
void prof_cuda_count(struct prof_cuda *cuda, struct prof_cuda_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
