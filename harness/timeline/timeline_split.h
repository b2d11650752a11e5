/* SPDX-License-Identifier: MIT */
/*
 * Where the time went, in parts that do not overlap and add up to the span, exactly.
 *
 * With work on a GPU the span is the device's, from its first start to its last end
 * (gputrace/time_split.h, which says what each part is). Without any it is the main thread's, from
 * its first outermost scope to the end of its last: inside scopes and outside them.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_SPLIT_H
#define HARNESS_TIMELINE_TIMELINE_SPLIT_H

#include "base/error.h"
#include "profile/trace.h"

#include <stdint.h>

enum timeline_part {
    PART_GPU,         /* kernels, fills, copies within the device */
    PART_CPU,         /* inside scopes of the main thread */
    PART_TRANSFER,    /* copies to and from the device that hide behind nothing */
    PART_LAUNCH,      /* the device idle, the CPU inside the calls that launch */
    PART_HOST_WAIT,   /* the device idle, the next launch not begun: the CPU was elsewhere */
    PART_KERNEL_WAIT, /* the device idle although the next work had been launched */
    PART_OTHER_WAIT,  /* the device idle, for what is not known */
    PART_SEAM,        /* gaps below the threshold */
    PART_OUTSIDE,     /* of the main thread, in no scope */
    PART_NR
};

struct timeline_split {
    int device; /* of CUDA, or -1: the CPU's split */
    int64_t span;
    int64_t ns[PART_NR];
    size_t nr_gaps; /* of the device, not below the threshold */
    int64_t gap_ns; /* which was this; 0: of the CPU */
};

/* "GPU", "CPU", "transfer", "launch", "host wait", ...; and a line on what it is. */
const char *timeline_part_name(enum timeline_part part);
const char *timeline_part_words(enum timeline_part part);
/* Of the span; 0 where that is 0. */
double timeline_part_share(const struct timeline_split *split, enum timeline_part part);

/* Of a sorted trace. `device` -1: the one with the longest span, or the CPU where none worked.
 * `gap_ns`: TIME_SPLIT_GAP_NS is the usual. An empty trace has span 0. */
struct timeline_split timeline_split_of(const struct prof_trace *trace, int device, int64_t gap_ns);

#endif
