/* SPDX-License-Identifier: MIT */
/*
 * Collects what the GPU does in this process, through CUPTI.
 *
 *     struct activity_collector *c;
 *     if (activity_start(&c, &(struct activity_options) { 0 }, err))
 *         return -1;                 // err says why this machine or build cannot
 *     ... launch, copy, synchronise the device ...
 *     activity_list_init(&list);
 *     if (activity_stop(c, &list, err)) ...
 *
 * Start before the first CUDA call where possible: CUPTI attaches to a running context too, but
 * what is in flight is lost. One collector a process at a time, since CUPTI's callbacks have no
 * argument to tell several apart; start and stop may be called from any thread. The records are
 * read by a thread of the collector's own, while the program runs on; it costs the program no wait.
 */
#ifndef HARNESS_CUPTI_COLLECT_H
#define HARNESS_CUPTI_COLLECT_H

#include "base/error.h"
#include "gputrace/activity.h"

#include <stddef.h>
#include <stdint.h>

/* All 0 is a good choice. */
struct activity_options {
    unsigned kinds;        /* bits 1u << ACTIVITY_...; 0: ACTIVITY_KINDS_USUAL */
    size_t buffer_bytes;   /* 0: 1 MiB, about 5,000 kernels */
    unsigned buffers;      /* 0: 8, made at the start */
    unsigned most_buffers; /* 0: 64; at most 256 */
};

/* ACTIVITY_RANGE cannot be collected. With ACTIVITY_GRAPH a replay of a CUDA graph is one activity,
 * cheap to collect; without it every node is one. Kernels are collected so that they still run
 * beside each other. Calls of the driver are there because libraries launch by them
 * (cuLaunchKernelEx): without, such work belongs to nobody. */
#define ACTIVITY_KINDS_USUAL                                                                       \
    (1u << ACTIVITY_KERNEL | 1u << ACTIVITY_MEMCPY | 1u << ACTIVITY_MEMSET |                       \
     1u << ACTIVITY_RUNTIME | 1u << ACTIVITY_DRIVER)

struct activity_collector;

int activity_start(struct activity_collector **collector, const struct activity_options *options,
                   struct error *err);
/* Appends all activities to the list, sorted by time, sets its clock and counts what was dropped.
 * Synchronise the device first. Frees the collector, also on -1. */
int activity_stop(struct activity_collector *collector, struct activity_list *list,
                  struct error *err);

/* CUPTI's number of a stream (a CUstream), by which activities know it. -1: not known, as without a
 * collector. */
int64_t activity_stream(void *stream);

/* 0 where a collector could be started here, as far as that is known without a GPU: CUPTI is there
 * and new enough. `version` is its API version. */
int activity_available(uint32_t *version, struct error *why);

#endif
