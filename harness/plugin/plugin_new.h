/* SPDX-License-Identifier: MIT */
/* A plugin to begin with: a source that computes something and is right, how to build it, and the
 * lines that do. The sources are the files of examples/plugin. */
#ifndef HARNESS_PLUGIN_PLUGIN_NEW_H
#define HARNESS_PLUGIN_PLUGIN_NEW_H

#include "base/strbuf.h"
#include "core/kernel.h"

struct plugin_new {
    const char *name;          /* of the file without its ending, and of the variant */
    const char *folder;        /* is made where it is not there */
    const struct kernel *like; /* whose variant it is to be; NULL: a kernel of its own */
    bool cuda;
};

/* Writes NAME.c or NAME.cu and CMakeLists.txt, and where this program lies without plugin.h, that,
 * too. Appends what was written and how it goes on. -1 where a file is there already. */
int plugin_new(const struct plugin_new *what, struct strbuf *told, struct error *err);

#endif
