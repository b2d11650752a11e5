/* SPDX-License-Identifier: MIT */
#include "kernels/ggml/ggml.h"

#include "kernels/peer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(label, member)                                                                         \
    {                                                                                              \
        "ggml_" label, offsetof(struct ggml, member)                                               \
    }

static const struct peer_symbol symbols[] = {
    ROW("init", init),
    ROW("free", free),
    ROW("tensor_overhead", tensor_overhead),
    ROW("graph_overhead_custom", graph_overhead),
    ROW("new_tensor_2d", new_tensor_2d),
    ROW("mul_mat", mul_mat),
    ROW("add", add),
    ROW("add_inplace", add_inplace),
    ROW("cpy", copy),
    ROW("new_graph_custom", new_graph),
    ROW("build_forward_expand", expand),
    ROW("backend_cpu_buffer_from_ptr", buffer),
    ROW("backend_buffer_free", buffer_free),
    ROW("backend_tensor_alloc", place),
    ROW("backend_view_init", view_init),
    ROW("backend_cpu_init", backend),
    ROW("backend_free", backend_free),
    ROW("backend_cpu_set_n_threads", set_threads),
    ROW("backend_cpu_set_threadpool", set_pool),
    ROW("threadpool_params_init", pool_words),
    ROW("threadpool_new", pool_new),
    ROW("threadpool_free", pool_free),
    ROW("backend_graph_plan_create", plan),
    ROW("backend_graph_plan_compute", compute),
    ROW("backend_graph_plan_free", plan_free),
    { NULL, 0 },
};
/* Where it was built for one processor alone, it is one file. That has libggml-base, whose symbols
 * are found by it. */
static const char *const files[] = { "libggml-cpu.so.0", "libggml-cpu.so", NULL };
static const struct peer peer = { .variable = "HARNESS_GGML",
                                  .files = files,
                                  .packages =
                                      "npm: @node-llama-cpp/linux-x64, whose folder of "
                                      "libggml-cpu-*.so HARNESS_GGML names; "
                                      "ci/peers.sh install fetches it",
                                  .flags = RTLD_LOCAL,
                                  .symbols = symbols };

/* How much of this processor a file uses; 0 where it does not run here or does not load. One that
 * was built for this processor alone has no score. It stays loaded, and libggml-base with it: that
 * one aborts where it is loaded a second time into a process whose C++ library has stayed, since it
 * finds its own handler of uncaught exceptions there. */
static int score_of(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *found = handle != NULL ? dlsym(handle, "ggml_backend_score") : NULL;
    int (*score)(void) = NULL, points = handle != NULL;

    memcpy(&score, &found, sizeof(score));
    if (score != NULL)
        points = score();
    if (handle != NULL)
        dlclose(handle);
    return points;
}

/* The best file of the folder; empty where none runs here. */
static void choose(DIR *folder, const char *path, char best[PATH_MAX])
{
    const struct dirent *entry;
    int most = 0;

    *best = '\0';
    while ((entry = readdir(folder)) != NULL) {
        char file[PATH_MAX];
        if (fnmatch("libggml-cpu*.so*", entry->d_name, 0) != 0 ||
            snprintf(file, sizeof(file), "%s/%s", path, entry->d_name) >= (int)sizeof(file))
            continue;
        int score = score_of(file);
        if (score > most || (score == most && most > 0 && strcmp(file, best) < 0)) {
            most = score;
            memcpy(best, file, sizeof(file));
        }
    }
}

int ggml_open(struct ggml *table, struct error *err)
{
    const char *path = getenv(peer.variable);
    DIR *folder = path != NULL ? opendir(path) : NULL;
    char best[PATH_MAX];

    if (folder == NULL)
        return peer_open(&peer, table, err);
    choose(folder, path, best);
    closedir(folder);
    if (*best == '\0')
        return error_set(err,
                         "%s: %s has no libggml-cpu*.so that this processor runs: name the folder "
                         "of those, bins/linux-x64 in npm's @node-llama-cpp/linux-x64",
                         peer.variable, path);
    return peer_open_file(&peer, best, table, err);
}
