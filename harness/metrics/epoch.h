/* SPDX-License-Identifier: MIT */
/*
 * An epoch is a stretch of history in which the environment of the code did not change: same
 * machine, compiler, flags, driver, governor. A change opens a new one, which is shown (a line in
 * trend plots, a note under a comparison) and never silently pooled.
 *
 * The facts are the machine, the build's compiler, flags and type, and the text and boolean members
 * of the run's environment object. Its numbers (load and the like) are weather, not facts; nor is
 * its "host", the name of one machine among others of its class.
 */
#ifndef HARNESS_METRICS_EPOCH_H
#define HARNESS_METRICS_EPOCH_H

#include "base/strbuf.h"
#include "core/record.h"

#include <stdint.h>

/* Equal for runs with equal facts. FNV-1a, 64 bits. */
uint64_t epoch_id(const struct run *run);
/* Gives `take` each fact that differs; NULL: that run does not say. Returns how many. */
typedef void epoch_take_fn(void *context, const char *name, const char *from, const char *to);
int epoch_each_difference(const struct run *from, const struct run *to, epoch_take_fn *take,
                          void *context);
/* Appends "compiler: gcc 12.2.0 -> gcc 13.1.0; governor: ..." for what differs; nothing if equal.
 * Returns the number of differences. */
int epoch_difference(const struct run *from, const struct run *to, struct strbuf *out);

#endif
