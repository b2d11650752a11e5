/* SPDX-License-Identifier: MIT */
/* What the files of plugins share. */
#ifndef HARNESS_PLUGIN_PLUGIN_PARTS_H
#define HARNESS_PLUGIN_PLUGIN_PARTS_H

#include "base/strbuf.h"
#include "plugin/plugin.h"
#include "plugin/plugin_load.h"

/* Bytes that the tables of a plugin may come to as text: thousands of variants. */
enum { PLUGIN_TABLE_MOST = 4 << 20 };

/* The kernel of a plugin; kernel.config points to itself, so that a callback finds the rest. */
struct plugin_kernel {
    struct kernel kernel;
    const struct harness_kernel *theirs;
    const struct plugin_own *own;
    struct shape *shapes, *test_shapes; /* owned */
};

struct plugin_own {
    void *library;            /* of dlopen(), where the code is loaded */
    struct plugin_told *told; /* where it is not: what the trial told, owned */
    const struct harness_plugin *table;
    struct plugin_kernel *kernels;
    const struct kernel **list;
    struct variant *variants;
    const struct harness_variant **theirs; /* of each of these */
    size_t nr_variants;
};

/* Everything that can be said of the tables without calling anything. */
int plugin_check(const struct harness_plugin *table, struct error *err);

/* Loads and checks it in a process of its own, which tells its tables and is ended after so many
 * seconds, with all that its constructors have started: that is refused. Nothing of it is loaded
 * here. plugin_table_drop() whatever the result. */
int plugin_try(struct plugin *p, int seconds, struct error *err);

/* Tables, which have been checked, as one line of JSON, and back: these are checked again, since
 * the process that tells them has a stranger's code in it. Their functions do nothing. */
int plugin_table_print(const struct harness_plugin *table, struct strbuf *out, struct error *err);
int plugin_table_read(struct plugin_own *own, const char *text, size_t length, struct error *err);
void plugin_table_drop(struct plugin_own *own);

/* Kernels and variants from the tables, which have been checked. plugin_drop() undoes it. */
void plugin_adapt(struct plugin *p);
void plugin_drop(struct plugin *p);

/* A layout's result: the tensors, or -1 and what is wrong with them. */
int plugin_layout(const struct harness_kernel *k, const int64_t *size, int32_t dtype,
                  struct harness_tensor *t, struct error *err);

#endif
