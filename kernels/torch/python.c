/* SPDX-License-Identifier: MIT */
#include "kernels/torch/python.h"

#include "base/resource.h"
#include "kernels/peer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_INPUT = 257, PATH_SIZE = 4096 }; /* Py_file_input */

static int load(struct python *py, struct error *err)
{
    static const struct peer_symbol symbols[] = {
        { "Py_GetVersion", offsetof(struct python, get_version) },
        { "Py_IsInitialized", offsetof(struct python, is_initialized) },
        { "Py_DecodeLocale", offsetof(struct python, decode_locale) },
        { "PyMem_RawFree", offsetof(struct python, raw_free) },
        { "Py_SetProgramName", offsetof(struct python, set_program_name) },
        { "Py_InitializeEx", offsetof(struct python, initialize) },
        { "PyEval_SaveThread", offsetof(struct python, save_thread) },
        { "PyGILState_Ensure", offsetof(struct python, ensure) },
        { "PyGILState_Release", offsetof(struct python, release) },
        { "Py_CompileString", offsetof(struct python, compile) },
        { "PyImport_ExecCodeModule", offsetof(struct python, execute) },
        { "PyObject_GetAttrString", offsetof(struct python, attribute) },
        { "PyObject_CallFunction", offsetof(struct python, call_format) },
        { "PyObject_CallObject", offsetof(struct python, call) },
        { "PyObject_Str", offsetof(struct python, to_string) },
        { "PyUnicode_AsUTF8", offsetof(struct python, utf8) },
        { "PyErr_Fetch", offsetof(struct python, fetch_error) },
        { "PyErr_Clear", offsetof(struct python, clear_error) },
        { "Py_DecRef", offsetof(struct python, forget) },
        { NULL, 0 },
    };
    static const char *const files[] = { "libpython3.14.so.1.0",
                                         "libpython3.13.so.1.0",
                                         "libpython3.12.so.1.0",
                                         "libpython3.11.so.1.0",
                                         "libpython3.10.so.1.0",
                                         "libpython3.9.so.1.0",
                                         NULL };
    /* Global: the interpreter's own extension modules look for its functions there. */
    static const struct peer peer = { .variable = "HARNESS_PYTHON",
                                      .files = files,
                                      .packages = "Debian 12: libpython3.11, 13: libpython3.13",
                                      .flags = RTLD_GLOBAL,
                                      .symbols = symbols };

    return peer_open(&peer, py, err);
}

/* The program that belongs to the library: for /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0
 * /usr/bin/python3.11. By itself the interpreter would take its folders from whatever python3 is
 * the first on PATH. False where there is none. */
static bool find_program(const struct python *py, char path[PATH_SIZE])
{
    int (*inside)(void) = py->is_initialized;
    char folder[PATH_SIZE];
    const void *address;
    Dl_info info;

    memcpy(&address, &inside, sizeof(address));
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    snprintf(folder, sizeof(folder), "%s", info.dli_fname);
    const char *version = py->get_version(); /* "3.11.2 (main, ...": two numbers are wanted */
    int digits = (int)strspn(version, "0123456789");
    digits += 1 + (int)strspn(version + digits + 1, "0123456789");
    for (char *end = strrchr(folder, '/'); end != NULL; end = strrchr(folder, '/')) {
        *end = '\0';
        int length = snprintf(path, PATH_SIZE, "%s/bin/python%.*s", folder, digits, version);
        if (length < PATH_SIZE && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* It takes a copy of the name. */
static void start(const struct python *py)
{
    char path[PATH_SIZE];
    wchar_t *name = find_program(py, path) ? py->decode_locale(path, NULL) : NULL;

    if (name != NULL)
        py->set_program_name(name);
    py->initialize(0); /* leaves signals as they are */
    py->save_thread();
    py->raw_free(name);
}

int python_open(struct python *py, struct error *err)
{
    if (load(py, err) != 0)
        return -1;
    if (!py->is_initialized())
        start(py);
    return 0;
}

/* The exception's kind and the first line of its words, as the last line of a traceback has them.
 */
static void take_error(const struct python *py, struct error *err)
{
    struct python_object *type = NULL, *value = NULL, *trace = NULL;

    py->fetch_error(&type, &value, &trace);
    struct python_object *kind = type != NULL ? py->attribute(type, "__name__") : NULL;
    struct python_object *words = value != NULL ? py->to_string(value) : NULL;
    const char *name = kind != NULL ? py->utf8(kind) : NULL;
    const char *text = words != NULL ? py->utf8(words) : NULL;
    error_set(err, "%s: %.*s", name != NULL ? name : "an exception",
              text != NULL ? (int)strcspn(text, "\n") : 0, text != NULL ? text : "");
    py->clear_error(); /* what went wrong in here, if anything */
    py->forget(words);
    py->forget(kind);
    py->forget(trace);
    py->forget(value);
    py->forget(type);
}

struct python_object *python_run(const struct python *py, const char *resource,
                                 const char *function, const char *text, struct error *err)
{
    const struct resource *source = resource_find(resource);
    struct python_object *code = NULL, *module = NULL, *f = NULL, *result = NULL;
    int state = py->ensure();

    if (source == NULL) {
        error_set(err, "no %s in this program", resource);
        goto out;
    }
    code = py->compile(source->data, resource, FILE_INPUT);
    module = code != NULL ? py->execute("harness_peer", code) : NULL;
    f = module != NULL ? py->attribute(module, function) : NULL;
    result = f != NULL ? py->call_format(f, "s", text) : NULL;
    if (result == NULL)
        take_error(py, err);
out:
    py->forget(f);
    py->forget(module);
    py->forget(code);
    py->release(state);
    return result;
}

bool python_call(const struct python *py, struct python_object *callable)
{
    int state = py->ensure();
    struct python_object *result = py->call(callable, NULL);
    bool right = result != NULL;

    if (!right)
        py->clear_error();
    py->forget(result);
    py->release(state);
    return right;
}

void python_forget(const struct python *py, struct python_object *o)
{
    int state = py->ensure();

    py->forget(o);
    py->release(state);
}
