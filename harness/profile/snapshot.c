/* SPDX-License-Identifier: MIT */
/* From the threads' buffers to a trace. */
#include "profile/profile_parts.h"
#include "profile/site_names.h"
#include "profile/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A buffer as it was at the moment of the snapshot. What it points to stays until the snapshot is
 * done, whatever its thread does. */
struct view {
    struct prof_chunk *chunks;
    uint32_t records;
    struct prof_list samples, seen;
    struct prof_owner newest; /* a copy, as its name may change */
    bool is_before;           /* a ring's part before that of the view in front of it */
};

/* One snapshot under way. */
struct taking {
    struct prof_state *state;
    struct prof_trace *trace;
    struct view *views;
    size_t nr_views;
    struct prof_anchor now;
    int counters[PROF_DEVICES]; /* -1: not made yet */
    struct prof_site_names names;
    char owner[64];
};

static int64_t ns_of(const struct taking *take, uint64_t ticks)
{
    return prof_clock_ns(take->state->start, take->now, ticks);
}

/* The straight line needs two points that are apart. */
static void wait_for_distance(const struct prof_state *state)
{
    while ((int64_t)prof_clock_monotonic() - state->start.ns < 1000000)
        continue;
}

#if defined(__linux__)
/* A program that was started by way of /proc/self/exe is called "exe" by the system: then its file
 * has the name. */
static void program_file_name(char *name, size_t size)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const char *slash;

    if (length <= 0)
        return;
    path[length] = '\0';
    slash = strrchr(path, '/');
    snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
}

static void program_name(char *name, size_t size)
{
    FILE *file = fopen("/proc/self/comm", "re");

    if (!file || !fgets(name, (int)size, file))
        snprintf(name, size, "program");
    name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    if (strcmp(name, "exe") == 0)
        program_file_name(name, size);
}
#else
static void program_name(char *name, size_t size)
{
    snprintf(name, size, "program");
}
#endif

static int thread_track(const struct taking *take, const struct prof_owner *owner)
{
    char number[32];

    snprintf(number, sizeof(number), "thread %" PRId64, owner->system_id);
    return prof_trace_track(take->trace, &(struct prof_track) {
                                             .kind = PROF_TRACK_THREAD,
                                             .process = getpid(),
                                             .thread = owner->system_id,
                                             .owner = take->owner,
                                             .name = owner->name[0] ? owner->name : number,
                                         });
}

/* Asks the GPU's owner for the span of a record, once. */
static void resolve_marks(const struct taking *take, const struct prof_record *r,
                          struct prof_extra *extra)
{
    const struct prof_hooks *hooks = __atomic_load_n(&take->state->hooks, __ATOMIC_ACQUIRE);

    if (!hooks || !hooks->resolve || !(r->ended & ENDED_MARKED) || !extra->marks[0])
        return;
    struct prof_span span = { -1, -1 };
    int rc = extra->marks[1]
                 ? hooks->resolve(hooks->context, extra->marks[0], extra->marks[1], &span)
                 : -1;
    if (rc == 1)
        return;
    if (rc == 0)
        extra->gpu = span;
    for (int i = 0; i < 2; i++) {
        if (extra->marks[i] && hooks->forget)
            hooks->forget(hooks->context, extra->marks[i]);
        extra->marks[i] = NULL;
    }
}

static int64_t stream_number(const struct taking *take, int device, void *stream)
{
    const struct prof_hooks *hooks = __atomic_load_n(&take->state->hooks, __ATOMIC_ACQUIRE);

    return hooks && hooks->number ? hooks->number(hooks->context, device, stream) : -1;
}

static int gpu_track(const struct taking *take, int device, void *stream)
{
    int64_t number = stream_number(take, device, stream);
    char owner[32], name[32];

    snprintf(owner, sizeof(owner), "GPU %d", device - PROF_GPU);
    if (number >= 0)
        snprintf(name, sizeof(name), "stream %" PRId64, number);
    else
        snprintf(name, sizeof(name), stream ? "stream %#" PRIxPTR : "default stream",
                 (uintptr_t)stream);
    return prof_trace_track(take->trace,
                            &(struct prof_track) {
                                .kind = PROF_TRACK_STREAM,
                                .device = device,
                                .process = device - PROF_GPU,
                                .thread = number >= 0 ? number : (int64_t)(intptr_t)stream,
                                .owner = owner,
                                .name = name,
                            });
}

/* The scope as its stream saw it, and a flow to there. */
static int add_gpu_slice(const struct taking *take, int from, const struct prof_extra *extra)
{
    struct prof_slice s = take->trace->slices[from];

    s.track = gpu_track(take, s.device, extra->stream);
    s.parent = PROF_FIND_PARENT;
    s.start = extra->gpu.start_ns;
    s.duration = extra->gpu.duration_ns;
    s.category = PROF_GPU_SCOPES;
    s.memory_live = s.memory_peak = -1;
    int to = s.track < 0 ? -1 : prof_trace_slice(take->trace, &s);
    if (to < 0)
        return -1;
    if (s.start < take->trace->slices[from].start)
        return 0; /* by the error of the GPU's clock: no flow goes back in time */
    return prof_trace_flow(take->trace, from, to) < 0 ? -1 : 0;
}

static unsigned flags_of(const struct prof_record *r, bool open)
{
    unsigned flags = open ? PROF_OPEN : 0;

    if (r->begun & BEGUN_INSTANT)
        flags |= PROF_INSTANT_POINT;
    if (!open && (r->ended & ENDED_UNWOUND))
        flags |= PROF_UNWOUND;
    return flags;
}

/* Whose records are being added. */
struct source {
    const struct view *view;
    int track;         /* of the owner in hand */
    int first;         /* the slice of its first record that has one */
    int carried;       /* a part before: the slice of the first that went on */
    uint32_t *gone_on; /* indices of those, ascending; owned */
    size_t nr_gone_on;
    const struct prof_list_chunk *seen; /* of what it saw of memory: where the last look was */
};

/* How many of those that went on are before `index`. */
static size_t gone_on_before(const struct source *from, uint32_t index)
{
    size_t low = 0, high = from->nr_gone_on;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (from->gone_on[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The slice of a record; what went on in the part behind has its slice there. */
static int slice_of(const struct source *from, uint32_t index)
{
    size_t before = gone_on_before(from, index);

    if (before < from->nr_gone_on && from->gone_on[before] == index)
        return from->carried + (int)before;
    return from->first + (int)(index - before);
}

static bool has_gone_on(const struct source *from, uint32_t index)
{
    size_t before = gone_on_before(from, index);

    return before < from->nr_gone_on && from->gone_on[before] == index;
}

static void set_extra(const struct taking *take, struct source *from, struct prof_slice *s,
                      const struct prof_record *r, struct prof_extra *extra)
{
    if (r->begun & BEGUN_MARKED) {
        resolve_marks(take, r, extra);
        s->gpu = extra->gpu.duration_ns > 0 ? extra->gpu.duration_ns : 0;
    }
    int64_t live, peak;
    if (prof_seen_between(&from->view->seen, r, &from->seen, &live, &peak)) {
        s->memory_live = live;
        s->memory_peak = peak;
    }
}

/* What ended after the moment of the snapshot was open then, so that no scope outlasts the one
 * around it. */
static int add_record_slice(const struct taking *take, struct source *from,
                            const struct prof_record *r, struct prof_extra *extra)
{
    uint64_t end = __atomic_load_n(&r->end, __ATOMIC_ACQUIRE);
    bool open = end == 0 || end > take->now.ticks;
    int64_t start_ns = ns_of(take, r->start), end_ns = ns_of(take, open ? take->now.ticks : end);
    struct prof_slice s = {
        .track = from->track,
        .parent = r->parent == PROF_NONE ? PROF_ROOT : slice_of(from, r->parent),
        .start = start_ns,
        .duration = end_ns > start_ns ? end_ns - start_ns : 0,
        .name = prof_site_text(&take->names, r->site),
        .category = PROF_SCOPES,
        .function = r->site->function,
        .file = r->site->file,
        .line = r->site->line,
        .backend = r->backend,
        .device = r->device,
        .flags = flags_of(r, open),
        .bytes = r->bytes,
        .flops = r->flops,
        .memory_live = -1,
        .memory_peak = -1,
    };

    if (!open)
        set_extra(take, from, &s, r, extra);
    return prof_trace_slice(take->trace, &s) < 0 ? -1 : 0;
}

/* GPU slices go behind those of the thread, whose indices follow from its records. */
static int add_gpu_slices(const struct taking *take, const struct view *v,
                          const struct source *from)
{
    for (const struct prof_chunk *chunk = prof_chunk_first(v->chunks, v->records); chunk;
         chunk = prof_chunk_after(chunk, v->records)) {
        for (uint32_t i = 0; i < chunk->nr && chunk->base + i < v->records; i++) {
            int slice = slice_of(from, chunk->base + i);
            if (!(chunk->records[i].begun & BEGUN_MARKED) || has_gone_on(from, chunk->base + i) ||
                take->trace->slices[slice].flags & PROF_OPEN)
                continue;
            const struct prof_extra *extra = &chunk->extras[i];
            if (extra->gpu.duration_ns >= 0 && extra->gpu.start_ns >= 0 &&
                add_gpu_slice(take, slice, extra) != 0)
                return -1;
        }
    }
    return 0;
}

/* Owners in the order in which they filled the buffer; free() it. NULL: no memory. */
static const struct prof_owner **owners_of(const struct view *v, size_t *nr)
{
    size_t count = 1;

    for (const struct prof_owner *o = v->newest.before; o; o = o->before)
        count++;
    const struct prof_owner **owners = malloc(count * sizeof(*owners));
    *nr = count;
    for (const struct prof_owner *o = &v->newest; owners && o; o = o->before)
        owners[--count] = o;
    return owners;
}

/* Whose record `index` is; its track is made with its first. -1: no memory. */
static int follow_owner(const struct taking *take, struct source *from, uint32_t index,
                        const struct prof_owner **owners, size_t nr, size_t *at)
{
    bool is_new = index == 0;

    for (; *at + 1 < nr && owners[*at + 1]->first <= index; ++*at)
        is_new = true;
    if (is_new)
        from->track = thread_track(take, owners[*at]);
    return from->track < 0 ? -1 : 0;
}

/* Of a ring's part before: what has no end went on in the part behind, in this order. */
static int find_gone_on(const struct view *v, struct source *from)
{
    uint32_t nr = 0;

    if (!v->is_before)
        return 0;
    for (int fill = 0; fill < 2; fill++) {
        nr = 0;
        for (const struct prof_chunk *chunk = prof_chunk_first(v->chunks, v->records); chunk;
             chunk = prof_chunk_after(chunk, v->records)) {
            for (uint32_t i = 0; i < chunk->nr && chunk->base + i < v->records; i++) {
                if (__atomic_load_n(&chunk->records[i].end, __ATOMIC_ACQUIRE))
                    continue;
                if (fill)
                    from->gone_on[nr] = chunk->base + i;
                nr++;
            }
        }
        if (!fill && !(from->gone_on = malloc((nr + 1) * sizeof(*from->gone_on))))
            return -1;
    }
    from->nr_gone_on = nr;
    return 0;
}

static int add_own_records(const struct taking *take, const struct view *v, struct source *from,
                           const struct prof_owner **owners, size_t nr)
{
    size_t at = 0;
    int rc = 0;

    for (const struct prof_chunk *chunk = prof_chunk_first(v->chunks, v->records); chunk && rc == 0;
         chunk = prof_chunk_after(chunk, v->records)) {
        for (uint32_t i = 0; i < chunk->nr && chunk->base + i < v->records && rc == 0; i++) {
            rc = follow_owner(take, from, chunk->base + i, owners, nr, &at);
            if (rc == 0 && !has_gone_on(from, chunk->base + i))
                rc = add_record_slice(take, from, &chunk->records[i], &chunk->extras[i]);
        }
    }
    return rc;
}

/* `first`: the slice of the first record of the view in front; becomes that of this one. */
static int add_records(const struct taking *take, const struct view *v, int *first)
{
    struct source from = { .view = v, .first = (int)take->trace->nr_slices, .carried = *first };
    size_t nr;
    const struct prof_owner **owners = owners_of(v, &nr);
    int rc = owners ? find_gone_on(v, &from) : -1;

    if (rc == 0)
        rc = add_own_records(take, v, &from, owners, nr);
    if (rc == 0)
        rc = add_gpu_slices(take, v, &from);
    *first = from.first;
    free(owners);
    free(from.gone_on);
    return rc;
}

static int memory_counter(struct taking *take, int device)
{
    char name[32] = "live memory, host";

    if (take->counters[device] >= 0)
        return take->counters[device];
    if (device >= PROF_GPU)
        snprintf(name, sizeof(name), "live memory, GPU %d", device - PROF_GPU);
    take->counters[device] = prof_trace_counter(
        take->trace, &(struct prof_counter) { .process = getpid(), .name = name, .unit = "bytes" });
    return take->counters[device];
}

static int add_samples(struct taking *take, const struct view *v)
{
    const struct prof_list_chunk *chunk = NULL;

    for (uint32_t i = 0; i < v->samples.nr; i++) {
        const struct prof_memory_sample *s = prof_list_at(&v->samples, sizeof(*s), i, &chunk);
        int counter = memory_counter(take, s->device);
        if (counter < 0 ||
            prof_trace_sample(take->trace, counter, ns_of(take, s->time), (double)s->live) < 0)
            return -1;
    }
    return 0;
}

static void add_losses(struct prof_meta *meta, const struct prof_thread *t)
{
    meta->dropped += __atomic_load_n(&t->dropped, __ATOMIC_RELAXED);
    meta->skipped += __atomic_load_n(&t->skipped, __ATOMIC_RELAXED);
    meta->replaced += t->replaced;
    meta->lost_samples += __atomic_load_n(&t->lost_samples, __ATOMIC_RELAXED);
}

static void set_meta(const struct taking *take)
{
    struct prof_meta *meta = &take->trace->meta;
    const struct prof_state *state = take->state;

    meta->start = ns_of(take, state->cleared.ticks);
    meta->end = ns_of(take, take->now.ticks);
    meta->epoch_ns = state->cleared_epoch;
    meta->rate = state->rate;
    meta->seed = __atomic_load_n(&state->seed, __ATOMIC_RELAXED);
    meta->clock = prof_clock_name();
}

/* ---- names of sites ---- */

static int name_sites(struct taking *take)
{
    for (size_t k = 0; k < take->nr_views; k++) {
        const struct view *v = &take->views[k];
        for (const struct prof_chunk *chunk = prof_chunk_first(v->chunks, v->records); chunk;
             chunk = prof_chunk_after(chunk, v->records)) {
            for (uint32_t i = 0; i < chunk->nr && chunk->base + i < v->records; i++) {
                if (prof_site_seen(&take->names, chunk->records[i].site) != 0)
                    return -1;
            }
        }
    }
    return prof_site_names_choose(&take->names, take->trace);
}

/* ---- the moment ---- */

/* What came before the part in hand; it has an end. */
static void view_lap(const struct prof_lap *lap, struct view *v)
{
    *v = (struct view) { .chunks = lap->chunks,
                         .records = lap->count,
                         .samples = lap->samples,
                         .seen = lap->seen,
                         .newest = *lap->owner,
                         .is_before = true };
}

static void view_thread(const struct prof_thread *t, struct view *v)
{
    *v = (struct view) { .newest = *t->owner };
    v->records = __atomic_load_n(&t->count, __ATOMIC_ACQUIRE);
    v->samples.nr = __atomic_load_n(&t->samples.nr, __ATOMIC_ACQUIRE);
    v->seen.nr = __atomic_load_n(&t->seen.nr, __ATOMIC_ACQUIRE);
    v->chunks = v->records ? t->chunks : NULL;
    v->samples.first = v->samples.nr ? t->samples.first : NULL;
    v->seen.first = v->seen.nr ? t->seen.first : NULL;
}

/* All that is read under the lock: how far each buffer was filled. From here on they stay. */
static int begin_reading(struct taking *take)
{
    struct prof_state *state = take->state;

    take->views = calloc(2 * state->nr_buffers + 1, sizeof(*take->views));
    if (!take->views)
        return -1;
    for (const struct prof_thread *t = state->threads; t; t = t->next) {
        if (t->generation != state->generation)
            continue;
        view_thread(t, &take->views[take->nr_views++]);
        if (t->before.owner)
            view_lap(&t->before, &take->views[take->nr_views++]);
        add_losses(&take->trace->meta, t);
    }
    take->now = prof_clock_anchor();
    set_meta(take);
    state->readers++;
    return 0;
}

static void end_reading(struct prof_state *state)
{
    pthread_mutex_lock(&state->lock);
    if (--state->readers == 0)
        prof_retired_free(state);
    pthread_mutex_unlock(&state->lock);
}

/* In words, for who reads the file alone. */
static void note_ring(struct prof_trace *trace)
{
    char words[128];

    if (!trace->meta.replaced)
        return;
    snprintf(words, sizeof(words),
             "%" PRIu64 " older scopes were replaced by later ones of the ring",
             trace->meta.replaced);
    trace->meta.note = prof_trace_text(trace, words);
}

static int take_all(struct taking *take)
{
    int first = 0;

    if (name_sites(take) != 0)
        return -1;
    for (size_t k = 0; k < take->nr_views; k++) {
        if (add_records(take, &take->views[k], &first) != 0 ||
            add_samples(take, &take->views[k]) != 0)
            return -1;
    }
    note_ring(take->trace);
    return prof_trace_sort(take->trace, NULL);
}

static int read_views(struct taking *take)
{
    struct prof_state *state = take->state;

    pthread_mutex_lock(&state->reading);
    pthread_mutex_lock(&state->lock);
    int rc = begin_reading(take);
    pthread_mutex_unlock(&state->lock);
    if (rc == 0) {
        rc = take_all(take);
        end_reading(state);
    }
    pthread_mutex_unlock(&state->reading);
    free(take->views);
    prof_site_names_release(&take->names);
    return rc;
}

int prof_snapshot(struct prof *prof, struct prof_trace *trace)
{
    struct taking take = { .state = prof_state_of(prof), .trace = trace };

    prof_trace_init(trace);
    if (!take.state)
        return -1;
    for (int d = 0; d < PROF_DEVICES; d++)
        take.counters[d] = -1;
    program_name(take.owner, sizeof(take.owner));
    wait_for_distance(take.state);
    int rc = read_views(&take);
    if (rc != 0) {
        prof_trace_release(trace);
        errno = ENOMEM;
    }
    return rc;
}
