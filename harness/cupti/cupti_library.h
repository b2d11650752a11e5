/* SPDX-License-Identifier: MIT */
/*
 * Inside cupti/: NVIDIA's CUPTI, opened at run time. Nothing links to it, so the program starts
 * where there is none, and says why it cannot collect. $HARNESS_CUPTI names the file; else it is
 * looked for as libcupti.so.13 and .12, by the loader's rules and then in the CUDA toolkit's
 * folders
 * ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda), where the loader does not look.
 */
#ifndef HARNESS_CUPTI_CUPTI_LIBRARY_H
#define HARNESS_CUPTI_CUPTI_LIBRARY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                               size_t valid);

/* Each returns CUPTI_OK or an error code of enum cupti_result and others. */
struct cupti_functions {
    int (*version)(uint32_t *version);
    int (*result_text)(int code, const char **text);
    int (*timestamp)(uint64_t *ns);
    int (*register_callbacks)(cupti_request_fn *request, cupti_complete_fn *complete);
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*flush)(uint32_t flag);
    int (*next_record)(uint8_t *buffer, size_t valid, void **record);
    int (*dropped)(void *context, uint32_t stream, size_t *nr);
    int (*call_name)(int domain, uint32_t number, const char **name);
};

struct cupti_library {
    void *handle;
    uint32_t version;
    struct cupti_functions call;
};

/* As cuptiGetVersion() counts: 18 is CUDA 11.8, 26 is 12.8, 130001 is 13.0 update 1. */
enum { CUPTI_VERSION_OLDEST = 18 };

/* 0, or -1 where records of this version are not understood (cupti/cupti_parse.h). */
int cupti_version_supported(uint32_t version, struct error *err);
/* -1 with the reason where it cannot be opened, or is too old. It stays in the process for good:
 * its threads may outlive any close. */
int cupti_library_open(struct cupti_library *library, struct error *why);
void cupti_library_close(struct cupti_library *library);
/* NULL where the library lacks it. */
void *cupti_library_symbol(const struct cupti_library *library, const char *name);
/* "what: CUPTI's words for the code"; returns -1. */
int cupti_library_failed(const struct cupti_library *library, const char *what, int code,
                         struct error *err);

#endif
