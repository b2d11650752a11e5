/* SPDX-License-Identifier: MIT */
/* What nests in what, in time that grows with the number of slices alone. Not installed. */
#ifndef HARNESS_PROFILE_NESTING_H
#define HARNESS_PROFILE_NESTING_H

#include <stddef.h>

/* alike[i] = whether an ancestor of `i` has its group. `parent` is -1 for the outermost, else below
 * `i`; `group` is -1 for none, else below `nr`. -1: no memory. */
int prof_nested_alike(const int *parent, const int *group, size_t nr, unsigned char *alike);

/* A line of folded stacks: its own name and those around it. `depth` is 0 for the outermost. */
struct prof_stack {
    int parent, depth;
    size_t length; /* of the name */
};
/* From which depth on stacks are cut, so that lines come to no more than `bytes`: those at `least`
 * stay in any case. Parents come first. -1: no memory. */
int prof_stacks_depth(const struct prof_stack *stacks, size_t nr, size_t bytes, int least);

#endif
