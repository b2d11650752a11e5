/* SPDX-License-Identifier: MIT */
/* Trace Event JSON (the format of Chrome's tracing, as Perfetto reads it and Kineto writes it). */
#include "profile/export.h"
#include "profile/json_text.h"
#include "profile/name_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Readers want ids of processes and threads that fit 32 bits. Linux has none above this. */
enum { MOST_SYSTEM_ID = 1 << 22 };

struct writing {
    FILE *file;
    const struct prof_trace *trace;
    int *lanes;     /* by slice */
    int *nr_lanes;  /* by track */
    int64_t *first; /* by track: thread id of its second lane */
    int *open;   /* by lane of the track in hand: its innermost slice that has not ended, or -1 */
    int *around; /* by slice that is open: the one around it */
    int64_t device; /* what is added to process numbers of devices, to keep them apart */
    int any;        /* an event is written already */
};

/* A process of the file, of a number that is that of a process or of a device. */
static int64_t written_process(const struct writing *w, enum prof_track_kind kind, int64_t process)
{
    return process + (kind == PROF_TRACK_STREAM ? w->device : 0);
}

static int64_t process_of(const struct writing *w, const struct prof_track *track)
{
    return written_process(w, track->kind, track->process);
}

static int64_t thread_of(const struct writing *w, int track, int lane)
{
    int64_t thread = w->trace->tracks[track].thread;

    if (lane)
        return w->first[track] + lane - 1;
    return thread >= 0 && thread <= MOST_SYSTEM_ID ? thread : MOST_SYSTEM_ID + 1 + track;
}

/* {"ph": ..., "pid": ..., "tid": ... and the caller goes on. */
static void begin_event(struct writing *w, const char *phase, int64_t process, int64_t thread)
{
    fprintf(w->file, "%s\n{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64, w->any ? "," : "",
            phase, process, thread);
    w->any = 1;
}

static void write_time(const struct writing *w, const char *member, int64_t ns)
{
    fprintf(w->file, ",\"%s\":", member);
    prof_json_us(w->file, ns);
}

static void write_name(const struct writing *w, const char *name, const char *category)
{
    fputs(",\"name\":", w->file);
    prof_json_text(w->file, name);
    if (category) {
        fputs(",\"cat\":", w->file);
        prof_json_text(w->file, category);
    }
}

/* {"ph": "M", ..., "args": {"name": ... and the caller goes on. */
static void begin_label(struct writing *w, const char *what, int64_t process, int64_t thread,
                        const char *name, int lane)
{
    char number[32];

    begin_event(w, "M", process, thread);
    write_name(w, what, NULL);
    fputs(",\"args\":{\"name\":", w->file);
    snprintf(number, sizeof(number), " (%d)", lane + 1);
    size_t size = strlen(name) + sizeof(number);
    char *text = lane ? malloc(size) : NULL;
    if (text)
        snprintf(text, size, "%s%s", name, number);
    prof_json_text(w->file, text ? text : name);
    free(text);
}

/* What a thread of the file is, beside its name, so that readers can join lanes again. */
static void write_lane(struct writing *w, size_t i, int lane)
{
    const struct prof_track *track = &w->trace->tracks[i];

    begin_label(w, "thread_name", process_of(w, track), thread_of(w, (int)i, lane), track->name,
                lane);
    if (track->kind == PROF_TRACK_STREAM)
        fprintf(w->file, ",\"device\":%" PRId64 ",\"stream\":%" PRId64, track->process,
                track->thread);
    else if (lane)
        fprintf(w->file, ",\"of_thread\":%" PRId64, track->thread);
    fputs("}}", w->file);
}

static void write_rank(struct writing *w, const char *what, int64_t process, int64_t thread,
                       int rank)
{
    begin_event(w, "M", process, thread);
    write_name(w, what, NULL);
    fprintf(w->file, ",\"args\":{\"sort_index\":%d}}", rank);
}

static int write_tracks(struct writing *w)
{
    struct prof_map processes = { NULL, 0, 0 };
    int rank = 0, rc = 0;

    for (size_t i = 0; i < w->trace->nr_tracks && rc == 0; i++) {
        const struct prof_track *track = &w->trace->tracks[i];
        int64_t process = process_of(w, track);
        const int *first = prof_map_at(&processes, (uint64_t)process, 0, (int)i);
        rc = first ? 0 : -1;
        if (first && *first == (int)i) {
            begin_label(w, "process_name", process, 0, track->owner, 0);
            fputs("}}", w->file);
            write_rank(w, "process_sort_index", process, 0,
                       track->kind == PROF_TRACK_STREAM ? 1 + track->device : 0);
        }
        for (int lane = 0; lane < w->nr_lanes[i]; lane++) {
            write_lane(w, i, lane);
            write_rank(w, "thread_sort_index", process, thread_of(w, (int)i, lane), rank++);
        }
    }
    prof_map_release(&processes);
    return rc;
}

/* `next` begins a member: of the arguments' object, or a further one of it. */
static void write_argument(const struct writing *w, const char **next, const char *name,
                           int64_t value)
{
    fprintf(w->file, "%s\"%s\":%" PRId64, *next, name, value);
    *next = ",";
}

/* Nothing where nothing is known. */
static void write_arguments(const struct writing *w, const struct prof_slice *s)
{
    static const char first[] = ",\"args\":{";
    const char *next = first;

    if (s->backend) {
        fprintf(w->file, "%s\"backend\":", next);
        prof_json_text(w->file, s->backend);
        next = ",";
    }
    if (s->correlation)
        write_argument(w, &next, "correlation", (int64_t)s->correlation);
    if (s->bytes)
        write_argument(w, &next, "bytes", s->bytes);
    if (s->flops > 0) {
        fprintf(w->file, "%s\"flops\":", next);
        prof_json_number(w->file, s->flops);
        next = ",";
    }
    if (s->gpu)
        write_argument(w, &next, "gpu_ns", s->gpu);
    if (s->transfer)
        write_argument(w, &next, "transfer_ns", s->transfer);
    if (s->launch)
        write_argument(w, &next, "launch_ns", s->launch);
    if (s->memory_peak >= 0) {
        write_argument(w, &next, "memory_live", s->memory_live);
        write_argument(w, &next, "memory_peak", s->memory_peak);
    }
    if (s->file && s->file[0]) {
        fprintf(w->file, "%s\"file\":", next);
        prof_json_text(w->file, s->file);
        next = ",";
        write_argument(w, &next, "line", s->line);
    }
    if (s->function && s->function[0] && strcmp(s->function, s->name) != 0) {
        fprintf(w->file, "%s\"function\":", next);
        prof_json_text(w->file, s->function);
        next = ",";
    }
    if (s->flags & PROF_OPEN)
        write_argument(w, &next, "open", 1);
    if (s->flags & PROF_UNWOUND)
        write_argument(w, &next, "unwound", 1);
    if (next != first)
        fputs("}", w->file);
}

/* One end of a slice, or its only one ("i"). The arguments stand at the last: readers join those of
 * both ends, and speedscope, which makes the first's a part of the name, has one frame an
 * operation. What has no length has them at both, since speedscope takes ends of one moment in
 * their order only where they are alike. */
static void write_slice_end(struct writing *w, size_t i, const char *phase)
{
    const struct prof_slice *s = &w->trace->slices[i];
    int is_begin = phase[0] == 'B';

    begin_event(w, phase, process_of(w, &w->trace->tracks[s->track]),
                thread_of(w, s->track, w->lanes[i]));
    write_time(w, "ts", s->start + (is_begin ? 0 : s->duration) - w->trace->meta.start);
    if (phase[0] == 'i')
        fputs(",\"s\":\"t\"", w->file);
    write_name(w, s->name, s->category);
    if (!is_begin || s->duration == 0)
        write_arguments(w, s);
    fputs("}", w->file);
}

/* Ends what is open on a lane and has ended where slice `next` begins; all of it where there is
 * none. */
static void end_slices(struct writing *w, int lane, size_t next)
{
    const struct prof_slice *slices = w->trace->slices;
    int *open = &w->open[lane];

    while (*open >= 0) {
        const struct prof_slice *s = &slices[*open];
        if (next < w->trace->nr_slices &&
            (*open == slices[next].parent || s->start + s->duration > slices[next].start))
            break;
        write_slice_end(w, (size_t)*open, "E");
        *open = w->around[*open];
    }
}

static void write_slice(struct writing *w, size_t i)
{
    const struct prof_slice *s = &w->trace->slices[i];
    int lane = w->lanes[i];

    end_slices(w, lane, i);
    if (s->flags & PROF_INSTANT_POINT) {
        write_slice_end(w, i, "i");
        return;
    }
    write_slice_end(w, i, "B");
    w->around[i] = w->open[lane];
    w->open[lane] = (int)i;
}

/* They are in the order of their tracks. */
static void write_slices(struct writing *w)
{
    size_t i = 0;

    for (int track = 0; track < (int)w->trace->nr_tracks; track++) {
        for (int lane = 0; lane < w->nr_lanes[track]; lane++)
            w->open[lane] = -1;
        for (; i < w->trace->nr_slices && w->trace->slices[i].track == track; i++)
            write_slice(w, i);
        for (int lane = 0; lane < w->nr_lanes[track]; lane++)
            end_slices(w, lane, w->trace->nr_slices);
    }
}

/* Both ends of a flow are told by their times alone. Work begins when the scope does that its
 * stream saw, so the name says which of them is meant. */
static void write_end_of_flow(struct writing *w, const char *phase, size_t flow, int slice)
{
    const struct prof_slice *s = &w->trace->slices[slice];
    const struct prof_slice *to = &w->trace->slices[w->trace->flows[flow].to];
    const char *name = strcmp(to->category, PROF_GPU_SCOPES) != 0 ? "ac2g" : PROF_SCOPE_FLOWS;

    begin_event(w, phase, process_of(w, &w->trace->tracks[s->track]),
                thread_of(w, s->track, w->lanes[slice]));
    write_time(w, "ts", s->start - w->trace->meta.start);
    fprintf(w->file, ",\"id\":%zu,\"name\":\"%s\",\"cat\":\"ac2g\"%s}", flow + 1, name,
            phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
}

static void write_sample(struct writing *w, const struct prof_sample *sample)
{
    const struct prof_counter *counter = &w->trace->counters[sample->counter];

    begin_event(w, "C", written_process(w, counter->kind, counter->process), 0);
    write_time(w, "ts", sample->time - w->trace->meta.start);
    write_name(w, counter->name, NULL);
    fputs(",\"args\":{", w->file);
    prof_json_text(w->file, counter->unit[0] ? counter->unit : "value");
    fputs(":", w->file);
    prof_json_number(w->file, sample->value);
    fputs("}}", w->file);
}

static void write_head(const struct writing *w)
{
    const struct prof_meta *meta = &w->trace->meta;

    fprintf(w->file,
            "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":%" PRId64
            ",\n\"otherData\":{\"rate\":",
            meta->epoch_ns);
    prof_json_number(w->file, meta->rate);
    fprintf(w->file, ",\"skipped\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"clock\":", meta->skipped,
            meta->dropped);
    prof_json_text(w->file, meta->clock);
    if (meta->scope_ns > 0)
        fprintf(w->file, ",\"scope_ns\":%.1f", meta->scope_ns);
    if (meta->replaced)
        fprintf(w->file, ",\"replaced\":%" PRIu64, meta->replaced);
    if (meta->note) {
        fputs(",\"note\":", w->file);
        prof_json_text(w->file, meta->note);
    }
    fputs("},\n\"traceEvents\":[", w->file);
}

/* Whether the number is known to be of the other kind. -1: no memory. */
static int is_of_both(struct prof_map *kinds, int64_t process, enum prof_track_kind kind)
{
    const int *known = prof_map_at(kinds, (uint64_t)process, 0, (int)kind);

    return known ? *known != (int)kind : -1;
}

/* Whether a number is that of a process and of a device. -1: no memory. */
static int devices_are_processes(const struct prof_trace *trace)
{
    struct prof_map kinds = { NULL, 0, 0 };
    int rc = 0;

    for (size_t i = 0; i < trace->nr_tracks && rc == 0; i++)
        rc = is_of_both(&kinds, trace->tracks[i].process, trace->tracks[i].kind);
    for (size_t i = 0; i < trace->nr_counters && rc == 0; i++)
        if (trace->counters[i].kind == PROF_TRACK_STREAM)
            rc = is_of_both(&kinds, trace->counters[i].process, PROF_TRACK_STREAM);
    prof_map_release(&kinds);
    return rc;
}

/* How many lanes each track has, ids for all but the first, and whether numbers of devices are also
 * those of a process. -1: no memory. */
static int number_lanes(struct writing *w)
{
    const struct prof_trace *trace = w->trace;
    int64_t next = 2 * (int64_t)MOST_SYSTEM_ID + 2;
    int rc = devices_are_processes(trace);

    for (size_t i = 0; i < trace->nr_tracks; i++)
        w->nr_lanes[i] = 1;
    for (size_t i = 0; i < trace->nr_slices; i++) {
        int *nr = &w->nr_lanes[trace->slices[i].track];
        *nr = w->lanes[i] + 1 > *nr ? w->lanes[i] + 1 : *nr;
    }
    for (size_t i = 0; i < trace->nr_tracks; i++) {
        w->first[i] = next;
        next += w->nr_lanes[i] - 1;
    }
    w->device = rc > 0 ? MOST_SYSTEM_ID + 1 : 0;
    return rc < 0 ? -1 : 0;
}

static int write_events(struct writing *w)
{
    if (number_lanes(w) != 0)
        return -1;
    write_head(w);
    if (write_tracks(w) != 0)
        return -1;
    write_slices(w);
    for (size_t i = 0; i < w->trace->nr_flows; i++) {
        write_end_of_flow(w, "s", i, w->trace->flows[i].from);
        write_end_of_flow(w, "f", i, w->trace->flows[i].to);
    }
    for (size_t i = 0; i < w->trace->nr_samples; i++)
        write_sample(w, &w->trace->samples[i]);
    fputs("\n]}\n", w->file);
    return ferror(w->file) ? -1 : 0;
}

int prof_write_trace(FILE *file, const struct prof_trace *trace)
{
    struct writing w = { .file = file, .trace = trace };
    int rc = -1;

    w.lanes = calloc(trace->nr_slices + 1, sizeof(*w.lanes));
    w.nr_lanes = calloc(trace->nr_tracks + 1, sizeof(*w.nr_lanes));
    w.first = calloc(trace->nr_tracks + 1, sizeof(*w.first));
    w.open = calloc(trace->nr_slices + 1, sizeof(*w.open));
    w.around = calloc(trace->nr_slices + 1, sizeof(*w.around));
    if (w.lanes && w.nr_lanes && w.first && w.open && w.around &&
        prof_trace_lanes(trace, w.lanes) == 0)
        rc = write_events(&w);
    free(w.lanes);
    free(w.nr_lanes);
    free(w.first);
    free(w.open);
    free(w.around);
    return rc;
}
