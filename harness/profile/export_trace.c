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
    int64_t device; /* what is added to process numbers of streams, to keep them apart */
    int any;        /* an event is written already */
};

static int64_t process_of(const struct writing *w, const struct prof_track *track)
{
    return track->process + (track->kind == PROF_TRACK_STREAM ? w->device : 0);
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

/* Readers in JavaScript (speedscope) take the end of a slice as the sum of two doubles, in us.
 * Where that is not the double of the end, slices that touch would overlap by a rounding, and no
 * longer nest: there the duration has the digits that give the sum. It is the same to the ns. */
static void write_duration(const struct writing *w, int64_t start, int64_t duration)
{
    double from = (double)start / 1000, to = (double)(start + duration) / 1000;
    double difference = to - from;

    if (from + (double)duration / 1000 == to || from + difference != to) {
        write_time(w, "dur", duration);
        return;
    }
    fprintf(w->file, ",\"dur\":%.17g", difference);
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

static void write_label(struct writing *w, const char *what, int64_t process, int64_t thread,
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
    fputs("}}", w->file);
    free(text);
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
            write_label(w, "process_name", process, 0, track->owner, 0);
            write_rank(w, "process_sort_index", process, 0,
                       track->kind == PROF_TRACK_STREAM ? 1 + track->device : 0);
        }
        for (int lane = 0; lane < w->nr_lanes[i]; lane++) {
            int64_t thread = thread_of(w, (int)i, lane);
            write_label(w, "thread_name", process, thread, track->name, lane);
            write_rank(w, "thread_sort_index", process, thread, rank++);
        }
    }
    prof_map_release(&processes);
    return rc;
}

static void write_argument(const struct writing *w, const char **comma, const char *name,
                           int64_t value)
{
    fprintf(w->file, "%s\"%s\":%" PRId64, *comma, name, value);
    *comma = ",";
}

static void write_arguments(const struct writing *w, const struct prof_slice *s)
{
    const struct prof_track *track = &w->trace->tracks[s->track];
    const char *comma = "";

    fputs(",\"args\":{", w->file);
    if (s->backend) {
        fputs("\"backend\":", w->file);
        prof_json_text(w->file, s->backend);
        comma = ",";
    }
    if (track->kind == PROF_TRACK_STREAM) {
        write_argument(w, &comma, "device", track->process);
        write_argument(w, &comma, "stream", track->thread);
    } else if (w->lanes[s - w->trace->slices]) {
        write_argument(w, &comma, "of_thread", track->thread); /* so that readers can join them */
    }
    if (s->correlation)
        write_argument(w, &comma, "correlation", (int64_t)s->correlation);
    if (s->bytes)
        write_argument(w, &comma, "bytes", s->bytes);
    if (s->flops > 0) {
        fprintf(w->file, "%s\"flops\":", comma);
        prof_json_number(w->file, s->flops);
        comma = ",";
    }
    if (s->gpu)
        write_argument(w, &comma, "gpu_ns", s->gpu);
    if (s->memory_peak >= 0) {
        write_argument(w, &comma, "memory_live", s->memory_live);
        write_argument(w, &comma, "memory_peak", s->memory_peak);
    }
    if (s->file && s->file[0]) {
        fprintf(w->file, "%s\"file\":", comma);
        prof_json_text(w->file, s->file);
        comma = ",";
        write_argument(w, &comma, "line", s->line);
    }
    if (s->function && s->function[0] && strcmp(s->function, s->name) != 0) {
        fprintf(w->file, "%s\"function\":", comma);
        prof_json_text(w->file, s->function);
        comma = ",";
    }
    if (s->flags & PROF_OPEN)
        write_argument(w, &comma, "open", 1);
    if (s->flags & PROF_UNWOUND)
        write_argument(w, &comma, "unwound", 1);
    fputs("}", w->file);
}

static void write_slice(struct writing *w, size_t i)
{
    const struct prof_slice *s = &w->trace->slices[i];
    int is_point = (s->flags & PROF_INSTANT_POINT) != 0;

    begin_event(w, is_point ? "i" : "X", process_of(w, &w->trace->tracks[s->track]),
                thread_of(w, s->track, w->lanes[i]));
    write_time(w, "ts", s->start - w->trace->meta.start);
    if (is_point)
        fputs(",\"s\":\"t\"", w->file);
    else
        write_duration(w, s->start - w->trace->meta.start, s->duration);
    write_name(w, s->name, s->category);
    write_arguments(w, s);
    fputs("}", w->file);
}

static void write_end_of_flow(struct writing *w, const char *phase, size_t flow, int slice)
{
    const struct prof_slice *s = &w->trace->slices[slice];

    begin_event(w, phase, process_of(w, &w->trace->tracks[s->track]),
                thread_of(w, s->track, w->lanes[slice]));
    write_time(w, "ts", s->start - w->trace->meta.start);
    fprintf(w->file, ",\"id\":%zu,\"name\":\"ac2g\",\"cat\":\"ac2g\"%s}", flow + 1,
            phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
}

static void write_sample(struct writing *w, const struct prof_sample *sample)
{
    const struct prof_counter *counter = &w->trace->counters[sample->counter];

    begin_event(w, "C", counter->process, 0);
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
    if (meta->note) {
        fputs(",\"note\":", w->file);
        prof_json_text(w->file, meta->note);
    }
    fputs("},\n\"traceEvents\":[", w->file);
}

/* Whether a number is that of a process and of a device. -1: no memory. */
static int devices_are_processes(const struct prof_trace *trace)
{
    struct prof_map kinds = { NULL, 0, 0 };
    int rc = 0;

    for (size_t i = 0; i < trace->nr_tracks && rc == 0; i++) {
        const struct prof_track *track = &trace->tracks[i];
        const int *kind = prof_map_at(&kinds, (uint64_t)track->process, 0, (int)track->kind);
        rc = kind ? *kind != (int)track->kind : -1;
    }
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
    for (size_t i = 0; i < w->trace->nr_slices; i++)
        write_slice(w, i);
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
    if (w.lanes && w.nr_lanes && w.first && prof_trace_lanes(trace, w.lanes) == 0)
        rc = write_events(&w);
    free(w.lanes);
    free(w.nr_lanes);
    free(w.first);
    return rc;
}
