/* SPDX-License-Identifier: MIT */
/*
 * A plugin (guest/plugin.h) in this process: opened, checked, and made into kernels and variants of
 * the registry's kind. What it brings is somebody else's code. Its tables are looked at first in a
 * process of its own, so that a plugin which crashes as it is loaded is refused and nothing else
 * happens; its callbacks run in measuring processes alone.
 */
#ifndef HARNESS_GUEST_PLUGIN_LOAD_H
#define HARNESS_GUEST_PLUGIN_LOAD_H

#include "base/error.h"
#include "base/file.h"
#include "core/kernel.h"

#include <stdbool.h>

struct plugin {
    char *path;       /* absolute; owned */
    const char *file; /* its last part */
    char digest[DIGEST_TEXT_SIZE];
    const struct kernel *const *kernels; /* NULL-ended */
    const struct variant *variants;      /* ended by a NULL name */
    struct plugin_own *own;
};

/* Refuses what is no plugin, one of another ABI, and malformed tables, saying what and what to do.
 * `digest`: the content it must have, or NULL for a plugin that is new to this run, which is tried
 * in a process of its own first. plugin_close() whatever the result; it must outlive what was made
 * of it. */
int plugin_open(struct plugin *p, const char *path, const char *digest, struct error *err);
void plugin_close(struct plugin *p);
/* Has one been opened in this process? Closed, its code is still there: nothing of it runs at its
 * end but what it has registered for exit(). */
bool plugin_is_loaded(void);

#endif
