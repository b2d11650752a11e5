/* SPDX-License-Identifier: MIT */
#include "plugin/python_guest.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "command/command.h"
#include "core/device_label.h"
#include "device/devices.h"
#include "plugin/python_run.h"
#include "process/process.h"
#include "text/name.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* It starts, says where it is, and ends. */
enum { INTERPRETER_TIMEOUT_S = 60 };

bool python_guest_any(const struct python_guest *g)
{
    return g->functions.nr > 0;
}

const struct python_function *python_function_of(const struct python_guest *g,
                                                 const struct variant *v)
{
    for (size_t i = 0; i < g->functions.nr; i++)
        if (&g->variants[i] == v)
            return g->functions.items[i];
    return NULL;
}

/* ---- the interpreter ---- */

/* Of "/usr/lib/x/libpython3.11.so.1.0" the /usr/bin/python3.11 in a folder above; of a name without
 * a folder the python3.11 of the PATH. */
static char *interpreter_of_library(const char *path, const char *file, struct error *why)
{
    const char *name = file + strlen("lib"), *end = strstr(file, ".so");
    int length = (int)(end ? end - name : (ptrdiff_t)strlen(name));
    struct strbuf candidate;
    char *folder = memory_string(path), *found = NULL;

    strbuf_init(&candidate);
    folder[file - path] = '\0';
    for (char *slash = strrchr(folder, '/'); slash && !found; slash = strrchr(folder, '/')) {
        *slash = '\0';
        strbuf_clear(&candidate);
        strbuf_addf(&candidate, "%s/bin/%.*s", folder, length, name);
        found = access(candidate.data, X_OK) ? NULL : memory_string(candidate.data);
    }
    strbuf_clear(&candidate);
    strbuf_addf(&candidate, "%.*s", length, name);
    if (!found && file == path)
        found = command_find_program(candidate.data, why);
    else if (!found)
        error_set(why, "%s has no program bin/%s in a folder above", path, candidate.data);
    strbuf_release(&candidate);
    free(folder);
    return found;
}

char *python_find(struct error *why)
{
    const char *named = getenv("HARNESS_PYTHON");
    bool given = named && *named;
    const char *slash = given ? strrchr(named, '/') : NULL;
    const char *file = slash ? slash + 1 : named;
    char *found = given && strncmp(file, "libpython", 9) == 0
                      ? interpreter_of_library(named, file, why)
                      : command_find_program(given ? named : "python3", why);

    if (!found && given)
        error_prefix(why, "HARNESS_PYTHON");
    return found;
}

int python_guest_settle(struct python_guest *g, struct error *err)
{
    static const char ask[] = "import sys; print(sys.executable, end='')";
    const char *argv[] = { g->interpreter, "-I", "-S", "-c", ask, NULL };
    const struct process p = { .argv = argv, .timeout = INTERPRETER_TIMEOUT_S };
    struct process_result result;
    struct strbuf said;

    if (!g->interpreter)
        return 0;
    strbuf_init(&said);
    int rc = process_run(&p, &said, NULL, &result, err);
    if (rc == 0 && (result.end != PROCESS_EXITED || result.status || said.data[0] != '/'))
        rc = error_set(err, "%s does not say which program it is, as an interpreter of Python does",
                       g->interpreter);
    if (rc == 0) {
        free(g->interpreter);
        g->interpreter = memory_string(said.data);
        for (size_t i = 0; i < g->functions.nr; i++)
            g->functions.items[i]->interpreter = g->interpreter;
    }
    strbuf_release(&said);
    return rc;
}

/* ---- what is asked for ---- */

/* "; it has a, b", of its lines "def a(...". */
static void add_functions(const char *path, struct error *err)
{
    size_t length, nr = 0;
    struct error ignored;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, &ignored), *rest = text, *line;

    while (text && (line = strsep(&rest, "\n"))) {
        size_t name = strncmp(line, "def ", 4) == 0 ? strcspn(line + 4, "(: ") : 0;
        size_t used = strlen(err->message);
        if (name == 0 || line[4] == '_')
            continue;
        snprintf(err->message + used, sizeof(err->message) - used, "%s%.*s",
                 nr++ ? ", " : "; it has ", (int)name, line + 4);
    }
    free(text);
}

/* The same file twice is one. */
static const struct python_file *add_file(struct python_guest *g, const char *path,
                                          const char *digest, struct error *err)
{
    char *whole = realpath(path, NULL);
    struct python_file *f;

    if (!whole) {
        error_set(err, "%s: %s", path, strerror(errno));
        return NULL;
    }
    for (size_t i = 0; i < g->files.nr; i++)
        if (strcmp(g->files.items[i]->path, whole) == 0) {
            free(whole);
            return g->files.items[i];
        }
    f = memory_zeroed(1, sizeof(*f));
    *array_push(&g->files) = f;
    f->path = whole;
    f->name = strrchr(whole, '/') + 1;
    if (file_digest(whole, f->digest, err))
        return NULL;
    if (digest && strcmp(digest, f->digest) != 0) {
        error_set(err,
                  "%s is not the file any more that this run began with (%s, now %s): let nothing "
                  "write it while it is measured, and run again",
                  path, digest, f->digest);
        return NULL;
    }
    return f;
}

static int add_function(struct python_guest *g, const struct python_file *file,
                        const char *function, const char *variant, enum dtype dtype,
                        struct error *err)
{
    struct python_function *f = memory_zeroed(1, sizeof(*f));
    struct error fits;

    *array_push(&g->functions) = f;
    if (name_check_variant(function, &fits) || strpbrk(function, ".-") ||
        isdigit((unsigned char)*function))
        return error_set(err,
                         "\"%s\" is no name of a function: letters, digits and '_', at most %d",
                         function, NAME_VARIANT_MAX);
    f->file = file;
    f->dtype = dtype;
    snprintf(f->function, sizeof(f->function), "%s", function);
    snprintf(f->variant, sizeof(f->variant), "%s", variant);
    snprintf(f->summary, sizeof(f->summary), "%.*s of %.*s, a function of Python", PYTHON_NAME_SIZE,
             function, PYTHON_NAME_SIZE, file->name);
    return name_check_key(g->kernel->name, f->variant, g->kernel->dims,
                          (size_t)kernel_nr_dims(g->kernel), err) ||
                   name_check_variant(f->variant, err)
               ? -1
               : 0;
}

static int find_dtypes(const struct string_list *names, bool wanted[DTYPE_NR], struct error *err)
{
    wanted[DTYPE_FP32] = names->nr == 0;
    for (size_t i = 0; i < names->nr; i++) {
        int dtype = 0;
        while (dtype < DTYPE_NR && strcmp(dtype_name((enum dtype)dtype), names->items[i]) != 0)
            dtype++;
        if (dtype == DTYPE_NR || dtype == DTYPE_INT32 || dtype == DTYPE_FP64)
            return error_set(err,
                             "--dtype %s: kernels of harness are fp32, bf16 or fp16, and so are "
                             "the tensors of a Python function",
                             names->items[i]);
        wanted[dtype] = true;
    }
    return 0;
}

struct python_reading {
    struct python_guest *guest;
    const char *called;
    bool wanted[DTYPE_NR];
    const struct python_file *file;
};

static int add_of_each_dtype(struct python_reading *r, const char *function, struct error *err)
{
    char variant[2 * PYTHON_NAME_SIZE];

    for (int dtype = 0; dtype < DTYPE_NR; dtype++) {
        const char *type = dtype == DTYPE_FP32 ? "" : dtype_name((enum dtype)dtype);
        snprintf(variant, sizeof(variant), "%.*s%s%s", PYTHON_NAME_SIZE,
                 r->called ? r->called : function, *type ? "_" : "", type);
        if (r->wanted[dtype] &&
            add_function(r->guest, r->file, function, variant, (enum dtype)dtype, err))
            return -1;
    }
    return 0;
}

/* "FILE.py::a,b". */
static int read_functions(struct python_reading *r, const char *text, struct error *err)
{
    char *copy = memory_string(text), *names = NULL, *name;
    int rc = 0;

    for (char *p = strstr(copy, "::"); p; p = strstr(p + 2, "::"))
        names = p;
    if (names)
        *names = '\0';
    r->file = add_file(r->guest, copy, NULL, err);
    if (!r->file) {
        rc = -1;
    } else if (!names || !names[2]) {
        rc = error_set(err, "which function? %s::NAME", copy);
        add_functions(copy, err);
    }
    for (char *rest = names ? names + 2 : NULL; rc == 0 && (name = strsep(&rest, ","));)
        rc = add_of_each_dtype(r, name, err);
    free(copy);
    return rc;
}

/* ---- its tables ---- */

static void make_variants(struct python_guest *g)
{
    struct error why = { "" };

    g->interpreter = g->interpreter ? g->interpreter : python_find(&why);
    g->missing = memory_string(why.message);
    g->variants = memory_zeroed(g->functions.nr + 1, sizeof(*g->variants));
    for (size_t i = 0; i < g->functions.nr; i++) {
        struct python_function *f = g->functions.items[i];
        f->interpreter = g->interpreter;
        f->missing = g->missing;
        g->variants[i] = (struct variant) {
            .name = f->variant,
            .summary = f->summary,
            .kernel = g->kernel,
            .device = g->device,
            .dtype = f->dtype,
            .math = dtype_math(f->dtype),
            .flags = VARIANT_GUEST,
            .prepare = python_prepare,
            .repeat = python_repeat,
            .release = python_release,
            .facts = python_facts,
            .config = f,
        };
    }
}

static int find_kernel(struct python_guest *g, const struct registry *base, const char *like,
                       struct error *err)
{
    if (!like)
        return error_set(err, "say what it computes: --like KERNEL, one of `harness list kernels`");
    g->kernel = registry_like(base, like, err);
    return g->kernel ? 0 : error_prefix(err, "--like");
}

static int check_kind(enum device_kind kind, struct error *err)
{
    if (kind == DEVICE_CPU || device_lending_of(kind) || !device_class_of(kind, NULL))
        return 0;
    return error_set(
        err,
        "functions of Python run on the CPU, and on a GPU whose memory another process "
        "can open: not on --device %s",
        device_kind_name(kind));
}

int python_guest_open(struct python_guest *g, const struct registry *base,
                      const struct python_request *request, struct error *err)
{
    struct python_reading r = { .guest = g, .called = request->called };

    *g = (struct python_guest) { .device = request->device };
    if (request->functions->nr == 0)
        return request->like ? error_set(err,
                                         "--like says what a function of Python computes: "
                                         "there is no --python")
                             : 0;
    if (check_kind(g->device, err) || find_kernel(g, base, request->like, err) ||
        find_dtypes(request->dtypes, r.wanted, err))
        return -1;
    for (size_t i = 0; i < request->functions->nr; i++)
        if (read_functions(&r, request->functions->items[i], err))
            return -1;
    make_variants(g);
    return 0;
}

void python_guest_close(struct python_guest *g)
{
    for (size_t i = 0; i < g->files.nr; i++) {
        free(g->files.items[i]->path);
        free(g->files.items[i]);
    }
    for (size_t i = 0; i < g->functions.nr; i++)
        free(g->functions.items[i]);
    array_release(&g->files);
    array_release(&g->functions);
    free(g->variants);
    free(g->interpreter);
    free(g->missing);
    *g = (struct python_guest) { .kernel = NULL };
}

/* ---- the job, and the history ---- */

cJSON *python_guest_to_json(const struct python_guest *g)
{
    cJSON *json = cJSON_CreateObject(), *functions;

    cJSON_AddStringToObject(json, "like", g->kernel->name);
    if (g->interpreter)
        cJSON_AddStringToObject(json, "interpreter", g->interpreter);
    cJSON_AddStringToObject(json, "device", device_kind_name(g->device));
    functions = cJSON_AddArrayToObject(json, "functions");
    for (size_t i = 0; i < g->functions.nr; i++) {
        const struct python_function *f = g->functions.items[i];
        cJSON *function = cJSON_CreateObject();
        cJSON_AddStringToObject(function, "path", f->file->path);
        cJSON_AddStringToObject(function, "digest", f->file->digest);
        cJSON_AddStringToObject(function, "function", f->function);
        cJSON_AddStringToObject(function, "variant", f->variant);
        json_add_int(function, "dtype", f->dtype);
        cJSON_AddItemToArray(functions, function);
    }
    return json;
}

static int read_function(struct python_guest *g, const cJSON *json, struct error *err)
{
    const char *path, *digest, *function, *variant;
    int64_t dtype;

    if (json_get_string(json, "path", &path, err) ||
        json_get_string(json, "digest", &digest, err) ||
        json_get_string(json, "function", &function, err) ||
        json_get_string(json, "variant", &variant, err) || json_get_int(json, "dtype", &dtype, err))
        return -1;
    if (dtype < 0 || dtype >= DTYPE_NR)
        return error_set(err, "\"dtype\" is none");
    const struct python_file *file = add_file(g, path, digest, err);
    return file ? add_function(g, file, function, variant, (enum dtype)dtype, err) : -1;
}

int python_guest_from_json(struct python_guest *g, const struct registry *base, const cJSON *json,
                           struct error *err)
{
    const cJSON *item;

    *g = (struct python_guest) { .kernel = NULL };
    if (!json)
        return 0;
    int kind = device_kind_of(json_string(json, "device", DEVICE_SPEC_USUAL));
    if (kind < 0)
        return error_set(err, "python: \"device\" is none");
    g->device = (enum device_kind)kind;
    g->interpreter = memory_string(json_string(json, "interpreter", NULL));
    if (find_kernel(g, base, json_string(json, "like", NULL), err))
        return error_prefix(err, "python");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "functions"))
    {
        if (read_function(g, item, err))
            return error_prefix(err, "python");
    }
    make_variants(g);
    return 0;
}

cJSON *python_guest_describe(const struct python_guest *g)
{
    cJSON *json = cJSON_CreateObject(), *files, *functions;

    cJSON_AddStringToObject(json, "like", g->kernel->name);
    if (g->interpreter)
        cJSON_AddStringToObject(json, "interpreter", g->interpreter);
    files = cJSON_AddObjectToObject(json, "files");
    for (size_t i = 0; i < g->files.nr; i++)
        cJSON_AddStringToObject(files, g->files.items[i]->name, g->files.items[i]->digest);
    functions = cJSON_AddObjectToObject(json, "functions");
    for (size_t i = 0; i < g->functions.nr; i++)
        cJSON_AddStringToObject(functions, g->functions.items[i]->variant,
                                g->functions.items[i]->function);
    return json;
}
