/* SPDX-License-Identifier: MIT */
#include "measure/profiling.h"

#include "base/array.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "core/kernel.h"
#include "cupti/collect.h"
#include "machine/sensor_tracks.h"
#include "measure/plant.h"
#include "measure/profiling_cuda.h"
#include "profile/summary.h"
#include "timeline/timeline_gpu.h"
#include "timeline/timeline_main.h"
#include "timeline/timeline_read.h"
#include "timeline/timeline_typical.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { UNKEPT = 2 }; /* iterations that touch the profiler's buffers first */
enum { LOOKS = 7 };  /* iterations that tell how long an operation takes that is to be slower */

/* What one profile holds. */
struct session {
    const struct profiling *options;
    const struct profiled_call *what;
    const struct call *call;
    const struct nvml *nvml;
    struct measurement *m;
    bool cold;
    const struct prof_site *site;
    struct sensor_tracks *tracks;
    struct kernel_sequence *kernels; /* of an iteration */
    struct profiling_cuda *gpu;      /* NULL on the CPU */
    struct activity_collector *collector;
    struct error no_activity; /* why there is none; "" */
    struct plant_scope plant;
    struct prof_trace trace;
};

/* ---- recording ---- */

static int run_iteration(const struct session *s, struct error *err)
{
    const struct prof_work work = { .flops = s->m->flops, .bytes = (int64_t)s->m->bytes };
    struct device *d = s->call->device;

    if (s->what->restore(s->what->context, err) || (s->cold && d->ops->flush(d, err)))
        return -1;
    struct prof_scope scope = prof_begin(prof_global(), s->site, &work);
    int rc = d->ops->run(d, s->call, err);
    prof_end(&scope);
    return rc;
}

/* The process of a GPU's tracks. */
static int device_number(const struct device *d)
{
#ifdef HARNESS_HAVE_CUDA
    return d->kind == DEVICE_CUDA ? profiling_cuda_index(d) : 0;
#else
    (void)d;
    return 0;
#endif
}

/* Live bytes are known to the device; the profiler, who saw none of them come, is told the sum. */
static void tell_memory(const struct device *d)
{
    int device = d->ops->own_memory ? PROF_GPU : PROF_CPU;

    prof_memory(prof_global(), device, d->memory_live - prof_memory_live(prof_global(), device));
}

static int size_plant(struct session *s, struct error *err)
{
    int rc = plant_scope_init(&s->plant, s->options->plant, s->options->plant_share, err);

    for (int i = 0; rc == 0 && i < LOOKS; i++)
        rc = run_iteration(s, err);
    return rc ? rc : plant_scope_grow(&s->plant, err);
}

/* What a thread of the global profiler keeps (profile.h). */
enum { ROOM = 1 << 20 };

/* What the iterations so far have recorded. */
struct recorded {
    int iterations;
    int64_t scopes;            /* of the thread with the most */
    struct timeline_size file; /* of all threads */
};

static int64_t most_scopes(const struct prof_trace *trace)
{
    size_t *nr = memory_zeroed(trace->nr_tracks + 1, sizeof(*nr));
    int64_t most = 0;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        int track = trace->slices[i].track;
        if (trace->tracks[track].kind == PROF_TRACK_THREAD && (int64_t)++nr[track] > most)
            most = (int64_t)nr[track];
    }
    free(nr);
    return most;
}

/* -1: no memory. */
static int look_at_recorded(struct recorded *r)
{
    struct prof_trace trace;

    if (prof_snapshot(prof_global(), &trace))
        return -1;
    r->scopes = most_scopes(&trace);
    int rc = timeline_size(&trace, &r->file);
    prof_trace_release(&trace);
    return rc;
}

/* So many make a trace that is read again: all but a tenth, since later times have more digits. */
static double readable_iterations(const struct recorded *r)
{
    double room = fmin((double)TIMELINE_EVENTS_MOST / (double)r->file.events,
                       (double)TIMELINE_BYTES_MOST / (double)r->file.bytes);

    return floor(0.9 * room * r->iterations);
}

/* Before they run: whether all iterations will find room, with their thread and in the trace. */
static int check_room(const struct session *s, struct error *err)
{
    struct recorded r = { .iterations = UNKEPT + (s->options->plant ? LOOKS : 0) };
    int asked = s->options->iterations;

    if (look_at_recorded(&r))
        return error_set(err, "no memory for a profile");
    int64_t each = r.scopes / r.iterations;
    if (each * asked > ROOM)
        return error_set(err,
                         "%d iterations of %lld scopes each are more than the %d that a thread "
                         "keeps: ask for up to %lld",
                         asked, (long long)each, ROOM, (long long)(ROOM / each));
    double most = readable_iterations(&r);
    char instead[] = "even one is, so take a smaller shape or fewer threads";
    if (asked <= most)
        return 0;
    if (most >= 1)
        snprintf(instead, sizeof(instead), "ask for up to %d", (int)most);
    return error_set(err,
                     "%d iterations on all threads are more than a trace that is read again holds "
                     "(%d events, %zu MiB): %s",
                     asked, TIMELINE_EVENTS_MOST, TIMELINE_BYTES_MOST >> 20, instead);
}

#ifdef HARNESS_HAVE_CUDA
/* As many as all iterations will need: those so far tell how many that is. */
static void reserve_marks(const struct session *s)
{
    if (s->gpu && !s->collector)
        profiling_cuda_reserve(s->gpu, profiling_cuda_made(s->gpu) / UNKEPT *
                                           (size_t)(s->options->iterations + 1));
}
#else
static void reserve_marks(const struct session *s)
{
    (void)s;
}
#endif

static int record_iterations(struct session *s, struct error *err)
{
    const struct sensor_tracks_sources sources = { .root = "",
                                                   .gpu = s->nvml,
                                                   .device = device_number(s->call->device) };

    if (prof_thread_name(prof_global(), "main") || prof_set_on(prof_global(), 1))
        return error_set(err, "no memory for a profile");
    int rc = s->options->plant ? size_plant(s, err) : 0;
    s->tracks = sensor_tracks_start(&sources);
    for (int i = 0; rc == 0 && i < UNKEPT + s->options->iterations; i++) {
        if (i == UNKEPT) {
            rc = check_room(s, err);
            reserve_marks(s);
            prof_clear(prof_global());
            tell_memory(s->call->device);
        }
        if (rc == 0)
            rc = run_iteration(s, err);
    }
    prof_set_on(prof_global(), 0);
    sensor_tracks_stop(s->tracks);
    return rc;
}

/* ---- the GPU ---- */

#ifdef HARNESS_HAVE_CUDA
static int follow_gpu(struct session *s, struct error *err)
{
    struct error why; /* without activities the scopes' own times are left, and are enough */

    if (s->call->device->kind != DEVICE_CUDA)
        return 0;
    if (s->options->plant)
        return error_set(err, "a slow-down can be planted in scopes on the CPU, not on %s",
                         s->call->device->label);
    if (s->options->activity &&
        activity_start(&s->collector, &(struct activity_options) { 0 }, &why)) {
        s->collector = NULL;
        s->no_activity = why; /* the trace says so */
    }
    s->gpu = profiling_cuda_open(s->call->device, !s->collector, err);
    if (!s->gpu)
        return -1;
    return prof_set_hooks(prof_global(), profiling_cuda_hooks(s->gpu))
               ? error_set(err, "no memory for a profile")
               : 0;
}

/* What is said of the cost is what it was here, with events on the stream where there were any;
 * measured when CUPTI has stopped, or its records would be of that. */
static void state_scope_cost(struct session *s)
{
    double ns;

    if (s->gpu && prof_overhead_hooked(profiling_cuda_hooks(s->gpu), PROF_GPU, NULL, &ns) == 0)
        s->trace.meta.scope_ns = ns;
}

static void leave_gpu(struct session *s)
{
    if (!s->gpu)
        return;
    prof_clear(prof_global());
    prof_set_hooks(prof_global(), NULL);
    profiling_cuda_close(s->gpu);
}
#else
static void state_scope_cost(struct session *s)
{
    (void)s;
}

static int follow_gpu(struct session *s, struct error *err)
{
    (void)s;
    (void)err;
    return 0;
}

static void leave_gpu(struct session *s)
{
    (void)s;
}
#endif

static bool has_device_work(const struct activity_list *list)
{
    bool any = false;

    for (size_t i = 0; i < list->nr && !any; i++)
        any = activity_on_device(&list->items[i]);
    return any;
}

static void note_no_kernels(struct session *s, const char *why)
{
    struct strbuf note;

    strbuf_init(&note);
    strbuf_addf(&note, "no kernels and copies in the trace, scopes alone: %s", why);
    timeline_note(&s->trace, note.data);
    strbuf_release(&note);
}

static int add_activity(struct session *s, struct error *err)
{
    struct activity_list list;

    if (!s->collector)
        return 0;
    activity_list_init(&list);
    int rc = activity_stop(s->collector, &list, err);
    s->collector = NULL;
    if (rc == 0 && !has_device_work(&list))
        note_no_kernels(s, "CUPTI told of no work on the GPU");
    if (rc == 0)
        kernel_sequence_of(&list, UNKEPT + (size_t)s->options->iterations, s->kernels);
    if (rc == 0) {
        activity_cut(&list, s->trace.meta.start); /* without the iterations that are not kept */
        rc = timeline_add_gpu(&s->trace, &list, err);
    }
    activity_list_release(&list);
    return rc;
}

/* ---- what comes out ---- */

static char *file_of(const char *folder, const struct benchmark_name *name, const char *suffix)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/", folder);
    for (const char *p = name->key; *p; p++)
        strbuf_addf(&path, "%c", isalnum((unsigned char)*p) || strchr("._=,-", *p) ? *p : '_');
    strbuf_adds(&path, suffix);
    return strbuf_detach(&path);
}

char *profiling_file(const char *folder, const struct benchmark_name *name)
{
    return file_of(folder, name, ".trace.json");
}

char *profiling_counters_file(const char *folder, const struct benchmark_name *name)
{
    return file_of(folder, name, ".counters.json");
}

void profiling_name(const struct profiled_call *what, struct benchmark_name *name)
{
    const struct benchmark bench = { .variant = what->call->variant,
                                     .shape = what->call->shape,
                                     .cache = what->cold ? CACHE_COLD : CACHE_WARM,
                                     .inputs = what->inputs };

    benchmark_name_of(&bench, what->call->device, name);
}

static int write_trace(const struct session *s, const char *path, struct error *err)
{
    struct file_output file;

    if (file_begin(&file, path, err))
        return -1;
    if (timeline_write(file.stream, &s->trace, NULL) < 0 && !ferror(file.stream)) {
        file_abort(&file); /* what the file itself fails at, file_commit() tells */
        return error_set(err, "no memory for a profile");
    }
    return file_commit(&file, err);
}

/* A GPU's operation takes what the GPU takes; that of the host goes on meanwhile. */
static const int64_t *times_of(const struct session *s, const struct layer_samples *l, size_t nr)
{
    for (size_t i = 0; s->gpu && i < nr; i++)
        if (l->gpu_ns[i] > 0)
            return l->gpu_ns;
    return l->total_ns;
}

static uint64_t *copy_samples(const int64_t *ns, size_t nr)
{
    uint64_t *samples = memory_zeroed(nr + 1, sizeof(*samples));

    for (size_t i = 0; i < nr; i++)
        samples[i] = (uint64_t)ns[i];
    return samples;
}

static void take_layers(const struct session *s, const struct timeline_layers *layers,
                        struct profiled *out)
{
    struct measurement *m = s->m;

    free(m->samples);
    m->samples = copy_samples(layers->ns, layers->nr_iterations);
    m->nr_samples = out->nr_samples = layers->nr_iterations;
    m->batch = 1;
    m->stop = STOP_SAMPLES;
    snprintf(m->clock, sizeof(m->clock), "%s", s->trace.meta.clock);
    for (size_t i = 0; i < layers->nr; i++) {
        const struct layer_samples *l = &layers->items[i];
        struct profiled_operation *o;
        out->items = array_grow(out->items, out->nr, &out->capacity, sizeof(*out->items));
        o = &out->items[out->nr++];
        snprintf(o->name, sizeof(o->name), "%s", l->name);
        const int64_t *ns = times_of(s, l, out->nr_samples);
        o->gpu = ns == l->gpu_ns;
        o->samples = copy_samples(ns, out->nr_samples);
        o->self_ns = timeline_typical_own(layers, l, s->gpu);
        o->flops = l->flops;
        o->bytes = l->bytes;
        if (s->options->plant && strcmp(l->name, s->options->plant) == 0)
            o->planted = s->options->plant_share;
    }
}

static int main_track(const struct prof_trace *trace)
{
    for (size_t i = 0; i < trace->nr_tracks; i++)
        if (trace->tracks[i].kind == PROF_TRACK_THREAD && trace->tracks[i].thread == gettid())
            return (int)i;
    return -1;
}

static int conclude_profile(struct session *s, struct profiled *out, struct error *err)
{
    struct timeline_layers layers;
    struct benchmark_name ordinary;

    if (prof_snapshot(prof_global(), &s->trace))
        return error_set(err, "no memory for a profile");
    if (s->trace.meta.dropped)
        return error_set(err, "%llu scopes found no room: ask for fewer iterations",
                         (unsigned long long)s->trace.meta.dropped);
    if (s->no_activity.message[0])
        note_no_kernels(s, s->no_activity.message);
    if (add_activity(s, err))
        return -1;
    state_scope_cost(s);
    if (sensor_tracks_add(s->tracks, &s->trace))
        return error_set(err, "no memory for a profile");
    profiling_name(s->what, &ordinary);
    char *path = profiling_file(s->options->folder, &ordinary);
    int rc = write_trace(s, path, err);
    free(path);
    if (rc ||
        timeline_layers(&s->trace, main_track(&s->trace), s->call->kernel->name, &layers, err))
        return -1;
    take_layers(s, &layers, out);
    timeline_layers_release(&layers);
    return 0;
}

int profiling_run(const struct profiling *p, const struct profiled_call *what,
                  struct measurement *m, struct profiled *out, struct error *err)
{
    struct session s = { .options = p,
                         .what = what,
                         .call = what->call,
                         .nvml = what->gpu,
                         .m = m,
                         .cold = what->cold,
                         .kernels = &out->kernels,
                         .no_activity = { "" } };
    struct activity_list unread;

    prof_trace_init(&s.trace);
    s.site = prof_site_named(prof_global(), s.call->kernel->name);
    int rc = s.site ? 0 : error_set(err, "no memory for a profile");
    if (rc == 0)
        rc = follow_gpu(&s, err);
    if (rc == 0)
        rc = record_iterations(&s, err);
    if (rc == 0)
        rc = conclude_profile(&s, out, err);
    if (s.collector) { /* something failed before its records were read */
        struct error ignored;
        activity_list_init(&unread);
        (void)activity_stop(s.collector, &unread, &ignored);
        activity_list_release(&unread);
    }
    leave_gpu(&s);
    sensor_tracks_free(s.tracks);
    plant_scope_remove(&s.plant);
    prof_trace_release(&s.trace);
    return rc;
}

void profiled_release(struct profiled *out)
{
    for (size_t i = 0; i < out->nr; i++)
        free(out->items[i].samples);
    free(out->items);
    kernel_sequence_release(&out->kernels);
    *out = (struct profiled) { 0 };
}

void profiled_measurement(const struct profiled *p, size_t i, const struct measurement *whole,
                          struct measurement *m)
{
    const struct profiled_operation *o = &p->items[i];

    measurement_copy(m, whole);
    char *all = strrchr(m->bench.kernel, ':');
    if (all)
        *all = '\0';
    benchmark_name_operation(&m->bench, o->name);
    free(m->samples);
    m->samples = memory_zeroed(p->nr_samples + 1, sizeof(*m->samples));
    memcpy(m->samples, o->samples, p->nr_samples * sizeof(*m->samples));
    m->nr_samples = p->nr_samples;
    m->flops = o->flops;
    m->bytes = o->bytes;
    if (o->gpu)
        snprintf(m->clock, sizeof(m->clock), "CUDA events");
    measurement_add_telemetry(m, "self_ns", o->self_ns);
    if (o->planted > 0) /* no history shall take it for the operation's own time */
        measurement_add_telemetry(m, "planted_percent", 100 * o->planted);
}
