/* SPDX-License-Identifier: MIT */
/*
 * The Python interpreter inside this process: its shared library opened at run time, started once,
 * never ended (libraries like PyTorch cannot be loaded twice).
 *
 * Tried are libpython3.14 down to 3.9, or only what the environment variable HARNESS_PYTHON names.
 * Between calls the interpreter's lock is free, so that any thread may call.
 */
#ifndef HARNESS_KERNELS_TORCH_PYTHON_H
#define HARNESS_KERNELS_TORCH_PYTHON_H

#include "base/error.h"

#include <stdbool.h>
#include <wchar.h>

struct python_object; /* PyObject; a reference is given back by `forget` */

/* What is used of the C API, with the names it has there. Not all of it is for callers. */
struct python {
    const char *(*get_version)(void);                          /* Py_GetVersion */
    int (*is_initialized)(void);                               /* Py_IsInitialized */
    wchar_t *(*decode_locale)(const char *text, size_t *size); /* Py_DecodeLocale */
    void (*raw_free)(void *memory);                            /* PyMem_RawFree */
    void (*set_program_name)(const wchar_t *name);             /* Py_SetProgramName */
    void (*initialize)(int signals);                           /* Py_InitializeEx */
    void *(*save_thread)(void);                                /* PyEval_SaveThread */
    int (*ensure)(void);                                       /* PyGILState_Ensure */
    void (*release)(int state);                                /* PyGILState_Release */
    struct python_object *(*compile)(const char *source, const char *name, int start);
    struct python_object *(*execute)(const char *module, struct python_object *code);
    struct python_object *(*attribute)(struct python_object *of, const char *name);
    struct python_object *(*call_format)(struct python_object *f, const char *format, ...);
    struct python_object *(*call)(struct python_object *f, struct python_object *arguments);
    struct python_object *(*to_string)(struct python_object *o); /* PyObject_Str */
    const char *(*utf8)(struct python_object *string);           /* PyUnicode_AsUTF8 */
    void (*fetch_error)(struct python_object **type, struct python_object **value,
                        struct python_object **trace); /* PyErr_Fetch */
    void (*clear_error)(void);                         /* PyErr_Clear */
    void (*forget)(struct python_object *o);           /* Py_DecRef; NULL is allowed */
};

/* Opens the library and starts the interpreter where that is still to do. */
int python_open(struct python *py, struct error *err);

/*
 * Runs function(text) of the embedded module `resource` ("torch/peer.py"). The result is a new
 * reference; NULL, and the exception as `err`, where it raised one.
 */
struct python_object *python_run(const struct python *py, const char *resource,
                                 const char *function, const char *text, struct error *err);

/* callable(); false where it raised an exception, which is dropped. */
bool python_call(const struct python *py, struct python_object *callable);

/* Gives a reference back; NULL is allowed. */
void python_forget(const struct python *py, struct python_object *o);

#endif
