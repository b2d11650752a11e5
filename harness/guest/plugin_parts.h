/* SPDX-License-Identifier: MIT */
/* What the files of plugins share. */
#ifndef HARNESS_GUEST_PLUGIN_PARTS_H
#define HARNESS_GUEST_PLUGIN_PARTS_H

#include "guest/plugin.h"
#include "guest/plugin_load.h"

/* The kernel of a plugin; kernel.config points to itself, so that a callback finds the rest. */
struct plugin_kernel {
    struct kernel kernel;
    const struct harness_kernel *theirs;
    const struct plugin_own *own;
    struct shape *shapes, *test_shapes; /* owned */
};

struct plugin_own {
    void *library; /* of dlopen() */
    const struct harness_plugin *table;
    struct plugin_kernel *kernels;
    const struct kernel **list;
    struct variant *variants;
    const struct harness_variant **theirs; /* of each of these */
    size_t nr_variants;
};

/* Everything that can be said of the tables without calling anything. */
int plugin_check(const struct harness_plugin *table, struct error *err);

/* Loads and checks it in a process of its own, which is ended after so many seconds, with all that
 * its constructors have started: that is refused. */
int plugin_try(struct plugin *p, int seconds, struct error *err);

/* Kernels and variants from the tables, which have been checked. plugin_drop() undoes it. */
void plugin_adapt(struct plugin *p);
void plugin_drop(struct plugin *p);

/* A layout's result: the tensors, or -1 and what is wrong with them. */
int plugin_layout(const struct harness_kernel *k, const int64_t *size, int32_t dtype,
                  struct harness_tensor *t, struct error *err);

#endif
