/* SPDX-License-Identifier: MIT */
/* `harness profile --import`: what another profiler wrote, as a trace. */
#ifndef HARNESS_CLI_RENDER_PROFILE_IMPORT_H
#define HARNESS_CLI_RENDER_PROFILE_IMPORT_H

#include "base/error.h"
#include "profile/trace.h"

/* By its content: an nsys SQLite export, Trace Event JSON (also in a folder, or gzipped), or the
 * table of `ncu --csv`. That has no times of day: its kernels are put one behind the other, each as
 * long as it took, with the FLOPs and DRAM bytes that were counted. Initialises the trace; release
 * it whatever the result. */
int profile_import(const char *path, struct prof_trace *trace, struct error *err);

#endif
