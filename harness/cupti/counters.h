/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters per kernel, through CUPTI's range profiler: one range a kernel, and each kernel
 * replayed until all passes are collected. Replay restores the memory the kernel wrote and makes
 * kernels wait for each other: counts are right, times of a run with counters are not, and DRAM
 * bytes are those of a kernel on its own, with caches as the replay left them.
 *
 * The host half (metric names, number of passes) needs neither a GPU nor a driver. Where CUDA's
 * headers were missing at build time, everything here fails with an error that says so. A machine
 * may keep counters to its administrator: then counters_start() fails with one line that says so,
 * and timing goes on without.
 *
 * Metric names: NVIDIA, "CUPTI: Profiler host API" and Nsight Compute's metric reference.
 */
#ifndef HARNESS_CUPTI_COUNTERS_H
#define HARNESS_CUPTI_COUNTERS_H

#include "base/error.h"
#include "gputrace/counter_list.h"

/* How often a kernel runs to collect these metrics on a chip ("GH100"). Any thread. */
int counters_passes(const char *chip, const char *const *metrics, size_t nr, size_t *passes,
                    struct error *err);
/* What the chip's documentation says of a metric, into `text`, cut off at `size`. */
int counters_describe(const char *chip, const char *metric, char *text, size_t size,
                      struct error *err);

struct counters_session;

/* Collects for the kernels that this thread's current CUDA context launches from now on, at most
 * `most_kernels`. `device` is CUDA's number of the context's GPU. Nothing else may use CUPTI
 * meanwhile, cupti/collect.h included. */
int counters_start(struct counters_session **session, int device, const char *const *metrics,
                   size_t nr, size_t most_kernels, struct error *err);
/* Synchronise the device first. Appends one set a launch, in order of launches, ids from 0; names
 * are not known here (""). Frees the session, also on -1. */
int counters_stop(struct counters_session *session, struct counter_list *list, struct error *err);

#endif
