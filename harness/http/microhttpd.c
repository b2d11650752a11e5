/* SPDX-License-Identifier: MIT */
#include "http/http_base.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const char file_name[] = "libmicrohttpd.so.12";

static const struct function {
    const char *name;
    size_t offset;
} functions[] = {
#define MICROHTTPD_ROW(name) { "MHD_" #name, offsetof(struct microhttpd, name) },
    MICROHTTPD_FUNCTIONS(MICROHTTPD_ROW)
};

int microhttpd_open(struct microhttpd *library, struct error *err)
{
    *library = (struct microhttpd) { .handle = dlopen(file_name, RTLD_NOW | RTLD_LOCAL) };
    if (!library->handle)
        return error_set(err,
                         "serving needs libmicrohttpd, which is not on this machine (%s). Install "
                         "libmicrohttpd12; `harness report` writes the same page into a file",
                         dlerror());
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = dlsym(library->handle, functions[i].name);
        if (!function) {
            microhttpd_close(library);
            return error_set(err, "%s lacks %s: it is too old, 0.9.75 is needed", file_name,
                             functions[i].name);
        }
        memcpy((char *)library + functions[i].offset, &function, sizeof(function));
    }
    return 0;
}

void microhttpd_close(struct microhttpd *library)
{
    if (library->handle)
        dlclose(library->handle);
    *library = (struct microhttpd) { .handle = NULL };
}
