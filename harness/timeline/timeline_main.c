/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_main.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "profile/export.h"
#include "timeline/timeline_backward.h"
#include "timeline/timeline_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int timeline_main_track(const struct prof_trace *trace)
{
    int64_t *covered = memory_zeroed(trace->nr_tracks + 1, sizeof(*covered));
    bool *is_used = memory_zeroed(trace->nr_tracks + 1, sizeof(*is_used));
    int longest = -1, first = -1;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        covered[s->track] += s->parent == PROF_ROOT ? s->duration : 0;
        is_used[s->track] |= !(s->flags & PROF_INSTANT_POINT);
    }
    for (int i = 0; i < (int)trace->nr_tracks; i++) {
        const struct prof_track *t = &trace->tracks[i];
        if (t->kind != PROF_TRACK_THREAD || !is_used[i])
            continue;
        longest = longest < 0 || covered[i] > covered[longest] ? i : longest;
        first = t->thread == t->process && (first < 0 || covered[i] > covered[first]) ? i : first;
    }
    if (first >= 0 && covered[first] >= covered[longest] - covered[first])
        longest = first;
    free(covered);
    free(is_used);
    return longest;
}

/* ---- what the main thread waits for ---- */

static int64_t main_end(const struct prof_slice *s)
{
    return s->start + s->duration;
}

/* Slices of a track, which lie side by side in a sorted trace. */
struct main_slices {
    const struct prof_slice *slices; /* of the trace */
    size_t first, end;
};

static struct main_slices main_slices_of(const struct prof_trace *trace, int track)
{
    struct main_slices m = { trace->slices, 0, 0 };

    while (m.first < trace->nr_slices && trace->slices[m.first].track != track)
        m.first++;
    for (m.end = m.first; m.end < trace->nr_slices && trace->slices[m.end].track == track; m.end++)
        ;
    return m;
}

/* Whether one of these is under way all the time, and begins and ends nothing in it. */
static bool is_waited_for(const struct main_slices *m, const struct prof_slice *s)
{
    size_t low = m->first, high = m->end;

    while (low < high) { /* the first that begins behind the start of s */
        size_t middle = low + (high - low) / 2;
        if (m->slices[middle].start <= s->start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < m->end && m->slices[low].start < main_end(s))
        return false;
    int around = low > m->first ? (int)low - 1 : PROF_ROOT;
    while (around >= 0 && main_end(&m->slices[around]) <= s->start)
        around = m->slices[around].parent;
    return around >= 0 && main_end(&m->slices[around]) >= main_end(s);
}

/* By track: whether a scope of the main thread has a flow to another thread's. */
static bool *find_helpers(const struct prof_trace *trace, int thread)
{
    bool *helps = memory_zeroed(trace->nr_tracks + 1, sizeof(*helps));

    for (size_t i = 0; i < trace->nr_flows; i++) {
        int from = trace->slices[trace->flows[i].from].track;
        int to = trace->slices[trace->flows[i].to].track;
        if (from == thread && to != thread && trace->tracks[to].kind == PROF_TRACK_THREAD)
            helps[to] = true;
    }
    return helps;
}

/* By slice, or NULL where there is none. */
static bool *find_joined(const struct prof_trace *trace, int thread)
{
    bool *helps = find_helpers(trace, thread), any = false;
    bool *joined = memory_zeroed(trace->nr_slices + 1, sizeof(*joined));
    const struct main_slices main = main_slices_of(trace, thread);

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (!helps[s->track])
            continue;
        joined[i] = s->parent >= 0 ? joined[s->parent]
                                   : timeline_says_backward(s->name) && is_waited_for(&main, s);
        any |= joined[i];
    }
    free(helps);
    if (any)
        return joined;
    free(joined);
    return NULL;
}

/* ---- a part of a trace ---- */

struct copying {
    const struct prof_trace *from;
    struct prof_trace *to;
    int thread;     /* the main one */
    bool *keeps;    /* by track: it is kept */
    bool *joined;   /* by slice: of another thread, and put on the main one; NULL: none is */
    bool *left_out; /* by slice, though its track is kept; NULL: none is */
    bool *unkept;   /* by counter: its points are not kept; NULL: all are */
    int *track_of;  /* -1: not kept */
    int *slice_of;
};

static int copy_track_slices(const struct copying *c)
{
    const struct prof_trace *from = c->from;

    for (size_t i = 0; i < from->nr_slices; i++) {
        struct prof_slice s = from->slices[i];
        bool joins = c->joined && c->joined[i];
        c->slice_of[i] = -1;
        if ((c->track_of[s.track] < 0 && !joins) || (c->left_out && c->left_out[i]))
            continue;
        s.track = joins ? c->track_of[c->thread] : c->track_of[s.track];
        if (joins && s.parent == PROF_ROOT)
            s.parent = PROF_FIND_PARENT;
        s.parent = s.parent >= 0 ? c->slice_of[s.parent] : s.parent;
        c->slice_of[i] = prof_trace_slice(c->to, &s);
        if (c->slice_of[i] < 0)
            return -1;
    }
    for (size_t i = 0; i < from->nr_flows; i++) {
        int a = c->slice_of[from->flows[i].from], b = c->slice_of[from->flows[i].to];
        if (a >= 0 && b >= 0 && prof_trace_flow(c->to, a, b) < 0)
            return -1;
    }
    return 0;
}

static int copy_trace_counters(const struct copying *c)
{
    const struct prof_trace *from = c->from;

    for (size_t i = 0; i < from->nr_counters; i++) {
        if (prof_trace_counter(c->to, &from->counters[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < from->nr_samples; i++) {
        const struct prof_sample *s = &from->samples[i];
        if (c->unkept && c->unkept[s->counter])
            continue;
        if (prof_trace_sample(c->to, s->counter, s->time, s->value) < 0)
            return -1;
    }
    return 0;
}

static int copy_tracks(const struct copying *c)
{
    const char *clock = prof_trace_text(c->to, c->from->meta.clock);

    if (c->from->meta.clock && !clock)
        return -1;
    c->to->meta = c->from->meta;
    c->to->meta.clock = clock;
    c->to->meta.note = prof_trace_text(c->to, c->from->meta.note);
    for (size_t i = 0; i < c->from->nr_tracks; i++) {
        c->track_of[i] = c->keeps[i] ? prof_trace_track(c->to, &c->from->tracks[i]) : -1;
        if (c->keeps[i] && c->track_of[i] < 0)
            return -1;
    }
    return copy_track_slices(c) || copy_trace_counters(c) ? -1 : 0;
}

/* -1: no memory. */
static int copy_part(struct copying *c)
{
    prof_trace_init(c->to);
    c->track_of = memory_zeroed(c->from->nr_tracks + 1, sizeof(*c->track_of));
    c->slice_of = memory_zeroed(c->from->nr_slices + 1, sizeof(*c->slice_of));
    int rc = copy_tracks(c);
    free(c->track_of);
    free(c->slice_of);
    return rc;
}

/* The main thread and all streams. */
static bool *main_tracks(const struct prof_trace *trace, int thread)
{
    bool *keeps = memory_zeroed(trace->nr_tracks + 1, sizeof(*keeps));

    for (size_t i = 0; i < trace->nr_tracks; i++)
        keeps[i] = (int)i == thread || trace->tracks[i].kind == PROF_TRACK_STREAM;
    return keeps;
}

int timeline_main(const struct prof_trace *trace, struct prof_trace *main, struct error *err)
{
    struct copying c = { .from = trace, .to = main, .thread = timeline_main_track(trace) };

    c.keeps = main_tracks(trace, c.thread);
    c.joined = c.thread >= 0 ? find_joined(trace, c.thread) : NULL;
    int rc = copy_part(&c);
    if (rc == 0 && c.joined)
        rc = prof_trace_sort(main, NULL);
    free(c.joined);
    free(c.keeps);
    if (rc == 0)
        return 0;
    prof_trace_release(main);
    return error_set(err, "no memory for a part of a trace with %zu slices", trace->nr_slices);
}

/* ---- what a file holds ---- */

struct slice_length {
    int64_t ns;
    size_t slice;
};

/* The longest first; of those as long as each other what holds the others, which stands in front.
 */
static int by_length(const void *a_, const void *b_)
{
    const struct slice_length *a = a_, *b = b_;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

/* By slice: whether it is none of the `nr` longest. What holds a slice is no shorter, so those that
 * are kept keep what they are in. */
static bool *find_shortest(const struct prof_trace *trace, size_t nr, int64_t *longest)
{
    struct slice_length *lengths = memory_zeroed(trace->nr_slices + 1, sizeof(*lengths));
    bool *left_out = memory_zeroed(trace->nr_slices + 1, sizeof(*left_out));

    for (size_t i = 0; i < trace->nr_slices; i++)
        lengths[i] = (struct slice_length) { trace->slices[i].duration, i };
    qsort(lengths, trace->nr_slices, sizeof(*lengths), by_length);
    for (size_t i = nr; i < trace->nr_slices; i++)
        left_out[lengths[i].slice] = true;
    *longest = nr < trace->nr_slices ? lengths[nr].ns : 0;
    free(lengths);
    return left_out;
}

/* By counter: whether it has more than its share of the points where all are more than `most`.
 * With a part of its points it would tell another course. */
static bool *find_crowded(const struct prof_trace *trace, size_t most)
{
    size_t *points = memory_zeroed(trace->nr_counters + 1, sizeof(*points));
    bool *unkept = memory_zeroed(trace->nr_counters + 1, sizeof(*unkept));

    for (size_t i = 0; i < trace->nr_samples; i++)
        points[trace->samples[i].counter]++;
    for (size_t i = 0; i < trace->nr_counters; i++)
        unkept[i] = trace->nr_samples > most && points[i] > most / trace->nr_counters;
    free(points);
    return unkept;
}

/* In words, for who reads the file alone; a note that is there already stays in front. */
static void note_left_out(struct prof_trace *to, const struct prof_trace *from, int64_t longest)
{
    size_t calls = from->nr_slices - to->nr_slices, points = from->nr_samples - to->nr_samples;
    struct strbuf note;

    strbuf_init(&note);
    if (to->meta.note)
        strbuf_addf(&note, "%s; ", to->meta.note);
    strbuf_adds(&note, "left out, for the size of the file: ");
    if (calls)
        strbuf_addf(&note, "the %zu shortest calls, of up to %" PRId64 " ns", calls, longest);
    if (points)
        strbuf_addf(&note, "%s%zu points of counters", calls ? ", and " : "", points);
    to->meta.note = prof_trace_text(to, note.data);
    strbuf_release(&note);
}

/* As many slices as that, the longest, on the tracks that have any of them. -1: no memory. */
static int copy_longest(const struct prof_trace *from, size_t nr, size_t points,
                        struct prof_trace *to)
{
    struct copying c = { .from = from, .to = to, .thread = -1 };
    int64_t longest;

    c.left_out = find_shortest(from, nr, &longest);
    c.unkept = find_crowded(from, points);
    c.keeps = memory_zeroed(from->nr_tracks + 1, sizeof(*c.keeps));
    for (size_t i = 0; i < from->nr_slices; i++)
        c.keeps[from->slices[i].track] |= !c.left_out[i];
    int rc = copy_part(&c);
    if (rc == 0)
        note_left_out(to, from, longest);
    free(c.left_out);
    free(c.unkept);
    free(c.keeps);
    return rc;
}

/* What a file would hold, of which nothing is kept: an event is a line. */
static ssize_t count_text(void *size_, const char *text, size_t length)
{
    struct timeline_size *size = size_;
    const char *at = text, *end = text + length;

    size->bytes += length;
    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        size->events++;
        at++;
    }
    return (ssize_t)length;
}

int timeline_size(const struct prof_trace *trace, struct timeline_size *size)
{
    *size = (struct timeline_size) { 0, 0 };
    FILE *file = fopencookie(size, "w", (cookie_io_functions_t) { .write = count_text });
    int rc = file ? prof_write_trace(file, trace) : -1;

    return file && fclose(file) ? -1 : rc;
}

/* How many times as large the file may be; below 1 it is too large. */
static double room_of(const struct timeline_size *size, const struct timeline_size *most)
{
    return fmin((double)most->events / (double)size->events,
                (double)most->bytes / (double)size->bytes);
}

/* What has room of a trace whose room is less than 1: without crowded counters where there are
 * some, and then of its slices the longest. Slices differ in what they take, so each part is
 * measured again. */
static int copy_what_has_room(const struct prof_trace *trace, double room,
                              const struct timeline_size *most, struct prof_trace *part)
{
    enum { GUESSES = 3 };
    size_t points = most->events / 2;
    struct timeline_size size;
    double share = 1;

    prof_trace_init(part);
    for (int guess = trace->nr_samples > points ? -1 : 0;; guess++) {
        if (guess >= 0)
            share *= guess < GUESSES ? 0.97 * room : 0.5;
        prof_trace_release(part);
        if (copy_longest(trace, (size_t)(share * (double)trace->nr_slices), points, part) ||
            timeline_size(part, &size))
            return -1;
        room = room_of(&size, most);
        if (room >= 1 || part->nr_slices == 0)
            return 0;
    }
}

int timeline_write(FILE *file, const struct prof_trace *trace, const struct timeline_size *most)
{
    static const struct timeline_size readable = { TIMELINE_EVENTS_MOST, TIMELINE_BYTES_MOST };
    struct timeline_size size;
    struct prof_trace part;

    most = most ? most : &readable;
    if (timeline_size(trace, &size))
        return -1;
    if (room_of(&size, most) >= 1)
        return prof_write_trace(file, trace);
    int rc = copy_what_has_room(trace, room_of(&size, most), most, &part);
    rc = rc ? rc : prof_write_trace(file, &part);
    if (rc == 0)
        rc = (int)(trace->nr_slices - part.nr_slices + trace->nr_samples - part.nr_samples);
    prof_trace_release(&part);
    return rc;
}
