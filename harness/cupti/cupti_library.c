/* SPDX-License-Identifier: MIT */
#include "cupti/cupti_library.h"

#include "cupti/cupti_parse.h"
#include "cupti/cupti_records.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    { "cuptiGetVersion", offsetof(struct cupti_functions, version) },
    { "cuptiGetResultString", offsetof(struct cupti_functions, result_text) },
    { "cuptiGetTimestamp", offsetof(struct cupti_functions, timestamp) },
    { "cuptiActivityRegisterCallbacks", offsetof(struct cupti_functions, register_callbacks) },
    { "cuptiActivityEnable", offsetof(struct cupti_functions, enable) },
    { "cuptiActivityDisable", offsetof(struct cupti_functions, disable) },
    { "cuptiActivityFlushAll", offsetof(struct cupti_functions, flush) },
    { "cuptiActivityGetNextRecord", offsetof(struct cupti_functions, next_record) },
    { "cuptiActivityGetNumDroppedRecords", offsetof(struct cupti_functions, dropped) },
    { "cuptiGetCallbackName", offsetof(struct cupti_functions, call_name) },
};

static void *open_file(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *open_in_toolkit(const char *root)
{
    static const char *const folders[] = { "extras/CUPTI/lib64", "lib64" };
    char file[4096];
    void *handle = NULL;

    if (!root || !*root)
        return NULL;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !handle; i++) {
        snprintf(file, sizeof(file), "%s/%s/libcupti.so", root, folders[i]);
        handle = open_file(file);
    }
    return handle;
}

/* The message is about the newest name, by the loader's rules: that of a guessed folder tells a
 * reader less. */
static void *find_cupti(struct error *why)
{
    const char *chosen = getenv("HARNESS_CUPTI");
    void *handle = open_file(chosen && *chosen ? chosen : "libcupti.so.13");

    if (handle)
        return handle;
    error_record(why,
                 "CUPTI cannot be opened: %s (the environment variable HARNESS_CUPTI names "
                 "another file)",
                 dlerror());
    if (chosen && *chosen)
        return NULL;
    handle = open_file("libcupti.so.12");
    if (!handle)
        handle = open_in_toolkit(getenv("CUDA_HOME"));
    if (!handle)
        handle = open_in_toolkit(getenv("CUDA_PATH"));
    return handle ? handle : open_in_toolkit("/usr/local/cuda");
}

int cupti_version_supported(uint32_t version, struct error *err)
{
    if (version < CUPTI_VERSION_OLDEST)
        return error_set(err, "CUPTI's API version %" PRIu32 " is older than %d (CUDA 11.8)",
                         version, CUPTI_VERSION_OLDEST);
    return 0;
}

static int load_cupti(struct cupti_library *library, struct error *why)
{
    library->handle = find_cupti(why);
    if (!library->handle)
        return -1;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        void *symbol = dlsym(library->handle, symbols[i].name);
        if (!symbol)
            return error_set(why, "CUPTI is too old: it has no %s", symbols[i].name);
        /* C has no cast from an object pointer to a function's; POSIX makes them the same. */
        memcpy((char *)&library->call + symbols[i].at, &symbol, sizeof(symbol));
    }
    int code = library->call.version(&library->version);
    if (code != CUPTI_OK)
        return cupti_library_failed(library, "its version", code, why);
    return cupti_version_supported(library->version, why);
}

int cupti_library_open(struct cupti_library *library, struct error *why)
{
    *library = (struct cupti_library) { 0 };
    if (load_cupti(library, why) == 0)
        return 0;
    cupti_library_close(library);
    return -1;
}

void cupti_library_close(struct cupti_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
}

void *cupti_library_symbol(const struct cupti_library *library, const char *name)
{
    return dlsym(library->handle, name);
}

int cupti_library_failed(const struct cupti_library *library, const char *what, int code,
                         struct error *err)
{
    const char *text = NULL;

    if (code == CUPTI_NO_PRIVILEGES || code == CUPTI_NO_PRIVILEGES_VIRTUAL)
        return error_set(err,
                         "%s: this machine lets only its administrator read the GPU's "
                         "counters (CUPTI error %d; the NVIDIA driver's option "
                         "NVreg_RestrictProfilingToAdminUsers=0 allows it to all)",
                         what, code);
    if (code == CUPTI_MULTIPLE_SUBSCRIBERS)
        return error_set(err,
                         "%s: another profiler is at work in this process (CUPTI error %d; one at "
                         "a time: nsys, ncu, PyTorch's profiler or an injected library)",
                         what, code);
    if (library->call.result_text(code, &text) != CUPTI_OK || !text)
        text = "no reason given";
    return error_set(err, "%s: %s (CUPTI error %d)", what, text, code);
}
