/* SPDX-License-Identifier: MIT */
/* What device_alloc() gave and has not got back, for who lends it to another process. */
#ifndef HARNESS_CORE_DEVICE_BLOCK_H
#define HARNESS_CORE_DEVICE_BLOCK_H

#include "core/device.h"

struct device_block {
    void *memory;
    size_t bytes;            /* as they were asked for */
    struct device_file file; /* fd -1: it is none */
};

/* The one in which memory lies, at its beginning or inside; NULL: in none. It is good until the
 * device allocates or frees again. */
const struct device_block *device_block_of(const struct device *d, const void *memory);

#endif
