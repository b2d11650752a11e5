/* SPDX-License-Identifier: MIT */
/* Inside timeline/: what is known while a trace file is read. */
#ifndef HARNESS_TIMELINE_TRACE_READER_H
#define HARNESS_TIMELINE_TRACE_READER_H

#include "base/array.h"
#include "profile/name_map.h"
#include "profile/trace.h"
#include "timeline/event_text.h"

#include <stdbool.h>

/* A line of the file's picture: a pid and a tid. Several may be one track. */
struct lane {
    int64_t process, thread;
    const char *name;
    bool is_stream, is_further;        /* as the file says where it names it ... */
    int64_t device, stream, of_thread; /* ... of which device, or another line of which thread */
    struct {
        int *items;
        size_t nr, capacity;
    } open; /* slices that began (B) and have not ended, outermost first */
};

/* One end of a flow. Equal keys are the same pointer. */
struct flow_point {
    const char *key;
    char phase; /* s, t or f */
    bool is_enclosing;
    bool is_of_scope; /* PROF_SCOPE_FLOWS */
    int lane;
    int64_t time;
    size_t order;
};

/* Below what any system gives, and what writers mean by numbers of their own (Kineto's -1); a
 * reader of the written file may keep 32 bits. */
enum { TRACE_TEXT_IDS = -1000000000 };

struct trace_reader {
    struct prof_trace *trace;
    ARRAY(struct lane) lanes;
    ARRAY(const char *) processes; /* names, in the order of their numbers' first */
    ARRAY(struct flow_point) points;
    ARRAY(int) lane_of;           /* by slice, as they were added */
    ARRAY(int) first_lane;        /* by track */
    ARRAY(const char *) numbered; /* ids that are texts: number TRACE_TEXT_IDS - i */
    /* Where they stand, as prof_map_at() takes it. */
    struct prof_map lane_places, process_places, numbered_places;
    bool has_base, is_ours; /* a base of its times; of prof_write_trace(), which is the start */
    size_t nr_untimed;      /* work of a GPU that has no times */
};

/* An event (`event_fn`, with the reader as ctx), or another member of the file. */
event_fn trace_reader_use;
/* The text that a process or thread is called by in place of a number; NULL: it has one. */
const char *trace_reader_text_id(const struct trace_reader *r, int64_t number);

#endif
