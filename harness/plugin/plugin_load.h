/* SPDX-License-Identifier: MIT */
/*
 * A plugin (plugin/plugin.h) in this process: opened, checked, and made into kernels and variants
 * of the registry's kind. What it brings is somebody else's code: that is loaded in measuring
 * processes alone. Who keeps the history has its tables told by a process that is there for nothing
 * else, so that a plugin which crashes, hangs or forks as it is loaded is refused and nothing else
 * happens.
 */
#ifndef HARNESS_PLUGIN_PLUGIN_LOAD_H
#define HARNESS_PLUGIN_PLUGIN_LOAD_H

#include "base/error.h"
#include "base/file.h"
#include "base/options.h"
#include "core/registry.h"

#include <stdbool.h>

struct plugin {
    char *path;       /* absolute; owned */
    const char *file; /* its last part */
    char digest[DIGEST_TEXT_SIZE];
    const struct kernel *const *kernels; /* of its own; NULL-ended */
    const struct variant *variants;      /* of these, and of the base's; ended by a NULL name */
    struct plugin_own *own;
};

/* What a process does before code of a plugin is loaded into it; -1: then none is. */
typedef int plugin_confine(struct error *err);

/* Refuses what is no plugin, one of another ABI, and malformed tables, saying what and what to do.
 * `digest`: the content it must have, to be loaded and measured here; or NULL for a plugin that is
 * new to this run: it is tried in a process of its own, which calls `confine` first unless that is
 * NULL, and what comes of it here are names and sizes, whose functions do nothing. `base` has the
 * kernels that its variants may be of. Each variant is there once with each of the settings
 * (plugin/guest_settings.h), or, without any, as it is. plugin_close() whatever the result; it must
 * outlive what was made of it. */
int plugin_open(struct plugin *p, const struct registry *base, const char *path, const char *digest,
                plugin_confine *confine, const struct string_list *settings, struct error *err);
void plugin_close(struct plugin *p);

/* A variant with a setting of its parameters, and whose it is. Borrowed. */
struct guest_setting {
    const char *guest, *digest; /* "k.so", and what it is made of; NULL: it is of this build */
    const char *variant;        /* its name without the setting */
    const char *setting;        /* "BM=64,stages=3"; "": none */
    const char *const *params;  /* that it has: "BM=32,64"; NULL-ended; NULL: none, or not told */
};
/* false: it is none of the plugin's. */
bool plugin_setting(const struct plugin *p, const struct variant *v, struct guest_setting *out);
/* Adds the names of parameters that its variants have, each once. false: it is of an ABI that does
 * not tell. */
bool plugin_param_names(const struct plugin *p, struct string_list *list);
/* Has one been opened in this process? Closed, its code is still there: nothing of it runs at its
 * end but what it has registered for exit(). */
bool plugin_is_loaded(void);

#endif
