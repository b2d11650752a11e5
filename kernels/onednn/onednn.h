/* SPDX-License-Identifier: MIT */
/* Where oneDNN is found, for the peers that call it; each names its own symbols. */
#ifndef HARNESS_KERNELS_ONEDNN_H
#define HARNESS_KERNELS_ONEDNN_H

#include "kernels/peer.h"

#include <dlfcn.h>

static const char *const onednn_files[] = { "libdnnl.so.3", "libdnnl.so.2", "libdnnl.so", NULL };

#define ONEDNN_PEER(symbols_)                                                                      \
    {                                                                                              \
        .variable = "HARNESS_ONEDNN", .files = onednn_files,                                       \
        .packages = "Debian: libdnnl3 or libdnnl2", .flags = RTLD_LOCAL, .symbols = (symbols_)     \
    }

#endif
