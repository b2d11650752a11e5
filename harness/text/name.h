/* SPDX-License-Identifier: MIT */
/* Names of guests: they stand in keys for years, so what would spoil a key is refused. */
#ifndef HARNESS_TEXT_NAME_H
#define HARNESS_TEXT_NAME_H

#include "base/error.h"

#include <stddef.h>

enum {
    NAME_KERNEL_MAX = 47, /* leaves room for ":operation" */
    NAME_VARIANT_MAX = 31,
    NAME_DIM_MAX = 23,
    NAME_KEY_MAX = 200, /* of a key with sizes of ten digits, without device and cache state */
};

/* One or more parts of letters, digits, '_', '.', '-', separated by '/'. */
int name_check_kernel(const char *name, struct error *err);
/* One such part. */
int name_check_variant(const char *name, struct error *err);
/* Small letters, digits and '_', the first a letter. */
int name_check_dim(const char *name, struct error *err);
/* Whether the keys of a kernel with these dims stay within bounds. */
int name_check_key(const char *kernel, const char *variant, const char *const *dims, size_t nr_dims,
                   struct error *err);
/* What is no letter, digit, '_', '.' or '-' becomes '-'; cut to `size` with the NUL. */
void name_sanitise(const char *text, char *name, size_t size);

#endif
