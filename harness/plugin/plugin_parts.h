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
    struct shape *shapes, *test_shapes; /* owned */
};

/* What variant.config of a plugin's points to. */
struct plugin_variant {
    const struct harness_variant *theirs;
    const struct harness_kernel *kernel; /* NULL: the kernel is none of the plugin's */
    const struct harness_plugin *plugin;
    const char *const *params; /* NULL-ended */
    const char *setting;       /* the same as one text; "": none */
};

struct plugin_own {
    void *library;                      /* of dlopen(), where the code is loaded */
    struct plugin_told *told;           /* where it is not: what the trial told, owned */
    struct plugin_taken *taken;         /* where it is: its tables, owned */
    const struct harness_plugin *table; /* in the form of this ABI; table->abi is the plugin's */
    struct plugin_kernel *kernels;
    const struct kernel **list;
    struct variant *variants;
    struct plugin_variant *theirs; /* of each of these */
    size_t nr_variants;
    struct string_list names, texts; /* of variants with a setting; of these settings */
    char ***params;                  /* the same taken apart */
};

/* The tables of a loaded plugin of this ABI or an older one, in the form of this one: own->table.
 * Refuses other ABIs, and sizes that are not those of its ABI. */
int plugin_take(struct plugin_own *own, const struct harness_plugin *theirs, struct error *err);
void plugin_taken_drop(struct plugin_own *own);

/* Everything that can be said of tables in this form without calling anything. */
int plugin_check(const struct harness_plugin *table, struct error *err);

enum { PLUGIN_KERNELS_MAX = 1000, PLUGIN_VARIANTS_MAX = 1000 };

/* Loads and checks it in a process of its own, which tells its tables and is ended after so many
 * seconds, with all that its constructors have started: that is refused. `confine`: see
 * plugin_open(). Nothing of it is loaded here. plugin_table_drop() whatever the result. */
int plugin_try(struct plugin *p, int seconds, plugin_confine *confine, struct error *err);

/* Tables, which have been checked, as one line of JSON, and back: these are checked again, since
 * the process that tells them has a stranger's code in it. Their functions do nothing. */
int plugin_table_print(const struct harness_plugin *table, struct strbuf *out, struct error *err);
int plugin_table_read(struct plugin_own *own, const char *text, size_t length, struct error *err);
void plugin_table_drop(struct plugin_own *own);

/* Kernels and variants from the tables, which have been checked. plugin_drop() undoes it, whatever
 * the result: -1 where a kernel of `base` is not there, or the plugin cannot have parameters. */
int plugin_adapt(struct plugin *p, const struct registry *base, const struct string_list *settings,
                 struct error *err);
void plugin_drop(struct plugin *p);

/* A layout's result: the tensors, or -1 and what is wrong with them. */
int plugin_layout(const struct harness_kernel *k, const int64_t *size, int32_t dtype,
                  struct harness_tensor *t, struct error *err);

#endif
