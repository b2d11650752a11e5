/* SPDX-License-Identifier: MIT */
/* Inside timeline/: stacks of two traces as one tree of names. */
#ifndef HARNESS_TIMELINE_DIFF_FRAMES_H
#define HARNESS_TIMELINE_DIFF_FRAMES_H

#include "timeline/timeline_diff.h"

struct frame_links {
    int child, sibling; /* -1: none */
};

/* All 0 is an empty one. */
struct frames {
    struct diff_frame *items;
    struct frame_links *links;
    size_t nr, capacity, links_capacity;
    int first; /* of the outermost ones, + 1 */
};

/* Adds self times of a sorted trace, over `iterations`, to the frames of the host and the device,
 * as [which]. -1: no memory for a name. */
int diff_frames_add(struct frames frames[2], const struct prof_trace *trace, int which,
                    double iterations, struct prof_trace *names);
/* Sums up totals and hands over the frames; the rest is released. */
struct diff_frame *diff_frames_take(struct frames *frames, size_t *nr);

#endif
