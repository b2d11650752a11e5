/* SPDX-License-Identifier: MIT */
/*
 * Where a GPU's time went, from a list of activities: at work, copying, waiting for the CPU that
 * launches, waiting for a kernel that was launched already. Pure.
 *
 * The idea of telling idle time by who was late is Holistic Trace Analysis' ("Idle time
 * breakdown"); so is its 30 ns, below which a gap between kernels is no gap. The classes here cover
 * the span without overlap: they add up to it, exactly.
 */
#ifndef HARNESS_GPUTRACE_TIME_SPLIT_H
#define HARNESS_GPUTRACE_TIME_SPLIT_H

#include "gputrace/activity.h"

enum { TIME_SPLIT_GAP_NS = 30 };

/* All in ns. Activities of all streams of the device together: it is idle where none runs. */
struct time_split {
    int64_t span;        /* from the first start to the last end on the device; 0: nothing ran */
    int64_t gpu;         /* kernels, fills, graphs, copies within the device */
    int64_t transfer;    /* copies to and from the device while nothing of the above ran */
    int64_t seam;        /* gaps shorter than the threshold */
    int64_t launch;      /* idle while the CPU was inside the calls that launch */
    int64_t host_wait;   /* idle, and the call that launched what came next had not begun; its other
                          * gaps hold calls, too, which are `launch` */
    int64_t kernel_wait; /* idle, although that call had ended */
    int64_t other_wait;  /* idle, and the launch of what came next is not in the list */
    int64_t transfer_all; /* copies to and from the device, hidden behind kernels or not */
    int64_t calls_all;    /* the CPU inside the calls that launched work here, until it started */
    size_t nr_gaps;       /* those not shorter than the threshold */
};

/* `device` is that of the activities; the list need not be sorted. `gap_ns` is the threshold. */
struct time_split activity_time_split(const struct activity_list *list, int32_t device,
                                      int64_t gap_ns);
/* The devices that worked, ascending; at most `most`. Their number. */
size_t activity_devices(const struct activity_list *list, int32_t *devices, size_t most);

#endif
