/* SPDX-License-Identifier: MIT */
/*
 * As many OpenMP threads as a device has: a benchmark of "cpu-8t" that fewer compute has another's
 * time under its name, and the roof of eight is computed from the bytes of one.
 */
#ifndef HARNESS_HOST_THREAD_TEAM_H
#define HARNESS_HOST_THREAD_TEAM_H

#include "base/error.h"

/* For processes that measure, before they do. From then on OpenMP adjusts no team to the load of
 * the machine, which OMP_DYNAMIC asks for. An error where a region of `threads` gets fewer all the
 * same: by OMP_THREAD_LIMIT, or by what else is set. Starts the team. */
int thread_team_check(int threads, struct error *err);

#endif
