/* SPDX-License-Identifier: MIT */
/*
 * Scopes of a GPU: time stamps are CUDA events on the scope's stream, so a scope's time is that of
 * the work enqueued inside it. Where CUDA's headers have NVTX, every scope is a range of it, too.
 * Events tell spans to about half a microsecond; where a span begins on the host's clock is known
 * from one event that was waited for at the start.
 *
 * Where CUPTI tells of each kernel, events would say the same less well: two a scope are 3.6 us of
 * the host's time, and a kernel behind one does not start under the kernel in front of it (a
 * forward of 59 kernels: 739 us instead of 207; H200, 2026-11-27). Then there are none.
 */
#ifndef HARNESS_MEASURE_PROFILING_CUDA_H
#define HARNESS_MEASURE_PROFILING_CUDA_H

#include "core/device.h"
#include "profile/profile.h"

struct profiling_cuda;

/* For the stream of a started CUDA device; `timed`: by events. NULL: no memory, or CUDA's words. */
struct profiling_cuda *profiling_cuda_open(const struct device *d, bool timed, struct error *err);
const struct prof_hooks *profiling_cuda_hooks(const struct profiling_cuda *p);
/* Makes events until `nr` are ready, so that none has to be made inside of what is measured. */
void profiling_cuda_reserve(struct profiling_cuda *p, size_t nr);
/* How many there are. */
size_t profiling_cuda_made(struct profiling_cuda *p);
/* CUDA's number of the device, which is the process of its tracks. */
int profiling_cuda_index(const struct device *d);
/* Launches a prepared call once on its stream, also where the device replays graphs, and waits. -1
 * with CUDA's words. */
int profiling_cuda_launch(const struct call *call, struct error *err);
/* After the profiler has forgotten its scopes and has other hooks or none. NULL is allowed. */
void profiling_cuda_close(struct profiling_cuda *p);

#endif
