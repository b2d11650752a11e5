/* SPDX-License-Identifier: MIT */
#include "profile_cuda/profile_cuda.h"

#include "base/memory.h"
#include "cupti/collect.h"
#include "profile/trace.h"
#include "timeline/timeline_gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUDA_NO_CONTEXT = 201 }; /* CUDA_ERROR_INVALID_CONTEXT */

struct prof_cuda {
    struct activity_collector *collector;
};

/* ---- the driver, to wait for ---- */

/* What runs on the device has no record yet. NULL, or why nobody waits; of the driver's own codes 0
 * is the good one. */
static const char *cuda_wait(void)
{
    const char *named = getenv("HARNESS_LIBCUDA");
    void *library = dlopen(named && named[0] ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cuCtxSynchronize") : NULL;
    int (*synchronise)(void);

    if (!symbol)
        return "nobody waited for the device: there is no CUDA driver";
    memcpy(&synchronise, &symbol, sizeof(synchronise));
    int code = synchronise();
    if (code == CUDA_NO_CONTEXT)
        return "nobody waited for the device: this thread has no CUDA context";
    return code == 0 ? NULL : "the device did not end its work in order";
}

/* ---- begin and end ---- */

static void cuda_say(char why[PROF_CUDA_WORDS], const char *words)
{
    snprintf(why, PROF_CUDA_WORDS, "%.*s", PROF_CUDA_WORDS - 1, words);
}

struct prof_cuda *prof_cuda_start(const struct prof_cuda_options *options,
                                  char why[PROF_CUDA_WORDS])
{
    const struct prof_cuda_options usual = { .buffers = 0 }, *o = options ? options : &usual;
    const struct activity_options activity = { .buffer_bytes = o->buffer_bytes,
                                               .buffers = o->buffers,
                                               .most_buffers = o->most_buffers };
    struct prof_cuda *cuda = memory_zeroed(1, sizeof(*cuda));
    struct error err = { "" };

    why[0] = '\0';
    if (activity_start(&cuda->collector, &activity, &err) == 0)
        return cuda;
    cuda_say(why, err.message);
    free(cuda);
    return NULL;
}

/* -1: what the GPU did is not in the trace, which has the scopes all the same. */
static int cuda_add_activity(struct prof *prof, struct prof_trace *trace,
                             const struct activity_list *list, struct error *err)
{
    if (timeline_add_gpu(trace, list, err) == 0)
        return 0;
    prof_trace_release(trace); /* a part of it may be in there */
    if (prof_snapshot(prof, trace) == 0)
        timeline_note(trace, err->message);
    return -1;
}

int prof_cuda_stop(struct prof_cuda *cuda, struct prof *prof, struct prof_trace *trace,
                   char why[PROF_CUDA_WORDS])
{
    struct activity_list list;
    struct error err = { "" };

    why[0] = '\0';
    if (!cuda)
        return prof_snapshot(prof, trace);
    const char *unwaited = cuda_wait();
    activity_list_init(&list);
    int stopped = activity_stop(cuda->collector, &list, &err);
    int rc = prof_snapshot(prof, trace);
    if (rc)
        cuda_say(why, "no memory for the trace");
    else if ((rc = cuda_add_activity(prof, trace, &list, &err)) != 0)
        cuda_say(why, err.message);
    else if (stopped)
        timeline_note(trace, err.message);
    if (rc == 0 && unwaited)
        timeline_note(trace, unwaited);
    activity_list_release(&list);
    free(cuda);
    return rc;
}
