/* SPDX-License-Identifier: MIT */
#include "plugin/plugin_new.h"

#include "base/file.h"
#include "base/resource.h"
#include "text/name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* What is replaced in a template. */
struct words {
    const char *from, *to;
};

/* ---- where the header is ---- */

/* Of an installed program PREFIX/bin/harness, or of one in a build folder, which has include/, too.
 * false: only the program is here. */
static bool find_prefix(char prefix[PATH_ROOM])
{
    char header[PATH_ROOM + 32];
    ssize_t length = readlink("/proc/self/exe", prefix, PATH_ROOM - 1);

    prefix[length > 0 ? length : 0] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');
        if (!slash)
            return false;
        *slash = '\0';
        snprintf(header, sizeof(header), "%s/include/harness/plugin.h", prefix);
        if (file_exists(header))
            return true;
    }
    return false;
}

/* ---- the source ---- */

/* The template with the first word that fits at each place replaced. */
static void replace_words(const char *template, const struct words *words, struct strbuf *out)
{
    while (*template) {
        const struct words *w = words;
        while (w->from && strncmp(template, w->from, strlen(w->from)) != 0)
            w++;
        if (w->from) {
            strbuf_adds(out, w->to);
            template += strlen(w->from);
        } else {
            strbuf_addc(out, *template ++);
        }
    }
}

static void add_tensor(const struct tensor *t, int which, struct strbuf *out)
{
    static const char *const roles[] = { "in", "out", "in and out", "weight" };

    strbuf_addf(out, "\n *   tensor[%d] %s: %s, %s", which, t->name, roles[t->role],
                dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++)
        strbuf_addf(out, "%s%lld", i ? " x " : " ", (long long)t->extent[i]);
}

/* Its sizes and tensors, as they are at its first size. */
static void describe_kernel(const struct kernel *k, struct strbuf *out)
{
    struct tensor tensor[TENSOR_MAX] = { { .name = NULL } };
    const struct shape *shape = &k->shapes[0];
    int nr = k->layout(k, shape, DTYPE_FP32, tensor);

    strbuf_addf(out, " * %s. At its first size:", k->summary);
    for (int i = 0; i < kernel_nr_dims(k); i++)
        strbuf_addf(out, "\n *   size[%d] %s = %lld", i, k->dims[i], (long long)shape->dim[i]);
    for (int i = 0; i < nr; i++)
        add_tensor(&tensor[i], i, out);
}

/* Products have a template that computes; of other kernels only their sizes and tensors are known.
 */
static const char *template_of(const struct kernel *like)
{
    if (!like)
        return "template";
    return strcmp(like->name, "gemm/nn") == 0 || strcmp(like->name, "gemm/nt") == 0 ? "like"
                                                                                    : "blank";
}

static void make_source(const struct plugin_new *what, struct strbuf *out)
{
    const char *base = template_of(what->like), *like = what->like ? what->like->name : "";
    bool transposed = strcmp(like, "gemm/nt") == 0;
    char resource[64], kernel[64], old[3][64], new[2][64];
    struct strbuf tensors;

    strbuf_init(&tensors);
    if (what->like)
        describe_kernel(what->like, &tensors);
    snprintf(resource, sizeof(resource), "plugin/%s.%s", base, what->cuda ? "cu" : "c");
    snprintf(kernel, sizeof(kernel), "mine/%s", what->name);
    snprintf(old[0], sizeof(old[0]), "my_%s", base);
    snprintf(old[1], sizeof(old[1]), "%s.so", base);
    snprintf(old[2], sizeof(old[2]), "%s.c", base); /* and ".cu" */
    snprintf(new[0], sizeof(new[0]), "%s.so", what->name);
    snprintf(new[1], sizeof(new[1]), "%s.c", what->name);
    const struct words words[] = {
        { "mine/template", kernel },
        { old[0], what->name },
        { old[1], new[0] },
        { old[2], new[1] },
        { "KERNEL(", "KERNEL(" }, /* of the header's macro */
        { "KERNEL", like },
        { "gemm/nn", like },
        { "TENSORS", tensors.data },
        { transposed ? "c = a b," : NULL, "c = a b^T," },
        { "b[(size_t)i * n + column]", "b[(size_t)column * k + i]" },
        { "b[i * n + column]", "b[column * k + i]" },
        { NULL, NULL },
    };
    replace_words(resource_find(resource)->data, words, out);
    strbuf_release(&tensors);
}

static void make_cmake(const struct plugin_new *what, struct strbuf *out)
{
    strbuf_adds(out,
                "# cmake -B build && cmake --build build\n"
                "cmake_minimum_required(VERSION 3.18)\n");
    if (what->cuda)
        strbuf_adds(out,
                    "if(NOT CMAKE_CUDA_ARCHITECTURES)\n"
                    "  set(CMAKE_CUDA_ARCHITECTURES 80 90a)\n"
                    "endif()\n");
    strbuf_addf(out,
                "if(NOT CMAKE_BUILD_TYPE)\n"
                "  set(CMAKE_BUILD_TYPE Release)\n"
                "endif()\n"
                "project(%s %s)\n"
                "add_library(%s MODULE %s.%s)\n"
                "set_target_properties(%s PROPERTIES PREFIX \"\" "
                "LIBRARY_OUTPUT_DIRECTORY \"${PROJECT_SOURCE_DIR}\")\n"
                "find_package(harness QUIET COMPONENTS plugin)\n"
                "if(TARGET harness::plugin)\n"
                "  target_link_libraries(%s PRIVATE harness::plugin)\n"
                "else()\n"
                "  target_include_directories(%s PRIVATE include) # where harness/plugin.h is\n"
                "endif()\n",
                what->name, what->cuda ? "CUDA CXX" : "C", what->name, what->name,
                what->cuda ? "cu" : "c", what->name, what->name, what->name);
}

/* ---- files ---- */

static int write_new(const struct plugin_new *what, const char *file, const char *text,
                     struct strbuf *told, struct error *err)
{
    struct strbuf path;
    int rc;

    strbuf_init(&path);
    if (strcmp(what->folder, ".") != 0)
        strbuf_addf(&path, "%s/", what->folder);
    strbuf_adds(&path, file);
    if (file_exists(path.data))
        rc =
            error_set(err, "%s is there already: give another name, or --output FOLDER", path.data);
    else
        rc = file_make_parent(path.data, err) || file_write(path.data, text, strlen(text), err);
    if (rc == 0)
        strbuf_addf(told, "wrote %s\n", path.data);
    strbuf_release(&path);
    return rc ? -1 : 0;
}

static void tell_next(const struct plugin_new *what, const char *prefix, struct strbuf *told)
{
    const char *device = what->cuda ? " --device cuda" : "";
    bool here = strcmp(what->folder, ".") == 0;

    strbuf_addf(told, "\nbuild it by one line, or by CMake:\n");
    if (!here)
        strbuf_addf(told, "  cd '%s'\n", what->folder);
    strbuf_addf(told, "  %s -I '%s%s' -o %s.so %s.%s\n",
                what->cuda ? "nvcc -shared -Xcompiler -fPIC -O3 -arch=native"
                           : "cc -shared -fPIC -O3",
                prefix ? prefix : "", prefix ? "/include" : "include", what->name, what->name,
                what->cuda ? "cu" : "c");
    strbuf_addf(told, "  cmake -B build%s%s%s && cmake --build build\n",
                prefix ? " -DCMAKE_PREFIX_PATH='" : "", prefix ? prefix : "", prefix ? "'" : "");
    strbuf_addf(told,
                "\nthen check it, measure it, and see the next version beside it:\n"
                "  harness verify --plugin ./%s.so%s --test-shapes\n"
                "  harness run --plugin ./%s.so%s --label before\n"
                "  harness run --plugin ./%s.so%s --label after\n"
                "  harness compare --baseline before --head after\n",
                what->name, device, what->name, device, what->name, device);
}

int plugin_new(const struct plugin_new *what, struct strbuf *told, struct error *err)
{
    char prefix[PATH_ROOM], file[64];
    struct strbuf source, cmake;

    if (name_check_variant(what->name, err))
        return -1;
    bool found = find_prefix(prefix);
    strbuf_init(&source);
    strbuf_init(&cmake);
    make_source(what, &source);
    make_cmake(what, &cmake);
    snprintf(file, sizeof(file), "%s.%s", what->name, what->cuda ? "cu" : "c");
    int rc = write_new(what, file, source.data, told, err);
    if (rc == 0)
        rc = write_new(what, "CMakeLists.txt", cmake.data, told, err);
    if (rc == 0 && !found)
        rc = write_new(what, "include/harness/plugin.h", resource_find("plugin/plugin.h")->data,
                       told, err);
    if (rc == 0)
        tell_next(what, found ? prefix : NULL, told);
    strbuf_release(&source);
    strbuf_release(&cmake);
    return rc;
}
