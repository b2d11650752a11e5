/* SPDX-License-Identifier: MIT */
/*
 * Forward and backward passes of traces of training. Scopes inside one that says "backward" (an
 * NVTX range, a marker of PyTorch's profiler, "MmBackward0" of its autograd engine) are operations
 * of their own: "attention (backward)" beside "attention", so tables, boxes and the timeline have
 * both. By such markers alone: without them nothing is guessed from the order of operations.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_BACKWARD_H
#define HARNESS_TIMELINE_TIMELINE_BACKWARD_H

#include "profile/trace.h"

#include <stdbool.h>

/* Does the name say so? As a word or the end of one that begins in capitals: "backward",
 * "loss.backward", "MmBackward0"; not "forward_backward", which is both. */
bool timeline_says_backward(const char *name);
/* Of a sorted trace; kernels, copies and calls keep their names. Twice is as once. -1: no memory.
 */
int timeline_name_backward(struct prof_trace *trace);

#endif
