/* SPDX-License-Identifier: MIT */
/*
 * What was recorded, at rest: tracks with slices on them, counters, and flows between slices. A
 * snapshot makes one; others (the records of a GPU's driver, importers) add to it:
 *
 *     prof_snapshot(prof, &trace);
 *     int track = prof_trace_track(&trace, &(struct prof_track) { ... });
 *     prof_trace_slice(&trace, &(struct prof_slice) { .track = track, ... });
 *     prof_trace_sort(&trace);            // before anything reads it
 *
 * Times are ns on CLOCK_MONOTONIC, as int64_t. Texts belong to the trace: equal ones are the same
 * pointer. Adders copy what they are given; they return an index from 0, or -1 and ENOMEM or
 * EINVAL. A trace is used by one thread at a time.
 */
#ifndef HARNESS_PROFILE_TRACE_H
#define HARNESS_PROFILE_TRACE_H

#include "profile.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Categories that are understood, by the names that Kineto uses (pytorch/kineto). */
#define PROF_SCOPES        "user_annotation"
#define PROF_STEPS         "step" /* scopes, too: iterations of a loop, whatever else is outermost */
#define PROF_GPU_SCOPES    "gpu_user_annotation" /* the same, as its stream saw it */
#define PROF_SCOPE_FLOWS   "scope"               /* in files: flows to these */
#define PROF_KERNELS       "kernel"
#define PROF_MEMCPY        "gpu_memcpy"
#define PROF_MEMSET        "gpu_memset"
#define PROF_RUNTIME_CALLS "cuda_runtime"
#define PROF_DRIVER_CALLS  "cuda_driver"

enum prof_track_kind { PROF_TRACK_THREAD, PROF_TRACK_STREAM };

struct prof_track {
    enum prof_track_kind kind;
    int device;        /* enum prof_device */
    int64_t process;   /* pid of the host's program; what it is for a device is up to its adder */
    int64_t thread;    /* of the system, or the number of the stream */
    const char *owner; /* what the process is called: "program", "GPU 0 (H200)"; NULL: "" */
    const char *name;  /* "main", "stream 7"; NULL: "" */
};

enum { PROF_ROOT = -1, PROF_FIND_PARENT = -2 };
enum prof_slice_flags {
    PROF_OPEN = 1,    /* had not ended when the snapshot was taken, which cut it there */
    PROF_UNWOUND = 2, /* was left by longjmp(); its end is that of the scope around it */
    PROF_INSTANT_POINT = 4,
};

struct prof_slice {
    int track;
    int parent; /* a slice of the same track, PROF_ROOT, or PROF_FIND_PARENT: prof_trace_sort()
                 * takes the innermost that holds it; on a stream scopes alone hold others, because
                 * kernels run side by side */
    int64_t start, duration;
    const char *name;
    const char *category;
    const char *backend; /* NULL: not known */
    int device;          /* whose work it is */
    unsigned flags;      /* enum prof_slice_flags */
    int64_t bytes;       /* 0: not known, as the next one */
    double flops;
    int64_t gpu;              /* ns on the GPU between two marks of its own; 0: not known */
    int64_t transfer, launch; /* ns in copies and in calls, where no slice tells; 0: not known */
    int64_t memory_live, memory_peak; /* bytes; -1: not followed */
    uint64_t correlation;             /* of the launch; 0: none */
    const char *function, *file;      /* where it is in the source; NULL: not known */
    int line;
};

struct prof_counter {
    int64_t process;
    const char *name, *unit;
    enum prof_track_kind kind; /* a stream's: `process` is the number of a device. Of a trace that
                                * was read it is what the file calls a process */
};
struct prof_sample {
    int counter;
    int64_t time;
    double value;
};
/* From a launch on the host to what it started. */
struct prof_flow {
    int from, to; /* slices */
};

struct prof_meta {
    int64_t start, end; /* recorded from (creation or last clear) and to (the snapshot) */
    int64_t epoch_ns;   /* CLOCK_REALTIME at `start` */
    double rate;        /* of sampling */
    uint64_t seed;
    uint64_t skipped;      /* outermost scopes that were not sampled */
    uint64_t dropped;      /* scopes and instants without room, those inside them too */
    uint64_t lost_samples; /* of memory, without room */
    const char *clock;     /* "tsc", "cntvct", "monotonic" */
    const char *note;      /* what could not be recorded, and why; NULL: nothing is known */
    double scope_ns;       /* what a scope cost with the hooks that were on; 0: not measured */
    uint64_t replaced;     /* older records of rings, by later ones (prof_options.ring) */
};

struct prof_trace {
    struct prof_track *tracks;
    struct prof_slice *slices;
    struct prof_counter *counters;
    struct prof_sample *samples;
    struct prof_flow *flows;
    size_t nr_tracks, nr_slices, nr_counters, nr_samples, nr_flows;
    struct prof_meta meta;
    /* private */
    size_t capacity[5];
    char **texts;
    size_t nr_texts, size_texts;
    struct prof_trace_index *index;
};

/* A copy of all that was recorded; threads may go on meanwhile. All slices and samples are as of
 * one moment, meta.end: a scope that is open then ends there and is marked PROF_OPEN. GPU spans
 * that are not reached yet are left out, and there in a later snapshot. Sorted. -1: no memory, with
 * the trace empty. */
int prof_snapshot(struct prof *prof, struct prof_trace *trace);

void prof_trace_init(struct prof_trace *trace);
void prof_trace_release(struct prof_trace *trace);

/* The text as the trace keeps it. NULL: no memory, or NULL was given. */
const char *prof_trace_text(struct prof_trace *trace, const char *text);
/* The track of that kind, process and thread is made once; its names are those of the first time.
 */
int prof_trace_track(struct prof_trace *trace, const struct prof_track *track);
/* EINVAL: no such track, or a negative duration. */
int prof_trace_slice(struct prof_trace *trace, const struct prof_slice *slice);
int prof_trace_counter(struct prof_trace *trace, const struct prof_counter *counter);
int prof_trace_sample(struct prof_trace *trace, int counter, int64_t time, double value);
int prof_trace_flow(struct prof_trace *trace, int from, int to);

/* Slices by track, start, and those that hold others first; samples by counter and time. Finds
 * parents that are to be found, and keeps parents and flows right. `moved`, if not NULL, has room
 * for nr_slices and says where each slice is now. -1: no memory, with nothing changed. */
int prof_trace_sort(struct prof_trace *trace, int *moved);

/* Of a sorted trace, each for all slices: time without that of the children (where those overlap,
 * once: their own times then add up to more than is around them), and a lane from 0 on
 * the track such that slices of a lane nest and never overlap otherwise. -1: no memory. A scope as
 * its stream saw it (PROF_GPU_SCOPES) has no time of its own where the device's work is in the
 * trace: that is the same time, and what is between is none. Work has that of prof_trace_busy(). */
int prof_trace_self(const struct prof_trace *trace, int64_t *self);
/* Of a sorted trace, for all slices: of a GPU's work its time without that in which what began
 * before it on its stream was still under way, of all others 0. A kernel that starts under the one
 * in front of it (programmatic dependent launch) waits there, and CUPTI counts that as its time.
 * What ends before the work in front of it has not waited, and keeps all of its time. */
void prof_trace_busy(const struct prof_trace *trace, int64_t *ns);
int prof_trace_lanes(const struct prof_trace *trace, int *lanes);

/* Whether all that is said above holds: order, parents that hold their children, indices in range,
 * flows that do not go back in time, samples in order. -1 and a line in `why` if not. */
int prof_trace_check(const struct prof_trace *trace, char *why, size_t size);

#ifdef __cplusplus
}
#endif

#endif
