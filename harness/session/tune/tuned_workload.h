/* SPDX-License-Identifier: MIT */
/*
 * `--tuned`: variants with parameters are measured with the settings that won a race on this
 * machine, each shape with its own. Nothing is guessed: where none is kept for a benchmark that was
 * chosen, that is an error which names it.
 *
 *     struct tuned t;
 *     tuned_open(&t, &options, store, sink, err) || workload_make(&workload, &options, ...)
 *     tuned_close(&t);
 */
#ifndef HARNESS_SESSION_TUNE_TUNED_WORKLOAD_H
#define HARNESS_SESSION_TUNE_TUNED_WORKLOAD_H

#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "store/tuned.h"

struct tuned {
    struct store_tuned_list kept; /* of this machine, the newest of each */
    struct string_list settings;
    const struct session_sink *sink; /* is told which setting each benchmark has */
};

/* Reads what is kept, and has workload_make() choose by it: `o` borrows from `t`, which must stay
 * where it is. `store` is read here alone. tuned_close() whatever the result. */
int tuned_open(struct tuned *t, struct workload_options *o, struct store *store,
               const struct session_sink *sink, struct error *err);
/* Of benchmarks for one device, chosen otherwise: leaves those with the settings that are kept, and
 * says which these are; -1 where one is not. `g` are the guests that `o` brought. */
int tuned_keep(const struct tuned *t, const struct guests *g, const struct device *d,
               struct benchmark_list *list, struct error *err);
void tuned_close(struct tuned *t);

#endif
