/* SPDX-License-Identifier: MIT */
/*
 * XLA's profiler (JAX, TensorFlow) writes no flows: that a call launched a kernel stands in the
 * number that both have, "correlation_id". Of a sorted trace whose streams of XLA are streams
 * already, the calls become calls of the driver, with a flow to what they launched. A number that
 * two calls have tells nothing. -1: no memory.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_XLA_H
#define HARNESS_TIMELINE_TIMELINE_XLA_H

#include "profile/trace.h"

int timeline_bind_xla(struct prof_trace *trace);

#endif
