/* SPDX-License-Identifier: MIT */
#include "serve/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const char file_name[] = "libmicrohttpd.so.12";

static const struct function {
    const char *name;
    size_t offset;
} functions[] = {
#define LIBRARY_ROW(name) { "MHD_" #name, offsetof(struct library, name) },
    LIBRARY_FUNCTIONS(LIBRARY_ROW)
};

int library_open(struct library *library, struct error *err)
{
    *library = (struct library) { .handle = dlopen(file_name, RTLD_NOW | RTLD_LOCAL) };
    if (!library->handle)
        return error_set(err,
                         "serving needs libmicrohttpd, which is not on this machine (%s). Install "
                         "libmicrohttpd12; `harness report` writes the same page into a file",
                         dlerror());
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = dlsym(library->handle, functions[i].name);
        if (!function) {
            library_close(library);
            return error_set(err, "%s lacks %s: it is too old, 0.9.75 is needed", file_name,
                             functions[i].name);
        }
        memcpy((char *)library + functions[i].offset, &function, sizeof(function));
    }
    return 0;
}

void library_close(struct library *library)
{
    if (library->handle)
        dlclose(library->handle);
    *library = (struct library) { .handle = NULL };
}
