/* SPDX-License-Identifier: MIT */
/*
 * What a GPU did and what the CPU asked of it, as a list of intervals: kernels, copies, fills,
 * calls of the CUDA runtime and driver, whole graphs, waits, named ranges. The list is the same
 * whether it was collected here (cupti/collect.h) or read from a file of somebody's profiler
 * (gputrace/import.h).
 *
 * Times are ns on the source's own clock; activity_host_time() puts them on CLOCK_MONOTONIC where
 * the source knows how. A node of a CUDA graph is an activity of its own kind whose `graph_node` is
 * not 0; all nodes of one replay have the correlation of the call that launched the graph.
 *
 * A list belongs to one thread at a time.
 */
#ifndef HARNESS_GPUTRACE_ACTIVITY_H
#define HARNESS_GPUTRACE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum activity_kind {
    ACTIVITY_KERNEL,
    ACTIVITY_MEMCPY,
    ACTIVITY_MEMSET,
    ACTIVITY_RUNTIME, /* a call of the CUDA runtime, on the CPU */
    ACTIVITY_DRIVER,  /* a call of the CUDA driver, on the CPU */
    ACTIVITY_GRAPH,   /* a graph's whole replay, where its nodes were not collected */
    ACTIVITY_SYNC,    /* the CPU, or a stream, waits */
    ACTIVITY_RANGE,   /* a range named by the program (NVTX) */
    ACTIVITY_KIND_NR
};

/* From where to where; the numbers are CUPTI's (CUpti_ActivityMemcpyKind), also in nsys' files. */
enum memcpy_kind {
    MEMCPY_UNKNOWN,
    MEMCPY_HOST_TO_DEVICE,
    MEMCPY_DEVICE_TO_HOST,
    MEMCPY_HOST_TO_ARRAY,
    MEMCPY_ARRAY_TO_HOST,
    MEMCPY_ARRAY_TO_ARRAY,
    MEMCPY_ARRAY_TO_DEVICE,
    MEMCPY_DEVICE_TO_ARRAY,
    MEMCPY_DEVICE_TO_DEVICE,
    MEMCPY_HOST_TO_HOST,
    MEMCPY_PEER_TO_PEER,
    MEMCPY_KIND_NR
};

struct activity {
    enum activity_kind kind;
    enum memcpy_kind copy; /* of a memcpy */
    const char *name;      /* kernels demangled; owned by the list, the same name is one pointer */
    int64_t start, end;    /* ns; start <= end */
    int32_t device;        /* -1: on the CPU */
    uint32_t context, stream;
    uint32_t correlation; /* shared by a call and what it started; 0: none */
    uint32_t graph;       /* 0: not of a graph */
    uint64_t graph_node;
    int64_t bytes;                 /* of a memcpy or memset */
    int32_t grid[3], block[3];     /* of a kernel: blocks, threads */
    int32_t registers;             /* a thread */
    int32_t static_shared, shared; /* bytes a block: declared, and asked for at the launch */
    uint32_t process, thread;      /* of what runs on the CPU */
    int32_t result;                /* what a call returned; 0: success */
};

struct activity_names; /* every name once, see gputrace/names.h */

struct activity_list {
    struct activity *items;
    size_t nr, capacity;
    struct activity_names *names;
    /* CLOCK_MONOTONIC minus the list's clock, in ns, and the most it may be wrong by. */
    bool has_clock;
    int64_t clock_offset, clock_error;
    /* The offset is that of `clock_at` on the list's clock, and grows by `clock_drift` each ns. */
    int64_t clock_at;
    double clock_drift;
    /* What is missing: records that the profiler had no room for, records without times, and such
     * of kinds that are not read here. */
    uint64_t dropped, untimed, unread;
};

void activity_list_init(struct activity_list *list);
void activity_list_release(struct activity_list *list);
/* A fresh activity at the end, all zero but device -1; valid until the next call. */
struct activity *activity_add(struct activity_list *list, enum activity_kind kind);
/* The list's own copy of a name: demangled where it is a mangled C++ one. NULL becomes "". */
const char *activity_name(struct activity_list *list, const char *name);
/* The same of a CUDA call: "cudaLaunchKernel_v7000" is cudaLaunchKernel for people, "cuMemAlloc_v2"
 * stays. */
const char *activity_call_name(struct activity_list *list, const char *name);
/* Of work that has no name of its own: "memcpy HtoD", "memset", "graph 3"; of other work its name,
 * or
 * "". */
enum { ACTIVITY_NAME_SIZE = 32 };
const char *activity_work_name(const struct activity *a, char buffer[ACTIVITY_NAME_SIZE]);
/* Sets a->name to it. */
void activity_name_work(struct activity_list *list, struct activity *a);
/* By start; what began together, the longer first, so that parents precede children. Stable. */
void activity_sort(struct activity_list *list);
/* Leaves out what the host began before `from` (CLOCK_MONOTONIC): calls, and work by the call that
 * launched it, or by its own start where that is not known. */
void activity_cut(struct activity_list *list, int64_t from);

/* Calls of the runtime and driver by correlation, to look up which one started a piece of work. */
struct activity_calls {
    const struct activity **items; /* by correlation, then start, then place in the list */
    size_t nr, capacity;
};

/* Of a list, which must not grow meanwhile. Release it. */
void activity_calls_of(const struct activity_list *list, struct activity_calls *calls);
void activity_calls_release(struct activity_calls *calls);
/* The call that launched it: of several with its correlation the first, which holds the others.
 * NULL where there is none. */
const struct activity *activity_launch(const struct activity_calls *calls,
                                       const struct activity *work);

int64_t activity_host_time(const struct activity_list *list, int64_t time); /* CLOCK_MONOTONIC */
bool activity_on_device(const struct activity *a);       /* kernel, memcpy, memset or graph */
const char *activity_kind_name(enum activity_kind kind); /* "kernel", "memcpy", ... */
/* "HtoD" and so on, as CUDA's tools write it; "?" for numbers that are none. */
const char *memcpy_kind_name(int kind);
/* By the name of a copy: "memcpy HtoD", "Memcpy DtoH (Device -> Pageable)", "MemcpyD2D" (XLA). */
enum memcpy_kind memcpy_kind_of(const char *name);
/* Whether the copy crosses the border between a GPU and the host or another GPU. */
bool memcpy_kind_is_transfer(enum memcpy_kind kind);

#endif
