/* SPDX-License-Identifier: MIT */
#include "profile_cuda/profile_cuda.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "cupti/collect.h"
#include "profile/trace.h"
#include "profile_cuda/event_pool.h"
#include "timeline/timeline_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 1024 };

struct prof_cuda {
    struct prof_hooks hooks;
    struct event_pool pool;
    struct error no_events; /* why scopes have no time of their own on the GPU; "": they have */
    struct activity_collector *collector;
};

/* ---- hooks: what scopes of a GPU ask ---- */

static void *cuda_mark(void *context, int device, void *stream)
{
    struct prof_cuda *cuda = context;

    (void)device;
    return event_pool_mark(&cuda->pool, stream);
}

/* Where a span begins on our clock is not asked: the kernels in it say so themselves. */
static int cuda_resolve(void *context, void *begin, void *end, struct prof_span *span)
{
    struct prof_cuda *cuda = context;

    span->start_ns = -1;
    return event_pool_span(&cuda->pool, begin, end, &span->duration_ns);
}

static void cuda_forget(void *context, void *mark)
{
    struct prof_cuda *cuda = context;

    event_pool_give_back(&cuda->pool, mark);
}

static int64_t cuda_number(void *context, int device, void *stream)
{
    (void)context, (void)device;
    return activity_stream(stream);
}

/* ---- begin and end ---- */

static void cuda_say(char why[PROF_CUDA_WORDS], const char *words)
{
    snprintf(why, PROF_CUDA_WORDS, "%.*s", PROF_CUDA_WORDS - 1, words);
}

static void cuda_free(struct prof_cuda *cuda)
{
    event_pool_release(&cuda->pool);
    free(cuda);
}

struct prof_cuda *prof_cuda_start(struct prof *prof, const struct prof_cuda_options *options,
                                  char why[PROF_CUDA_WORDS])
{
    const struct prof_cuda_options usual = { .events = 0 }, *o = options ? options : &usual;
    const struct activity_options activity = { .buffer_bytes = o->buffer_bytes,
                                               .buffers = o->buffers,
                                               .most_buffers = o->most_buffers };
    struct prof_cuda *cuda = memory_zeroed(1, sizeof(*cuda));
    struct error err = { "" };

    why[0] = '\0';
    /* The collector first: it must know of the context before anything is put into a stream. */
    if (activity_start(&cuda->collector, &activity, &err)) {
        cuda_say(why, err.message);
        free(cuda);
        return NULL;
    }
    if (event_pool_open(&cuda->pool, o->events ? o->events : EVENTS, &cuda->no_events) == 0)
        cuda->no_events.message[0] = '\0';
    cuda->hooks = (struct prof_hooks) { .context = cuda,
                                        .mark = cuda_mark,
                                        .resolve = cuda_resolve,
                                        .forget = cuda_forget,
                                        .number = cuda_number };
    if (prof_set_hooks(prof, &cuda->hooks) == 0)
        return cuda;
    struct activity_list none;
    activity_list_init(&none);
    (void)activity_stop(cuda->collector, &none, &err);
    activity_list_release(&none);
    cuda_free(cuda);
    cuda_say(why, "no memory for the profiler");
    return NULL;
}

void prof_cuda_count(struct prof_cuda *cuda, struct prof_cuda_counts *counts)
{
    pthread_mutex_lock(&cuda->pool.lock);
    *counts = (struct prof_cuda_counts) { .events = cuda->pool.nr_made,
                                          .untimed = cuda->pool.nr_refused,
                                          .in_use = cuda->pool.nr_made - cuda->pool.nr_idle };
    pthread_mutex_unlock(&cuda->pool.lock);
}

/* What the trace lacks, in words; a note that is there already stays in front. */
static void cuda_note(struct prof_trace *trace, const char *words)
{
    struct strbuf note;

    strbuf_init(&note);
    if (trace->meta.note)
        strbuf_addf(&note, "%s; ", trace->meta.note);
    strbuf_adds(&note, words);
    trace->meta.note = prof_trace_text(trace, note.data);
    strbuf_release(&note);
}

/* Records without a time are in no slice, so they are as lost as those without room. */
static void cuda_note_losses(const struct prof_cuda *cuda, const struct activity_list *list,
                             struct prof_trace *trace)
{
    char words[PROF_CUDA_WORDS];

    if (list->dropped + list->untimed + list->unread > 0) {
        snprintf(
            words, sizeof(words),
            "of the GPU's records %zu found no room, %zu have no time and %zu could not be read",
            (size_t)list->dropped, (size_t)list->untimed, (size_t)list->unread);
        cuda_note(trace, words);
        trace->meta.dropped += list->untimed + list->unread; /* the others are in it */
    }
    if (cuda->no_events.message[0])
        cuda_note(trace, cuda->no_events.message);
    if (cuda->pool.nr_refused) {
        snprintf(words, sizeof(words), "%zu marks of scopes had no event of the driver",
                 cuda->pool.nr_refused);
        cuda_note(trace, words);
    }
}

/* -1: what the GPU did is not in the trace, which has the scopes all the same. */
static int cuda_add_activity(struct prof_cuda *cuda, struct prof *prof, struct prof_trace *trace,
                             const struct activity_list *list, struct error *err)
{
    if (timeline_add_gpu(trace, list, err) == 0) {
        cuda_note_losses(cuda, list, trace);
        return 0;
    }
    prof_trace_release(trace); /* a part of it may be in there */
    if (prof_snapshot(prof, trace) == 0)
        cuda_note(trace, err->message);
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
    int code = event_pool_synchronise(&cuda->pool);
    activity_list_init(&list);
    int stopped = activity_stop(cuda->collector, &list, &err);
    int rc = prof_snapshot(prof, trace); /* with the hooks still there: they resolve the marks */
    if (rc)
        cuda_say(why, "no memory for the trace");
    else if ((rc = cuda_add_activity(cuda, prof, trace, &list, &err)) != 0)
        cuda_say(why, err.message);
    else if (stopped)
        cuda_note(trace, err.message);
    if (rc == 0 && code != CUDA_DONE)
        cuda_note(trace, "the device did not end its work in order");
    activity_list_release(&list);
    /* The snapshot gave the marks back. Those of a clear() that no scope has followed stay events
     * of the driver: whoever gets them later may use them. */
    (void)prof_set_hooks(prof, NULL);
    cuda_free(cuda);
    return rc;
}
