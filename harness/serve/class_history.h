/* SPDX-License-Identifier: MIT */
/*
 * The history of one machine class as series with what changed in them: what trends and their
 * figures need, without any sample. It does not change; a newer one takes its place.
 */
#ifndef HARNESS_SERVE_CLASS_HISTORY_H
#define HARNESS_SERVE_CLASS_HISTORY_H

#include "store/store.h"
#include "trend/trend.h"
#include "view/annotations.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Bytes of measurements that one run may have: what has more is no run, and would cost the memory.
 */
enum { CLASS_HISTORY_BYTES_MAX = 256 << 20 };

struct class_history {
    atomic_int holders;
    char machine_class[96];
    struct records runs; /* facts alone, oldest first */
    struct series_list series;
    struct annotations annotations;
    struct trends trends;
};

struct class_history *class_history_keep(struct class_history *history);
void class_history_drop(struct class_history *history); /* NULL is fine */
/* Bytes, with those of its maker. */
size_t class_history_size(const struct class_history *history);

/* Makes them of one machine class. Each run is read once: the next one costs what is new. */
struct class_history_maker;

/* `window`: runs that it reaches back to at least, the newest; 0: all. */
struct class_history_maker *class_history_maker_create(const char *machine_class, size_t window);
void class_history_maker_free(struct class_history_maker *maker);
/* *history gets a new one, or NULL if `closing` was set meanwhile, or a run has gone: then the
 * history has changed, and the next one is due. */
int class_history_make(struct class_history_maker *maker, struct store *store,
                       const atomic_bool *closing, struct class_history **history,
                       struct error *err);

#endif
