/* SPDX-License-Identifier: MIT */
/*
 * Guests join a registry while the program runs: what was not built in brings kernels of its own,
 * and variants of these or of kernels that are there already. Whoever makes guests (plugins,
 * functions of another language, commands) tells them in one way, struct registry_guest.
 */
#ifndef HARNESS_PLUGIN_REGISTRY_JOIN_H
#define HARNESS_PLUGIN_REGISTRY_JOIN_H

#include "core/registry.h"

struct registry_guest {
    const char *name;                    /* for messages: "plugin axpy.so" */
    const struct kernel *const *kernels; /* NULL-ended; may be empty. NULL: none */
    const struct variant *variants;      /* ended by a NULL name; of any kernel */
};

struct registry_joined {
    struct registry all; /* the base, and the guests behind it */
    struct registry own; /* the guests alone, with all kernels that they have variants of */
    /* The guests, and of kernels that they share with the base the vendors' variants for the same
     * device and arithmetic, which is what a guest wants to be seen beside. No peers. */
    struct registry beside;
    /* What these point to; owned. */
    const struct kernel *const **lists[2];
    const struct kernel **shared;
    const struct variant **files[2];
    const char **sources;
    struct variant *vendors;
    struct missing_variant none; /* the end of a list of none */
};

/* The lists of base and guests are borrowed. -1 where a name is taken: of a kernel, or of a variant
 * within its kernel, also by one that this build lacks, since keys of the history must mean one
 * thing. `j` must stay where it is; registry_joined_release() whatever the result. */
int registry_join(struct registry_joined *j, const struct registry *base,
                  const struct registry_guest *guests, size_t nr, struct error *err);
void registry_joined_release(struct registry_joined *j);

/* The kernel whose variants a guest's are to be. NULL, with the nearest name, where there is none.
 */
const struct kernel *registry_like(const struct registry *r, const char *name, struct error *err);

#endif
