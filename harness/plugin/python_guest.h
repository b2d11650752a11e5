/* SPDX-License-Identifier: MIT */
/*
 * Functions of Python as variants of kernels that there are: `--python FILE.py::FUNCTION --like
 * KERNEL`. Dims, tensors, oracle, tolerance and work are the kernel's. The function runs in a
 * process of its own (python_process.h), an interpreter for each case; nothing of its file runs in
 * a process of harness. It is called on one kind of device: on the CPU, or on one whose memory can
 * be lent to another process (device/devices.h).
 *
 * A variant is called as its function; of another type than fp32 the type follows, "mine_bf16".
 */
#ifndef HARNESS_PLUGIN_PYTHON_GUEST_H
#define HARNESS_PLUGIN_PYTHON_GUEST_H

#include "base/array.h"
#include "base/file.h"
#include "base/options.h"
#include "plugin/registry_join.h"

#include <cjson/cJSON.h>

/* What is asked for; borrowed but for one call. */
struct python_request {
    const struct string_list *functions; /* "FILE.py::a,b" as typed; a list without one: "c" */
    const char *like;                    /* a kernel's name; NULL: none was given */
    const struct string_list *dtypes;    /* of --dtype; none: fp32 */
    const char *called; /* what the one function is to be called in keys; NULL: by its name */
    enum device_kind device;
};

struct python_file {
    char *path;       /* absolute; owned */
    const char *name; /* its last part */
    char digest[DIGEST_TEXT_SIZE];
};

enum { PYTHON_NAME_SIZE = 64 };

/* variant.config of each. */
struct python_function {
    const struct python_file *file;
    char function[PYTHON_NAME_SIZE], variant[PYTHON_NAME_SIZE], summary[2 * PYTHON_NAME_SIZE + 64];
    enum dtype dtype;
    const char *interpreter; /* NULL: there is none, and why */
    const char *missing;
};

struct python_guest {
    const struct kernel *kernel; /* of the build */
    enum device_kind device;
    char *interpreter; /* absolute; NULL: there is none */
    char *missing;     /* then why */
    ARRAY(struct python_file *) files;
    ARRAY(struct python_function *) functions;
    struct variant *variants; /* of these, in their order; ended by one without a name */
};

/* Refuses what is no file or no name, a kernel that is not there, and a kind of device that lends
 * no memory; of one that this build lacks it is left to who opens it to say so. registry_join()
 * refuses names that are taken. Without a function there are no variants. python_guest_close()
 * whatever the result. */
int python_guest_open(struct python_guest *g, const struct registry *base,
                      const struct python_request *request, struct error *err);
void python_guest_close(struct python_guest *g);
bool python_guest_any(const struct python_guest *g);
/* The function that a variant is; NULL: it is none of these. */
const struct python_function *python_function_of(const struct python_guest *g,
                                                 const struct variant *v);

/* Where the interpreter is a program that starts another (a script of pyenv's): that one in its
 * place. -1 where it does not run. */
int python_guest_settle(struct python_guest *g, struct error *err);

/* For the job of a measuring process, and back: there the files must be the same. */
cJSON *python_guest_to_json(const struct python_guest *g);
int python_guest_from_json(struct python_guest *g, const struct registry *base, const cJSON *json,
                           struct error *err);
/* For the settings of a run in the history: files by name and content, interpreter and functions.
 */
cJSON *python_guest_describe(const struct python_guest *g);

/* The program that HARNESS_PYTHON names, or that of the library that it names; without it the
 * python3 of the PATH. NULL and why; free() it. */
char *python_find(struct error *why);

#endif
