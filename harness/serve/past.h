/* SPDX-License-Identifier: MIT */
/*
 * The history of one machine class as series with what changed in them: what trends and their
 * figures need, without any sample. A past does not change; a newer one takes its place.
 */
#ifndef HARNESS_SERVE_PAST_H
#define HARNESS_SERVE_PAST_H

#include "analysis/trend.h"
#include "store/store.h"
#include "view/accepted_steps.h"
#include "view/remarks.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Bytes of measurements that one run may have: what has more is no run, and would cost the memory.
 */
enum { PAST_BYTES_MAX = 256 << 20 };

struct past {
    atomic_int holders;
    char machine_class[96];
    struct records runs; /* facts alone, oldest first */
    struct series_list series;
    struct accepted_steps accepted;
    struct remarks remarks;
    struct trends trends;
};

struct past *past_keep(struct past *past);
void past_drop(struct past *past); /* NULL is fine */
/* Bytes, with those of its maker. */
size_t past_size(const struct past *past);

/* Makes pasts of one machine class. Each run is read once: the next past costs what is new. */
struct past_maker;

/* `window`: runs that a past reaches back to at least, the newest; 0: all. */
struct past_maker *past_maker_create(const char *machine_class, size_t window);
void past_maker_free(struct past_maker *maker);
/* *past gets a new one, or NULL if `closing` was set meanwhile, or a run has gone: then the history
 * has changed, and the next one is due. */
int past_make(struct past_maker *maker, struct store *store, const atomic_bool *closing,
              struct past **past, struct error *err);

#endif
