/* SPDX-License-Identifier: MIT */
/*
 * Libraries to compare with, opened at run time: none is needed to build or to start the harness,
 * and variants that use one are unsupported where it is not.
 *
 * A library that was opened stays for the life of the process: its threads may outlive a call.
 */
#ifndef HARNESS_KERNELS_PEER_H
#define HARNESS_KERNELS_PEER_H

#include "core/kernel.h"

#include <stddef.h>

struct peer_symbol {
    const char *name;
    size_t offset; /* of the pointer in the table of functions */
};

struct peer {
    const char *variable;              /* environment variable that names another file */
    const char *const *files;          /* names in the order tried, NULL-ended */
    const char *packages;              /* "Debian: libblis4-openmp" */
    int flags;                         /* of dlopen(), beside RTLD_NOW */
    const struct peer_symbol *symbols; /* ended by a NULL name */
};

/* Opens the first of the files that is there and fills the table. Cheap where it is open already.
 * -1 and an error that names the library, and the package to install or the loader's words. */
int peer_open(const struct peer *p, void *table, struct error *err);
/* The same of that file alone. */
int peer_open_file(const struct peer *p, const char *file, void *table, struct error *err);

/* For prepare(): the table, `size` bytes, as the call's state; host_state_release() frees it. */
int peer_prepare(const struct peer *p, size_t size, struct call *call, struct error *err);

#endif
